//! What is measured, and at which sizes.

use super::super::corpus;
use super::super::cpu::id_keys;
use super::rule::{Care, ODD_BYTES, Point, Size, refine};
use super::stopwatch::{Effort, compare};
use crate::failure::Failure;
use crate::interrupt;
use crate::repository::engine::Native;
use portaborg_core::codec::{Compression, Scratch};
use portaborg_core::crypto::{IdHash, Keys};
use portaborg_core::exec::{Rayon, Serial};
use portaborg_core::tuning::{Help, Tuning};
use std::hint::black_box;

/// How many sizes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    Quick,
    Balanced,
    Thorough,
}

/// Work that several threads may be faster at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Keyed BLAKE3, as chunk ids are made.
    Blake3,
    /// One chunk by zstd.
    Zstd {
        level: i32,
        /// Whether there is anything to compress.
        data: Data,
        /// How many of libzstd's workers there are.
        workers: usize,
    },
}

impl Subject {
    /// What it has in common with other numbers of workers.
    pub fn kind(self) -> Option<(i32, Data)> {
        match self {
            Subject::Blake3 => None,
            Subject::Zstd { level, data, .. } => Some((level, data)),
        }
    }
}

/// What is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Words, of which about a quarter is left.
    Text,
    /// Nothing to compress: zstd races through.
    Random,
}

impl Data {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Data::Text => "text",
            Data::Random => "random",
        }
    }
}

/// All sizes of one subject.
#[derive(Debug, Clone)]
pub struct Sweep {
    pub subject: Subject,
    /// How many threads are against one.
    pub threads: usize,
    /// In the order of their sizes.
    pub points: Vec<Point>,
}

/// Measures subject after subject.
pub struct Sweeper {
    tuning: Tuning,
    grid: Grid,
    effort: Effort,
    margin: f64,
    keys: Keys,
    hashed: Vec<u8>,
    text: Vec<u8>,
    random: Vec<u8>,
}

impl Sweeper {
    pub fn new(tuning: Tuning, grid: Grid, effort: Effort, margin: f64) -> Result<Self, Failure> {
        let compressed = MAX_ZSTD_KIB * 1024 + ODD_BYTES + 1;
        Ok(Sweeper {
            tuning,
            grid,
            effort,
            margin,
            keys: id_keys(IdHash::Blake3, [0; 32]),
            hashed: (0..=250).cycle().take(MAX_BLAKE3_KIB * 1024 + ODD_BYTES + 1).collect(),
            text: corpus::words(compressed),
            random: corpus::noise(compressed)?,
        })
    }

    /// What there is to measure: zstd at the levels that are fast and usual, with as many workers as there are threads for,
    /// and with data that leaves it nothing to do.
    pub fn subjects(&self) -> Vec<Subject> {
        let threads = self.tuning.threads;
        let most = threads.min(USUAL_WORKERS);
        let counts = match self.grid {
            Grid::Quick => vec![most],
            _ => [2, 3, 4, 6, 8, 12, 16].into_iter().filter(|&workers| workers <= threads).collect(),
        };
        let zstd = |level, data| move |&workers: &usize| Subject::Zstd { level, data, workers };
        let mut subjects = vec![Subject::Blake3];
        subjects.extend(counts.iter().map(zstd(3, Data::Text)));
        subjects.extend(counts.iter().map(zstd(-4, Data::Text)));
        subjects.extend([most].iter().map(zstd(3, Data::Random)));
        subjects
    }

    /// Measures one subject at all sizes.
    pub fn sweep(&mut self, subject: Subject) -> Result<Sweep, Failure> {
        let (grid, margin) = (self.grid, self.margin);
        let (points, threads) = match subject {
            Subject::Blake3 => {
                let sizes = (&blake3_sizes(grid)[..], &blake3_adversarial()[..]);
                (refine(sizes, margin, &mut |size, care| self.blake3(size, care))?, self.tuning.threads)
            }
            Subject::Zstd { level, data, workers } => {
                let compression = zstd(level);
                // Contexts, and the threads of theirs, are kept from chunk to chunk as they are when an archive is made.
                let mut contexts = <[Context; 2]>::default();
                let mut measure = |size, care| self.zstd(size, care, &compression, data, workers, &mut contexts);
                (refine((&zstd_sizes(grid), &ZSTD_ADVERSARIAL), margin, &mut measure)?, workers)
            }
        };
        Ok(Sweep { subject, threads, points })
    }

    fn blake3(&self, size: Size, care: Care) -> Result<Point, Failure> {
        interrupt::check()?;
        let data = piece(&self.hashed, size);
        let always = Tuning { blake3_threads_from_bytes: 0, ..self.tuning };
        let idle = Rayon::new(self.tuning.threads - 1);
        let mut single = || _ = black_box(self.keys.chunk_id_on(black_box(data), &always, &Serial));
        let mut multi = || _ = black_box(self.keys.chunk_id_on(black_box(data), &always, &idle));
        Ok(compare(size, self.effort(care, 1), &mut single, &mut multi))
    }

    fn zstd(
        &self,
        size: Size,
        care: Care,
        compression: &Compression,
        data: Data,
        workers: usize,
        [one, several]: &mut [Context; 2],
    ) -> Result<Point, Failure> {
        interrupt::check()?;
        let data = piece(if data == Data::Text { &self.text } else { &self.random }, size);
        let tuning = Tuning { zstd_workers_from_bytes: 0, zstd_workers: Some(workers), ..self.tuning };
        let helped = Help { tuning, idle: workers - 1 };
        let encode = |help, (scratch, out): &mut Context| {
            let done = compression.encode(&Native, black_box(data), None, help, scratch, out);
            done.map(drop).map_err(Failure::error)
        };
        let (mut alone, mut together) = (Ok(()), Ok(()));
        let point = compare(
            size,
            self.effort(care, ZSTD_SHARE),
            &mut || keep_error(&mut alone, encode(Help::NONE, one)),
            &mut || keep_error(&mut together, encode(helped, several)),
        );
        alone.and(together).map(|()| point)
    }

    fn effort(&self, care: Care, share: usize) -> Effort {
        let runs = self.effort.runs * if care == Care::More { 3 } else { 1 };
        Effort { runs, bytes_per_run: self.effort.bytes_per_run / share }
    }
}

/// A compressor, and what it fills.
type Context = (Scratch, Vec<u8>);

fn keep_error(kept: &mut Result<(), Failure>, result: Result<(), Failure>) {
    if kept.is_ok() {
        *kept = result;
    }
}

/// zstd at a level.
pub fn zstd(level: i32) -> Compression {
    format!("zstd,{level}").parse().expect("the level exists")
}

/// So many bytes; odd ones from an odd address on.
fn piece(data: &[u8], size: Size) -> &[u8] {
    let start = usize::from(size.odd_bytes > 0);
    &data[start..start + size.bytes()]
}

fn blake3_sizes(grid: Grid) -> Vec<usize> {
    match grid {
        Grid::Quick => vec![8, 48, 96, 144, 192, 240, 256, 384, 496, 512, 768, 1008, 1024, 1536, 2048],
        Grid::Balanced => vec![
            4, 8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 248, 256, 272, 288, 320, 352,
            384, 416, 448, 480, 496, 504, 512, 576, 640, 768, 896, 960, 1008, 1024, 1280, 1536, 1792, 2032, 2048, 2560,
            3072, 4080, 4096,
        ],
        Grid::Thorough => {
            let small = [4, 8, 16, 24, 32, 48, 64, 80, 96, 104, 112];
            small.into_iter().chain((128..=2048).step_by(16)).collect()
        }
    }
}

/// Where BLAKE3's tree is split least evenly: just below powers of two, and between them.
fn blake3_adversarial() -> Vec<usize> {
    let around = |power: usize| {
        let below = [112, 48, 16].into_iter().filter_map(move |less| power.checked_sub(less).filter(|&kib| kib > 0));
        below.chain([power * 5 / 4, power * 3 / 2, power * 7 / 4])
    };
    (7..=12).map(|exponent| 1 << exponent).flat_map(around).filter(|&kib| kib <= MAX_BLAKE3_KIB).collect()
}

fn zstd_sizes(grid: Grid) -> Vec<usize> {
    match grid {
        Grid::Quick => vec![512, 768, 1024, 1536, 2048, 4096, 8192],
        Grid::Balanced => vec![256, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 4096, 6144, 8192],
        Grid::Thorough => (256..2048).step_by(128).chain((2048..=MAX_ZSTD_KIB).step_by(512)).collect(),
    }
}

/// Where the last job has next to nothing to do: just above multiples of a job's 512 KiB.
const ZSTD_ADVERSARIAL: [usize; 5] = [520, 1032, 1544, 2056, 4104];

const MAX_BLAKE3_KIB: usize = 4096;
/// The longest chunk of the default chunker.
const MAX_ZSTD_KIB: usize = 8192;
/// zstd is so much slower than BLAKE3, about.
const ZSTD_SHARE: usize = 8;
/// No more workers are taken for one chunk, unless they are asked for.
const USUAL_WORKERS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_and_include_the_defaults() {
        for grid in [Grid::Quick, Grid::Balanced, Grid::Thorough] {
            for (sizes, default, most) in
                [(blake3_sizes(grid), 256, MAX_BLAKE3_KIB), (zstd_sizes(grid), 768, MAX_ZSTD_KIB)]
            {
                assert!(sizes.is_sorted() && sizes.contains(&default) && *sizes.last().unwrap() <= most);
            }
        }
        assert_eq!([Grid::Quick, Grid::Balanced].map(|grid| blake3_sizes(grid).len()), [15, 46]);
        let adversarial = blake3_adversarial();
        assert!([16, 80, 112, 160, 240, 496, 1008, 2000, 3584, 4080].iter().all(|kib| adversarial.contains(kib)));
    }

    #[test]
    fn everything_can_be_measured() {
        let effort = Effort { runs: 1, bytes_per_run: 1 };
        let sweeper = Sweeper::new(Tuning::new(2), Grid::Quick, effort, 1.0).unwrap();
        assert_eq!(sweeper.subjects().len(), 4);
        for odd_bytes in [0, ODD_BYTES] {
            let hashed = sweeper.blake3(Size { kib: MAX_BLAKE3_KIB, odd_bytes }, Care::Usual).unwrap();
            assert!(hashed.ratio > 0.0 && hashed.ratio.is_finite());
            for data in [Data::Text, Data::Random] {
                let size = Size { kib: MAX_ZSTD_KIB, odd_bytes };
                let mut contexts = <[Context; 2]>::default();
                let packed = sweeper.zstd(size, Care::Usual, &zstd(-4), data, 2, &mut contexts).unwrap();
                assert!(packed.ratio > 0.0 && packed.ratio.is_finite());
            }
        }
    }
}
