//! The keys of a repository: where they are, and which of them opens (repository layer, sections 3.4 and 3.5).

use crate::app::App;
use crate::client::dirs;
use crate::client::passphrase::{self, Passphrase};
use crate::failure::Failure;
use crate::repository::folder::LocalRepository;
use portaborg_core::crypto::{Kdf, KdfError, Keys, Suite, store_hash};
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{KeyError, KeyLocation, KeySource, MAX_TEXT_BYTES, is_key_of, repository_of};
use portaborg_core::name::Key;
use portaborg_core::repo::{UnlockError, repository_keys, unlock};
use portaborg_core::store::now;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A key text, and the file it is in.
#[derive(Debug, Clone)]
pub struct FoundKey {
    /// The text and its place.
    pub source: KeySource,
    /// The key file, if it is in one.
    pub file: Option<PathBuf>,
}

/// Which key opened.
#[derive(Debug, Clone, Copy)]
pub struct UnlockedKey {
    /// Its number among the session's keys.
    pub number: usize,
    /// Whether its passphrase is empty.
    pub empty_passphrase: bool,
}

/// All keys of the repository: key files in order of their names (or the one that `BORG_KEY_FILE` names), then those in it.
pub fn find_keys(app: &App, repository: &LocalRepository, location: &str) -> Result<Vec<FoundKey>, Failure> {
    let mut keys = key_files(app, repository.id())?;
    let stored = now(repository_keys(&repository.store, repository.id()));
    let stored = stored.map_err(|error| Failure::store(error, location))?;
    keys.extend(stored.into_iter().map(|source| FoundKey { source, file: None }));
    Ok(keys)
}

fn key_files(app: &App, repository: RepositoryId) -> Result<Vec<FoundKey>, Failure> {
    let explicit = env::var_os("BORG_KEY_FILE").filter(|file| !file.is_empty()).map(PathBuf::from);
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
        let text = match read_key_file(&file) {
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
            let source = KeySource { location: KeyLocation::Keyfile, name: store_hash(&text), text };
            keys.push(FoundKey { source, file: Some(file) });
        } else if is_explicit {
            let shown = file.display();
            return Err(match repository_of(&text) {
                Some(_) => Failure::new(
                    41,
                    "KeyfileMismatchError",
                    format!("Mismatch between repository {repository} and key file {shown}."),
                ),
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

fn read_key_file(file: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() || metadata.len() > MAX_TEXT_BYTES as u64 {
        return Err(io::Error::other("is no key file"));
    }
    fs::read(file)
}

/// Opens a key: with the passphrase of the environment, with an empty one, or with one that the user is asked for.
pub fn unlock_any(
    app: &App,
    repository: &LocalRepository,
    location: &str,
    found: &[FoundKey],
    suite: Suite,
) -> Result<(Keys, UnlockedKey), Failure> {
    let sources: Vec<KeySource> = found.iter().map(|key| key.source.clone()).collect();
    let kdf = if env::var_os("BORG_TESTONLY_WEAKEN_KDF").is_some_and(|value| value == "1") {
        Kdf::Weakened
    } else {
        Kdf::Stored
    };
    let try_one = |passphrase: &Passphrase| {
        let result = unlock(&sources, passphrase, kdf, suite, repository.id());
        if let Err(UnlockError::Refused(problems)) = &result {
            for (number, problem) in problems {
                app.debug(&format!("key {} {problem}", key_name(&found[*number])));
            }
        }
        result.map(|unlocked| {
            let empty_passphrase = passphrase.is_empty();
            (unlocked.keys, UnlockedKey { number: unlocked.candidate, empty_passphrase })
        })
    };
    if sources.is_empty() {
        return Err(Failure::new(44, "RepoKeyNotFoundError", format!("No key found in repository {location}.")));
    }
    if let Some(passphrase) = passphrase::from_environment()? {
        return try_one(&passphrase).map_err(|error| wrong_passphrase(&error, found, kdf));
    }
    // A key without a passphrase should open without a question.
    if let Ok(unlocked) = try_one(&Passphrase::default()) {
        return Ok(unlocked);
    }
    let key = found[0].file.as_ref().map_or(location.into(), |file| file.display().to_string());
    for left in (0..PASSPHRASE_TRIES).rev() {
        let passphrase = passphrase::ask(&format!("Enter passphrase for key {key}: "), &app.log)?;
        match try_one(&passphrase) {
            Ok(unlocked) => return Ok(unlocked),
            Err(error) if error.is_passphrase() && left > 0 => app.warning("Wrong passphrase, try again."),
            Err(error) if error.is_passphrase() => {}
            Err(error) => return Err(wrong_passphrase(&error, found, kdf)),
        }
    }
    Err(Failure::new(53, "PasswordRetriesExceeded", "Exceeded the maximum password retries."))
}

fn key_name(key: &FoundKey) -> String {
    match &key.file {
        Some(file) => file.display().to_string(),
        None => Key::RepoKey(key.source.name).to_string(),
    }
}

/// A wrong passphrase and a damaged key give the same code; the text says which keys were tried and what was wrong with each.
fn wrong_passphrase(error: &UnlockError, found: &[FoundKey], kdf: Kdf) -> Failure {
    let mut text = String::from(
        "Passphrase supplied in BORG_PASSPHRASE, by BORG_PASSCOMMAND, or via BORG_PASSPHRASE_FD is incorrect.",
    );
    if let UnlockError::Refused(problems) = error
        && !problems.iter().all(|(_, problem)| is_just_wrong(problem))
    {
        for (number, problem) in problems {
            text.push_str(&format!(" Key {} {problem}.", key_name(&found[*number])));
        }
    }
    if kdf == Kdf::Weakened {
        text.push_str(
            " BORG_TESTONLY_WEAKEN_KDF is set: keys made without it can not be opened, whatever the passphrase.",
        );
    }
    Failure::new(52, "PassphraseWrong", text)
}

fn is_just_wrong(problem: &KeyError) -> bool {
    *problem == KeyError::Kdf(KdfError::Passphrase)
}

/// How often a passphrase is asked for.
const PASSPHRASE_TRIES: usize = 3;
