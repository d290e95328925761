//! Where the client keeps its own state (repository layer, section 8.1).

use crate::failure::Failure;
use crate::system::folder;
use crate::system::fs::{DirBuilderExt, OpenOptionsExt};
use crate::system::host;
use portaborg_core::id::RepositoryId;
use std::env;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is kept in one place.
#[derive(Clone, Copy)]
enum Kind {
    Config,
    Cache,
    Data,
}

/// Folder of key files.
pub fn keys() -> PathBuf {
    explicit("BORG_KEYS_DIR").unwrap_or_else(|| base(Kind::Config).join("keys"))
}

/// Folder of what is remembered of a repository, to notice when it is not the one it was.
pub fn security(repository: RepositoryId) -> PathBuf {
    let all = explicit("BORG_SECURITY_DIR").unwrap_or_else(|| base(Kind::Data).join("security"));
    all.join(repository.to_string())
}

/// Folder of what can be computed again for a repository.
pub fn cache(repository: RepositoryId) -> PathBuf {
    base(Kind::Cache).join(repository.to_string())
}

/// Whether a folder of the client's can be anywhere: not if it has no home, and nobody says where else.
pub fn can_exist(folder: &Path) -> bool {
    !host::is_nowhere(folder)
}

/// Makes a folder that only its owner can read, with its parents.
pub fn create(folder: &Path) -> Result<(), Failure> {
    let done = if can_exist(folder) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
    } else {
        Err(io::ErrorKind::NotFound.into())
    };
    done.map_err(|error| Failure::error(format_args!("can not create {}: {error}", folder.display())))
}

/// Stores a file whole or not at all, readable for its owner only.
pub fn save(file: &Path, content: &[u8]) -> io::Result<()> {
    store(file, content, None)
}

/// Stores a file whole or not at all, readable for those who are permitted.
pub fn save_readable(file: &Path, content: &[u8], permissions: Permissions) -> io::Result<()> {
    store(file, content, Some(permissions))
}

fn store(file: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let unique = getrandom::u64().map_err(io::Error::other)?;
    let mut temporary = file.as_os_str().to_owned();
    temporary.push(format!(".{unique:016x}.tmp"));
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = out
        .write_all(content)
        .and_then(|()| permissions.map_or(Ok(()), |permissions| out.set_permissions(permissions)));
    let stored = written.and_then(|()| out.sync_all()).and_then(|()| fs::rename(&temporary, file));
    if stored.is_err() {
        let _ = fs::remove_file(&temporary); // the error that counts is the first one
    }
    stored
}

/// Returns once the names in a folder would survive a crash of the machine; at once where the filesystem has no such thing.
pub fn sync(folder: &Path) -> io::Result<()> {
    match folder::sync(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

fn base(kind: Kind) -> PathBuf {
    let (variable, below_base) = match kind {
        Kind::Config => ("BORG_CONFIG_DIR", ".config/borg"),
        Kind::Cache => ("BORG_CACHE_DIR", ".cache/borg"),
        Kind::Data => ("BORG_DATA_DIR", ".local/share/borg"),
    };
    explicit(variable)
        .or_else(|| Some(explicit("BORG_BASE_DIR")?.join(below_base)))
        .unwrap_or_else(|| platform(kind, below_base))
}

#[cfg(not(target_os = "macos"))]
fn platform(kind: Kind, below_home: &str) -> PathBuf {
    let variable = match kind {
        Kind::Config => "XDG_CONFIG_HOME",
        Kind::Cache => "XDG_CACHE_HOME",
        Kind::Data => "XDG_DATA_HOME",
    };
    match explicit(variable) {
        Some(folder) => folder.join("borg"),
        None => host::home().join(below_home),
    }
}

#[cfg(target_os = "macos")]
fn platform(kind: Kind, _below_home: &str) -> PathBuf {
    host::home().join(match kind {
        Kind::Config | Kind::Data => "Library/Application Support/borg",
        Kind::Cache => "Library/Caches/borg",
    })
}

/// A folder that a variable names; an empty variable names none.
fn explicit(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
