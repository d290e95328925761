//! What the measurements mean for the settings.

use super::rule::{Point, threshold_kib, worst_from};
use super::stopwatch::median;
use super::sweep::{Subject, Sweep};
use portaborg_core::tuning::Tuning;

/// Chunks from this size on are what workers are for, in KiB.
pub const CHUNK_KIB: usize = 1024;

/// For all settings.
pub struct Advice<'s> {
    pub blake3: Finding<'s>,
    /// One for each kind of work that zstd did; the first is what [`Advice::zstd_workers`] goes by.
    pub zstd: Vec<Workers<'s>>,
    /// How many workers a chunk has if nothing is set and threads are idle.
    pub usual_workers: usize,
    /// How much measurements varied, in the median.
    pub noise: f64,
}

/// From where on several threads are faster.
pub struct Finding<'s> {
    pub sweep: &'s Sweep,
    pub threshold_kib: Option<usize>,
    /// What is used if nothing is set, in KiB.
    pub default_kib: usize,
    /// The worst from there on, if it misses the margin.
    pub default_loses: Option<&'s Point>,
}

/// How many workers pay for one kind of data, at one level.
pub struct Workers<'s> {
    /// The best number of them, or 1 for none.
    pub count: usize,
    /// How much faster they make chunks from [`CHUNK_KIB`] on, in the mean. If none pay, it is what the best would.
    pub mean: f64,
    /// The worst case among these.
    pub worst: Option<&'s Point>,
    /// For the best number, or what would be the best one.
    pub cutoff: Finding<'s>,
}

impl<'s> Advice<'s> {
    /// By `sweeps`, of BLAKE3 and of zstd.
    pub fn of(sweeps: &'s [Sweep], tuning: &Tuning, margin: f64) -> Self {
        let defaults = Tuning::new(tuning.threads);
        let blake3 = sweeps.iter().find(|sweep| sweep.subject == Subject::Blake3).expect("it is measured first");
        let cutoff_kib = defaults.zstd_workers_from_bytes / 1024;
        let mut zstd = Vec::new();
        let of_zstd: Vec<&Sweep> = sweeps.iter().filter(|sweep| sweep.subject != Subject::Blake3).collect();
        for group in of_zstd.chunk_by(|a, b| a.subject.kind() == b.subject.kind()) {
            zstd.push(Workers::of(group, cutoff_kib, margin));
        }
        Advice {
            blake3: Finding::of(blake3, defaults.blake3_threads_from_bytes / 1024, margin),
            zstd,
            usual_workers: defaults.zstd_workers(defaults.zstd_workers_from_bytes, 3, tuning.threads - 1),
            noise: median(sweeps.iter().flat_map(|sweep| &sweep.points).map(|point| point.noise)),
        }
    }

    /// The best value for `BORG_ZSTD_MT_WORKERS`; 1 is for none.
    pub fn zstd_workers(&self) -> usize {
        self.zstd.first().map_or(1, |workers| workers.count)
    }
}

impl<'s> Finding<'s> {
    fn of(sweep: &'s Sweep, default_kib: usize, margin: f64) -> Self {
        Finding {
            sweep,
            threshold_kib: threshold_kib(&sweep.points, margin),
            default_kib,
            default_loses: worst_from(&sweep.points, default_kib).filter(|worst| worst.ratio < margin),
        }
    }
}

impl<'s> Workers<'s> {
    /// Of several numbers of workers those are best that are fastest in the mean, of those that never lose.
    fn of(group: &[&'s Sweep], default_kib: usize, margin: f64) -> Self {
        let all = group.iter().map(|&sweep| {
            let worst = worst_from(&sweep.points, CHUNK_KIB);
            (worst.is_some_and(|worst| worst.ratio >= margin), mean(&sweep.points), worst, sweep)
        });
        let (pays, mean, worst, sweep) = all
            .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
            .expect("there is at least one number of workers");
        let cutoff = Finding::of(sweep, default_kib, margin);
        Workers { count: if pays { sweep.threads } else { 1 }, mean, worst, cutoff }
    }
}

/// The geometric mean of the ratios from [`CHUNK_KIB`] on.
fn mean(points: &[Point]) -> f64 {
    let logs: Vec<f64> =
        points.iter().filter(|point| point.size.kib >= CHUNK_KIB).map(|point| point.ratio.ln()).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::super::rule::Size;
    use super::super::sweep::Data;
    use super::*;

    fn sweep(subject: Subject, ratios: &[(usize, f64)]) -> Sweep {
        let threads = if let Subject::Zstd { workers, .. } = subject { workers } else { 8 };
        let points = ratios.iter().map(|&(kib, ratio)| {
            let size = Size { kib, odd_bytes: 0 };
            Point { size, single: 100.0, multi: 100.0 * ratio, ratio, noise: ratio / 10.0 }
        });
        Sweep { subject, threads, points: points.collect() }
    }

    fn text(level: i32, workers: usize, ratios: &[(usize, f64)]) -> Sweep {
        sweep(Subject::Zstd { level, data: Data::Text, workers }, ratios)
    }

    #[test]
    fn the_fastest_workers_that_never_lose_are_best() {
        let sweeps = [
            sweep(Subject::Blake3, &[(128, 0.3), (256, 0.8), (512, 1.5), (1024, 2.0)]),
            text(3, 2, &[(512, 0.9), (768, 1.1), (1024, 1.5), (2048, 1.8)]),
            text(3, 4, &[(512, 0.8), (768, 0.9), (1024, 1.6), (2048, 3.0)]),
            text(3, 8, &[(512, 0.5), (768, 0.6), (1024, 0.9), (2048, 9.0)]),
            text(-4, 2, &[(512, 0.5), (768, 0.8), (1024, 0.9), (2048, 1.2)]),
            text(-4, 4, &[(512, 0.5), (768, 0.8), (1024, 0.7), (2048, 0.8)]),
        ];
        let advice = Advice::of(&sweeps, &Tuning::new(8), 1.0);
        assert_eq!((advice.zstd_workers(), advice.usual_workers, advice.zstd.len()), (4, 4, 2));
        let [best, none] = &advice.zstd[..] else { panic!() };
        assert_eq!((best.worst.unwrap().ratio, best.cutoff.threshold_kib), (1.6, Some(1024)));
        assert_eq!(best.cutoff.default_loses.unwrap().size.kib, 768);
        assert!((best.mean - (1.6f64 * 3.0).sqrt()).abs() < 1e-9);
        // What comes closest is shown all the same.
        assert_eq!((none.count, none.cutoff.sweep.threads, none.worst.unwrap().ratio), (1, 2, 0.9));
        assert_eq!(none.cutoff.threshold_kib, Some(2048));

        assert_eq!((advice.blake3.threshold_kib, advice.blake3.default_kib), (Some(512), 256));
        assert_eq!(advice.blake3.default_loses.unwrap().ratio, 0.8);
        assert_eq!(Advice::of(&sweeps, &Tuning::new(8), 0.7).blake3.default_loses, None);
        assert_eq!(Advice::of(&sweeps, &Tuning::new(8), 2.5).zstd_workers(), 1);
    }
}
