//! Writing, for the module of `portaborg/write`: repositories are made, archives added and deleted, and space freed.
//!
//! Locks, the order of writes, and what is made durable when are core's, as in the native program. Nothing here does two
//! things at once: the package's worker calls one at a time.

mod client;
mod compact;
mod create;
mod cut;
mod delete;
mod entry;
mod failure;
mod found;
mod lock;
mod target;

pub use create::Feed;
pub use target::Target;

use crate::failure::{Failure, Fault};
use crate::keys::handed_in;
use crate::repository::RepositoryFacts;
use crate::sink::{Sink, json};
use client::SystemRandom;
use failure::{defaults_failure, written};
use portaborg_core::codec::Zrip;
use portaborg_core::crypto::{Kdf, Keys, Sealer};
use portaborg_core::object::Opener;
use portaborg_core::repo::{self, ChunkReader, IndexDamage, repository_keys, unlock};
use std::cell::RefCell;
use std::str::FromStr;
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

/// Writes to a repository that lies in a [`Target`].
#[wasm_bindgen]
pub struct Writer(Open);

/// What all calls share.
pub struct Open {
    /// Where it lies, and its config.
    pub repository: repo::Repository<Target>,
    /// The secrets.
    pub keys: Keys,
    /// Who this is to others who want a lock.
    pub host: String,
    /// What was damaged, but could be done without, since it was last told.
    pub warnings: RefCell<Vec<Failure>>,
}

/// Reads of a repository that is written to.
pub type Reader<'r> = ChunkReader<'r, Target>;

/// What compresses and decompresses.
pub static ENGINE: Zrip = Zrip;

#[wasm_bindgen]
impl Writer {
    /// Makes a repository with a key in it, and opens it. `options` are JSON.
    pub async fn found(target: Target, passphrase: Vec<u8>, options: String) -> Result<Writer, JsValue> {
        let passphrase = Zeroizing::new(passphrase);
        Ok(Writer(found::run(target, &passphrase, &options).await?))
    }

    /// Reads the config and unlocks the key. `key` is the text of a key file or of a paper key.
    pub async fn open(target: Target, passphrase: Vec<u8>, key: Option<String>) -> Result<Writer, JsValue> {
        let (passphrase, key) = (Zeroizing::new(passphrase), key.map(Zeroizing::new));
        Ok(Writer(Open::new(target, &passphrase, key).await?))
    }

    /// What is said of it, as JSON.
    pub fn facts(&self) -> String {
        let warnings = self.0.warnings.take();
        json(&RepositoryFacts::of(self.0.repository.id(), self.0.keys.suite(), &warnings))
    }

    /// Makes an archive of what the feed gives, and tells of it, as JSON. `options` are JSON.
    pub async fn create(&self, options: String, feed: Feed, sink: Sink) -> Result<String, JsValue> {
        Ok(create::run(&self.0, &options, &feed, &sink).await?)
    }

    /// Soft-deletes archives, a JSON array of what means one each, and gives their ids as JSON.
    pub async fn delete(&self, archives: String) -> Result<String, JsValue> {
        Ok(delete::run(&self.0, &archives).await?)
    }

    /// Frees the space of what no archive needs, and tells how much that was, as JSON.
    pub async fn compact(&self, threshold_percent: f64, sink: Sink) -> Result<String, JsValue> {
        Ok(compact::run(&self.0, threshold_percent, &sink).await?)
    }
}

impl Open {
    async fn new(target: Target, passphrase: &[u8], key: Option<Zeroizing<String>>) -> Result<Open, Failure> {
        let repository = repo::Repository::open(target).await.map_err(Failure::open)?;
        let suite = repository.config.suite.ok_or_else(|| {
            let text = "The repository has no key information in its config.";
            Failure::new(Fault::Damaged, "RepositoryKeyInfoMissing", "config/config", text)
        })?;
        let mut sources = Vec::new();
        if let Some(text) = key {
            sources.push(handed_in(&text, repository.id())?);
        }
        sources.extend(repository_keys(&repository.store, repository.id()).await.map_err(written)?);
        let unlocked = unlock(&sources, passphrase, Kdf::Stored, suite, repository.id());
        let keys = unlocked.map_err(|error| Failure::unlock(&error))?.keys;
        Ok(Open { repository, keys, host: client::host()?, warnings: RefCell::default() })
    }

    /// What seals in this run; two would do no harm.
    pub fn sealer(&self) -> Result<Sealer<'_>, Failure> {
        Ok(Sealer::new(&self.keys, Box::new(SystemRandom::new()?)))
    }

    /// Opens objects and store objects.
    pub fn opener(&self) -> Opener<'_> {
        Opener::new(&self.keys, &ENGINE)
    }

    /// Keeps what is damaged in the chunk index, but can be done without, until it is told.
    pub fn warn(&self, damage: IndexDamage) {
        self.warnings.borrow_mut().push(Failure::index_damage(damage));
    }

    /// What is asked for, else the repository's default, else the built-in one (data layer, section 17).
    pub async fn chosen<T: FromStr<Err: std::fmt::Display>>(
        &self,
        what: &'static str,
        asked_for: Option<&str>,
        builtin: &str,
    ) -> Result<T, Failure> {
        let stored = match asked_for {
            Some(_) => None,
            None => {
                let defaults = self.repository.defaults(&mut self.opener()).await.map_err(defaults_failure)?;
                if what == "compression" { defaults.compression } else { defaults.chunker_params }
            }
        };
        let text = asked_for.or(stored.as_deref()).unwrap_or(builtin);
        text.parse().map_err(|error| {
            Failure::new(Fault::Misuse, "CommandError", what, format_args!("{text:?} can not be used: {error}."))
        })
    }
}
