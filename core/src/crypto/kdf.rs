//! From a passphrase to the key that wraps the secrets (repository layer, section 3.2).

use super::envelope::{unwrap_once, wrap_once};
use crate::limits::{ARGON2_MAX_LANES, ARGON2_MAX_MEMORY_KIB, ARGON2_MAX_TIME};
use alloc::vec::Vec;
use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

const TAG_BYTES: usize = 16;

/// What turns a passphrase into the key that wraps the secrets (repository layer, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kdf {
    /// The parameters that are stored with the key.
    Stored,
    /// The lowest costs, whatever is stored: for tests only (`BORG_TESTONLY_WEAKEN_KDF`).
    Weakened,
}

/// Parameters of Argon2 version 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argon2Params {
    /// Argon2id, or one of its relatives.
    pub algorithm: Algorithm,
    /// Passes over the memory.
    pub time: u32,
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Kdf {
    /// The parameters that are used where these are stored.
    pub(crate) fn used(self, stored: Argon2Params) -> Argon2Params {
        match self {
            Kdf::Stored => stored,
            Kdf::Weakened => Argon2Params { algorithm: stored.algorithm, ..WEAKENED },
        }
    }
}

/// The parameters of new keys.
pub const NEW_KEYS: Argon2Params =
    Argon2Params { algorithm: Algorithm::Argon2id, time: 3, memory_kib: 64 * 1024, lanes: 4 };

/// The costs of [`Kdf::Weakened`]; the algorithm stays the stored one.
pub const WEAKENED: Argon2Params = Argon2Params { algorithm: Algorithm::Argon2id, time: 1, memory_kib: 8, lanes: 1 };

/// Why a wrapped secret could not be unwrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KdfError {
    /// The costs are zero, or so high that only an attacker would ask for them.
    #[error("Argon2 costs out of bounds: time {time}, memory {memory_kib} KiB, lanes {lanes}")]
    Costs {
        /// Passes over the memory.
        time: u32,
        /// Memory in KiB.
        memory_kib: u32,
        /// Lanes.
        lanes: u32,
    },
    /// The salt or the wrapped data can't be right.
    #[error("salt or wrapped data of a wrong length")]
    Malformed,
    /// The passphrase is wrong, or the data is damaged: no one can tell.
    #[error("wrong passphrase")]
    Passphrase,
}

impl Argon2Params {
    fn check(self) -> Result<Params, KdfError> {
        let Argon2Params { time, memory_kib, lanes, .. } = self;
        let costs = KdfError::Costs { time, memory_kib, lanes };
        if time > ARGON2_MAX_TIME || memory_kib > ARGON2_MAX_MEMORY_KIB || lanes > ARGON2_MAX_LANES {
            return Err(costs);
        }
        Params::new(memory_kib, time, lanes, Some(32)).map_err(|_| costs)
    }
}

/// Derives the wrapping key from `passphrase` and encrypts `secret` with it: the tag, then as many bytes as the secret has.
/// No other secret may be wrapped with the same salt.
pub fn wrap_secret(passphrase: &[u8], salt: &[u8], params: Argon2Params, secret: &[u8]) -> Result<Vec<u8>, KdfError> {
    let key = wrapping_key(passphrase, salt, params)?;
    // Encrypted where it is copied to, so that no copy is left.
    let mut wrapped = Vec::with_capacity(TAG_BYTES + secret.len());
    wrapped.extend_from_slice(&[0; TAG_BYTES]);
    wrapped.extend_from_slice(secret);
    let (tag, data) = wrapped.split_at_mut(TAG_BYTES);
    tag.copy_from_slice(&wrap_once(&key, data));
    Ok(wrapped)
}

/// Derives the wrapping key from `passphrase` and decrypts `wrapped` (tag first) with it.
pub fn unwrap_secret(
    passphrase: &[u8],
    salt: &[u8],
    params: Argon2Params,
    wrapped: &[u8],
) -> Result<Zeroizing<Vec<u8>>, KdfError> {
    params.check()?;
    let (tag, data) = wrapped.split_first_chunk::<TAG_BYTES>().ok_or(KdfError::Malformed)?;
    let key = wrapping_key(passphrase, salt, params)?;
    let mut secret = Zeroizing::new(data.to_vec());
    if unwrap_once(&key, tag, &mut secret) { Ok(secret) } else { Err(KdfError::Passphrase) }
}

fn wrapping_key(passphrase: &[u8], salt: &[u8], params: Argon2Params) -> Result<Zeroizing<[u8; 32]>, KdfError> {
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(params.algorithm, Version::V0x13, params.check()?)
        .hash_password_into(passphrase, salt, &mut *key)
        .map_err(|_| KdfError::Malformed)?;
    Ok(key)
}
