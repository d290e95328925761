//! Envelopes: a payload with the proof that it belongs where it lies (repository layer, sections 4.1 and 4.3).
//!
//! ```text
//! encrypted       type(1) reserved(1) iv(6, big endian) session(24) tag(16) ciphertext
//! authenticated   type(1) reserved(1) tag(32) payload
//! ```

use super::keys::Keys;
use super::sealer::Ticket;
use super::session::{SessionCipher, SessionId, Sessions};
use super::suite::{Cipher, Mode, Suite};
use alloc::vec::Vec;
use core::ops::Range;
use subtle::ConstantTimeEq;

const PREFIX_BYTES: usize = 2;
const IV_BYTES: usize = 6;
const SESSION_BYTES: usize = size_of::<SessionId>();
const AEAD_HEADER_BYTES: usize = PREFIX_BYTES + IV_BYTES + SESSION_BYTES;
const AEAD_TAG_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
const MAC_BYTES: usize = 32;
/// AES's.
const BLOCK_BYTES: usize = 16;

/// Bytes that encryption adds to a payload.
const AEAD_OVERHEAD: usize = AEAD_HEADER_BYTES + AEAD_TAG_BYTES;
/// Bytes that authentication adds to a payload.
const TAGGED_OVERHEAD: usize = PREFIX_BYTES + MAC_BYTES;

/// Why an envelope is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// Too short to be one.
    #[error("envelope of {found} bytes, at least {expected} expected")]
    TooShort {
        /// Shortest possible length in bytes.
        expected: usize,
        /// Length in bytes.
        found: usize,
    },
    /// It was made with another suite than the repository's: a mistake, or an attempt to pass off weaker protection.
    #[error("envelope type {found:#04x}, {expected:#04x} expected")]
    Type {
        /// The repository's type byte.
        expected: u8,
        /// The envelope's.
        found: u8,
    },
    /// The tag is wrong: damaged or forged, or it lies where it doesn't belong.
    #[error("authentication failed")]
    Tag,
}

impl Suite {
    /// How many bytes an envelope adds to its payload.
    pub fn overhead(self) -> usize {
        match self.mode {
            Mode::Encrypted(_) => AEAD_OVERHEAD,
            Mode::Authenticated => TAGGED_OVERHEAD,
        }
    }
}

impl Keys {
    /// Opens an envelope in place and gives its payload, which is authentic for this `context` and `id`
    /// (a chunk's id, or nothing for store objects).
    ///
    /// On an error the content of `envelope` is of no use any more. `sessions` must have served no other keys.
    ///
    /// # Panics
    ///
    /// If `context` and `id` have more than 65535 bytes together; they have about a hundred.
    pub fn open<'e>(
        &self,
        sessions: &mut Sessions,
        envelope: &'e mut [u8],
        context: &[u8],
        id: &[u8],
    ) -> Result<&'e mut [u8], EnvelopeError> {
        self.open_with(sessions, envelope, context, id, SessionCipher::decrypt)
    }

    /// Prepares an envelope so that all that is left to do with a part of it is the bare inverse of AES-256, block by block, by
    /// whomever: gives the part, and the session whose [key](Keys::block_key) it takes. Then [`Keys::finish`] opens it.
    ///
    /// `None`, and nothing is changed, if the cipher is another one, or if the part would be shorter than `from_bytes`.
    pub fn begin(
        &self,
        sessions: &mut Sessions,
        envelope: &mut [u8],
        from_bytes: usize,
    ) -> Option<(SessionId, Range<usize>)> {
        let suite = self.suite();
        let Mode::Encrypted(cipher @ Cipher::Aes256Ocb) = suite.mode else { return None };
        let blocks_bytes = envelope.len().checked_sub(AEAD_OVERHEAD)? / BLOCK_BYTES * BLOCK_BYTES;
        if blocks_bytes < from_bytes.max(BLOCK_BYTES) || envelope[0] != suite.type_byte() {
            return None;
        }
        let (header, rest) = envelope.split_at_mut(AEAD_HEADER_BYTES);
        let session = header[PREFIX_BYTES + IV_BYTES..].try_into().expect("the header's size");
        let nonce = nonce(&header[PREFIX_BYTES..PREFIX_BYTES + IV_BYTES]);
        sessions.get(self, cipher, &session).begin(&nonce, &mut rest[AEAD_TAG_BYTES..]);
        Some((session, AEAD_OVERHEAD..AEAD_OVERHEAD + blocks_bytes))
    }

    /// Opens an envelope that was [prepared](Keys::begin), and whose part is decrypted.
    ///
    /// # Panics
    ///
    /// As [`Keys::open`] does.
    pub fn finish<'e>(
        &self,
        sessions: &mut Sessions,
        envelope: &'e mut [u8],
        context: &[u8],
        id: &[u8],
    ) -> Result<&'e mut [u8], EnvelopeError> {
        self.open_with(sessions, envelope, context, id, SessionCipher::finish)
    }

    fn open_with<'e>(
        &self,
        sessions: &mut Sessions,
        envelope: &'e mut [u8],
        context: &[u8],
        id: &[u8],
        decrypt: impl FnOnce(&SessionCipher, &[u8; NONCE_BYTES], &[u8], &mut [u8], &[u8; AEAD_TAG_BYTES]) -> bool,
    ) -> Result<&'e mut [u8], EnvelopeError> {
        let suite = self.suite();
        if envelope.len() < suite.overhead() {
            return Err(EnvelopeError::TooShort { expected: suite.overhead(), found: envelope.len() });
        }
        if envelope[0] != suite.type_byte() {
            return Err(EnvelopeError::Type { expected: suite.type_byte(), found: envelope[0] });
        }
        let authentic = match suite.mode {
            Mode::Encrypted(cipher) => {
                let (header, rest) = envelope.split_at_mut(AEAD_HEADER_BYTES);
                let (tag, data) = rest.split_at_mut(AEAD_TAG_BYTES);
                let session = header[PREFIX_BYTES + IV_BYTES..].try_into().expect("the header's size");
                let nonce = nonce(&header[PREFIX_BYTES..PREFIX_BYTES + IV_BYTES]);
                let tag: &[u8; AEAD_TAG_BYTES] = (&*tag).try_into().expect("the tag's size");
                let aad = [context, id, header].concat();
                decrypt(sessions.get(self, cipher, &session), &nonce, &aad, data, tag)
            }
            Mode::Authenticated => {
                let (header, rest) = envelope.split_at(PREFIX_BYTES);
                let (tag, payload) = rest.split_at(MAC_BYTES);
                !self.verifies() || self.tag(sessions, header, context, id, payload).ct_eq(tag).into()
            }
        };
        if authentic { Ok(&mut envelope[suite.overhead()..]) } else { Err(EnvelopeError::Tag) }
    }

    /// Appends the envelope of `payload` for this `context` and `id`. `sessions` must have served no other keys.
    ///
    /// # Panics
    ///
    /// As [`Keys::open`] does.
    pub fn seal_into(
        &self,
        sessions: &mut Sessions,
        ticket: Ticket,
        payload: &[u8],
        context: &[u8],
        id: &[u8],
        out: &mut Vec<u8>,
    ) {
        let suite = self.suite();
        let start = out.len();
        out.reserve(suite.overhead() + payload.len());
        out.extend_from_slice(&[suite.type_byte(), 0]);
        match suite.mode {
            Mode::Encrypted(cipher) => {
                let iv = ticket.iv.to_be_bytes();
                let iv = &iv[iv.len() - IV_BYTES..];
                out.extend_from_slice(iv);
                out.extend_from_slice(&ticket.session);
                let nonce = nonce(iv);
                let aad = [context, id, &out[start..]].concat();
                out.extend_from_slice(&[0; AEAD_TAG_BYTES]);
                out.extend_from_slice(payload);
                let (head, data) = out[start..].split_at_mut(AEAD_OVERHEAD);
                let tag = sessions.get(self, cipher, &ticket.session).encrypt(&nonce, &aad, data);
                head[AEAD_HEADER_BYTES..].copy_from_slice(&tag);
            }
            Mode::Authenticated => {
                let tag = self.tag(sessions, &out[start..], context, id, payload);
                out.extend_from_slice(&tag);
                out.extend_from_slice(payload);
            }
        }
    }

    fn tag(&self, sessions: &Sessions, header: &[u8], context: &[u8], id: &[u8], payload: &[u8]) -> [u8; MAC_BYTES] {
        let aad_len = u16::try_from(context.len() + id.len()).expect("contexts are short").to_be_bytes();
        sessions.tag(self.suite().id_hash, self.tag_key(), &[header, &aad_len, context, id, payload])
    }
}

fn nonce(iv: &[u8]) -> [u8; NONCE_BYTES] {
    let mut nonce = [0; NONCE_BYTES];
    nonce[NONCE_BYTES - IV_BYTES..].copy_from_slice(iv);
    nonce
}

/// Decrypts a secret that was wrapped with a key used for nothing else: ChaCha20-Poly1305 with a zero nonce, tag first
/// (repository layer, section 3.2). `false` if the key is wrong.
pub(super) fn unwrap_once(key: &[u8; 32], tag: &[u8; AEAD_TAG_BYTES], data: &mut [u8]) -> bool {
    SessionCipher::wrapping(key).decrypt(&[0; NONCE_BYTES], &[], data, tag)
}

/// Encrypts a secret in place with a key used for nothing else, as [`unwrap_once`] decrypts it, and gives the tag.
pub(super) fn wrap_once(key: &[u8; 32], data: &mut [u8]) -> [u8; AEAD_TAG_BYTES] {
    SessionCipher::wrapping(key).encrypt(&[0; NONCE_BYTES], &[], data)
}
