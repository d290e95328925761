//! The hash of `toeplitz-aes`: a secret table, summed in a field whose polynomial is known (data layer, section 3.4).

use super::lanes::Rolling;
use super::stream::{Stream, Table};
use super::universal::{Keyed, WINDOW_BYTES};
use alloc::boxed::Box;
use zeroize::Zeroizing;

/// The sum of `x^(63-j) * T[b_j]` modulo `x^64 + x^4 + x^3 + x + 1`.
pub(super) struct Toeplitz {
    entering: Table<u64>,
    /// T * x^64: what a byte has become when it leaves.
    leaving: Table<u64>,
}

impl Keyed for Toeplitz {
    fn draw(stream: &mut Stream) -> Toeplitz {
        let entering = stream.table();
        let mut leaving = Box::new(Zeroizing::new([0; 256]));
        for (leaving, &entering) in leaving.iter_mut().zip(entering.iter()) {
            *leaving = (0..64).fold(entering, |word, _| times_x(word));
        }
        Toeplitz { entering, leaving }
    }
}

impl Rolling for Toeplitz {
    type Word = u64;

    fn window_bytes(&self) -> usize {
        WINDOW_BYTES
    }

    #[inline(always)]
    fn push(&self, digest: u64, new: u8) -> u64 {
        times_x(digest) ^ self.entering[usize::from(new)]
    }

    #[inline(always)]
    fn roll(&self, digest: u64, old: u8, new: u8) -> u64 {
        times_x(digest) ^ (self.leaving[usize::from(old)] ^ self.entering[usize::from(new)])
    }
}

#[inline(always)]
fn times_x(word: u64) -> u64 {
    (word << 1) ^ ((word >> 63) * 0x1b)
}
