//! Chance that can be repeated.

use std::time::{SystemTime, UNIX_EPOCH};

/// A generator of numbers (splitmix64) that says what it began with.
#[derive(Debug, Clone)]
pub struct Dice {
    /// What it began with.
    pub seed: u64,
    state: u64,
}

impl Dice {
    /// From this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Dice { seed, state: seed }
    }

    /// From `PORTABORG_TESTS_SEED`, else from the time.
    #[must_use]
    pub fn cast() -> Self {
        let asked = std::env::var("PORTABORG_TESTS_SEED").ok().and_then(|seed| seed.parse().ok());
        let time = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| u64::from(time.subsec_nanos()));
        Dice::new(asked.unwrap_or_else(time))
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is small.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit as u64) as usize
    }

    /// Puts things into any order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for end in (1..things.len()).rev() {
            things.swap(end, self.below(end + 1));
        }
    }

    /// Bytes that no compressor shortens.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.roll() as u8).collect()
    }
}
