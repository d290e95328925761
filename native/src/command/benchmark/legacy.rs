//! The ciphers of Borg 1, which Borg 2 still measures. No repository of this version has them.

use aes::Aes256;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use blake2::digest::{Digest, consts::U32};
use hmac::{Hmac, Mac};
use sha2::Sha256;

type Blake2b256 = blake2::Blake2b<U32>;

const BATCH_BLOCKS: usize = 64;
const BLOCK_BYTES: usize = 16;

/// AES-256 in counter mode, and a tag over the ciphertext.
pub struct CtrThenMac {
    cipher: Aes256,
    mac_key: Vec<u8>,
    mac: fn(&[u8], &[u8]) -> [u8; 32],
}

impl CtrThenMac {
    pub fn hmac_sha256(key: &[u8; 32], mac_key: &[u8]) -> Self {
        CtrThenMac { cipher: Aes256::new(key.into()), mac_key: mac_key.to_vec(), mac: hmac_sha256 }
    }

    pub fn blake2b(key: &[u8; 32], mac_key: &[u8]) -> Self {
        CtrThenMac { cipher: Aes256::new(key.into()), mac_key: mac_key.to_vec(), mac: blake2b_256 }
    }

    /// Replaces `sealed` by the tag and the ciphertext.
    pub fn seal(&self, plaintext: &[u8], sealed: &mut Vec<u8>) {
        sealed.clear();
        sealed.resize(32, 0);
        sealed.extend_from_slice(plaintext);
        let mut counter = 0_u128;
        let mut stream = [Block::<Aes256>::default(); BATCH_BLOCKS];
        for batch in sealed[32..].chunks_mut(BATCH_BLOCKS * BLOCK_BYTES) {
            for block in &mut stream {
                *block = counter.to_be_bytes().into();
                counter += 1;
            }
            self.cipher.encrypt_blocks(&mut stream);
            for (bytes, block) in batch.chunks_mut(BLOCK_BYTES).zip(&stream) {
                bytes.iter_mut().zip(block).for_each(|(byte, stream)| *byte ^= stream);
            }
        }
        let tag = (self.mac)(&self.mac_key, &sealed[32..]);
        sealed[..32].copy_from_slice(&tag);
    }
}

pub fn hmac_sha256(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(data);
    mac.finalize().into_bytes().into()
}

pub fn blake2b_256(key: &[u8], data: &[u8]) -> [u8; 32] {
    Blake2b256::new().chain_update(key).chain_update(data).finalize().into()
}
