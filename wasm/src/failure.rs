//! What ends a call, or is wrong with a part of a repository: Borg's message id, the object and a sentence (command line,
//! section 3.2).

use crate::sink::json;
use portaborg_core::archive::ArchiveError;
use portaborg_core::config::ConfigError;
use portaborg_core::item::ItemError;
use portaborg_core::pattern::PatternError;
use portaborg_core::repo::{
    ArchiveProblem, DefaultsError, Foreign, IndexDamage, IndexError, ItemProblem, OpenError, ReadError, UnlockError,
};
use portaborg_core::store::{StoreError, StoreErrorKind};
use serde::Serialize;
use std::fmt;
use wasm_bindgen::JsValue;

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Whose fault it is.
    pub fault: Fault,
    /// Borg's name for it.
    pub code: &'static str,
    /// What it is about: an object's name, an id, a path.
    pub object: String,
    /// A sentence for the user.
    pub message: String,
}

/// Whose fault a failure is; each is a class of errors in JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// Something is missing, broken or forged.
    Damaged,
    /// The passphrase or the key is not the right one.
    Refused,
    /// It is of another kind or version.
    Unsupported,
    /// What was asked for makes no sense, or is not there.
    Misuse,
    /// The storage failed.
    Source,
}

impl Failure {
    /// Any failure.
    pub fn new(fault: Fault, code: &'static str, object: impl fmt::Display, message: impl fmt::Display) -> Self {
        Failure { fault, code, object: object.to_string(), message: message.to_string() }
    }

    /// The config can't be read or used.
    pub fn open(error: OpenError) -> Self {
        let config = |fault, code, message: &dyn fmt::Display| Failure::new(fault, code, "config/config", message);
        let invalid = "Repository.InvalidRepository";
        match error {
            OpenError::NoConfig => {
                config(Fault::Unsupported, invalid, &"This is not a valid repository: config/config is missing.")
            }
            OpenError::Foreign(Foreign::Borg1) => config(
                Fault::Unsupported,
                "Repository.LegacyRepository",
                &"This looks like a repository of borg 1.x, which can not be read here.",
            ),
            OpenError::Foreign(Foreign::Restic) => config(
                Fault::Unsupported,
                invalid,
                &"This is not a valid repository: it looks like one of restic or rustic.",
            ),
            OpenError::Foreign(Foreign::Borg2Beta) => config(
                Fault::Unsupported,
                "Repository.InvalidRepositoryConfig",
                &"This repository was made by a beta of borg 2 older than 2.0.0b25, whose format nothing newer reads.",
            ),
            OpenError::Config(error @ (ConfigError::Version { .. } | ConfigError::UnknownSuite { .. })) => config(
                Fault::Unsupported,
                "Repository.InvalidRepositoryConfig",
                &format_args!("The repository does not have a valid config: {error}."),
            ),
            OpenError::Config(error) => {
                config(Fault::Damaged, invalid, &format_args!("This is not a valid repository: config/config {error}."))
            }
            OpenError::Store(error) => Failure::store(error),
        }
    }

    /// The storage failed.
    pub fn store(error: StoreError) -> Self {
        let StoreError { name, kind, detail } = error;
        match kind {
            StoreErrorKind::NotFound => Failure::new(
                Fault::Damaged,
                "Repository.ObjectNotFound",
                &name,
                format_args!("Object {name} was not found in the repository."),
            ),
            StoreErrorKind::Denied => Failure::new(
                Fault::Source,
                "Repository.PathPermissionDenied",
                &name,
                format_args!("Permission denied to {name}: {detail}."),
            ),
            StoreErrorKind::ReadOnly | StoreErrorKind::Failed => {
                Failure::new(Fault::Source, "Error", &name, format_args!("{name} can not be read: {detail}."))
            }
        }
    }

    /// No key opens.
    pub fn unlock(error: &UnlockError) -> Self {
        match error {
            UnlockError::NoKey => {
                Failure::new(Fault::Refused, "RepoKeyNotFoundError", "keys", "No key was found in the repository.")
            }
            UnlockError::Refused(problems) => {
                let mut text = String::from("The passphrase is incorrect.");
                for (_, problem) in problems.iter().filter(|(_, problem)| !problem.is_passphrase()) {
                    text.push_str(&format!(" A key {problem}."));
                }
                Failure::new(Fault::Refused, "PassphraseWrong", "keys", text)
            }
        }
    }

    /// The chunk index can't be loaded.
    pub fn index(error: IndexError) -> Self {
        let fragment = |name: &dyn fmt::Display, why: &dyn fmt::Display| {
            let text = format!("Chunk index fragment {name} is corrupt: {why}.");
            Failure::new(Fault::Damaged, "CorruptChunkIndexFragment", format_args!("index/{name}"), text)
        };
        match &error {
            IndexError::Envelope { name, source } => fragment(name, source),
            IndexError::Table { name, source } => fragment(name, source),
            IndexError::NothingAuthentic => {
                Failure::new(Fault::Damaged, "IntegrityError", "packs", format_args!("Data integrity error: {error}."))
            }
            IndexError::Store(error) => Failure::store(error.clone()),
        }
    }

    /// What the chunk index had to do without.
    pub fn index_damage(damage: IndexDamage) -> Self {
        match damage {
            IndexDamage::Fragment(error) => Failure::index(error),
            IndexDamage::Range { pack, offset, bytes } => Failure::new(
                Fault::Damaged,
                "CorruptPack",
                format_args!("packs/{pack}"),
                format_args!(
                    "Pack {pack}: {bytes} bytes from offset {offset} are no valid objects, they are passed over."
                ),
            ),
        }
    }

    /// The defaults for new archives can't be used.
    pub fn defaults(error: DefaultsError) -> Self {
        let code = match error {
            DefaultsError::Missing => "Repository.DefaultsMissing",
            DefaultsError::Malformed(_) => "Repository.InvalidRepositoryConfig",
            DefaultsError::Envelope(_) => "IntegrityError",
            DefaultsError::Store(error) => return Failure::store(error),
        };
        Failure::new(Fault::Damaged, code, "config/defaults", format_args!("{error}."))
    }

    /// An object can't be read; `what` names it.
    pub fn read(error: ReadError, what: impl fmt::Display) -> Self {
        let damaged = |code, text: &dyn fmt::Display| Failure::new(Fault::Damaged, code, &what, text);
        match error {
            ReadError::NotIndexed => {
                damaged("Repository.ObjectNotFound", &format_args!("Object {what} was not found in the repository."))
            }
            ReadError::PackMissing { pack } => damaged(
                "Repository.PackNotFound",
                &format_args!("Object {what} should be in pack {pack}, but that whole pack is missing."),
            ),
            ReadError::Store(error) => Failure::store(error),
            other => damaged("IntegrityError", &format_args!("Data integrity error: chunk {what}: {other}.")),
        }
    }

    /// An archive's metadata can't be used.
    pub fn archive(problem: ArchiveProblem, id: impl fmt::Display) -> Self {
        match problem {
            ArchiveProblem::Read(error) => Failure::read(error, id),
            ArchiveProblem::Meta(error) => {
                let fault = match error {
                    ArchiveError::Version { .. } => Fault::Unsupported,
                    _ => Fault::Damaged,
                };
                Failure::new(fault, "IntegrityError", &id, format_args!("Data integrity error: archive {id}: {error}."))
            }
        }
    }

    /// A part of an archive's item stream is lost, or a single item.
    pub fn items(problem: ItemProblem, archive: impl fmt::Display) -> Self {
        match problem {
            ItemProblem::Item(ItemError::UnsafePath { path }) => {
                let path = String::from_utf8_lossy(&path).into_owned();
                let text = format!("{path}: the path contains \"../\" (malicious or corrupted archive).");
                Failure::new(Fault::Damaged, "BackupPathTraversalError", path, text)
            }
            ItemProblem::Pointers { id, source, .. } | ItemProblem::Chunk { id, source, .. } => {
                let failure = Failure::read(source, id);
                Failure { message: format!("{} Items are missing from the archive.", failure.message), ..failure }
            }
            other => Failure::new(
                Fault::Damaged,
                "IntegrityError",
                &archive,
                format_args!("Data integrity error: archive {archive}: {other}."),
            ),
        }
    }

    /// A pattern makes no sense, or takes too long on a path.
    pub fn pattern(error: PatternError, pattern: &str) -> Self {
        Failure::new(Fault::Misuse, "CommandError", pattern, format_args!("The pattern {pattern:?}: {error}."))
    }

    /// What was handed in is not what this call takes.
    pub fn argument(what: &str) -> Self {
        Failure::new(Fault::Misuse, "CommandError", what, format_args!("This is no valid value for {what}."))
    }
}

/// As the worker throws it: an object with these fields, of which the package makes an error.
impl From<Failure> for JsValue {
    fn from(failure: Failure) -> JsValue {
        js_sys::JSON::parse(&json(&failure)).expect("what was just made is JSON")
    }
}
