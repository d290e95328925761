//! Finding the keys of a repository, wherever they are (repository layer, section 3.4).

use super::file::{explicit_file, read};
use crate::app::App;
use crate::client::dirs;
use crate::failure::Failure;
use crate::repository::folder::LocalRepository;
use portaborg_core::crypto::store_hash;
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{KeyLocation, KeySource, LockedKey, is_key_of, repository_of};
use portaborg_core::repo::repository_keys;
use portaborg_core::store::now;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many digits of a key's id are shown.
const SHOWN_DIGITS: usize = 12;

/// A key text, and the file it is in.
#[derive(Debug, Clone)]
pub struct FoundKey {
    /// The text and its place.
    pub source: KeySource,
    /// The key file, if it is in one.
    pub file: Option<PathBuf>,
}

impl FoundKey {
    /// A key in a file with this text.
    pub(super) fn in_file(file: &Path, text: Vec<u8>) -> FoundKey {
        let source = KeySource { location: KeyLocation::Keyfile, name: store_hash(&text), text };
        FoundKey { source, file: Some(file.into()) }
    }

    /// A key in the repository with this text.
    pub(super) fn in_repository(text: Vec<u8>) -> FoundKey {
        let source = KeySource { location: KeyLocation::Repokey, name: store_hash(&text), text };
        FoundKey { source, file: None }
    }

    /// The first digits of its id, as `key list` shows them.
    pub fn short_id(&self) -> String {
        self.source.name.to_string()[..SHOWN_DIGITS].into()
    }

    /// Its label; none also if it is damaged.
    pub fn label(&self) -> Option<String> {
        LockedKey::parse(&self.source.text).ok().and_then(|locked| locked.label)
    }

    /// Where it is, to be told: its file, or the repository at `location`.
    pub fn place(&self, location: &str) -> String {
        self.file.as_ref().map_or(location.into(), |file| file.display().to_string())
    }
}

/// All keys of the repository: key files in order of their names (or the one that `BORG_KEY_FILE` names), then those in it.
pub fn find_keys(app: &App, repository: &LocalRepository, location: &str) -> Result<Vec<FoundKey>, Failure> {
    let mut keys = key_files(app, repository.id())?;
    let stored = now(repository_keys(&repository.store, repository.id()));
    let stored = stored.map_err(|error| Failure::store(error, location))?;
    keys.extend(stored.into_iter().map(|source| FoundKey { source, file: None }));
    Ok(keys)
}

/// The keys of the repository that are in files of this client.
pub(super) fn key_files(app: &App, repository: RepositoryId) -> Result<Vec<FoundKey>, Failure> {
    let explicit = explicit_file();
    let is_explicit = explicit.is_some();
    let mut files: Vec<PathBuf> = match explicit {
        Some(file) => vec![file],
        None => match fs::read_dir(dirs::keys()) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => Vec::new(),
        },
    };
    files.sort();
    let mut keys = Vec::new();
    for file in files {
        let text = match read(&file) {
            Ok(text) => text,
            Err(error) if is_explicit && error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::error(format_args!("can not read the key file {}: {error}", file.display())));
            }
            Err(error) => {
                app.debug(&format!("key file {}: {error}", file.display()));
                continue;
            }
        };
        if is_key_of(&text, repository) {
            keys.push(FoundKey::in_file(&file, text));
        } else if is_explicit {
            let shown = file.display();
            return Err(match repository_of(&text) {
                Some(_) => mismatch(repository, &file),
                None => Failure::new(
                    40,
                    "KeyfileInvalidError",
                    format!("Invalid key data for repository {repository} found in {shown}."),
                ),
            });
        }
    }
    Ok(keys)
}

/// A key file that was named holds a key of another repository.
pub(super) fn mismatch(repository: RepositoryId, file: &Path) -> Failure {
    let text = format!("Mismatch between repository {repository} and key file {}.", file.display());
    Failure::new(41, "KeyfileMismatchError", text)
}
