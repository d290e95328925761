//! The hash of `goldilocks-aes`: a polynomial at a secret point of a prime field (data layer, section 3.4).

use super::lanes::Rolling;
use super::stream::{Stream, Table};
use super::universal::{Keyed, WINDOW_BYTES};
use alloc::boxed::Box;
use zeroize::{Zeroize, Zeroizing};

/// 2^64 - 2^32 + 1.
const PRIME: u64 = 0xffff_ffff_0000_0001;
/// 2^64 modulo the prime.
const FOLD: u64 = 0xffff_ffff;

/// The sum of b_j * K^(63-j) modulo [`PRIME`].
pub(super) struct Goldilocks {
    point: u64,
    /// -b * K^64: what is to be added when a byte leaves.
    leaving: Table<u64>,
}

impl Keyed for Goldilocks {
    fn draw(stream: &mut Stream) -> Goldilocks {
        // It ends: but one of 2^32 words is too large.
        let point = loop {
            let word = stream.word();
            if word < PRIME {
                break word;
            }
        };
        let power = (0..6).fold(point, |power, _| multiply_add(power, power, 0));
        let mut leaving = Box::new(Zeroizing::new([0; 256]));
        for (byte, leaving) in (0..).zip(leaving.iter_mut()) {
            *leaving = multiply_add(PRIME - power, byte, 0);
        }
        Goldilocks { point, leaving }
    }
}

impl Rolling for Goldilocks {
    type Word = u64;

    fn window_bytes(&self) -> usize {
        WINDOW_BYTES
    }

    #[inline(always)]
    fn push(&self, digest: u64, new: u8) -> u64 {
        multiply_add(digest, self.point, u64::from(new))
    }

    #[inline(always)]
    fn roll(&self, digest: u64, old: u8, new: u8) -> u64 {
        // No overflow: a table entry is below the prime, and the prime and 255 are below 2^64.
        multiply_add(digest, self.point, self.leaving[usize::from(old)] + u64::from(new))
    }
}

impl Drop for Goldilocks {
    fn drop(&mut self) {
        self.point.zeroize();
    }
}

/// a * b + c modulo the prime. Not all three are near 2^64: the factors are at most the prime.
#[inline(always)]
fn multiply_add(a: u64, b: u64, c: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b) + u128::from(c);
    let (low, high) = (wide as u64, (wide >> 64) as u64);
    // 2^96 is -1, 2^64 is 2^32 - 1.
    let (mut sum, borrow) = low.overflowing_sub(high >> 32);
    sum = sum.wrapping_sub(if borrow { FOLD } else { 0 });
    let (mut sum, carry) = sum.overflowing_add((high & FOLD) * FOLD);
    sum = sum.wrapping_add(if carry { FOLD } else { 0 });
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..3u64, PRIME - 3..=PRIME, (1u64 << 32) - 3..(1 << 32) + 3]
    }

    proptest! {
        #[test]
        fn it_reduces_as_division_does(a in word(), b in word(), c in any::<u64>()) {
            let (a, b) = (a.min(PRIME), b.min(PRIME));
            let wide = u128::from(a) * u128::from(b) + u128::from(c);
            prop_assert_eq!(u128::from(multiply_add(a, b, c)), wide % u128::from(PRIME));
        }
    }
}
