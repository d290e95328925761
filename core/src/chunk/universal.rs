//! A universal hash over 64 bytes of which AES decides: what `rabin-aes`, `goldilocks-aes` and `toeplitz-aes` share (data
//! layer, section 3.4).

use super::bounds::{Bounds, low_mask};
use super::lanes::{LANES, Rolling, Track, lane_bytes};
use super::params::Exponents;
use super::stream::Stream;
use aes::Aes128;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use core::array;
use zeroize::Zeroizing;

/// Bytes that the hash looks at; no chunk is shorter.
pub(super) const WINDOW_BYTES: usize = 64;
/// Positions of a lane that are encrypted at once, with those of the others. Those behind a cut are in vain.
const GROUP_BYTES: usize = 16;
const BATCH_BLOCKS: usize = LANES * GROUP_BYTES;

/// A keyed hash over the last 64 bytes.
pub(super) trait Keyed: Rolling<Word = u64> {
    /// Draws the hash's secret.
    fn draw(stream: &mut Stream) -> Self;
}

pub(super) struct Universal<H> {
    bounds: Bounds,
    cipher: Aes128,
    hash: H,
}

impl<H: Keyed> Universal<H> {
    pub(super) fn new(exponents: Exponents, stream: &mut Stream) -> Self {
        let aes_key: Zeroizing<[u8; 16]> = Zeroizing::new(stream.take());
        let cipher = Aes128::new((&*aes_key).into());
        Universal { bounds: Bounds::new(exponents), cipher, hash: H::draw(stream) }
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
        let old = &ahead[bounds.min - WINDOW_BYTES..ahead.len() - WINDOW_BYTES];
        let track = Track { old, new: &ahead[bounds.min..] };
        let window = &ahead[bounds.min - WINDOW_BYTES..bounds.min];
        let mut digest = window.iter().fold(0, |digest, &byte| self.hash.push(digest, byte));
        let (strict, loose) = track.split_at(bounds.switch(ahead.len()) - bounds.min);
        if let Some(at) = self.search(&mut digest, strict, low_mask(bounds.strict_bits)) {
            return bounds.min + at + 1;
        }
        match self.search(&mut digest, loose, low_mask(bounds.loose_bits)) {
            Some(at) => bounds.min + strict.new.len() + at + 1,
            None => ahead.len(),
        }
    }

    /// The first step after which the encrypted digest has none of the mask's bits.
    fn search(&self, digest: &mut u64, track: Track<'_>, mask: u64) -> Option<usize> {
        let lane_bytes = lane_bytes(WINDOW_BYTES);
        let mut rest = track;
        while rest.new.len() >= LANES * lane_bytes && (LANES * lane_bytes) as u64 <= 1 << mask.count_ones() {
            let passed = track.new.len() - rest.new.len();
            if let Some(at) = self.search_block(digest, rest, lane_bytes, mask) {
                return Some(passed + at);
            }
            rest = rest.split_at(LANES * lane_bytes).1;
        }
        let passed = track.new.len() - rest.new.len();
        self.search_serially(digest, rest, mask).map(|at| passed + at)
    }

    /// The same in one lane.
    fn search_serially(&self, digest: &mut u64, track: Track<'_>, mask: u64) -> Option<usize> {
        let mut blocks = [Block::<Aes128>::default(); BATCH_BLOCKS];
        for (batch, (old, new)) in track.old.chunks(BATCH_BLOCKS).zip(track.new.chunks(BATCH_BLOCKS)).enumerate() {
            let blocks = &mut blocks[..new.len()];
            for (block, (&old, &new)) in blocks.iter_mut().zip(old.iter().zip(new)) {
                *digest = self.hash.roll(*digest, old, new);
                *block = u128::from(*digest).to_le_bytes().into();
            }
            self.cipher.encrypt_blocks(blocks);
            if let Some(at) = blocks.iter().position(|block| decision(block) & mask == 0) {
                return Some(batch * BATCH_BLOCKS + at);
            }
        }
        None
    }

    /// The same within the lanes at the beginning of a track.
    fn search_block(&self, digest: &mut u64, track: Track<'_>, lane_bytes: usize, mask: u64) -> Option<usize> {
        let (lanes, _) = track.lanes::<GROUP_BYTES>(lane_bytes);
        let mut digests = track.begin(&self.hash, *digest, lane_bytes);
        let mut blocks = [Block::<Aes128>::default(); BATCH_BLOCKS];
        for group in 0..lane_bytes / GROUP_BYTES {
            let old: [_; LANES] = array::from_fn(|lane| &lanes[lane].old[group]);
            let new: [_; LANES] = array::from_fn(|lane| &lanes[lane].new[group]);
            for at in 0..GROUP_BYTES {
                for lane in 0..LANES {
                    digests[lane] = self.hash.roll(digests[lane], old[lane][at], new[lane][at]);
                    blocks[lane * GROUP_BYTES + at] = u128::from(digests[lane]).to_le_bytes().into();
                }
            }
            self.cipher.encrypt_blocks(&mut blocks);
            if blocks.iter().any(|block| decision(block) & mask == 0) {
                let passed = group * GROUP_BYTES;
                return (0..LANES).find_map(|lane| {
                    let start = lane * lane_bytes + passed;
                    let positions = &blocks[lane * GROUP_BYTES..][..GROUP_BYTES];
                    let here = positions.iter().position(|block| decision(block) & mask == 0);
                    here.map(|at| start + at).or_else(|| {
                        // Another lane met a cut, but what this one has not passed comes first.
                        let (_, rest) = track.split_at(start + GROUP_BYTES);
                        let (rest, _) = rest.split_at(lane_bytes - passed - GROUP_BYTES);
                        let at = self.search_serially(&mut digests[lane], rest, mask)?;
                        Some(start + GROUP_BYTES + at)
                    })
                });
            }
        }
        *digest = digests[LANES - 1];
        None
    }
}

/// The half of an encrypted digest that decides.
#[inline(always)]
fn decision(block: &Block<Aes128>) -> u64 {
    u128::from_le_bytes((*block).into()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::goldilocks::Goldilocks;
    use crate::chunk::rabin::Rabin;
    use crate::chunk::toeplitz::Toeplitz;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const EXPONENTS: Exponents = Exponents { chunk_min: 10, chunk_max: 23, chunk_mask: 16, nc_level: 0 };

    fn compare<H: Keyed>(data: &[u8], seed: u8, mask: u64) -> Result<usize, TestCaseError> {
        let universal = Universal::<H>::new(EXPONENTS, &mut Stream::new(&[seed; 32]));
        let (mut found, mut at) = (0, 0);
        let block = LANES * lane_bytes(WINDOW_BYTES);
        while data.len() - at >= WINDOW_BYTES + block {
            let (window, new) = data[at..at + WINDOW_BYTES + block].split_at(WINDOW_BYTES);
            let track = Track { old: &data[at..at + block], new };
            let digest = window.iter().fold(0, |digest, &byte| universal.hash.push(digest, byte));
            let (mut serial, mut lanes) = (digest, digest);
            let wanted = universal.search_serially(&mut serial, track, mask);
            prop_assert_eq!(universal.search_block(&mut lanes, track, lane_bytes(WINDOW_BYTES), mask), wanted);
            if wanted.is_none() {
                prop_assert_eq!(lanes, serial);
            }
            found += usize::from(wanted.is_some());
            at += wanted.map_or(block, |hit| hit + 1);
        }
        Ok(found)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn lanes_find_what_is_found_serially(
            data in proptest::collection::vec(any::<u8>(), 20_000..30_000),
            repeats: bool,
            seed: u8,
            bits in 9..16_u32,
        ) {
            let data: Vec<u8> = if repeats { data[..77].iter().copied().cycle().take(data.len()).collect() } else { data };
            compare::<Toeplitz>(&data, seed, low_mask(bits))?;
            compare::<Rabin>(&data, seed, low_mask(bits))?;
            compare::<Goldilocks>(&data, seed, low_mask(bits))?;
        }
    }
}
