//! Opening a repository: its config, and its defaults (repository layer, section 2.5).

use crate::config::{Config, ConfigError};
use crate::crypto::{EnvelopeError, Keys};
use crate::defaults::Defaults;
use crate::id::RepositoryId;
use crate::name::{Key, Namespace};
use crate::object::Opener;
use crate::store::{Store, StoreError, StoreErrorKind};
use crate::store_object::{Place, open_store_object};
use alloc::string::String;
use alloc::vec::Vec;

/// Configs, defaults and locks are a few hundred bytes; what is larger is none.
const MAX_SMALL_OBJECT_BYTES: usize = 64 * 1024;

/// A repository whose config is read.
#[derive(Debug)]
pub struct Repository<S> {
    /// Where it lies.
    pub store: S,
    /// What it says of itself.
    pub config: Config,
}

/// What a folder that is no Borg 2 repository seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// A repository of Borg 1.x.
    Borg1,
    /// A repository of a beta of Borg 2 before 2.0.0b25.
    Borg2Beta,
    /// A restic or rustic repository.
    Restic,
}

/// Why a repository can't be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no config.
    #[error("config/config is missing")]
    NoConfig,
    /// It is something else.
    #[error("another kind of repository: {0:?}")]
    Foreign(Foreign),
    /// The config can't be used.
    #[error("config/config {0}")]
    Config(#[from] ConfigError),
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Why the defaults can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefaultsError {
    /// The object is missing.
    #[error("config/defaults is missing")]
    Missing,
    /// It is not authentic.
    #[error("config/defaults: {0}")]
    Envelope(#[from] EnvelopeError),
    /// It is authentic, but makes no sense.
    #[error("config/defaults: {0}")]
    Malformed(#[from] crate::msgpack::MsgpackError),
    /// The storage failed.
    #[error("{0}")]
    Store(StoreError),
}

impl<S: Store> Repository<S> {
    /// Reads the config. Nothing is locked or decrypted yet.
    pub async fn open(store: S) -> Result<Self, OpenError> {
        match read_whole(&store, &Key::Config, MAX_SMALL_OBJECT_BYTES).await {
            Ok(stored) => Ok(Repository { config: Config::parse(&stored)?, store }),
            Err(error) if error.is_not_found() => Err(match foreign(&store).await? {
                Some(foreign) => OpenError::Foreign(foreign),
                None => OpenError::NoConfig,
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Its id.
    pub fn id(&self) -> RepositoryId {
        self.config.id
    }

    /// Reads the defaults.
    pub async fn defaults(&self, opener: &mut Opener<'_>) -> Result<Defaults, DefaultsError> {
        let mut stored = match read_whole(&self.store, &Key::Defaults, MAX_SMALL_OBJECT_BYTES).await {
            Ok(stored) => stored,
            Err(error) if error.is_not_found() => return Err(DefaultsError::Missing),
            Err(error) => return Err(DefaultsError::Store(error)),
        };
        let place = Place::Name("config/defaults");
        let plaintext = self.open_store_object(opener, place, &mut stored)?;
        Ok(Defaults::decode(plaintext)?)
    }

    /// Opens a store object of this repository in place.
    pub(crate) fn open_store_object<'o>(
        &self,
        opener: &mut Opener<'_>,
        place: Place<'_>,
        stored: &'o mut [u8],
    ) -> Result<&'o mut [u8], EnvelopeError> {
        let keys: &Keys = opener.keys;
        open_store_object(keys, opener.sessions(), self.id(), place, stored)
    }
}

/// Reads an object that can't be larger than `limit` bytes.
pub async fn read_whole<S: Store>(store: &S, key: &Key, limit: usize) -> Result<Vec<u8>, StoreError> {
    within(store.read(key, 0, limit.saturating_add(1)).await?, key, limit)
}

/// What was read of an object that can't be larger than `limit` bytes.
pub(super) fn within(stored: Vec<u8>, key: &Key, limit: usize) -> Result<Vec<u8>, StoreError> {
    if stored.len() <= limit {
        return Ok(stored);
    }
    Err(StoreError {
        name: alloc::format!("{key}"),
        kind: StoreErrorKind::Failed,
        detail: alloc::format!("is larger than {limit} bytes"),
    })
}

async fn foreign<S: Store>(store: &S) -> Result<Option<Foreign>, StoreError> {
    // Betas before b25 kept each setting as an object of its own.
    if exists(store, &Key::Foreign("config/id")).await? || exists(store, &Key::Foreign("config/manifest")).await? {
        return Ok(Some(Foreign::Borg2Beta));
    }
    match read_whole(store, &Key::Foreign("config"), MAX_SMALL_OBJECT_BYTES).await {
        // Borg 1.x has an INI text there, restic a ciphertext.
        Ok(config) if String::from_utf8_lossy(&config).contains("[repository]") => Ok(Some(Foreign::Borg1)),
        Ok(_) if !store.list(Namespace::Keys).await?.is_empty() => Ok(Some(Foreign::Restic)),
        Ok(_) => Ok(None),
        Err(error) if error.is_not_found() || error.kind == StoreErrorKind::Failed => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether there is an object of this name.
pub(crate) async fn exists<S: Store>(store: &S, key: &Key) -> Result<bool, StoreError> {
    match store.read(key, 0, 1).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}
