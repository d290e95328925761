//! Randomness, which a face lends from its operating system.

/// A source of random bytes that nobody can predict.
pub trait Random {
    /// Fills `bytes`.
    fn fill(&mut self, bytes: &mut [u8]);

    /// `N` random bytes.
    fn bytes<const N: usize>(&mut self) -> [u8; N]
    where
        Self: Sized,
    {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

/// A number that is uniform in [0, 1), with all 53 bits of a double's precision.
pub fn fraction(random: &mut dyn Random) -> f64 {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_stay_below_one() {
        struct Same(u8);
        impl Random for Same {
            fn fill(&mut self, bytes: &mut [u8]) {
                bytes.fill(self.0);
            }
        }
        assert_eq!(fraction(&mut Same(0)), 0.0);
        assert!(fraction(&mut Same(0xff)) < 1.0);
        assert!((fraction(&mut Same(0x80)) - 0.501_953_125).abs() < 1e-3);
    }
}
