//! A universal hash over 64 bytes of which AES decides: what `rabin-aes`, `goldilocks-aes` and `toeplitz-aes` share (data
//! layer, section 3.4).

use super::bounds::{Bounds, low_mask};
use super::params::Exponents;
use super::stream::Stream;
use aes::Aes128;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use zeroize::Zeroizing;

/// Bytes that the hash looks at; no chunk is shorter.
const WINDOW_BYTES: usize = 64;
/// Positions that are encrypted at once. Those behind a cut are in vain.
const BATCH_BLOCKS: usize = 64;

/// A keyed hash over the last 64 bytes that moves on byte by byte.
pub(super) trait RollingHash {
    /// Draws the hash's secret.
    fn draw(stream: &mut Stream) -> Self;
    /// Takes a byte in while the window is not full yet; an empty window has digest 0.
    fn push(&self, digest: u64, new: u8) -> u64;
    /// Takes a byte in, and out the one 64 bytes before it.
    fn roll(&self, digest: u64, old: u8, new: u8) -> u64;
}

pub(super) struct Universal<H> {
    bounds: Bounds,
    cipher: Aes128,
    hash: H,
}

impl<H: RollingHash> Universal<H> {
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
        let new = &ahead[bounds.min..];
        let strict = bounds.switch(ahead.len()) - bounds.min;
        let mut digest = old.iter().chain(new).take(WINDOW_BYTES).fold(0, |digest, &byte| self.hash.push(digest, byte));
        if let Some(at) = self.search(&mut digest, &old[..strict], &new[..strict], low_mask(bounds.strict_bits)) {
            return bounds.min + at + 1;
        }
        match self.search(&mut digest, &old[strict..], &new[strict..], low_mask(bounds.loose_bits)) {
            Some(at) => bounds.min + strict + at + 1,
            None => ahead.len(),
        }
    }

    /// The first byte with which the encrypted digest has none of the mask's bits.
    fn search(&self, digest: &mut u64, old: &[u8], new: &[u8], mask: u64) -> Option<usize> {
        let mut blocks = [Block::<Aes128>::default(); BATCH_BLOCKS];
        for (batch, (old, new)) in old.chunks(BATCH_BLOCKS).zip(new.chunks(BATCH_BLOCKS)).enumerate() {
            let blocks = &mut blocks[..new.len()];
            for (block, (&old, &new)) in blocks.iter_mut().zip(old.iter().zip(new)) {
                *digest = self.hash.roll(*digest, old, new);
                *block = u128::from(*digest).to_le_bytes().into();
            }
            self.cipher.encrypt_blocks(blocks);
            let decision = |block: &Block<Aes128>| u128::from_le_bytes((*block).into()) as u64;
            if let Some(at) = blocks.iter().position(|block| decision(block) & mask == 0) {
                return Some(batch * BATCH_BLOCKS + at);
            }
        }
        None
    }
}
