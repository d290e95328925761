//! Finding the key that a passphrase opens.

use super::open::read_whole;
use crate::crypto::{Kdf, KdfError, Keys, Suite};
use crate::id::RepositoryId;
use crate::key::{KeyError, KeyLocation, KeySource, LockedKey, MAX_TEXT_BYTES, is_key_of};
use crate::name::{Key, Namespace};
use crate::store::{Store, StoreError};
use alloc::vec::Vec;

/// Keys of a repository that are looked at: each one that is tried costs seconds, and anyone who can write to the folder
/// could add more.
const MAX_KEYS: usize = 64;

/// A key that the passphrase opened.
#[derive(Debug)]
pub struct Unlocked {
    /// The secrets.
    pub keys: Keys,
    /// Which of the candidates it was.
    pub candidate: usize,
}

/// Why no key could be unlocked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnlockError {
    /// There is no key of this repository.
    #[error("there is no key")]
    NoKey,
    /// None of the keys opened; each candidate's number, with what is wrong. A wrong passphrase looks the same as damage.
    #[error("no key could be unlocked")]
    Refused(Vec<(usize, KeyError)>),
}

impl UnlockError {
    /// Whether another passphrase might help.
    pub fn is_passphrase(&self) -> bool {
        match self {
            UnlockError::NoKey => false,
            UnlockError::Refused(problems) => {
                problems.iter().any(|(_, problem)| *problem == KeyError::Kdf(KdfError::Passphrase))
            }
        }
    }
}

/// The keys of this repository that are stored in it, in order of their names. Objects that are no key of it are passed over.
pub async fn repository_keys<S: Store>(store: &S, repository: RepositoryId) -> Result<Vec<KeySource>, StoreError> {
    let mut sources = Vec::new();
    for entry in store.list(Namespace::Keys).await? {
        if sources.len() == MAX_KEYS {
            break;
        }
        let Ok(name) = entry.name.parse() else { continue };
        if entry.deleted || entry.size > MAX_TEXT_BYTES as u64 {
            continue;
        }
        match read_whole(store, &Key::RepoKey(name), MAX_TEXT_BYTES).await {
            Ok(text) if is_key_of(&text, repository) => {
                sources.push(KeySource { location: KeyLocation::Repokey, name, text });
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => {} // removed meanwhile
            Err(error) => return Err(error),
        }
    }
    Ok(sources)
}

/// Tries the passphrase on each candidate in turn; the first that opens wins, a broken one is passed over.
pub fn unlock(
    candidates: &[KeySource],
    passphrase: &[u8],
    kdf: Kdf,
    suite: Suite,
    repository: RepositoryId,
) -> Result<Unlocked, UnlockError> {
    if candidates.is_empty() {
        return Err(UnlockError::NoKey);
    }
    let mut problems = Vec::new();
    for (candidate, source) in candidates.iter().enumerate() {
        let unlocked =
            LockedKey::parse(&source.text).and_then(|locked| locked.unlock(passphrase, kdf, suite, repository));
        match unlocked {
            Ok(keys) => return Ok(Unlocked { keys, candidate }),
            Err(problem) => problems.push((candidate, problem)),
        }
    }
    Err(UnlockError::Refused(problems))
}
