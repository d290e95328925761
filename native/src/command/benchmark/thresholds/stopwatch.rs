//! Measures two ways of doing the same, in turn.

use super::rule::{Point, Size};
use std::time::Instant;

/// How much is done for one size.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How often each way is measured.
    pub runs: usize,
    /// With how many bytes each time, at least.
    pub bytes_per_run: usize,
}

/// Measures what works on so many bytes by one thread and by several: back to back and in turn first, so that what the machine
/// does besides, and the heat of its processors, are the same to both. The ratio is the median of the pairs' ratios.
pub fn compare(size: Size, effort: Effort, single: &mut dyn FnMut(), multi: &mut dyn FnMut()) -> Point {
    let repeats = (effort.bytes_per_run / size.bytes().max(1)).max(1);
    for _ in 0..repeats.div_ceil(8).min(MAX_WARM_UP) {
        single();
        multi();
    }
    let pairs: Vec<(f64, f64)> = (0..effort.runs.max(1))
        .map(|run| {
            if run % 2 == 0 {
                let one = seconds(repeats, single);
                (one, seconds(repeats, multi))
            } else {
                let several = seconds(repeats, multi);
                (seconds(repeats, single), several)
            }
        })
        .collect();
    let mib = (size.bytes() * repeats) as f64 / f64::from(1 << 20);
    let (one, several) = (median(pairs.iter().map(|pair| pair.0)), median(pairs.iter().map(|pair| pair.1)));
    let fastest = pairs.iter().map(|pair| pair.1).fold(f64::INFINITY, f64::min);
    let slowest = pairs.iter().map(|pair| pair.1).fold(0.0, f64::max);
    Point {
        size,
        single: mib / one,
        multi: mib / several,
        ratio: median(pairs.iter().map(|(one, several)| one / several)),
        noise: (slowest - fastest) / several,
    }
}

/// The middle one; of two, their mean. Something must be there.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

fn seconds(repeats: usize, work: &mut dyn FnMut()) -> f64 {
    let began = Instant::now();
    (0..repeats).for_each(|_| work());
    began.elapsed().as_secs_f64().max(1e-9)
}

/// More often nothing is done before it is measured.
const MAX_WARM_UP: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn both_do_as_much_and_the_slower_one_is_told() {
        let (mut ones, mut others) = (0, 0);
        let size = Size { kib: 1, odd_bytes: 0 };
        let point = compare(
            size,
            Effort { runs: 3, bytes_per_run: 2048 },
            &mut || {
                ones += 1;
                sleep(Duration::from_millis(20));
            },
            &mut || others += 1,
        );
        assert_eq!([ones, others], [7, 7]);
        assert!(point.ratio > 1.0 && point.multi > point.single);
        assert_eq!((median([3.0, 1.0, 2.0].into_iter()), median([4.0, 1.0].into_iter())), (2.0, 2.5));
    }
}
