//! What all content-defined chunkers share: sizes and masks (data layer, section 3.2).

use super::params::Exponents;

/// Sizes in bytes, and how many bits of the hash have to be zero at a cut.
pub(super) struct Bounds {
    /// Bytes at the beginning of a chunk in which it is not cut.
    pub(super) min: usize,
    /// Longest chunk.
    pub(super) max: usize,
    /// Where the strict mask gives way to the loose one; zero if there is but one.
    normal: usize,
    /// Bits of the mask before `normal`.
    pub(super) strict_bits: u32,
    /// Bits of the mask from `normal` on.
    pub(super) loose_bits: u32,
}

impl Bounds {
    pub(super) fn new(exponents: Exponents) -> Bounds {
        let Exponents { chunk_min, chunk_max, chunk_mask, nc_level } = exponents;
        Bounds {
            min: 1 << chunk_min,
            max: 1 << chunk_max,
            // Without normalization both terms are the same.
            normal: (1 << chunk_mask) - (1 << (chunk_mask - nc_level)),
            strict_bits: u32::from(chunk_mask + nc_level),
            loose_bits: u32::from(chunk_mask - nc_level),
        }
    }

    /// As much of the input as one chunk can have.
    pub(super) fn reach<'a>(&self, ahead: &'a [u8]) -> &'a [u8] {
        &ahead[..ahead.len().min(self.max)]
    }

    /// Where the mask changes among the positions from `min` to `end`, which is not below `min`.
    pub(super) fn switch(&self, end: usize) -> usize {
        self.normal.clamp(self.min, end)
    }
}

/// A mask of the lowest `bits`, 1 to 63.
pub(super) fn low_mask(bits: u32) -> u64 {
    (1 << bits) - 1
}
