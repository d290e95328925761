//! AES-256-OCB through Web Crypto, which has no OCB, but AES-CBC: several times as fast as software here, and beside it.
//!
//! Core masks the blocks, so that the bare inverse cipher is all that is left to do, and unmasks and authenticates them
//! afterwards. Decryption in CBC mode is the inverse cipher, and then an exclusive or with the block before, which is undone.
//! Its padding, which has to be right, is a block that is made for that: what decrypts to sixteen times sixteen.

use aes::Aes256;
use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use js_sys::{Promise, Uint8Array};
use portaborg_core::bytes::Hex;
use portaborg_core::crypto::{Keys, SessionId};
use std::ops::Range;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

const BLOCK_BYTES: usize = 16;
/// Web Crypto is fastest with so much at once: of longer ones it has to get memory anew.
const PIECE_BYTES: usize = 128 << 10;

#[wasm_bindgen]
extern "C" {
    /// Web Crypto's AES-CBC, with the keys of sessions by their names.
    #[derive(Clone)]
    pub type Cipher;

    #[wasm_bindgen(method, structural)]
    fn knows(this: &Cipher, session: &str) -> bool;

    #[wasm_bindgen(method, structural)]
    fn learn(this: &Cipher, session: &str, key: Uint8Array);

    /// Promises what is decrypted, without its padding.
    #[wasm_bindgen(method, structural)]
    fn decrypt(this: &Cipher, session: &str, iv: Uint8Array, data: Uint8Array) -> Promise;
}

/// Masked blocks that are being decrypted.
pub struct Decrypting {
    session: SessionId,
    pieces: Vec<Piece>,
}

struct Piece {
    place: Range<usize>,
    /// The block before the piece, masked.
    before: [u8; BLOCK_BYTES],
    decrypted: JsFuture,
}

impl Cipher {
    /// Begins to decrypt blocks with the key of a session.
    pub(crate) fn begin(&self, keys: &Keys, session: SessionId, blocks: &[u8]) -> Decrypting {
        let name = Hex(&session).to_string();
        let key = keys.block_key(&session);
        if !self.knows(&name) {
            self.learn(&name, Uint8Array::from(&key[..]));
        }
        let software = Aes256::new((&*key).into());
        let mut before = [0; BLOCK_BYTES];
        let mut pieces = Vec::new();
        for (number, blocks) in blocks.chunks(PIECE_BYTES).enumerate() {
            let Some(last) = blocks.last_chunk() else { continue };
            let data = Uint8Array::new_with_length((blocks.len() + BLOCK_BYTES) as u32);
            data.subarray(0, blocks.len() as u32).copy_from(blocks);
            data.subarray(blocks.len() as u32, data.length()).copy_from(&padding(&software, last));
            pieces.push(Piece {
                place: number * PIECE_BYTES..number * PIECE_BYTES + blocks.len(),
                before,
                decrypted: self.decrypt(&name, Uint8Array::from(&before[..]), data).into(),
            });
            before = *last;
        }
        Decrypting { session, pieces }
    }
}

impl Decrypting {
    /// Waits, and puts what the inverse cipher makes of the blocks in their place.
    pub async fn finish(self, keys: &Keys, blocks: &mut [u8]) {
        let mut plain = Vec::new();
        for Piece { place, before, decrypted } in self.pieces {
            let decrypted = decrypted.await.map(|buffer| Uint8Array::new(&buffer));
            let blocks = &mut blocks[place];
            match decrypted {
                Ok(decrypted) if decrypted.length() as usize == blocks.len() => {
                    plain.resize(blocks.len(), 0);
                    decrypted.copy_to(&mut plain);
                    unchain(blocks, &plain, before);
                }
                // Whatever Web Crypto has against it, the blocks can still be decrypted here.
                _ => {
                    let blocks = Block::<Aes256>::cast_slice_from_core_mut(blocks.as_chunks_mut().0);
                    Aes256::new((&*keys.block_key(&self.session)).into()).decrypt_blocks(blocks);
                }
            }
        }
    }
}

/// The block that decrypts to a whole block of padding after this one.
fn padding(cipher: &Aes256, last: &[u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    let mut block = last.map(|byte| byte ^ BLOCK_BYTES as u8).into();
    cipher.encrypt_block(&mut block);
    block.into()
}

/// Replaces masked blocks by what the inverse cipher makes of them, given what CBC makes of them.
fn unchain(blocks: &mut [u8], decrypted: &[u8], mut before: [u8; BLOCK_BYTES]) {
    for (block, decrypted) in
        blocks.as_chunks_mut::<BLOCK_BYTES>().0.iter_mut().zip(decrypted.as_chunks::<BLOCK_BYTES>().0)
    {
        let masked = *block;
        *block = std::array::from_fn(|at| decrypted[at] ^ before[at]);
        before = masked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CBC by the book (NIST SP 800-38A, section 6.2).
    fn cbc(cipher: &Aes256, blocks: &[u8], iv: [u8; BLOCK_BYTES]) -> Vec<u8> {
        let mut before = iv;
        let mut out = Vec::new();
        for block in blocks.as_chunks::<BLOCK_BYTES>().0 {
            let mut plain = (*block).into();
            cipher.decrypt_block(&mut plain);
            out.extend(plain.iter().zip(before).map(|(byte, before)| byte ^ before));
            before = *block;
        }
        out
    }

    #[test]
    fn the_inverse_cipher_is_what_is_left_of_cbc() {
        let cipher = Aes256::new(&[7; 32].into());
        let mut blocks: Vec<u8> = (0..64 * 16_u32).map(|at| (at * at / 7) as u8).collect();
        let mut inverse = blocks.clone();
        cipher.decrypt_blocks(Block::<Aes256>::cast_slice_from_core_mut(inverse.as_chunks_mut().0));
        let before = [9; BLOCK_BYTES];
        let padding = padding(&cipher, blocks.last_chunk().unwrap());
        let decrypted = cbc(&cipher, &[&blocks[..], &padding].concat(), before);
        let (decrypted, padded) = decrypted.split_at(blocks.len());
        assert_eq!(padded, [16; 16]);
        unchain(&mut blocks, decrypted, before);
        assert_eq!(blocks, inverse);
    }
}
