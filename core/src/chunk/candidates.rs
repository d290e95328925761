//! Cutting one long input on several threads: segments of it are searched for all places where a chunk may end, each on its
//! own, and what is found is then gone through in order.
//!
//! ```text
//! workers   Scan::segment(bytes)            pure, in any order
//! one       Candidates::add(segment)        in order
//!           Candidates::cut(start, ahead)   what Chunker::cut says, at the cost of a few steps
//! ```

use super::bounds::low_mask;
use super::fastcdc::{FastCdc, GEAR_BYTES, high_mask};
use super::lanes::{Deciding, Rolling, Track, search};
use super::window::{Window, Word};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Searches segments of a file for places where it may be cut. Threads share it.
#[derive(Clone, Copy)]
pub struct Scan<'c> {
    algorithm: Algorithm<'c>,
}

#[derive(Clone, Copy)]
enum Algorithm<'c> {
    FastCdc(&'c FastCdc),
    Buzhash(&'c Window<u32>),
    Buzhash64(&'c Window<u64>),
}

/// What a segment of a file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Offset of its first byte in the file.
    start: u64,
    /// Offset behind its last byte.
    end: u64,
    /// `None` if there are too many to be worth keeping.
    found: Option<Vec<Candidate>>,
}

/// A place where a chunk may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    /// Offset in the file.
    position: u64,
    /// Whether short chunks may end here, too.
    is_strict: bool,
}

/// What was found in the segments of a file so far, and is still ahead.
#[derive(Debug, Default)]
pub struct Candidates {
    ahead: VecDeque<Candidate>,
    /// Offset behind the last segment.
    end: u64,
    /// Up to this offset some are missing.
    incomplete_to: u64,
}

impl<'c> Scan<'c> {
    pub(super) fn fastcdc(fastcdc: &'c FastCdc) -> Option<Self> {
        is_sparse(fastcdc.bounds.loose_bits).then_some(Scan { algorithm: Algorithm::FastCdc(fastcdc) })
    }

    pub(super) fn buzhash(window: &'c Window<u32>) -> Option<Self> {
        is_sparse(window.bounds.loose_bits).then_some(Scan { algorithm: Algorithm::Buzhash(window) })
    }

    pub(super) fn buzhash64(window: &'c Window<u64>) -> Option<Self> {
        is_sparse(window.bounds.loose_bits).then_some(Scan { algorithm: Algorithm::Buzhash64(window) })
    }

    /// How many bytes before a segment it has to be searched with, or as many as there are.
    pub fn context_bytes(&self) -> usize {
        match self.algorithm {
            Algorithm::FastCdc(fastcdc) => fastcdc.gear.window_bytes(),
            Algorithm::Buzhash(window) => window.hash.window_bytes(),
            Algorithm::Buzhash64(window) => window.hash.window_bytes(),
        }
    }

    /// Searches a segment, of any length, which begins at offset `start` of the file. `bytes` are its own, after those that
    /// come before it: [`context_bytes`](Scan::context_bytes), or `start` if that is less.
    ///
    /// # Panics
    /// If there are fewer bytes than that.
    pub fn segment(&self, start: u64, bytes: &[u8]) -> Segment {
        let context = usize::try_from(start).map_or(self.context_bytes(), |start| start.min(self.context_bytes()));
        let end = start + (bytes.len() - context) as u64;
        let found = match self.algorithm {
            Algorithm::FastCdc(fastcdc) => {
                let (before, new) = bytes.split_at(context);
                let hash = before.iter().fold(0, |hash, &byte| fastcdc.gear.push(hash, byte));
                let [strict, loose] = [fastcdc.bounds.strict_bits, fastcdc.bounds.loose_bits].map(high_mask);
                // A chunk ends behind the byte that decides.
                find_all(&fastcdc.gear, hash, Track { old: new, new }, [strict, loose], start + 1)
            }
            Algorithm::Buzhash(window) => windows(window, start - context as u64, bytes),
            Algorithm::Buzhash64(window) => windows(window, start - context as u64, bytes),
        };
        Segment { start, end, found }
    }

    /// As [`Chunker::cut`](super::Chunker::cut).
    fn cut(&self, ahead: &[u8]) -> usize {
        match self.algorithm {
            Algorithm::FastCdc(fastcdc) => fastcdc.cut(ahead),
            Algorithm::Buzhash(window) => window.cut(ahead),
            Algorithm::Buzhash64(window) => window.cut(ahead),
        }
    }

    fn max_size(&self) -> usize {
        match self.algorithm {
            Algorithm::FastCdc(fastcdc) => fastcdc.max_size(),
            Algorithm::Buzhash(window) => window.max_size(),
            Algorithm::Buzhash64(window) => window.max_size(),
        }
    }
}

impl Candidates {
    /// None yet: no byte has been searched.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what was found in the segment that follows the last one.
    ///
    /// # Panics
    /// If it doesn't.
    pub fn add(&mut self, segment: Segment) {
        assert_eq!(segment.start, self.end, "segments come in order");
        self.end = segment.end;
        match segment.found {
            Some(found) => self.ahead.extend(found),
            None => self.incomplete_to = segment.end,
        }
    }

    /// Length of the chunk that begins at offset `start` of the file, in bytes. `ahead` is as in
    /// [`Chunker::cut`](super::Chunker::cut), and so is the result. Chunks come in order, and segments are added before; what
    /// was not searched well enough is searched now.
    pub fn cut(&mut self, scan: Scan<'_>, start: u64, ahead: &[u8]) -> usize {
        let gone = self.ahead.partition_point(|candidate| candidate.position <= start);
        self.ahead.drain(..gone);
        let len = ahead.len().min(scan.max_size());
        if self.incomplete_to > start || self.end < start + len as u64 {
            return scan.cut(ahead);
        }
        match scan.algorithm {
            Algorithm::FastCdc(fastcdc) => self.cut_fastcdc(fastcdc, start, &ahead[..len]),
            Algorithm::Buzhash(window) => self.cut_windows(window, start, len),
            Algorithm::Buzhash64(window) => self.cut_windows(window, start, len),
        }
    }

    fn cut_fastcdc(&self, fastcdc: &FastCdc, start: u64, ahead: &[u8]) -> usize {
        let (bounds, len) = (&fastcdc.bounds, ahead.len());
        if len <= bounds.min {
            return len;
        }
        let switch = bounds.switch(len);
        // The hash begins anew in every chunk: until it has seen enough, it is another one than that of the segments.
        let mut hash = 0;
        let mut young = (bounds.min..).zip(ahead[bounds.min..].iter().take(GEAR_BYTES));
        let end = young.find_map(|(at, &byte)| {
            hash = fastcdc.gear.push(hash, byte);
            let bits = if at < switch { bounds.strict_bits } else { bounds.loose_bits };
            (hash & high_mask(bits) == 0).then_some(at + 1)
        });
        end.or_else(|| self.first(start, bounds.min + GEAR_BYTES + 1..len + 1, switch + 1)).unwrap_or(len)
    }

    fn cut_windows<T: Word>(&self, window: &Window<T>, start: u64, len: usize) -> usize {
        let (bounds, end) = (&window.bounds, window.end(len));
        if end <= bounds.min {
            return len;
        }
        self.first(start, bounds.min..end, bounds.switch(end)).unwrap_or(len)
    }

    /// The first one among these lengths of a chunk that begins at `start`. Those below `switch` have to be strict.
    fn first(&self, start: u64, lengths: core::ops::Range<usize>, switch: usize) -> Option<usize> {
        let from = self.ahead.partition_point(|candidate| candidate.position < start + lengths.start as u64);
        let lengths_ahead = self.ahead.range(from..).map(|candidate| (candidate.position - start, candidate.is_strict));
        lengths_ahead
            .take_while(|&(length, _)| length < lengths.end as u64)
            .find(|&(length, is_strict)| is_strict || length >= switch as u64)
            .map(|(length, _)| length as usize)
    }
}

/// Buzhash's windows behind the first one, which begins at `offset`, where `bytes` do. A chunk ends where a window begins.
fn windows<T: Word>(window: &Window<T>, offset: u64, bytes: &[u8]) -> Option<Vec<Candidate>> {
    let hash = &window.hash;
    let Some((first, new)) = bytes.split_at_checked(hash.window_bytes()) else { return Some(Vec::new()) };
    let word = first.iter().fold(T::default(), |word, &byte| hash.push(word, byte));
    let [strict, loose] = [window.bounds.strict_bits, window.bounds.loose_bits].map(low_mask);
    find_all(hash, word, Track { old: &bytes[..new.len()], new }, [strict, loose], offset + 1)
}

/// All steps after which the hash misses the loose mask, from `first_position` on; `None` if they are too many.
fn find_all<R: Deciding>(
    hash: &R,
    mut word: R::Word,
    track: Track<'_>,
    [strict, loose]: [u64; 2],
    first_position: u64,
) -> Option<Vec<Candidate>> {
    let most = MOST_IN_SHORT + track.new.len() / LEAST_DISTANCE_BYTES;
    let (mut found, mut passed) = (Vec::new(), 0);
    while let Some(at) = search(hash, &mut word, track.split_at(passed).1, loose) {
        if found.len() == most {
            return None;
        }
        let position = first_position + (passed + at) as u64;
        found.push(Candidate { position, is_strict: R::misses(word, strict) });
        passed += at + 1;
    }
    Some(found)
}

/// Whether candidates are far enough from each other that searching for all of them pays.
fn is_sparse(loose_bits: u32) -> bool {
    loose_bits >= LEAST_LOOSE_BITS
}

/// One position of 4096 is a candidate, or fewer.
const LEAST_LOOSE_BITS: u32 = 12;
/// More candidates than one for so many bytes are not kept: four times as many as there are in noise, which is all but
/// impossible, but where a few bytes come again and again there may be one in each round.
const LEAST_DISTANCE_BYTES: usize = 1024;
/// So many are kept in segments however short.
const MOST_IN_SHORT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunker, ChunkerParams};
    use proptest::prelude::*;

    /// Chunks of 64 bytes to 32 KiB, of about 4 to 16 KiB.
    const PARAMS: [&str; 6] = [
        "fastcdc,6,15,13,1",
        "fastcdc,10,15,13,0",
        "buzhash64,6,15,13,40,1",
        "buzhash64,12,15,12,300,0",
        "buzhash,10,15,12,63",
        "fastcdc,12,16,14,2",
    ];

    fn lengths(data: &[u8], mut cut: impl FnMut(u64, &[u8]) -> usize) -> Vec<usize> {
        let (mut lengths, mut at) = (Vec::new(), 0);
        while at < data.len() {
            let len = cut(at as u64, &data[at..]);
            lengths.push(len);
            at += len;
        }
        lengths
    }

    fn noise(mut state: u64, len: usize) -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    /// The cuts that `Chunker::cut` makes, whatever the segments.
    fn compare(params: &str, key: u8, data: &[u8], ends: &[usize]) -> Result<usize, TestCaseError> {
        let params: ChunkerParams = params.parse().unwrap();
        let mut chunker = Chunker::with_key(&params, &[key; 32], i32::from(key));
        let wanted = lengths(data, |start, ahead| chunker.cut(start, ahead).unwrap());
        let scan = chunker.scan().unwrap();
        let mut candidates = Candidates::new();
        let mut start = 0;
        for &end in ends.iter().chain([&data.len()]) {
            let context = scan.context_bytes().min(start);
            candidates.add(scan.segment(start as u64, &data[start - context..end]));
            start = end;
        }
        let incomplete = candidates.incomplete_to;
        prop_assert_eq!(lengths(data, |start, ahead| candidates.cut(scan, start, ahead)), wanted);
        Ok(incomplete as usize)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn cuts_are_those_of_the_serial_chunker(
            pieces in proptest::collection::vec((0..40_000_usize, 1..600_usize, any::<u64>()), 1..6),
            mut ends in proptest::collection::vec(any::<prop::sample::Index>(), 0..9),
            key: u8,
        ) {
            // Noise, and noise that comes again and again.
            let piece = |&(len, period, seed): &(usize, usize, u64)| {
                let period = if period > 500 { len } else { period };
                noise(seed, period).into_iter().cycle().take(len).collect::<Vec<u8>>()
            };
            let data = pieces.iter().flat_map(piece).collect::<Vec<u8>>();
            let mut ends: Vec<usize> = ends.drain(..).map(|end| end.index(data.len() + 1)).collect();
            ends.sort();
            for params in PARAMS {
                compare(params, key, &data, &ends)?;
            }
        }
    }

    #[test]
    fn crowds_are_not_kept_and_cut_all_the_same() {
        // With some key there is a cut in every round of a pattern, else the pattern would be of no use here.
        let mut crowded = 0;
        for key in 0..=255 {
            let data = [noise(1, 50_000), noise(key.into(), 32).repeat(4000), noise(2, 100_000)].concat();
            crowded += usize::from(compare("fastcdc,6,15,12,0", key, &data, &[40_000, 100_000, 200_000]).unwrap() > 0);
        }
        assert!(crowded > 0);
    }

    #[test]
    fn what_was_not_searched_is_searched_when_it_is_cut() {
        let data = noise(5, 200_000);
        let mut chunker = Chunker::with_key(&PARAMS[0].parse().unwrap(), &[3; 32], 0);
        let wanted = lengths(&data, |start, ahead| chunker.cut(start, ahead).unwrap());
        let scan = chunker.scan().unwrap();
        let mut candidates = Candidates::new();
        candidates.add(scan.segment(0, &data[..90_000]));
        assert_eq!(lengths(&data, |start, ahead| candidates.cut(scan, start, ahead)), wanted);
    }

    #[test]
    fn only_what_forgets_can_be_searched_in_segments() {
        let scans = |params: &str| Chunker::with_key(&params.parse().unwrap(), &[0; 32], 0).scan().is_some();
        assert!(["fastcdc,19,23,21,2", "buzhash,19,23,21,4095", "buzhash64,19,23,21,4095,2"].into_iter().all(scans));
        assert!(!["fixed,4096", "rabin-aes,19,23,21,2", "fastcdc,6,15,11,0"].into_iter().any(scans));
    }
}
