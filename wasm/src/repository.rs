//! An open repository, as the package's worker uses it.

use crate::archive::{self, Facts, find};
use crate::cipher::Cipher;
use crate::content;
use crate::crew::Crew;
use crate::damage;
use crate::diff;
use crate::engine::Reading;
use crate::failure::{Failure, Fault};
use crate::filter::Filter;
use crate::folder;
use crate::item_cache::ItemCache;
use crate::items;
use crate::keys::handed_in;
#[cfg(feature = "threads")]
use crate::pool;
use crate::restore;
use crate::sink::{Sink, json};
use crate::source::Source;
use crate::verify;
use js_sys::Uint8Array;
use portaborg_core::codec::Engine;
#[cfg(feature = "threads")]
use portaborg_core::crypto::{self, Mode};
use portaborg_core::crypto::{Kdf, Keys, Suite};
use portaborg_core::id::RepositoryId;
use portaborg_core::index::ChunkIndex;
use portaborg_core::object::Opener;
use portaborg_core::repo::{self, ArchiveEntry, ChunkReader, load_index, repository_keys, unlock};
use serde::Serialize;
use std::cell::RefCell;
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

/// Reads from a repository that lies in a [`Source`]. Any number of its calls may be on their way at once.
#[wasm_bindgen]
pub struct Repository(Open);

/// What all calls share.
pub struct Open {
    /// Who helps.
    pub hands: Hands,
    /// Where items of archives are kept that were read before, if they may be.
    pub item_cache: Option<ItemCache>,
    /// Where it lies, and its config.
    pub repository: repo::Repository<Source>,
    /// The secrets.
    pub keys: Arc<Keys>,
    engine: &'static dyn Engine,
    index: RefCell<Arc<ChunkIndex>>,
    warnings: Vec<Failure>,
}

/// What work may be given to.
#[derive(Clone, Default)]
pub struct Hands {
    /// What decrypts faster than software, if there is anything.
    pub cipher: Option<Cipher>,
    /// Helpers, if there may be any.
    pub crew: Option<Crew>,
    /// The keys for threads that share the memory, if there are any.
    #[cfg(feature = "threads")]
    pub pool: Option<Arc<Keys>>,
}

/// Reads of this repository.
pub type Reader<'r> = ChunkReader<'r, Source>;

/// What decompresses.
pub static ENGINE: Reading = Reading;

/// What is said of an open repository.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryFacts<'a> {
    id: String,
    encryption: &'static str,
    id_hash: &'static str,
    warnings: &'a [Failure],
}

impl RepositoryFacts<'_> {
    /// What is said of this one.
    pub fn of(id: RepositoryId, suite: Suite, warnings: &[Failure]) -> RepositoryFacts<'_> {
        RepositoryFacts {
            id: id.to_string(),
            encryption: suite.encryption_name(),
            id_hash: suite.id_hash.name(),
            warnings,
        }
    }
}

#[wasm_bindgen]
impl Repository {
    /// Reads the config, unlocks the key and loads the chunk index. `key` is the text of a key file or of a paper key, which is
    /// tried before the keys that are stored in the repository.
    pub async fn open(
        source: Source,
        cipher: Option<Cipher>,
        crew: Option<Crew>,
        item_cache: Option<ItemCache>,
        passphrase: Vec<u8>,
        key: Option<String>,
    ) -> Result<Repository, JsValue> {
        let (passphrase, key) = (Zeroizing::new(passphrase), key.map(Zeroizing::new));
        let hands = Hands {
            cipher,
            crew,
            #[cfg(feature = "threads")]
            pool: None,
        };
        Ok(Repository(Open::new(source, hands, item_cache, &passphrase, key).await?))
    }

    /// Its secrets, for a helper. Whoever takes them wipes the array.
    pub fn secrets(&self) -> Uint8Array {
        Uint8Array::from(&self.0.keys.secrets()[..])
    }

    /// What is said of it, as JSON.
    pub fn facts(&self) -> String {
        json(&RepositoryFacts::of(self.0.repository.id(), self.0.keys.suite(), &self.0.warnings))
    }

    /// The archives, or the soft-deleted ones, in the order of their times, as JSON; those that can't be used have a problem.
    pub async fn archives(&self, deleted: bool) -> Result<String, JsValue> {
        let listing = self.0.archives(deleted).await?;
        Ok(json(&listing.iter().map(Facts::of).collect::<Vec<_>>()))
    }

    /// The one archive that `aid:` with the beginning of an id, or a name, means, as JSON.
    pub async fn archive(&self, wanted: String) -> Result<String, JsValue> {
        let found = find(self.0.archives(false).await?, &wanted)?;
        Ok(json(&Facts::of(&found)))
    }

    /// Gives the items of an archive that a filter leaves to the sink, in batches, and what is wrong with their stream.
    pub async fn items(&self, archive: String, filter: String, sink: Sink) -> Result<(), JsValue> {
        Ok(items::run(&self.0, &archive, Filter::parse(&filter)?, &sink).await?)
    }

    /// Gives one page of a folder of an archive to the sink, as a batch, and what is wrong with its items; and tells how many there
    /// are, as JSON.
    pub async fn folder(&self, archive: String, wanted: String, sink: Sink) -> Result<String, JsValue> {
        Ok(json(&folder::run(&self.0, &archive, &wanted, &sink).await?))
    }

    /// Gives the content of a file to the sink, in order: the bytes of its chunks, as an item's batch has them, from `start` up
    /// to `end`.
    pub async fn content(&self, chunks: Vec<u8>, start: f64, end: f64, sink: Sink) -> Result<(), JsValue> {
        Ok(content::run(&self.0, &chunks, start..end, &sink).await?)
    }

    /// Gives items with their contents to the sink, in order: those with these paths, and what is below them.
    pub async fn restore(&self, archive: String, paths: String, sink: Sink) -> Result<(), JsValue> {
        Ok(restore::run(&self.0, &archive, &paths, &sink).await?)
    }

    /// Gives what differs between two archives to the sink: items in batches, and what their numbers tell of.
    pub async fn diff(&self, left: String, right: String, sink: Sink) -> Result<(), JsValue> {
        Ok(diff::run(&self.0, &left, &right, &sink).await?)
    }

    /// Reads all content of an archive and tells the sink of every file with something missing or broken.
    pub async fn damage(&self, archive: String, sink: Sink) -> Result<(), JsValue> {
        Ok(damage::run(&self.0, &archive, &sink).await?)
    }

    /// Verifies the repository, with `data` all its chunks, and gives a report as JSON.
    pub async fn verify(&self, data: bool, sink: Sink) -> Result<String, JsValue> {
        Ok(json(&verify::run(&self.0, data, &sink).await?))
    }
}

#[cfg(feature = "threads")]
impl Hands {
    /// Whether payloads are decrypted by JavaScript's cipher, and not by the pool.
    pub fn is_decrypted_elsewhere(&self) -> bool {
        let aes = Mode::Encrypted(crypto::Cipher::Aes256Ocb);
        self.cipher.is_some() && self.pool.as_ref().is_some_and(|keys| keys.suite().mode == aes)
    }
}

impl Open {
    async fn new(
        source: Source,
        hands: Hands,
        item_cache: Option<ItemCache>,
        passphrase: &[u8],
        key: Option<Zeroizing<String>>,
    ) -> Result<Open, Failure> {
        let repository = repo::Repository::open(source).await.map_err(Failure::open)?;
        let suite = repository.config.suite.ok_or_else(|| {
            let text = "The repository has no key information in its config.";
            Failure::new(Fault::Damaged, "RepositoryKeyInfoMissing", "config/config", text)
        })?;
        let mut sources = Vec::new();
        if let Some(text) = key {
            sources.push(handed_in(&text, repository.id())?);
        }
        sources.extend(repository_keys(&repository.store, repository.id()).await.map_err(Failure::store)?);
        let unlocked = unlock(&sources, passphrase, Kdf::Stored, suite, repository.id());
        let keys = Arc::new(unlocked.map_err(|error| Failure::unlock(&error))?.keys);
        #[cfg(feature = "threads")]
        let hands = Hands { pool: pool::is_there().then(|| Arc::clone(&keys)), ..hands };
        let mut warnings = Vec::new();
        let mut observe = |damage| warnings.push(Failure::index_damage(damage));
        let index = load_index(&repository, &mut Opener::new(&keys, &ENGINE), &mut observe).await;
        let index = RefCell::new(Arc::new(index.map_err(Failure::index)?));
        Ok(Open { hands, item_cache, repository, keys, engine: &ENGINE, index, warnings })
    }

    /// What reads for one call. Nothing keeps other clients from changing the repository meanwhile.
    pub fn reader(&self) -> Reader<'_> {
        let index = Arc::clone(&self.index.borrow());
        let mut reader = ChunkReader::new(&self.repository, &self.keys, self.engine, index);
        reader.without_lock();
        reader
    }

    /// Takes over the index of a reader that had to load it again.
    pub fn keep_index(&self, reader: &Reader<'_>) {
        *self.index.borrow_mut() = Arc::clone(&reader.index);
    }

    /// The archives, or the soft-deleted ones, in the order of their times.
    pub async fn archives(&self, deleted: bool) -> Result<Vec<ArchiveEntry>, Failure> {
        let mut reader = self.reader();
        let listing = archive::list(&mut reader, deleted).await;
        self.keep_index(&reader);
        Ok(listing?.archives)
    }
}
