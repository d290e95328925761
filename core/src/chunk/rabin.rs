//! The hash of `rabin-aes`: the remainder modulo a secret polynomial (data layer, section 3.4).

use super::lanes::Rolling;
use super::stream::{Stream, Table};
use super::universal::{Keyed, WINDOW_BYTES};
use alloc::boxed::Box;
use zeroize::Zeroizing;

/// The window as a polynomial over GF(2), modulo an irreducible one of degree 64.
pub(super) struct Rabin {
    /// t * x^64: what is shifted out comes back so.
    reducing: Table<u64>,
    /// b * x^504: what the oldest byte of the window has become.
    leaving: Table<u64>,
}

impl Keyed for Rabin {
    fn draw(stream: &mut Stream) -> Rabin {
        // It ends: about one of 64 candidates will do.
        let modulus = loop {
            let modulus = Modulus(stream.word() | 1);
            if modulus.is_irreducible() {
                break modulus;
            }
        };
        let mut reducing = Box::new(Zeroizing::new([0; 256]));
        for (top, reducing) in (0..).zip(reducing.iter_mut()) {
            *reducing = modulus.multiply(top, modulus.0);
        }
        let mut rabin = Rabin { reducing, leaving: Box::new(Zeroizing::new([0; 256])) };
        for byte in 0..=u8::MAX {
            rabin.leaving[usize::from(byte)] = (0..63).fold(u64::from(byte), |digest, _| rabin.push(digest, 0));
        }
        rabin
    }
}

impl Rolling for Rabin {
    type Word = u64;

    fn window_bytes(&self) -> usize {
        WINDOW_BYTES
    }

    #[inline(always)]
    fn push(&self, digest: u64, new: u8) -> u64 {
        ((digest << 8) | u64::from(new)) ^ self.reducing[(digest >> 56) as usize]
    }

    #[inline(always)]
    fn roll(&self, digest: u64, old: u8, new: u8) -> u64 {
        self.push(digest ^ self.leaving[usize::from(old)], new)
    }
}

/// x^64 and these lower terms; bit i is the coefficient of x^i.
struct Modulus(u64);

impl Modulus {
    /// Rabin's test: x^(2^64) is x, and x^(2^32) - x has no factor in common.
    fn is_irreducible(&self) -> bool {
        let x = 2;
        let half = (0..32).fold(x, |power, _| self.multiply(power, power));
        let full = (0..32).fold(half, |power, _| self.multiply(power, power));
        full == x && self.is_coprime_to(half ^ x)
    }

    /// a * b modulo this.
    fn multiply(&self, mut a: u64, mut b: u64) -> u64 {
        let mut product = 0;
        while b != 0 {
            product ^= a & (b & 1).wrapping_neg();
            a = (a << 1) ^ (self.0 & (a >> 63).wrapping_neg());
            b >>= 1;
        }
        product
    }

    /// Euclid's algorithm.
    fn is_coprime_to(&self, other: u64) -> bool {
        let (mut a, mut b) = (1 << 64 | u128::from(self.0), u128::from(other));
        while b != 0 {
            (a, b) = (b, remainder(a, b));
        }
        a == 1
    }
}

/// a modulo b, which is not zero.
fn remainder(mut a: u128, b: u128) -> u128 {
    while a.leading_zeros() <= b.leading_zeros() {
        a ^= b << (b.leading_zeros() - a.leading_zeros());
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irreducible_polynomials_are_told_from_others() {
        assert!(Modulus(0x1b).is_irreducible()); // that of toeplitz-aes
        for (low, why) in [(0x1a, "divided by x"), (0x01, "a power of x + 1"), (0x03, "no trinomial will do")] {
            assert!(!Modulus(low).is_irreducible(), "{why}");
        }
        // Two of degree 32: x^(2^64) is x even so, and only the common factor shows it.
        let (one, other) = (0x1_0000_008d_u128, 0x1_04c1_1db7_u128);
        let product = (0..33).filter(|bit| other >> bit & 1 == 1).fold(0, |sum, bit| sum ^ one << bit);
        assert_eq!(product >> 64, 1);
        assert!(!Modulus(product as u64).is_irreducible());
    }
}
