//! OCB over AES-256 with nonces of 12 bytes and tags of 16 (RFC 7253).
//!
//! Blocks are encrypted 64 at a time, so that the block cipher can keep the processor's units busy: the offsets of 64
//! neighbouring blocks differ from the one before them by words that depend on the key alone.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::sliced::Aes256;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use aes::Aes256;
use aes::cipher::array::Array;
use aes::cipher::consts::U16;
use aes::cipher::{
    Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit, ParBlocks,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

const BLOCK_BYTES: usize = 16;
/// Blocks that are encrypted at once: as many as the widest of the cipher's implementations takes.
const BATCH_BLOCKS: usize = 64;
/// More blocks than these are encrypted as if they were a whole group.
const FEW_BLOCKS: usize = 8;
/// Blocks that are authenticated only, encrypted at once: as many as an object has.
const AAD_BLOCKS: usize = 8;
const BATCH_BYTES: usize = BATCH_BLOCKS * BLOCK_BYTES;
/// The longest input has so many blocks, as a power of two: more than any address space can hold.
const MAX_BLOCKS_LOG: usize = 60;

/// A key, and what depends on nothing else.
pub(super) struct Ocb {
    cipher: Aes256,
    /// L_*, for what is no whole block.
    star: [u8; BLOCK_BYTES],
    /// L_$, for the tag.
    dollar: [u8; BLOCK_BYTES],
    /// L_0, L_1 and so on: what the offset changes by at a block's number with so many trailing zeros.
    steps: [[u8; BLOCK_BYTES]; MAX_BLOCKS_LOG],
    /// The offsets of the blocks of a batch, relative to the offset of the last block before it. Of the batch's last block
    /// it is without the step that leads to it.
    batch: [u8; BATCH_BYTES],
}

/// What is done to the whole blocks of one input. It is inlined into the cipher's implementations, so that the processor's
/// widest registers serve the rest of it, too.
struct Pass<'p> {
    ocb: &'p Ocb,
    blocks: &'p mut [[u8; BLOCK_BYTES]],
    /// The last block's.
    offset: &'p mut [u8; BLOCK_BYTES],
    /// The sum of the plaintext.
    checksum: &'p mut [u8; BLOCK_BYTES],
}

impl Ocb {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let cipher = Aes256::new(key.into());
        let mut star = Block::<Aes256>::default();
        cipher.encrypt_block(&mut star);
        let star: [u8; BLOCK_BYTES] = star.into();
        let dollar = doubled(&star);
        let mut steps = [doubled(&dollar); MAX_BLOCKS_LOG];
        for at in 1..MAX_BLOCKS_LOG {
            steps[at] = doubled(&steps[at - 1]);
        }
        let mut batch = [0; BATCH_BYTES];
        let mut offset = [0; BLOCK_BYTES];
        for (number, place) in (1_usize..).zip(batch.as_chunks_mut().0) {
            if number < BATCH_BLOCKS {
                xor(&mut offset, &steps[number.trailing_zeros() as usize]);
            }
            *place = offset;
        }
        Ocb { cipher, star, dollar, steps, batch }
    }

    /// Encrypts in place and gives the tag.
    pub(super) fn encrypt(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        let (mut offset, mut checksum) = (self.first_offset(nonce), [0; BLOCK_BYTES]);
        let (blocks, rest) = data.as_chunks_mut();
        self.cipher.encrypt_with_backend(Pass { ocb: self, blocks, offset: &mut offset, checksum: &mut checksum });
        if !rest.is_empty() {
            xor(&mut checksum, &padded(rest));
            self.mask_rest(&mut offset, rest);
        }
        self.tag(checksum, &offset, aad)
    }

    /// Decrypts in place; `false` (and `data` is of no use any more) if the tag is wrong.
    pub(super) fn decrypt(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &[u8; 16]) -> bool {
        let (mut offset, mut checksum) = (self.first_offset(nonce), [0; BLOCK_BYTES]);
        let (blocks, rest) = data.as_chunks_mut();
        self.cipher.decrypt_with_backend(Pass { ocb: self, blocks, offset: &mut offset, checksum: &mut checksum });
        self.finish_rest(offset, checksum, rest, aad).ct_eq(tag).into()
    }

    /// Masks the whole blocks of a message, so that all that is left to do with them is the bare inverse of the block cipher,
    /// by whomever; then [`Ocb::finish`].
    pub(super) fn begin(&self, nonce: &[u8; 12], data: &mut [u8]) {
        let mut offset = self.first_offset(nonce);
        self.each_batch(data.as_chunks_mut().0, &mut offset, mask);
    }

    /// Ends what [`Ocb::begin`] has begun; `false` (and `data` is of no use any more) if the tag is wrong.
    pub(super) fn finish(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &[u8; 16]) -> bool {
        let (mut offset, mut checksum) = (self.first_offset(nonce), [0; BLOCK_BYTES]);
        let (blocks, rest) = data.as_chunks_mut();
        self.each_batch(blocks, &mut offset, |batch, offsets| {
            mask(batch, offsets);
            add_up(&mut checksum, batch);
        });
        self.finish_rest(offset, checksum, rest, aad).ct_eq(tag).into()
    }

    /// Decrypts what is no whole block, and gives the tag.
    fn finish_rest(
        &self,
        mut offset: [u8; BLOCK_BYTES],
        mut checksum: [u8; BLOCK_BYTES],
        rest: &mut [u8],
        aad: &[u8],
    ) -> [u8; BLOCK_BYTES] {
        if !rest.is_empty() {
            self.mask_rest(&mut offset, rest);
            xor(&mut checksum, &padded(rest));
        }
        self.tag(checksum, &offset, aad)
    }

    /// Gives a batch after another to `work`, with the offsets of its blocks. `offset` is the last block's.
    #[inline(always)]
    fn each_batch(
        &self,
        blocks: &mut [[u8; BLOCK_BYTES]],
        offset: &mut [u8; BLOCK_BYTES],
        mut work: impl FnMut(&mut [[u8; BLOCK_BYTES]], &[u8; BATCH_BYTES]),
    ) {
        let mut offsets = [0; BATCH_BYTES];
        for (number, batch) in (1_usize..).zip(blocks.chunks_mut(BATCH_BLOCKS)) {
            let (places, _) = offsets.as_chunks_mut();
            for (place, relative) in places.iter_mut().zip(self.batch.as_chunks().0) {
                *place = *relative;
                xor(place, offset);
            }
            if batch.len() == BATCH_BLOCKS {
                let zeros = BATCH_BLOCKS.trailing_zeros() + number.trailing_zeros();
                xor(&mut places[BATCH_BLOCKS - 1], &self.steps[zeros as usize]);
            }
            *offset = places[batch.len() - 1];
            work(batch, &offsets);
        }
        offsets.zeroize();
    }

    /// Encrypts or decrypts what is no whole block.
    fn mask_rest(&self, offset: &mut [u8; BLOCK_BYTES], rest: &mut [u8]) {
        xor(offset, &self.star);
        let pad = self.encrypt_block(*offset);
        rest.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
    }

    fn tag(&self, mut checksum: [u8; BLOCK_BYTES], offset: &[u8; BLOCK_BYTES], aad: &[u8]) -> [u8; BLOCK_BYTES] {
        xor(&mut checksum, offset);
        xor(&mut checksum, &self.dollar);
        let mut tag = self.encrypt_block(checksum);
        xor(&mut tag, &self.hash(aad));
        tag
    }

    /// HASH, of what is authenticated only (RFC 7253, section 4.1).
    fn hash(&self, aad: &[u8]) -> [u8; BLOCK_BYTES] {
        let (mut offset, mut sum) = ([0; BLOCK_BYTES], [0; BLOCK_BYTES]);
        let (blocks, rest) = aad.as_chunks();
        let mut number = 0_usize;
        let mut copy = [[0; BLOCK_BYTES]; AAD_BLOCKS];
        for some in blocks.chunks(AAD_BLOCKS) {
            let copy = &mut copy[..some.len()];
            for (copy, block) in copy.iter_mut().zip(some) {
                number += 1;
                xor(&mut offset, &self.steps[number.trailing_zeros() as usize]);
                *copy = offset;
                xor(copy, block);
            }
            self.cipher.encrypt_blocks(Block::<Aes256>::cast_slice_from_core_mut(copy));
            add_up(&mut sum, copy);
        }
        if !rest.is_empty() {
            let mut last = padded(rest);
            xor(&mut last, &offset);
            xor(&mut last, &self.star);
            xor(&mut sum, &self.encrypt_block(last));
        }
        sum
    }

    /// The offset before the first block (RFC 7253, section 4.2).
    fn first_offset(&self, nonce: &[u8; 12]) -> [u8; BLOCK_BYTES] {
        let mut top = [0; BLOCK_BYTES];
        // The tag's 128 bits are 0 in the first seven bits.
        top[3] = 1;
        top[4..].copy_from_slice(nonce);
        let bottom = u32::from(top[15] & 0x3f);
        top[15] &= 0xc0;
        let top = u128::from_be_bytes(self.encrypt_block(top));
        let stretch = (top ^ (top << 8)) >> 64;
        let offset = match bottom {
            0 => top,
            _ => (top << bottom) | (stretch >> (64 - bottom)),
        };
        offset.to_be_bytes()
    }

    fn encrypt_block(&self, block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
        let mut block = block.into();
        self.cipher.encrypt_block(&mut block);
        block.into()
    }
}

impl Pass<'_> {
    /// Masks, works on and unmasks a batch after another, and reports each batch's plaintext before or after that.
    #[inline(always)]
    fn run(self, work: impl Fn(&mut [[u8; BLOCK_BYTES]]), sums_before: bool) {
        let (mut offset, mut checksum) = (*self.offset, *self.checksum);
        self.ocb.each_batch(self.blocks, &mut offset, |batch, offsets| {
            if sums_before {
                add_up(&mut checksum, batch);
            }
            mask(batch, offsets);
            work(batch);
            mask(batch, offsets);
            if !sums_before {
                add_up(&mut checksum, batch);
            }
        });
        (*self.offset, *self.checksum) = (offset, checksum);
    }
}

impl BlockSizeUser for Pass<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Pass<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        self.run(|batch| encrypt_batch(backend, batch), true);
    }
}

#[inline(always)]
fn encrypt_batch<B: BlockCipherEncBackend<BlockSize = U16>>(backend: &B, batch: &mut [[u8; BLOCK_BYTES]]) {
    let (groups, rest) = Array::slice_as_chunks_mut(Array::cast_slice_from_core_mut(batch));
    groups.iter_mut().for_each(|group| backend.encrypt_par_blocks_inplace(group));
    if rest.len() > FEW_BLOCKS {
        let mut group = ParBlocks::<B>::default();
        group[..rest.len()].copy_from_slice(rest);
        backend.encrypt_par_blocks_inplace(&mut group);
        rest.copy_from_slice(&group[..rest.len()]);
    } else {
        backend.encrypt_tail_blocks_inplace(rest);
    }
}

impl BlockCipherDecClosure for Pass<'_> {
    #[inline(always)]
    fn call<B: BlockCipherDecBackend<BlockSize = U16>>(self, backend: &B) {
        self.run(|batch| decrypt_batch(backend, batch), false);
    }
}

#[inline(always)]
fn decrypt_batch<B: BlockCipherDecBackend<BlockSize = U16>>(backend: &B, batch: &mut [[u8; BLOCK_BYTES]]) {
    let (groups, rest) = Array::slice_as_chunks_mut(Array::cast_slice_from_core_mut(batch));
    groups.iter_mut().for_each(|group| backend.decrypt_par_blocks_inplace(group));
    if rest.len() > FEW_BLOCKS {
        let mut group = ParBlocks::<B>::default();
        group[..rest.len()].copy_from_slice(rest);
        backend.decrypt_par_blocks_inplace(&mut group);
        rest.copy_from_slice(&group[..rest.len()]);
    } else {
        backend.decrypt_tail_blocks_inplace(rest);
    }
}

impl Drop for Ocb {
    fn drop(&mut self) {
        self.star.zeroize();
        self.dollar.zeroize();
        self.steps.zeroize();
        self.batch.zeroize();
    }
}

#[inline(always)]
fn mask(blocks: &mut [[u8; BLOCK_BYTES]], offsets: &[u8; BATCH_BYTES]) {
    blocks.as_flattened_mut().iter_mut().zip(offsets).for_each(|(byte, offset)| *byte ^= offset);
}

#[inline(always)]
fn add_up(sum: &mut [u8; BLOCK_BYTES], blocks: &[[u8; BLOCK_BYTES]]) {
    let mut all = *sum;
    for block in blocks {
        xor(&mut all, block);
    }
    *sum = all;
}

#[inline(always)]
fn xor(block: &mut [u8; BLOCK_BYTES], other: &[u8; BLOCK_BYTES]) {
    block.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
}

/// The bytes, a one bit, and zeros.
fn padded(rest: &[u8]) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = 0x80;
    block
}

/// Twice the block in the field of 2^128 elements.
fn doubled(block: &[u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    let word = u128::from_be_bytes(*block);
    ((word << 1) ^ ((word >> 127) * 0x87)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use ocb3::Ocb3;
    use ocb3::aead::AeadInOut;
    use proptest::prelude::*;

    /// RFC 7253 has a construction for AES-256 in its appendix A: the tag of 384 messages' tags and ciphertexts.
    #[test]
    fn the_sum_of_many_messages_is_that_of_the_specification() {
        let mut key = [0; 32];
        key[31] = 128; // the tag's bits
        let ocb = Ocb::new(&key);
        let nonce = |number: u32| {
            let mut nonce = [0; 12];
            nonce[8..].copy_from_slice(&number.to_be_bytes());
            nonce
        };
        let mut all = Vec::new();
        let mut seal = |number, aad: &[u8], plaintext: &[u8]| {
            let start = all.len();
            all.extend_from_slice(plaintext);
            let tag = ocb.encrypt(&nonce(number), aad, &mut all[start..]);
            all.extend_from_slice(&tag);
        };
        for length in 0..128 {
            let zeros = [0; 128];
            let zeros = &zeros[..length as usize];
            seal(3 * length + 1, zeros, zeros);
            seal(3 * length + 2, &[], zeros);
            seal(3 * length + 3, zeros, &[]);
        }
        let tag = ocb.encrypt(&nonce(385), &all, &mut []);
        assert_eq!(u128::from_be_bytes(tag), 0xd90e_b8e9_c977_c88b_79dd_793d_7ffa_161c);
    }

    proptest! {
        #[test]
        fn it_agrees_with_another_implementation(
            key: [u8; 32],
            nonce: [u8; 12],
            aad in proptest::collection::vec(any::<u8>(), 0..400),
            mut length in prop_oneof![0..200_usize, 1000..1100_usize, 0..70_000_usize],
            seed: u8,
            whole: bool,
        ) {
            if whole {
                length -= length % BLOCK_BYTES;
            }
            let plaintext: Vec<u8> = (0..length).map(|at| (at * at / 7) as u8 ^ seed).collect();
            let (ours, theirs) = (Ocb::new(&key), Ocb3::<Aes256>::new((&key).into()));
            let (mut sealed, mut expected) = (plaintext.clone(), plaintext.clone());
            let tag = ours.encrypt(&nonce, &aad, &mut sealed);
            let expected_tag = theirs.encrypt_inout_detached((&nonce).into(), &aad, (&mut expected[..]).into()).unwrap();
            prop_assert!(sealed == expected);
            prop_assert_eq!(tag, <[u8; 16]>::from(expected_tag));
            prop_assert!(ours.decrypt(&nonce, &aad, &mut sealed, &tag));
            prop_assert!(sealed == plaintext);
        }

        #[test]
        fn the_block_cipher_can_be_applied_elsewhere(
            key: [u8; 32],
            nonce: [u8; 12],
            length in prop_oneof![0..200_usize, 1000..1100_usize, 0..20_000_usize],
            flip: Option<prop::sample::Index>,
        ) {
            let plaintext: Vec<u8> = (0..length).map(|at| (at * at / 7) as u8).collect();
            let mut message = plaintext.clone();
            let theirs = Ocb3::<Aes256>::new((&key).into());
            let tag = theirs.encrypt_inout_detached((&nonce).into(), b"aad", (&mut message[..]).into()).unwrap().into();
            let flip = flip.filter(|_| length > 0).map(|at| at.index(length));
            if let Some(at) = flip {
                message[at] ^= 1;
            }
            let ocb = Ocb::new(&key);
            ocb.begin(&nonce, &mut message);
            let blocks = Block::<Aes256>::cast_slice_from_core_mut(message.as_chunks_mut().0);
            Aes256::new((&key).into()).decrypt_blocks(blocks);
            prop_assert_eq!(ocb.finish(&nonce, b"aad", &mut message, &tag), flip.is_none());
            prop_assert!(flip.is_some() || message == plaintext);
        }

        #[test]
        fn a_changed_bit_is_noticed(length in 0..3000_usize, at: prop::sample::Index, bit in 0..8_u8) {
            let ocb = Ocb::new(&[1; 32]);
            let mut message = alloc::vec![5; length];
            let tag = ocb.encrypt(&[2; 12], b"aad", &mut message);
            message.extend_from_slice(&tag);
            message.extend_from_slice(b"aad");
            let at = at.index(message.len());
            message[at] ^= 1 << bit;
            let (data, rest) = message.split_at_mut(length);
            let (tag, aad) = rest.split_first_chunk().unwrap();
            prop_assert!(!ocb.decrypt(&[2; 12], aad, data, tag));
        }
    }
}
