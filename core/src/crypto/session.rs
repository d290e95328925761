//! Session keys, a few of which stay ready.

use super::hash::IdHash;
use super::keys::Keys;
use super::ocb::Ocb;
use super::suite::Cipher;
use crate::tuning::Help;
use alloc::boxed::Box;
use alloc::vec::Vec;
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use zeroize::Zeroizing;

/// How many sessions stay ready: every run of a client has its own, and objects of one pack share a few.
const READY_SESSIONS: usize = 16;

/// Names the session in which a client sealed envelopes: 24 random bytes (repository layer, section 4.2).
pub type SessionId = [u8; 24];

/// Ciphers of the sessions met last, of one repository's keys. Each worker has its own, so that nothing is shared.
#[derive(Default)]
pub struct Sessions {
    ready: Vec<(SessionId, SessionCipher)>,
    help: Help,
}

/// The name of AES-256-OCB in the derivation of its keys.
pub(super) const AES256_OCB: &str = "AES256_OCB";

pub(super) enum SessionCipher {
    Ocb(Box<Ocb>),
    ChaCha(Box<ChaCha20Poly1305>),
}

impl Sessions {
    /// No session is ready yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on other threads may do so much: they help with tags, where nothing is encrypted.
    pub fn set_help(&mut self, help: Help) {
        self.help = help;
    }

    /// The keyed hash that is a tag.
    pub(super) fn tag(&self, hash: IdHash, key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
        hash.mac_on(key, parts, &self.help.tuning, &self.help.exec())
    }

    pub(super) fn get(&mut self, keys: &Keys, cipher: Cipher, id: &SessionId) -> &SessionCipher {
        match self.ready.iter().position(|(ready, _)| ready == id) {
            // The last one is asked first next time.
            Some(position) => self.ready[..=position].rotate_right(1),
            None => {
                self.ready.truncate(READY_SESSIONS - 1);
                self.ready.insert(0, (*id, SessionCipher::new(keys, cipher, id)));
            }
        }
        &self.ready[0].1
    }
}

impl SessionCipher {
    pub(super) fn new(keys: &Keys, cipher: Cipher, id: &SessionId) -> Self {
        let key = |name| Zeroizing::new(keys.session_key(id, name));
        match cipher {
            Cipher::Aes256Ocb => Self::Ocb(Box::new(Ocb::new(&key(AES256_OCB)))),
            Cipher::ChaCha20Poly1305 => {
                Self::ChaCha(Box::new(ChaCha20Poly1305::new((&*key("CHACHA20_POLY1305")).into())))
            }
        }
    }

    /// The cipher that wraps a secret under a key used for nothing else.
    pub(super) fn wrapping(key: &[u8; 32]) -> Self {
        Self::ChaCha(Box::new(ChaCha20Poly1305::new(key.into())))
    }

    /// Decrypts in place; `false` (and `data` is of no use any more) if the tag is wrong.
    pub(super) fn decrypt(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &[u8; 16]) -> bool {
        match self {
            Self::Ocb(cipher) => cipher.decrypt(nonce, aad, data, tag),
            Self::ChaCha(cipher) => cipher.decrypt_inout_detached(nonce.into(), aad, data.into(), tag.into()).is_ok(),
        }
    }

    /// Does what comes before the block cipher; nothing for a cipher that has none.
    pub(super) fn begin(&self, nonce: &[u8; 12], data: &mut [u8]) {
        match self {
            Self::Ocb(cipher) => cipher.begin(nonce, data),
            Self::ChaCha(_) => {}
        }
    }

    /// As [`SessionCipher::decrypt`], after the block cipher was applied.
    pub(super) fn finish(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8], tag: &[u8; 16]) -> bool {
        match self {
            Self::Ocb(cipher) => cipher.finish(nonce, aad, data, tag),
            Self::ChaCha(_) => self.decrypt(nonce, aad, data, tag),
        }
    }

    /// Encrypts in place and gives the tag.
    pub(super) fn encrypt(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        match self {
            Self::Ocb(cipher) => cipher.encrypt(nonce, aad, data),
            Self::ChaCha(cipher) => {
                let tag = cipher.encrypt_inout_detached(nonce.into(), aad, data.into());
                tag.expect("payloads are bounded far below the cipher's limit").into()
            }
        }
    }
}
