//! What ends a command, in Borg's words: exit code, message id and text (command line, section 3.2).

use portaborg_core::compact::RewriteError;
use portaborg_core::id::StoreHash;
use portaborg_core::object::ObjectWriteError;
use portaborg_core::repo::{
    Blocker, DefaultsError, Foreign, IndexDamage, IndexError, LockError, OpenError, ReadError, WriteError,
};
use portaborg_core::store::{StoreError, StoreErrorKind};
use portaborg_core::text::RenderError;
use std::fmt;

/// How many holders of locks are named.
const MAX_HOLDERS: usize = 3;

/// A command's end. In legacy mode every failure has exit code 2 (see [`crate::status`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Exit code in modern mode.
    pub code: u8,
    /// Borg's name for it.
    pub msgid: &'static str,
    /// One line for the user.
    pub text: String,
}

impl Failure {
    /// Any failure.
    pub fn new(code: u8, msgid: &'static str, text: impl fmt::Display) -> Self {
        Failure { code, msgid, text: text.to_string() }
    }

    /// A failure of no special kind.
    pub fn error(text: impl fmt::Display) -> Self {
        Failure::new(2, "Error", format!("Error: {text}"))
    }

    /// An option's value that makes no sense, in the parser's words.
    pub fn argument(option: &str, error: impl fmt::Display) -> Self {
        Failure::new(2, "Error", format!("error: argument {option}: {error}"))
    }

    /// Something about the command line that the parser could not see.
    pub fn command(text: impl fmt::Display) -> Self {
        Failure::new(4, "CommandError", format!("Command error: {text}"))
    }

    /// What is a crash in Borg, told by the name of Python's exception and its text.
    pub fn exception(class: &str, text: impl fmt::Display) -> Self {
        Failure::new(2, "Exception", format!("Local Exception: {class}: {text}"))
    }

    /// A format does not suit the value that it is for.
    pub fn render(error: RenderError) -> Self {
        Failure::exception(error.exception(), error)
    }

    /// The user does not want it after all.
    pub fn cancelled() -> Self {
        Failure::new(3, "CancelledByUser", "Cancelled by user.")
    }

    /// Whoever read standard output went away. That ends a command, but is nobody's fault: the exit code is that of a
    /// command which ran to its end, and nothing is told.
    pub fn reader_gone() -> Self {
        Failure::new(0, "", "")
    }

    /// An object that is not authentic or not whole.
    pub fn integrity(text: impl fmt::Display) -> Self {
        Failure::new(90, "IntegrityError", format!("Data integrity error: {text}"))
    }

    /// `BORG_REPO_PERMISSIONS` forbids something.
    pub fn denied(text: impl fmt::Display) -> Self {
        Failure::new(24, "Repository.PermissionDenied", format!("Repository permission denied: {text}"))
    }

    /// The config can't be read or used.
    pub fn open(error: OpenError, location: &str) -> Self {
        let invalid = |why: &dyn fmt::Display| {
            let text = format!("{location} is not a valid repository ({why}). Check the repository config.");
            Failure::new(15, "Repository.InvalidRepository", text)
        };
        use portaborg_core::config::ConfigError;
        match error {
            OpenError::NoConfig => invalid(&"config/config is missing"),
            OpenError::Foreign(Foreign::Borg1) => Failure::new(
                29,
                "Repository.LegacyRepository",
                format!(
                    "{location} looks like a borg 1.x repository, which this version can not read. \
                     Use borg 1.x for it, or transfer its archives with borg 2."
                ),
            ),
            OpenError::Foreign(Foreign::Restic) => {
                invalid(&"it looks like a restic repository; use restic or rustic to read it")
            }
            OpenError::Foreign(Foreign::Borg2Beta) => Failure::new(
                16,
                "Repository.InvalidRepositoryConfig",
                format!(
                    "{location} was made by a beta of borg 2 older than 2.0.0b25, whose format nothing newer reads. \
                     Use that beta to read it."
                ),
            ),
            OpenError::Config(error @ (ConfigError::Version { .. } | ConfigError::UnknownSuite { .. })) => {
                Failure::new(
                    16,
                    "Repository.InvalidRepositoryConfig",
                    format!("{location} does not have a valid config. Check the repository config [{error}]."),
                )
            }
            OpenError::Config(error) => invalid(&format_args!("config/config {error}")),
            OpenError::Store(error) => Failure::store(error, location),
        }
    }

    /// The storage failed.
    pub fn store(error: StoreError, location: &str) -> Self {
        match error.kind {
            StoreErrorKind::NotFound => Failure::new(
                17,
                "Repository.ObjectNotFound",
                format!("Object with key {} not found in repository {location}.", error.name),
            ),
            StoreErrorKind::Denied => Failure::new(
                21,
                "Repository.PathPermissionDenied",
                format!("Permission denied to {location}/{}: {}.", error.name, error.detail),
            ),
            StoreErrorKind::ReadOnly | StoreErrorKind::Failed => {
                Failure::error(format_args!("{location}/{}: {}", error.name, error.detail))
            }
        }
    }

    /// The chunk index can't be loaded.
    pub fn index(error: IndexError, location: &str) -> Self {
        match error {
            IndexError::Envelope { name, source } => Failure::fragment(name, &source),
            IndexError::Table { name, source } => Failure::fragment(name, &source),
            IndexError::NothingAuthentic => Failure::integrity(format_args!("{location}: {error}")),
            IndexError::Store(error) => Failure::store(error, location),
        }
    }

    fn fragment(name: StoreHash, why: &dyn fmt::Display) -> Self {
        let text = format!(
            "Chunk index fragment index/{name} is corrupt. Run \"borg check --repair\" to rebuild the chunk index \
             ({why})."
        );
        Failure::new(94, "CorruptChunkIndexFragment", text)
    }

    /// What the chunk index had to do without.
    pub fn index_damage(damage: IndexDamage, location: &str) -> Self {
        match damage {
            IndexDamage::Fragment(error) => {
                let failure = Failure::index(error, location);
                let text = format!("{} Until then it is made from the packs, which takes longer.", failure.text);
                Failure { text, ..failure }
            }
            IndexDamage::Range { pack, offset, bytes } => Failure::new(
                93,
                "CorruptPack",
                format!(
                    "Pack {pack}: {bytes} bytes from offset {offset} are no valid objects, they are passed over. \
                     Run \"borg check --repair\" to recover the objects that are still readable."
                ),
            ),
        }
    }

    /// An object that a command can't do without can't be read; `what` names it.
    pub fn read(error: ReadError, what: impl fmt::Display, location: &str) -> Self {
        match error {
            ReadError::NotIndexed => Failure::new(
                17,
                "Repository.ObjectNotFound",
                format!("Object with key {what} not found in repository {location}."),
            ),
            ReadError::PackMissing { pack } => Failure::new(
                23,
                "Repository.PackNotFound",
                format!(
                    "Object with key {what} is indexed to pack {pack}, \
                     but that whole pack is missing from repository {location}."
                ),
            ),
            ReadError::Store(error) => Failure::store(error, location),
            other => Failure::integrity(format_args!("Chunk {what}: {other}")),
        }
    }

    /// Something could not be added to the repository.
    pub fn write(error: WriteError, location: &str) -> Self {
        match error {
            WriteError::Store(error) => Failure::store(error, location),
            WriteError::Object { id, source: source @ ObjectWriteError::TooLong { .. } } => {
                Failure::integrity(format_args!("Chunk {id} can not be stored: {source}"))
            }
            WriteError::Object { id, source } => Failure::error(format_args!("chunk {id} can not be stored: {source}")),
        }
    }

    /// Packs could not be rewritten.
    pub fn rewrite(error: RewriteError, location: &str) -> Self {
        match error {
            RewriteError::Store(error) => Failure::store(error, location),
            RewriteError::Index { .. } | RewriteError::Read { .. } => {
                Failure::integrity(format_args!("{error}, run \"borg check\""))
            }
            RewriteError::Write { .. } => Failure::error(error),
        }
    }

    /// The defaults can't be read.
    pub fn defaults(error: DefaultsError, location: &str) -> Self {
        match error {
            DefaultsError::Missing => Failure::new(
                34,
                "Repository.DefaultsMissing",
                format!(
                    "Repository {location} has no config/defaults object, \
                     run \"borg check --repair\" to store empty defaults."
                ),
            ),
            DefaultsError::Malformed(error) => Failure::new(
                16,
                "Repository.InvalidRepositoryConfig",
                format!(
                    "{location} does not have a valid config. \
                     Check the repository config [config/defaults: {error}]."
                ),
            ),
            DefaultsError::Envelope(_) => Failure::integrity(error),
            DefaultsError::Store(error) => Failure::store(error, location),
        }
    }

    /// A lock can't be had.
    pub fn lock(error: LockError, location: &str) -> Self {
        match error {
            LockError::Timeout(blockers) => {
                let mut holders: Vec<String> = blockers.iter().take(MAX_HOLDERS).map(blocker).collect();
                if holders.is_empty() {
                    holders.push("unknown (no blocking lock seen)".into());
                }
                let text = format!(
                    "Failed to create/acquire the lock {location} (timeout). Repository is locked by: {}.",
                    holders.join("; ")
                );
                Failure::new(73, "LockTimeout", text)
            }
            LockError::Killed => Failure::new(
                73,
                "LockTimeout",
                format!(
                    "Failed to create/acquire the lock {location} (lock was killed). It was removed by someone else."
                ),
            ),
            LockError::Store(error) => Failure::store(error, location),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Who holds a lock, in Borg's words.
pub fn blocker(blocker: &Blocker) -> String {
    let age = blocker.age_secs.map(|age| format!(", age {age:.3} seconds")).unwrap_or_default();
    match &blocker.lock {
        Some(lock) => {
            let kind = if lock.exclusive { "exclusive" } else { "shared" };
            format!("{kind} lock on host {}, pid {}{age}", lock.owner.host, lock.owner.process)
        }
        None => format!("a lock object that can not be read (treated as an exclusive lock){age}"),
    }
}
