//! The rule by which measurements become a threshold, whoever measures.

use std::collections::BTreeSet;

/// A size that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Whole KiB.
    pub kib: usize,
    /// And bytes, for most chunks are no whole KiB.
    pub odd_bytes: usize,
}

impl Size {
    /// In bytes.
    pub fn bytes(self) -> usize {
        self.kib * 1024 + self.odd_bytes
    }
}

/// What was measured at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub size: Size,
    /// MiB in a second by one thread.
    pub single: f64,
    /// MiB in a second by several.
    pub multi: f64,
    /// How many times faster several are.
    pub ratio: f64,
    /// The spread of what several took, relative to its median.
    pub noise: f64,
}

/// The smallest whole size, in KiB, from which on every size that was measured is at least `margin` times faster by several
/// threads.
pub fn threshold_kib(points: &[Point], margin: f64) -> Option<usize> {
    let slow = blocker(points, margin).map(|point| point.size.bytes());
    let whole = points.iter().filter(|point| point.size.odd_bytes == 0 && Some(point.size.bytes()) > slow);
    whole.map(|point| point.size.kib).min()
}

/// The worst of what was measured from a size on.
pub fn worst_from(points: &[Point], kib: usize) -> Option<&Point> {
    points.iter().filter(|point| point.size.kib >= kib).min_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

/// The largest size at which several threads are not `margin` times faster: no threshold is below it.
fn blocker(points: &[Point], margin: f64) -> Option<&Point> {
    let slow = points.iter().filter(|point| point.ratio.is_nan() || point.ratio < margin);
    slow.max_by_key(|point| point.size)
}

/// Measures `sizes`, whole and odd ones, and then what may change the outcome: `adversarial` sizes above the threshold, which
/// can push it up, and again, with `care`, the size that keeps it from being lower, which can let it down if it was a mishap.
/// Gives the points in the order of their sizes.
pub fn refine<E>(
    (sizes, adversarial): (&[usize], &[usize]),
    margin: f64,
    measure: &mut dyn FnMut(Size, Care) -> Result<Point, E>,
) -> Result<Vec<Point>, E> {
    let both = |kib| [0, ODD_BYTES].map(|odd_bytes| Size { kib, odd_bytes });
    let mut points = Vec::new();
    for size in sizes.iter().copied().flat_map(both) {
        points.push(measure(size, Care::Usual)?);
    }
    let mut checked = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let mut is_new = false;
        if let Some(threshold) = threshold_kib(&points, margin) {
            for size in adversarial.iter().copied().filter(|&kib| kib >= threshold).flat_map(both) {
                if points.iter().all(|point| point.size != size) {
                    points.push(measure(size, Care::Usual)?);
                    is_new = true;
                }
            }
        }
        if let Some(size) = blocker(&points, margin).map(|point| point.size)
            && checked.insert(size)
        {
            let again = measure(size, Care::More)?;
            points.iter_mut().filter(|point| point.size == size).for_each(|point| *point = again);
            is_new = true;
        }
        if !is_new {
            break;
        }
    }
    points.sort_by_key(|point| point.size);
    Ok(points)
}

/// How carefully a size is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// As often as is asked for.
    Usual,
    /// Three times as often.
    More,
}

/// What an odd size has over a whole one: no multiple of anything that an algorithm works in.
pub const ODD_BYTES: usize = 331;
/// More often nothing is added.
const MAX_ROUNDS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn point(kib: usize, odd_bytes: usize, ratio: f64) -> Point {
        Point { size: Size { kib, odd_bytes }, single: 1000.0, multi: 1000.0 * ratio, ratio, noise: 0.1 }
    }

    fn points(ratios: &[(usize, f64)]) -> Vec<Point> {
        ratios.iter().map(|&(kib, ratio)| point(kib, 0, ratio)).collect()
    }

    #[test]
    fn every_size_from_the_threshold_on_is_faster() {
        let sawtooth = points(&[(64, 1.3), (128, 0.4), (240, 0.9), (256, 2.0), (496, 1.1), (512, 2.5), (1008, 1.6)]);
        assert_eq!(threshold_kib(&sawtooth, 1.0), Some(256));
        assert_eq!(threshold_kib(&sawtooth, 1.2), Some(512));
        assert_eq!(threshold_kib(&sawtooth, 0.3), Some(64));
        assert_eq!([threshold_kib(&sawtooth, 1.7), threshold_kib(&[], 1.0)], [None; 2]);
        // What the ratio just reaches is enough, and what is no number is not.
        assert_eq!(threshold_kib(&points(&[(8, 0.9), (16, 1.0)]), 1.0), Some(16));
        assert_eq!(threshold_kib(&points(&[(8, 1.9), (16, f64::NAN), (32, 1.1)]), 1.0), Some(32));
    }

    #[test]
    fn odd_sizes_count_and_are_no_threshold() {
        let mut points = points(&[(256, 2.0), (512, 2.0)]);
        points.push(point(256, 331, 0.9));
        assert_eq!(threshold_kib(&points, 1.0), Some(512));
        points.push(point(512, 331, 0.9));
        assert_eq!(threshold_kib(&points, 1.0), None);
        assert_eq!(worst_from(&points, 256).unwrap().ratio, 0.9);
        assert_eq!(worst_from(&points, 513), None);
    }

    /// Measures as `ratio` tells, and gives the threshold and what was measured with more care.
    fn refined(adversarial: &[usize], ratio: impl Fn(Size, Care) -> f64) -> (Option<usize>, Vec<(usize, usize)>) {
        let mut again = Vec::new();
        let sizes = [64, 128, 256, 512, 1024];
        let points = refine::<Infallible>((&sizes, adversarial), 1.0, &mut |size, care| {
            if care == Care::More {
                again.push((size.kib, size.odd_bytes));
            }
            Ok(point(size.kib, size.odd_bytes, ratio(size, care)))
        })
        .unwrap();
        assert!(points.is_sorted_by_key(|point| point.size));
        (threshold_kib(&points, 1.0), again)
    }

    #[test]
    fn the_worst_sizes_are_looked_for() {
        let faster_from = |kib| move |size: Size, _| if size.kib >= kib { 2.0 } else { 0.5 };
        assert_eq!(refined(&[], faster_from(256)), (Some(256), vec![(128, 331)]));
        // One that is slow pushes the threshold up; below the threshold none is tried.
        let dented = |size: Size, care| if size.kib == 384 { 0.9 } else { faster_from(256)(size, care) };
        assert_eq!(refined(&[192, 384, 496], dented), (Some(496), vec![(384, 331)]));
    }

    #[test]
    fn a_mishap_is_measured_again_and_a_true_loss_is_not_forgotten() {
        let mishap = |kib| {
            move |size: Size, care| match (size.kib, care) {
                (at, Care::Usual) if at == kib => 0.7,
                (at, _) => {
                    if at >= 128 {
                        1.5
                    } else {
                        0.5
                    }
                }
            }
        };
        assert_eq!(refined(&[], mishap(512)), (Some(128), vec![(512, 331), (512, 0), (64, 331)]));
        // At the largest size, too, where there is no threshold at first.
        assert_eq!(refined(&[], mishap(1024)), (Some(128), vec![(1024, 331), (1024, 0), (64, 331)]));
        assert_eq!(refined(&[], |_, _| 0.5), (None, vec![(1024, 331)]));
        let failing = refine((&[64], &[]), 1.0, &mut |_, _| Err("interrupted"));
        assert_eq!(failing, Err("interrupted"));
    }
}
