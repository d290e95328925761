//! The secrets of a repository, wrapped with a passphrase (repository layer, sections 3.1 and 3.2).

use super::KeyError;
use super::text::{blob, key_text};
use crate::crypto::{Argon2Algorithm, Argon2Params, CRYPT_KEY_BYTES, ID_KEY_BYTES, Kdf, Keys, NEW_KEYS, Suite};
use crate::crypto::{unwrap_secret, wrap_secret};
use crate::id::RepositoryId;
use crate::msgpack::{Reader, Writer};
use alloc::string::String;
use alloc::vec::Vec;
use zeroize::Zeroizing;

/// The only way of wrapping that version 5 repositories use.
pub const ALGORITHM: &str = "argon2 chacha20-poly1305";
/// Random bytes of a new key, which make its wrapping differ from that of any other with the same passphrase.
pub const SALT_BYTES: usize = 16;

/// The version of the outer map.
const VERSION: u32 = 1;
/// The version of the wrapped secrets.
const SECRETS_VERSION: u32 = 2;
/// The versions of the wrapped secrets that can be read.
const READABLE_VERSIONS: core::ops::RangeInclusive<u32> = 1..=SECRETS_VERSION;
/// More than the encoded secrets have, so that no copy of them is left behind by a growing buffer.
const SECRETS_CAPACITY: usize = 2 * (CRYPT_KEY_BYTES + ID_KEY_BYTES + size_of::<RepositoryId>());

/// A key as it is stored: the wrapped secrets and what is needed to unwrap them (section 3.2).
#[derive(Debug, Clone)]
pub struct LockedKey {
    /// What distinguishes the keys of a repository; [`ADMIN_LABEL`](super::ADMIN_LABEL) for the first.
    pub label: Option<String>,
    /// How the secrets are wrapped.
    pub algorithm: String,
    params: Argon2Params,
    salt: Vec<u8>,
    wrapped: Vec<u8>,
}

impl LockedKey {
    /// Wraps the secrets with a passphrase, which is used exactly as given. `salt` must be random.
    ///
    /// With [`Kdf::Weakened`] the key stores the usual costs all the same, as Borg's do: it opens only where the costs are
    /// weakened again.
    pub fn lock(
        keys: &Keys,
        repository: RepositoryId,
        passphrase: &[u8],
        label: Option<&str>,
        salt: [u8; SALT_BYTES],
        kdf: Kdf,
    ) -> Result<LockedKey, KeyError> {
        if !keys.verifies() {
            return Err(KeyError::Lost);
        }
        let secrets = encode_secrets(keys, repository);
        Ok(LockedKey {
            label: label.map(String::from),
            algorithm: ALGORITHM.into(),
            params: NEW_KEYS,
            salt: salt.into(),
            wrapped: wrap_secret(passphrase, &salt, kdf.used(NEW_KEYS), &secrets)?,
        })
    }

    /// The key as text, in the words of its repository.
    pub fn text(&self, repository: RepositoryId) -> String {
        let Argon2Params { algorithm, time, memory_kib, lanes } = self.params;
        let (_, kind) = KINDS.iter().find(|(kind, _)| *kind == algorithm).expect("all kinds are listed");
        let mut writer = Writer::new();
        writer.sorted_map(&[], |map| {
            map.pair("algorithm", |writer| writer.str(&self.algorithm));
            map.pair("argon2_memory_cost", |writer| writer.uint(memory_kib.into()));
            map.pair("argon2_parallelism", |writer| writer.uint(lanes.into()));
            map.pair("argon2_time_cost", |writer| writer.uint(time.into()));
            map.pair("argon2_type", |writer| writer.str(kind));
            map.pair("data", |writer| writer.bin(&self.wrapped));
            map.optional("label", self.label.as_ref(), Writer::str);
            map.pair("salt", |writer| writer.bin(&self.salt));
            map.pair("version", |writer| writer.uint(VERSION.into()));
        });
        key_text(repository, &writer.into_bytes())
    }

    /// Parses a key text, whose first line [`is_key_of`](super::text::is_key_of) has found to be right.
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
        if version != Some(VERSION) {
            return Err(missing("version"));
        }
        let algorithm = algorithm.ok_or(missing("algorithm"))?;
        if algorithm != ALGORITHM {
            return Err(KeyError::Algorithm { algorithm: algorithm.into() });
        }
        let kind = kind.and_then(|kind| KINDS.iter().find(|(_, name)| *name == kind));
        let &(kind, _) = kind.ok_or(missing("argon2_type"))?;
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
        let secret = unwrap_secret(passphrase, &self.salt, kdf.used(self.params), &self.wrapped)?;
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

/// The secrets as they are wrapped (section 3.1).
fn encode_secrets(keys: &Keys, repository: RepositoryId) -> Zeroizing<Vec<u8>> {
    let mut writer = Writer::after(Vec::with_capacity(SECRETS_CAPACITY));
    writer.sorted_map(&[], |map| {
        map.pair("chunk_seed", |writer| writer.int(keys.chunk_seed().into()));
        map.pair("crypt_key", |writer| writer.bin(keys.crypt_key()));
        map.pair("id_key", |writer| writer.bin(keys.id_key()));
        map.pair("repository_id", |writer| writer.bin(&repository.0));
        map.pair("version", |writer| writer.uint(SECRETS_VERSION.into()));
    });
    Zeroizing::new(writer.into_bytes())
}

/// Kinds of Argon2, and their names in a key.
const KINDS: [(Argon2Algorithm, &str); 3] =
    [(Argon2Algorithm::Argon2id, "id"), (Argon2Algorithm::Argon2i, "i"), (Argon2Algorithm::Argon2d, "d")];
