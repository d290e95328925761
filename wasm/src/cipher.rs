//! AES-256-OCB through Web Crypto, which has no OCB, but AES-CBC: several times as fast as software here, and beside it.
//!
//! Core masks the blocks, so that the bare inverse cipher is all that is left to do, and unmasks and authenticates them
//! afterwards. Decryption in CBC mode is the inverse cipher, and then an exclusive or with the block before, which is undone.
//! Its padding, which has to be right, is a block that is made for that: what decrypts to sixteen times sixteen. Blocks of many
//! objects go there behind each other, so that short ones don't cost a call each.

use aes::Aes256;
use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use js_sys::{Promise, Uint8Array};
use portaborg_core::bytes::Hex;
use portaborg_core::crypto::{Keys, SessionId};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
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

/// Masked blocks that are being decrypted: those of many objects behind each other, as if they were one message.
pub struct Decrypting(Vec<Piece>);

/// Blocks that are decrypted in one call.
struct Piece {
    session: SessionId,
    places: Vec<Place>,
    /// The block before the piece, masked.
    before: [u8; BLOCK_BYTES],
    decrypted: Decrypted,
}

enum Decrypted {
    Waiting(JsFuture),
    Done(Result<JsValue, JsValue>),
}

/// A part of the blocks that have this number.
struct Place {
    number: usize,
    range: Range<usize>,
}

/// A piece that is being filled.
struct Filling {
    session: SessionId,
    places: Vec<Place>,
    before: [u8; BLOCK_BYTES],
    last: [u8; BLOCK_BYTES],
    data: Vec<u8>,
}

impl Cipher {
    /// Begins to decrypt blocks, each with the key of its session.
    pub(crate) fn begin<'b>(&self, keys: &Keys, all: impl Iterator<Item = (SessionId, &'b mut [u8])>) -> Decrypting {
        let mut pieces = Vec::new();
        let mut filling: Option<Filling> = None;
        for (number, (session, blocks)) in all.enumerate() {
            let mut start = 0;
            while start < blocks.len() {
                let is_full = |filling: &mut Filling| filling.session != session || filling.data.len() >= PIECE_BYTES;
                if let Some(full) = filling.take_if(is_full) {
                    pieces.push(self.send(keys, full));
                }
                let filling = filling.get_or_insert_with(|| Filling::new(session));
                let end = blocks.len().min(start + PIECE_BYTES - filling.data.len());
                filling.add(number, start..end, &blocks[start..end]);
                start = end;
            }
        }
        pieces.extend(filling.map(|filling| self.send(keys, filling)));
        Decrypting(pieces)
    }

    fn send(&self, keys: &Keys, filling: Filling) -> Piece {
        let Filling { session, places, before, last, mut data } = filling;
        let name = Hex(&session).to_string();
        let key = keys.block_key(&session);
        if !self.knows(&name) {
            self.learn(&name, Uint8Array::from(&key[..]));
        }
        data.extend_from_slice(&padding(&Aes256::new((&*key).into()), &last));
        let decrypted = self.decrypt(&name, Uint8Array::from(&before[..]), Uint8Array::from(&data[..]));
        Piece { session, places, before, decrypted: Decrypted::Waiting(decrypted.into()) }
    }
}

impl Filling {
    fn new(session: SessionId) -> Self {
        let (before, last) = ([0; BLOCK_BYTES], [0; BLOCK_BYTES]);
        Filling { session, places: Vec::new(), before, last, data: Vec::with_capacity(PIECE_BYTES + BLOCK_BYTES) }
    }

    fn add(&mut self, number: usize, range: Range<usize>, blocks: &[u8]) {
        self.last = *blocks.last_chunk().expect("blocks are whole, and pieces have a whole number of them");
        self.data.extend_from_slice(blocks);
        self.places.push(Place { number, range });
    }
}

impl Decrypting {
    /// Looks what is decrypted; `context` is told when there is more.
    pub fn poll(&mut self, context: &mut Context<'_>) {
        for piece in &mut self.0 {
            if let Decrypted::Waiting(future) = &mut piece.decrypted
                && let Poll::Ready(result) = Pin::new(future).poll(context)
            {
                piece.decrypted = Decrypted::Done(result);
            }
        }
    }

    /// Whether everything is decrypted.
    pub fn is_done(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece.decrypted, Decrypted::Done(_)))
    }

    /// Puts what the inverse cipher makes of the same blocks in their place.
    pub fn finish<'b>(self, keys: &Keys, all: impl Iterator<Item = (SessionId, &'b mut [u8])>) {
        let mut all: Vec<&mut [u8]> = all.map(|(_, blocks)| blocks).collect();
        let mut plain = Vec::new();
        for Piece { session, places, mut before, decrypted } in self.0 {
            let bytes: usize = places.iter().map(|place| place.range.len()).sum();
            plain.clear();
            if let Decrypted::Done(Ok(buffer)) = decrypted
                && let decrypted = Uint8Array::new(&buffer)
                && decrypted.length() as usize == bytes
            {
                plain.resize(bytes, 0);
                decrypted.copy_to(&mut plain);
            }
            let mut at = 0;
            for Place { number, range } in places {
                let blocks = &mut all[number][range];
                let end = at + blocks.len();
                match plain.get(at..end) {
                    Some(decrypted) => before = unchain(blocks, decrypted, before),
                    // Whatever Web Crypto has against it, the blocks can still be decrypted here.
                    None => {
                        let blocks = Block::<Aes256>::cast_slice_from_core_mut(blocks.as_chunks_mut().0);
                        Aes256::new((&*keys.block_key(&session)).into()).decrypt_blocks(blocks);
                    }
                }
                at = end;
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

/// Replaces masked blocks by what the inverse cipher makes of them, given what CBC makes of them, and the block before them.
/// Gives the last of them.
fn unchain(blocks: &mut [u8], decrypted: &[u8], mut before: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    for (block, decrypted) in
        blocks.as_chunks_mut::<BLOCK_BYTES>().0.iter_mut().zip(decrypted.as_chunks::<BLOCK_BYTES>().0)
    {
        let masked = *block;
        *block = std::array::from_fn(|at| decrypted[at] ^ before[at]);
        before = masked;
    }
    before
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
