//! Padding that hides how well a content compresses (data layer, section 6.5).

use crate::limits::MAX_DATA_SIZE;

/// A way to choose the length of the zero bytes that are appended to a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obfuscation(u8);

impl Obfuscation {
    /// The one with this number: 1 to 6 for a multiple of the payload's length (mostly about a 1000th of 10 to the power
    /// of the number, rarely much more), 110 to 123 for up to two to the power of the number less 100 bytes, 250 for
    /// Padmé; `None` for every other number.
    pub fn from_spec(spec: i64) -> Option<Self> {
        matches!(spec, 1..=6 | 110..=123 | 250).then_some(Self(spec as u8))
    }

    /// Its number, the `olevel` of an object's metadata.
    pub fn spec(self) -> i64 {
        self.0.into()
    }

    /// How many bytes to append to a payload of `payload_bytes`. `fraction` draws a number in [0, 1), all equally likely;
    /// Padmé needs none.
    ///
    /// The sum is at most [`LARGEST_PADDED_BYTES`], or a longer payload's own length.
    pub fn padding(self, payload_bytes: usize, fraction: &mut dyn FnMut() -> f64) -> usize {
        // Conversions from floating point truncate, and saturate at the type's limits.
        let wanted = match self.0 {
            spec @ 1..=6 => {
                let factor = 0.001 * f64::from(10_u32.pow(spec.into())) / fraction().max(SMALLEST_FRACTION);
                (payload_bytes as f64 * factor) as usize
            }
            spec @ 110..=123 => (f64::from(1_u32 << (spec - 100)) * fraction()) as usize,
            _ => padme(payload_bytes),
        };
        wanted.min(LARGEST_PADDED_BYTES.saturating_sub(payload_bytes))
    }
}

/// Padding to the next length of which, in binary, only as many leading digits are not zero as it takes to write the number
/// of its digits: at most 12 % more, and few different lengths.
fn padme(payload_bytes: usize) -> usize {
    if payload_bytes < 2 {
        return 0;
    }
    let exponent = payload_bytes.ilog2();
    let digits = exponent.ilog2() + 1;
    payload_bytes.wrapping_neg() & ((1 << (exponent - digits)) - 1)
}

/// Payloads are not padded beyond this, in bytes: what surrounds them in an object needs room too.
pub const LARGEST_PADDED_BYTES: usize = MAX_DATA_SIZE - 1024;

/// Bounds the factor: no fraction counts as smaller.
const SMALLEST_FRACTION: f64 = 0.0001;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn padding(spec: i64, payload_bytes: usize, fraction: f64) -> usize {
        Obfuscation::from_spec(spec).unwrap().padding(payload_bytes, &mut || fraction)
    }

    #[test]
    fn padme_pads_as_in_the_vectors() {
        let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
        for vector in vectors["padme"].as_array().unwrap() {
            let [length, wanted] = [0, 1].map(|at| vector[at].as_u64().unwrap() as usize);
            assert_eq!(padding(250, length, f64::NAN), wanted, "{length}");
        }
    }

    /// Padded sizes of the real client, its random numbers replaced by the given ones.
    #[test]
    fn chosen_fractions_pad_as_in_the_real_client() {
        for (fraction, spec, size, padded) in [
            (0.0, 1, 1000, 101_000),
            (0.0, 6, 1000, 20_970_455),
            (0.0, 3, 14, 140_014),
            (0.0, 110, 1000, 1000),
            (0.0, 123, 1000, 1000),
            (0.00005, 1, 1000, 101_000),
            (0.00005, 6, 1000, 20_970_455),
            (0.00005, 3, 14, 140_014),
            (0.00005, 110, 1000, 1000),
            (0.00005, 123, 1000, 1419),
            (0.3, 1, 1000, 1033),
            (0.3, 6, 1000, 3_334_333),
            (0.3, 3, 14, 60),
            (0.3, 110, 1000, 1307),
            (0.3, 123, 1000, 2_517_582),
            (0.9999999, 1, 1000, 1010),
            (0.9999999, 6, 1000, 1_001_000),
            (0.9999999, 3, 14, 28),
            (0.9999999, 110, 1000, 2023),
            (0.9999999, 123, 1000, 8_389_607),
            (0.5, 250, 20_970_450, 20_970_455),
        ] {
            assert_eq!(size + padding(spec, size, fraction), padded, "{spec}, {size} bytes, {fraction}");
        }
    }

    /// The real client fails here: it asks for a negative number of bytes.
    #[test]
    fn payloads_near_the_limit_are_not_padded() {
        for spec in [1, 6, 110, 123, 250] {
            for size in [LARGEST_PADDED_BYTES, LARGEST_PADDED_BYTES + 1, MAX_DATA_SIZE] {
                assert_eq!(padding(spec, size, 0.5), 0, "{spec}, {size} bytes");
            }
        }
        assert_eq!(padding(1, 0, 0.0), 0);
    }

    #[test]
    fn only_some_numbers_are_specifications() {
        let specs = (-300..600).filter_map(Obfuscation::from_spec).map(Obfuscation::spec);
        assert!(specs.eq((1..=6).chain(110..=123).chain([250])));
    }

    proptest! {
        #[test]
        fn padding_stays_within_its_limits(
            spec in prop::sample::select(&[1_i64, 2, 3, 4, 5, 6, 110, 117, 123, 250][..]),
            payload_bytes in 0..=MAX_DATA_SIZE,
            fraction in 0.0..1.0,
        ) {
            let padding = padding(spec, payload_bytes, fraction);
            prop_assert!(payload_bytes + padding <= LARGEST_PADDED_BYTES.max(payload_bytes));
            match spec {
                110.. if spec < 200 => prop_assert!(padding < 1 << (spec - 100)),
                250 => prop_assert!(padding * 100 <= payload_bytes * 12),
                _ => {}
            }
        }
    }
}
