//! Buzhash over a window that lies behind the cut: what `buzhash` and `buzhash64` share (data layer, section 3.5).

use super::bounds::{Bounds, low_mask};
use super::lanes::{Deciding, Rolling, Track, search};
use super::params::Exponents;
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
    pub(super) bounds: Bounds,
    pub(super) hash: Buzhash<T>,
}

/// The hash: the sum of a word for each byte of the window, turned by its distance from the end.
pub(super) struct Buzhash<T: Word> {
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
        Window { bounds: Bounds::new(exponents), hash: Buzhash { size, entering, leaving } }
    }

    pub(super) fn max_size(&self) -> usize {
        self.bounds.max
    }

    pub(super) fn cut(&self, ahead: &[u8]) -> usize {
        let (bounds, size) = (&self.bounds, self.hash.size);
        let ahead = bounds.reach(ahead);
        let end = self.end(ahead.len());
        if end <= bounds.min {
            return ahead.len();
        }
        // From the window of one byte earlier, so that every candidate begins with a step.
        let before = bounds.min - 1;
        let window = &ahead[before..before + size];
        let mut hash = window.iter().fold(T::default(), |hash, &byte| self.hash.push(hash, byte));
        let track = Track { old: &ahead[before..end - 1], new: &ahead[before + size..ahead.len() - 1] };
        let (strict, loose) = track.split_at(bounds.switch(end) - bounds.min);
        if let Some(at) = search(&self.hash, &mut hash, strict, low_mask(bounds.strict_bits)) {
            return bounds.min + at;
        }
        match search(&self.hash, &mut hash, loose, low_mask(bounds.loose_bits)) {
            Some(at) => bounds.min + strict.new.len() + at,
            None => ahead.len(),
        }
    }

    /// Behind the last position at which a chunk may end before `len` bytes are over: the window and one byte more have to fit
    /// in behind a cut.
    pub(super) fn end(&self, len: usize) -> usize {
        len.saturating_sub(self.hash.size)
    }
}

impl<T: Word> Rolling for Buzhash<T> {
    type Word = T;

    fn window_bytes(&self) -> usize {
        self.size
    }

    #[inline(always)]
    fn push(&self, hash: T, new: u8) -> T {
        hash.rotate(1) ^ self.entering[usize::from(new)]
    }

    #[inline(always)]
    fn roll(&self, hash: T, old: u8, new: u8) -> T {
        hash.rotate(1) ^ (self.leaving[usize::from(old)] ^ self.entering[usize::from(new)])
    }
}

impl<T: Word> Deciding for Buzhash<T> {
    #[inline(always)]
    fn misses(hash: T, mask: u64) -> bool {
        hash.misses(mask)
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
