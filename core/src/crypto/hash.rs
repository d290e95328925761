//! Hashes: chunk ids and the names of stored objects (data layer, section 5).

use crate::id::StoreHash;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// How the ids of chunks are made from their plaintext (data layer, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdHash {
    /// HMAC-SHA256.
    Sha256,
    /// BLAKE3 in keyed mode.
    Blake3,
}

impl IdHash {
    /// The name in the repository's config.
    pub fn name(self) -> &'static str {
        match self {
            IdHash::Sha256 => "sha256",
            IdHash::Blake3 => "blake3",
        }
    }

    /// The hash with this name in the repository's config.
    pub fn from_name(name: &str) -> Option<Self> {
        [IdHash::Sha256, IdHash::Blake3].into_iter().find(|hash| hash.name() == name)
    }

    /// The keyed hash of `parts`, one after another.
    pub(crate) fn mac(self, key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
        match self {
            IdHash::Sha256 => {
                let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
                parts.iter().for_each(|part| mac.update(part));
                mac.finalize().into_bytes().into()
            }
            IdHash::Blake3 => {
                let mut hasher = blake3::Hasher::new_keyed(key);
                parts.iter().for_each(|part| {
                    hasher.update(part);
                });
                hasher.finalize().into()
            }
        }
    }
}

/// The name that the store gives to an object with these bytes: unkeyed BLAKE3 (repository layer, section 1.1).
pub fn store_hash(stored: &[u8]) -> StoreHash {
    StoreHash(blake3::hash(stored).into())
}

/// The same for bytes that lie in several pieces.
pub fn store_hash_of<P: AsRef<[u8]>>(pieces: &[P]) -> StoreHash {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece.as_ref());
    }
    StoreHash(hasher.finalize().into())
}

/// SHA-256 of `parts`, one after another: the rule by which keys derive from keys (repository layer, section 3.8).
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}
