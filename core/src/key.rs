//! Keys at rest: secrets wrapped with a passphrase, as text (repository layer, section 3).

mod paper;

pub use paper::paper_text;

use crate::bytes::from_hex;
use crate::crypto::{Argon2Algorithm, Argon2Params, Kdf, KdfError, Keys, Suite, WEAKENED, unwrap_secret};
use crate::id::{RepositoryId, StoreHash};
use crate::msgpack::{MsgpackError, Reader};
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What every key text begins with, before the repository's id.
const TEXT_MAGIC: &str = "BORG_KEY ";
/// The only way of wrapping that version 5 repositories use.
pub const ALGORITHM: &str = "argon2 chacha20-poly1305";
/// The versions of the wrapped secrets that can be read; Borg 2 writes the last.
const READABLE_VERSIONS: core::ops::RangeInclusive<u32> = 1..=2;
/// A key text larger than this is none: real ones have about 600 bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// A key as it is stored: the wrapped secrets and what is needed to unwrap them (section 3.2).
#[derive(Debug, Clone)]
pub struct LockedKey {
    /// What distinguishes the keys of a repository; `admin` for the first.
    pub label: Option<String>,
    /// How the secrets are wrapped.
    pub algorithm: String,
    params: Argon2Params,
    salt: Vec<u8>,
    wrapped: Vec<u8>,
}

/// Where a key text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLocation {
    /// In the repository's `keys/`.
    Repokey,
    /// In a file of the client.
    Keyfile,
}

impl KeyLocation {
    /// The word that users know.
    pub fn name(self) -> &'static str {
        match self {
            KeyLocation::Repokey => "repokey",
            KeyLocation::Keyfile => "keyfile",
        }
    }
}

/// A key text that was found somewhere.
#[derive(Debug, Clone)]
pub struct KeySource {
    /// Where.
    pub location: KeyLocation,
    /// Under which it is stored: the store hash of the text, unless it is damaged.
    pub name: StoreHash,
    /// The text as found.
    pub text: Vec<u8>,
}

/// Why a key can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text after the first line is no base64.
    #[error("is not valid base64")]
    Base64,
    /// The decoded data is no key: damaged.
    #[error("is not a valid key: {0}")]
    Msgpack(#[from] MsgpackError),
    /// Something that a key must have is missing or impossible.
    #[error("has an invalid {key}")]
    Attribute {
        /// The entry of the map.
        key: &'static str,
    },
    /// Made by another kind of program.
    #[error("is wrapped with {algorithm:?}, which is not supported")]
    Algorithm {
        /// As stored.
        algorithm: String,
    },
    /// The passphrase is wrong, or the costs are absurd.
    #[error("{0}")]
    Kdf(#[from] KdfError),
    /// The secrets inside belong to another repository: the text was relabelled.
    #[error("belongs to repository {found}")]
    OtherRepository {
        /// The repository inside.
        found: RepositoryId,
    },
}

/// Whether a text claims to be a key of this repository: its first line says so.
pub fn is_key_of(text: &[u8], repository: RepositoryId) -> bool {
    repository_of(text) == Some(repository)
}

/// The repository that a key text's first line names; `None` if it is no key text.
pub fn repository_of(text: &[u8]) -> Option<RepositoryId> {
    let id = text.strip_prefix(TEXT_MAGIC.as_bytes())?.get(..64)?;
    from_hex(core::str::from_utf8(id).ok()?).map(RepositoryId)
}

/// What a key text holds under its first line, without a look inside: what a paper key spells out (section 3.6).
pub fn blob(text: &[u8]) -> Result<Vec<u8>, KeyError> {
    let newline = text.iter().position(|&byte| byte == b'\n').ok_or(KeyError::Base64)?;
    let digits: Vec<u8> = text[newline..].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(&digits).map_err(|_| KeyError::Base64)
}

impl LockedKey {
    /// Parses a key text, whose first line [`is_key_of`] has found to be right.
    pub fn parse(text: &[u8]) -> Result<LockedKey, KeyError> {
        let blob = blob(text)?;
        let mut version = None;
        let mut algorithm = None;
        let mut kind = None;
        let (mut time, mut memory_kib, mut lanes) = (None, None, None);
        let (mut salt, mut wrapped, mut label) = (None, None, None);
        let mut reader = Reader::new(&blob);
        for _ in 0..reader.map_len()? {
            match reader.bytes()? {
                b"version" => version = Some(reader.int::<u32>()?),
                b"algorithm" => algorithm = Some(reader.text()?),
                b"argon2_type" => kind = Some(reader.text()?),
                b"argon2_time_cost" => time = Some(reader.int::<u32>()?),
                b"argon2_memory_cost" => memory_kib = Some(reader.int::<u32>()?),
                b"argon2_parallelism" => lanes = Some(reader.int::<u32>()?),
                b"salt" => salt = Some(reader.bytes()?),
                b"data" => wrapped = Some(reader.bytes()?),
                b"label" => label = Some(reader.text()?),
                _ => drop(reader.skip()?),
            }
        }
        let missing = |key| KeyError::Attribute { key };
        if version != Some(1) {
            return Err(missing("version"));
        }
        let algorithm = algorithm.ok_or(missing("algorithm"))?;
        if algorithm != ALGORITHM {
            return Err(KeyError::Algorithm { algorithm: algorithm.into() });
        }
        let kind = match kind.ok_or(missing("argon2_type"))? {
            "id" => Argon2Algorithm::Argon2id,
            "i" => Argon2Algorithm::Argon2i,
            "d" => Argon2Algorithm::Argon2d,
            _ => return Err(missing("argon2_type")),
        };
        Ok(LockedKey {
            params: Argon2Params {
                algorithm: kind,
                time: time.ok_or(missing("argon2_time_cost"))?,
                memory_kib: memory_kib.ok_or(missing("argon2_memory_cost"))?,
                lanes: lanes.ok_or(missing("argon2_parallelism"))?,
            },
            label: label.map(String::from),
            algorithm: algorithm.into(),
            salt: salt.ok_or(missing("salt"))?.into(),
            wrapped: wrapped.ok_or(missing("data"))?.into(),
        })
    }

    /// Unwraps the secrets. The passphrase is used exactly as given.
    pub fn unlock(
        &self,
        passphrase: &[u8],
        kdf: Kdf,
        suite: Suite,
        repository: RepositoryId,
    ) -> Result<Keys, KeyError> {
        let params = match kdf {
            Kdf::Stored => self.params,
            Kdf::Weakened => Argon2Params { algorithm: self.params.algorithm, ..WEAKENED },
        };
        let secret = unwrap_secret(passphrase, &self.salt, params, &self.wrapped)?;
        let mut reader = Reader::new(&secret);
        let (mut version, mut owner, mut crypt_key, mut id_key, mut chunk_seed) = (None, None, None, None, None);
        for _ in 0..reader.map_len()? {
            match reader.bytes()? {
                b"version" => version = Some(reader.int::<u32>()?),
                b"repository_id" => owner = Some(RepositoryId(reader.byte_array()?)),
                b"crypt_key" => crypt_key = Some(reader.byte_array()?),
                b"id_key" => id_key = Some(reader.byte_array()?),
                b"chunk_seed" => chunk_seed = Some(reader.int()?),
                _ => drop(reader.skip()?),
            }
        }
        let missing = |key| KeyError::Attribute { key };
        if !version.is_some_and(|version| READABLE_VERSIONS.contains(&version)) {
            return Err(missing("version"));
        }
        let owner = owner.ok_or(missing("repository_id"))?;
        if owner != repository {
            return Err(KeyError::OtherRepository { found: owner });
        }
        Ok(Keys::new(
            suite,
            crypt_key.ok_or(missing("crypt_key"))?,
            id_key.ok_or(missing("id_key"))?,
            chunk_seed.ok_or(missing("chunk_seed"))?,
        ))
    }
}
