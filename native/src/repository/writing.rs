//! What commands need that change a repository.

use crate::app::App;
use crate::client::random::SystemRandom;
use crate::failure::Failure;
use crate::repository::archives::Reader;
use crate::repository::engine::Native;
use crate::repository::folder::Folder;
use crate::repository::permissions::Right;
use crate::repository::session::{Held, Session};
use portaborg_core::chunk::ChunkerParams;
use portaborg_core::codec::{Compression, Engine};
use portaborg_core::crypto::Sealer;
use portaborg_core::defaults::{BUILTIN_COMPRESSION, Defaults};
use portaborg_core::id::StoreHash;
use portaborg_core::name::Namespace;
use portaborg_core::repo::{
    ChunkWriter, IndexDamage, IndexError, PackLimits, load_index_to_add, load_index_to_rewrite,
};
use portaborg_core::store::{BlockingStoreMut, Ready, now};
use std::env;
use std::fmt;
use std::fmt::Display;
use std::str::FromStr;

/// A writer of a repository in a local folder.
pub type Writer<'r> = ChunkWriter<'r, Ready<Folder>>;

impl Session {
    /// Loads the chunk index and gives a writer of chunks.
    pub fn writer(&self, app: &App, held: &Held<'_>, compression: Compression) -> Result<Writer<'_>, Failure> {
        let limits = pack_limits()?;
        let mut observe = |damage| app.fail(&Failure::index_damage(damage, &self.location));
        let loaded = now(load_index_to_add(&self.repository, &mut self.opener(), &mut observe));
        let loaded = loaded.map_err(|error| Failure::index(error, &self.location))?;
        let reader = self.reader_with(held, loaded.index)?;
        let mut writer = ChunkWriter::new(reader, self.sealer()?, &self.engine, compression, limits);
        if loaded.is_rebuilt {
            writer.save_all();
        }
        Ok(writer)
    }

    /// Loads the chunk index for a command that rewrites packs, and makes the stored one whole. That one was damaged before
    /// is no failure then.
    pub fn reader_to_rewrite(
        &self,
        app: &App,
        held: &Held<'_>,
        sealer: &mut Sealer<'_>,
    ) -> Result<Reader<'_>, Failure> {
        let mut observe = |damage| match damage {
            IndexDamage::Fragment(IndexError::Envelope { name, source }) => warn_of_rebuilding(app, name, &source),
            IndexDamage::Fragment(IndexError::Table { name, source }) => warn_of_rebuilding(app, name, &source),
            damage => app.fail(&Failure::index_damage(damage, &self.location)),
        };
        let index = now(load_index_to_rewrite(&self.repository, &mut self.opener(), sealer, &mut observe));
        self.reader_with(held, index.map_err(|error| Failure::index(error, &self.location))?)
    }

    /// Fails at once if packs may not be replaced, rather than in the middle of it.
    pub fn assert_rewritable(&self, what: &str) -> Result<(), Failure> {
        let permissions = self.repository.store.0.permissions();
        for namespace in [Namespace::Packs, Namespace::Index] {
            if !permissions.allow(namespace, Right::Add) || !permissions.allow(namespace, Right::Delete) {
                return Err(Failure::denied(format_args!(
                    "{what} needs write (w/W) and delete (D) permissions on {}/, but only '{}' is granted \
                     (BORG_REPO_PERMISSIONS).",
                    namespace.name(),
                    permissions.letters(namespace)
                )));
            }
        }
        Ok(())
    }

    /// What seals in this run of the program; one is enough, and two would do no harm.
    pub fn sealer(&self) -> Result<Sealer<'_>, Failure> {
        Ok(Sealer::new(&self.keys, Box::new(SystemRandom::new()?)))
    }

    /// What the repository's creator chose for all clients.
    pub fn defaults(&self) -> Result<Defaults, Failure> {
        let defaults = now(self.repository.defaults(&mut self.opener()));
        defaults.map_err(|error| Failure::defaults(error, &self.location))
    }

    /// The compression that is asked for, else the repository's default, else the built-in one (data layer, section 17).
    /// The defaults are not even read where something is asked for.
    pub fn compression(&self, asked_for: Option<Compression>) -> Result<Compression, Failure> {
        match asked_for {
            Some(compression) => Ok(compression),
            None => stored_default("compression", self.defaults()?.compression)
                .map(|stored| stored.unwrap_or(builtin_compression())),
        }
    }

    /// The same for the chunker.
    pub fn chunker_params(&self, asked_for: Option<&ChunkerParams>) -> Result<ChunkerParams, Failure> {
        match asked_for {
            Some(params) => Ok(params.clone()),
            None => {
                let stored = stored_default("chunker params", self.defaults()?.chunker_params)?;
                Ok(stored.unwrap_or(ChunkerParams::CONTENT))
            }
        }
    }

    /// Makes what was done durable.
    pub fn sync(&self) -> Result<(), Failure> {
        self.repository.store.0.sync().map_err(|error| Failure::store(error, &self.location))
    }
}

fn warn_of_rebuilding(app: &App, fragment: StoreHash, why: &dyn fmt::Display) {
    app.warning(&format!(
        "Chunk index fragment index/{fragment} is corrupt, rebuilding the chunk index from the packs ({why})."
    ));
}

/// A default that the repository has, if it has one.
fn stored_default<T: FromStr<Err: Display>>(what: &str, stored: Option<String>) -> Result<Option<T>, Failure> {
    let Some(text) = stored else { return Ok(None) };
    text.parse().map(Some).map_err(|error| {
        let text = format!("The default {what} {text:?} in config/defaults can not be used: {error}.");
        Failure::new(16, "Repository.InvalidRepositoryConfig", text)
    })
}

/// The compression where nobody chose one: the built-in one, or LZ4 if that is not possible here.
pub fn builtin_compression() -> Compression {
    let builtin: Compression = BUILTIN_COMPRESSION.parse().expect("the built-in compression is one");
    match Native.check_level(builtin.compressor.algorithm(), builtin.compressor.level()) {
        Ok(()) => builtin,
        Err(_) => "lz4".parse().expect("LZ4 is a compression"),
    }
}

/// When a pack is full: by `BORG_PACK_MAX_SIZE` in bytes and `BORG_PACK_MAX_COUNT` in objects. A count alone lifts the limit
/// of the size (repository layer, section 5.3).
pub fn pack_limits() -> Result<PackLimits, Failure> {
    let (size, count) = (number("BORG_PACK_MAX_SIZE")?, number("BORG_PACK_MAX_COUNT")?);
    Ok(match (size, count) {
        (None, None) => PackLimits::default(),
        (size, count) => PackLimits { size, count },
    })
}

fn number<T: FromStr>(variable: &str) -> Result<Option<T>, Failure> {
    match env::var(variable) {
        Ok(text) if !text.trim().is_empty() => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Failure::error(format_args!("{variable}: {text:?} is not a whole number"))),
        },
        _ => Ok(None),
    }
}
