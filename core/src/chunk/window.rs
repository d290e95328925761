//! Buzhash over a window that lies behind the cut: what `buzhash` and `buzhash64` share (data layer, section 3.5).

use super::bounds::{Bounds, low_mask};
use super::params::Exponents;
use super::scan::pair_position;
use super::stream::Table;
use alloc::boxed::Box;
use core::ops::BitXor;
use zeroize::{Zeroize, Zeroizing};

/// The words that the two algorithms hash with.
pub(super) trait Word: Copy + Default + BitXor<Output = Self> + Zeroize {
    /// Rotation to the left, by any number of bits.
    fn rotate(self, bits: u32) -> Self;
    /// Whether the mask's bits, counted from the lowest, are all zero.
    fn misses(self, mask: u64) -> bool;
}

pub(super) struct Window<T: Word> {
    bounds: Bounds,
    size: usize,
    /// What a byte adds when it enters the window.
    entering: Table<T>,
    /// What a byte has become when it leaves.
    leaving: Table<T>,
}

impl<T: Word> Window<T> {
    pub(super) fn new(exponents: Exponents, size: usize, entering: Table<T>) -> Self {
        let turn = (size % 64) as u32; // a multiple of both word sizes
        let mut leaving = Box::new(Zeroizing::new([T::default(); 256]));
        leaving.iter_mut().zip(entering.iter()).for_each(|(leaving, entering)| *leaving = entering.rotate(turn));
        Window { bounds: Bounds::new(exponents), size, entering, leaving }
    }

    pub(super) fn max_size(&self) -> usize {
        self.bounds.max
    }

    pub(super) fn cut(&self, ahead: &[u8]) -> usize {
        let bounds = &self.bounds;
        let ahead = bounds.reach(ahead);
        // The window and one byte more have to fit in behind a cut.
        let end = ahead.len().saturating_sub(self.size);
        if end <= bounds.min {
            return ahead.len();
        }
        // From the window of one byte earlier, so that every candidate begins with a step.
        let before = bounds.min - 1;
        let mut hash = self.hash(&ahead[before..before + self.size]);
        let old = &ahead[before..end - 1];
        let new = &ahead[before + self.size..ahead.len() - 1];
        let strict = bounds.switch(end) - bounds.min;
        if let Some(at) = self.search(&mut hash, &old[..strict], &new[..strict], low_mask(bounds.strict_bits)) {
            return bounds.min + at;
        }
        match self.search(&mut hash, &old[strict..], &new[strict..], low_mask(bounds.loose_bits)) {
            Some(at) => bounds.min + strict + at,
            None => ahead.len(),
        }
    }

    fn hash(&self, window: &[u8]) -> T {
        window.iter().fold(T::default(), |hash, &byte| hash.rotate(1) ^ self.entering[usize::from(byte)])
    }

    /// The first step after which the hash has none of the mask's bits.
    fn search(&self, hash: &mut T, old: &[u8], new: &[u8], mask: u64) -> Option<usize> {
        let (entering, leaving): (&[T; 256], &[T; 256]) = (&self.entering, &self.leaving);
        let mut state = *hash;
        let found = pair_position(old, new, |old, new| {
            state = state.rotate(1) ^ (leaving[usize::from(old)] ^ entering[usize::from(new)]);
            state.misses(mask)
        });
        *hash = state;
        found
    }
}

impl Word for u32 {
    #[inline(always)]
    fn rotate(self, bits: u32) -> u32 {
        self.rotate_left(bits)
    }

    #[inline(always)]
    fn misses(self, mask: u64) -> bool {
        self & mask as u32 == 0
    }
}

impl Word for u64 {
    #[inline(always)]
    fn rotate(self, bits: u32) -> u64 {
        self.rotate_left(bits)
    }

    #[inline(always)]
    fn misses(self, mask: u64) -> bool {
        self & mask == 0
    }
}
