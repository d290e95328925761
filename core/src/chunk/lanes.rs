//! The search for a cut in lanes: a hash forgets what has left its window, so it can begin anywhere, and several stretches of
//! the input are hashed side by side. Each step waits for the one before it, but those of other lanes need not: they fill the
//! processor's units meanwhile.
//!
//! What is found is what the serial search finds: the first position in the input, whichever lane meets one first.

use core::array;

/// Stretches that are hashed side by side.
pub(super) const LANES: usize = 4;
/// Bytes of a lane that go in one turn of the loop: one byte at a time, much of the work would be counting.
const GROUP_BYTES: usize = 8;
/// How many windows a lane has, at least: it begins with hashing one.
const WINDOWS_PER_LANE: usize = 8;
/// A lane has no fewer bytes.
const MIN_LANE_BYTES: usize = 2048;

/// A hash over the last bytes that moves on byte by byte.
pub(super) trait Rolling {
    /// What it is at one position; the default is what it is before the first byte.
    type Word: Copy + Default;
    /// How many bytes it looks at.
    fn window_bytes(&self) -> usize;
    /// Takes a byte in while the window is not full yet.
    fn push(&self, word: Self::Word, new: u8) -> Self::Word;
    /// Takes a byte in, and out the one that a full window has to give for it.
    fn roll(&self, word: Self::Word, old: u8, new: u8) -> Self::Word;
}

/// A hash that decides by itself where a cut is.
pub(super) trait Deciding: Rolling {
    /// Whether none of the mask's bits is set.
    fn misses(word: Self::Word, mask: u64) -> bool;
}

/// What a hash passes over: the bytes that leave its window, and those that enter it. Both slices have one length.
#[derive(Clone, Copy)]
pub(super) struct Track<'i> {
    pub(super) old: &'i [u8],
    pub(super) new: &'i [u8],
}

impl<'i> Track<'i> {
    /// The first `len` steps, and those behind them.
    pub(super) fn split_at(self, len: usize) -> (Track<'i>, Track<'i>) {
        let ((old, later_old), (new, later_new)) = (self.old.split_at(len), self.new.split_at(len));
        (Track { old, new }, Track { old: later_old, new: later_new })
    }

    /// The lanes at the beginning, in groups of `N` steps, and the steps behind them all.
    #[inline(always)]
    pub(super) fn lanes<const N: usize>(self, lane_bytes: usize) -> ([Groups<'i, N>; LANES], Track<'i>) {
        let (block, rest) = self.split_at(LANES * lane_bytes);
        let lane = |lane: usize| lane * lane_bytes..(lane + 1) * lane_bytes;
        let groups = array::from_fn(|at| Groups {
            old: block.old[lane(at)].as_chunks().0,
            new: block.new[lane(at)].as_chunks().0,
        });
        (groups, rest)
    }

    /// The words with which the lanes begin. The first one goes on with `first`.
    #[inline(always)]
    pub(super) fn begin<R: Rolling>(self, hash: &R, first: R::Word, lane_bytes: usize) -> [R::Word; LANES] {
        let window = hash.window_bytes();
        // The first lane's is not used; it has no window before it.
        let windows: [&[u8]; LANES] = array::from_fn(|lane| {
            let end = lane.max(1) * lane_bytes;
            &self.new[end - window..end]
        });
        let mut words = [R::Word::default(); LANES];
        for at in 0..window {
            for (word, window) in words.iter_mut().zip(windows) {
                *word = hash.push(*word, window[at]);
            }
        }
        words[0] = first;
        words
    }
}

/// A lane's steps.
#[derive(Clone, Copy)]
pub(super) struct Groups<'i, const N: usize> {
    pub(super) old: &'i [[u8; N]],
    pub(super) new: &'i [[u8; N]],
}

/// How long a lane is: long enough that beginning it costs little, short enough that little is hashed in vain behind a cut.
pub(super) fn lane_bytes(window_bytes: usize) -> usize {
    (WINDOWS_PER_LANE * window_bytes).next_power_of_two().max(MIN_LANE_BYTES)
}

/// The first step after which the hash misses the mask. `word` becomes what the hash is then, or after the last step.
pub(super) fn search<R: Deciding>(hash: &R, word: &mut R::Word, track: Track<'_>, mask: u64) -> Option<usize> {
    let lane_bytes = lane_bytes(hash.window_bytes());
    let mut rest = track;
    // Where cuts are so near to each other that lanes behind them are in vain, one is enough.
    while rest.new.len() >= LANES * lane_bytes && (LANES * lane_bytes) as u64 <= 1 << mask.count_ones() {
        let passed = track.new.len() - rest.new.len();
        if let Some(at) = search_block(hash, word, rest, lane_bytes, mask) {
            return Some(passed + at);
        }
        rest = rest.split_at(LANES * lane_bytes).1;
    }
    let passed = track.new.len() - rest.new.len();
    search_serially(hash, word, rest, mask).map(|at| passed + at)
}

/// The same in one lane.
#[inline(never)]
pub(super) fn search_serially<R: Deciding>(hash: &R, word: &mut R::Word, track: Track<'_>, mask: u64) -> Option<usize> {
    let mut state = *word;
    let mut is_cut = |old: u8, new: u8| {
        state = hash.roll(state, old, new);
        R::misses(state, mask)
    };
    let (old, old_rest) = track.old.as_chunks::<GROUP_BYTES>();
    let (new, new_rest) = track.new.as_chunks::<GROUP_BYTES>();
    let found = 'search: {
        for (group, (old, new)) in old.iter().zip(new).enumerate() {
            for (at, (&old, &new)) in old.iter().zip(new).enumerate() {
                if is_cut(old, new) {
                    break 'search Some(group * GROUP_BYTES + at);
                }
            }
        }
        let at = old_rest.iter().zip(new_rest).position(|(&old, &new)| is_cut(old, new));
        at.map(|at| new.len() * GROUP_BYTES + at)
    };
    *word = state;
    found
}

/// The same within the lanes at the beginning of a track.
#[inline(never)]
fn search_block<R: Deciding>(
    hash: &R,
    word: &mut R::Word,
    track: Track<'_>,
    lane_bytes: usize,
    mask: u64,
) -> Option<usize> {
    let (lanes, _) = track.lanes::<GROUP_BYTES>(lane_bytes);
    let mut words = track.begin(hash, *word, lane_bytes);
    for group in 0..lane_bytes / GROUP_BYTES {
        let old: [_; LANES] = array::from_fn(|lane| &lanes[lane].old[group]);
        let new: [_; LANES] = array::from_fn(|lane| &lanes[lane].new[group]);
        for at in 0..GROUP_BYTES {
            for lane in 0..LANES {
                words[lane] = hash.roll(words[lane], old[lane][at], new[lane][at]);
                if R::misses(words[lane], mask) {
                    // Lanes before this one have passed this step, too. What they have not passed comes first.
                    let passed = group * GROUP_BYTES + at + 1;
                    let hit = lane * lane_bytes + passed - 1;
                    let earlier = words[..lane].iter().enumerate().find_map(|(earlier, &state)| {
                        let (_, rest) = track.split_at(earlier * lane_bytes + passed);
                        let (rest, _) = rest.split_at(lane_bytes - passed);
                        *word = state;
                        let at = search_serially(hash, word, rest, mask)?;
                        Some(earlier * lane_bytes + passed + at)
                    });
                    if earlier.is_none() {
                        *word = words[lane];
                    }
                    return earlier.or(Some(hit));
                }
            }
        }
    }
    *word = words[LANES - 1];
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::bounds::low_mask;
    use crate::chunk::fastcdc::{FastCdc, GEAR_BYTES, high_mask};
    use crate::chunk::params::Exponents;
    use crate::chunk::stream::Stream;
    use crate::chunk::window::Window;
    use crate::chunk::{buzhash, buzhash64};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const EXPONENTS: Exponents = Exponents { chunk_min: 10, chunk_max: 23, chunk_mask: 16, nc_level: 0 };

    /// Noise, or a pattern that comes again and again, or one byte.
    fn input(period: usize, seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let pattern: Vec<u8> = (0..period).map(|_| next()).collect();
        pattern.iter().copied().cycle().take(len).collect()
    }

    /// From every hit to the next, and what the hash is there.
    fn hits<R: Deciding<Word: Into<u64>>>(
        track: Track<'_>,
        mut search: impl FnMut(&mut R::Word, Track<'_>) -> Option<usize>,
        first: R::Word,
    ) -> Vec<(usize, u64)> {
        let (mut word, mut passed, mut hits) = (first, 0, Vec::new());
        while let Some(at) = search(&mut word, track.split_at(passed).1) {
            passed += at + 1;
            hits.push((passed - 1, word.into()));
        }
        hits.push((track.new.len(), word.into()));
        hits
    }

    /// Lanes find what one lane finds, be the mask such that hardly anything or nearly everything is a hit.
    fn compare<R: Deciding<Word: Into<u64>>>(hash: &R, data: &[u8], mask: u64) -> Result<usize, TestCaseError> {
        let window = hash.window_bytes();
        let track = Track { old: &data[..data.len() - window], new: &data[window..] };
        let first = data[..window].iter().fold(R::Word::default(), |word, &byte| hash.push(word, byte));
        let wanted = hits::<R>(track, |word, track| search_serially(hash, word, track, mask), first);
        prop_assert!(hits::<R>(track, |word, track| search(hash, word, track, mask), first) == wanted);
        let lane_bytes = lane_bytes(window);
        let in_lanes = |word: &mut R::Word, track: Track<'_>| {
            if track.new.len() < LANES * lane_bytes {
                return search_serially(hash, word, track, mask);
            }
            search_block(hash, word, track, lane_bytes, mask).or_else(|| {
                let (_, rest) = track.split_at(LANES * lane_bytes);
                search_serially(hash, word, rest, mask).map(|at| LANES * lane_bytes + at)
            })
        };
        prop_assert!(hits::<R>(track, in_lanes, first) == wanted);
        Ok(wanted.len())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lanes_find_what_is_found_serially(
            period in prop_oneof![Just(1_usize), 2..100_usize, Just(1 << 20)],
            seed: u64,
            len in 100..40_000_usize,
            bits in 6..20_u32,
            size in 1..80_usize,
        ) {
            let data = input(period, seed, len);
            let mut stream = Stream::new(&[seed as u8; 32]);
            let fastcdc = FastCdc::new(EXPONENTS, &mut stream);
            compare(&fastcdc.gear, &data, high_mask(bits))?;
            let window = Window::new(EXPONENTS, size, buzhash64::table(&mut stream));
            compare(&window.hash, &data, low_mask(bits))?;
            let window = Window::new(EXPONENTS, size, buzhash::table(seed as i32));
            compare(&window.hash, &data, low_mask(bits))?;
        }
    }

    #[test]
    fn the_first_hit_counts_whichever_lane_meets_one_first() {
        let fastcdc = FastCdc::new(EXPONENTS, &mut Stream::new(&[1; 32]));
        let data = input(1 << 20, 7, 64 + 20 * LANES * lane_bytes(GEAR_BYTES));
        assert!(compare(&fastcdc.gear, &data, high_mask(11)).unwrap() > 50);
    }
}
