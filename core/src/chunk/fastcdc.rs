//! `fastcdc`: a keyed Gear hash, without a window (data layer, section 3.3).

use super::bounds::{Bounds, low_mask};
use super::lanes::{Deciding, Rolling, Track, search};
use super::params::Exponents;
use super::stream::{Stream, Table};

/// After so many bytes more, a byte has left the hash.
pub(super) const GEAR_BYTES: usize = 64;

pub(super) struct FastCdc {
    pub(super) bounds: Bounds,
    pub(super) gear: Gear,
}

/// The hash: a word for each byte, which moves to the left with every byte that follows.
pub(super) struct Gear(Table<u64>);

impl FastCdc {
    pub(super) fn new(exponents: Exponents, stream: &mut Stream) -> FastCdc {
        FastCdc { bounds: Bounds::new(exponents), gear: Gear(stream.table()) }
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
        let bytes = &ahead[bounds.min..];
        let (strict, loose) = Track { old: bytes, new: bytes }.split_at(bounds.switch(ahead.len()) - bounds.min);
        let mut hash = 0;
        if let Some(at) = search(&self.gear, &mut hash, strict, high_mask(bounds.strict_bits)) {
            return bounds.min + at + 1;
        }
        match search(&self.gear, &mut hash, loose, high_mask(bounds.loose_bits)) {
            Some(at) => bounds.min + strict.new.len() + at + 1,
            None => ahead.len(),
        }
    }
}

impl Rolling for Gear {
    type Word = u64;

    fn window_bytes(&self) -> usize {
        GEAR_BYTES
    }

    #[inline(always)]
    fn push(&self, hash: u64, new: u8) -> u64 {
        (hash << 1).wrapping_add(self.0[usize::from(new)])
    }

    /// What is old has been shifted out.
    #[inline(always)]
    fn roll(&self, hash: u64, _old: u8, new: u8) -> u64 {
        self.push(hash, new)
    }
}

impl Deciding for Gear {
    #[inline(always)]
    fn misses(hash: u64, mask: u64) -> bool {
        hash & mask == 0
    }
}

/// The highest bits: the older a byte, the higher the bits that it still decides.
pub(super) fn high_mask(bits: u32) -> u64 {
    low_mask(bits) << (u64::BITS - bits)
}
