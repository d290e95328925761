//! `fastcdc`: a keyed Gear hash, without a window (data layer, section 3.3).

use super::bounds::{Bounds, low_mask};
use super::params::Exponents;
use super::scan::position;
use super::stream::{Stream, Table};

pub(super) struct FastCdc {
    bounds: Bounds,
    gear: Table<u64>,
}

impl FastCdc {
    pub(super) fn new(exponents: Exponents, stream: &mut Stream) -> FastCdc {
        FastCdc { bounds: Bounds::new(exponents), gear: stream.table() }
    }

    pub(super) fn max_size(&self) -> usize {
        self.bounds.max
    }

    pub(super) fn cut(&self, ahead: &[u8]) -> usize {
        let bounds = &self.bounds;
        let ahead = bounds.reach(ahead);
        if ahead.len() <= bounds.min {
            return ahead.len();
        }
        let switch = bounds.switch(ahead.len());
        let mut hash = 0;
        if let Some(at) = self.search(&mut hash, &ahead[bounds.min..switch], high_mask(bounds.strict_bits)) {
            return bounds.min + at + 1;
        }
        match self.search(&mut hash, &ahead[switch..], high_mask(bounds.loose_bits)) {
            Some(at) => switch + at + 1,
            None => ahead.len(),
        }
    }

    /// The first byte with which the hash has none of the mask's bits.
    fn search(&self, hash: &mut u64, bytes: &[u8], mask: u64) -> Option<usize> {
        let gear: &[u64; 256] = &self.gear;
        let mut state = *hash;
        let found = position(bytes, |byte| {
            state = (state << 1).wrapping_add(gear[usize::from(byte)]);
            state & mask == 0
        });
        *hash = state;
        found
    }
}

/// The highest bits: the older a byte, the higher the bits that it still decides.
fn high_mask(bits: u32) -> u64 {
    low_mask(bits) << (u64::BITS - bits)
}
