//! Opening a key with a passphrase (repository layer, sections 3.4 and 3.7).

use super::find::FoundKey;
use crate::app::App;
use crate::client::passphrase::{self, Passphrase};
use crate::failure::Failure;
use crate::repository::folder::LocalRepository;
use portaborg_core::crypto::{Kdf, Keys, Suite};
use portaborg_core::key::KeySource;
use portaborg_core::name::Key;
use portaborg_core::repo::{UnlockError, unlock};
use std::env;

/// Which key opened.
pub struct UnlockedKey {
    /// Its number among the session's keys.
    pub number: usize,
    /// What opened it, for the same key in another place.
    pub passphrase: Passphrase,
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
    let kdf = kdf();
    let try_one = |passphrase: Passphrase| {
        let result = unlock(&sources, &passphrase, kdf, suite, repository.id());
        if let Err(UnlockError::Refused(problems)) = &result {
            for (number, problem) in problems {
                app.debug(&format!("key {} {problem}", key_name(&found[*number])));
            }
        }
        result.map(|unlocked| (unlocked.keys, UnlockedKey { number: unlocked.candidate, passphrase }))
    };
    if sources.is_empty() {
        return Err(Failure::new(44, "RepoKeyNotFoundError", format!("No key found in repository {location}.")));
    }
    if let Some(passphrase) = passphrase::from_environment()? {
        return try_one(passphrase).map_err(|error| wrong_passphrase(&error, found, kdf));
    }
    // A key without a passphrase should open without a question.
    if let Ok(unlocked) = try_one(Passphrase::default()) {
        return Ok(unlocked);
    }
    let key = found[0].place(location);
    for left in (0..PASSPHRASE_TRIES).rev() {
        let passphrase = passphrase::ask(&format!("Enter passphrase for key {key}: "), &app.log)?;
        match try_one(passphrase) {
            Ok(unlocked) => return Ok(unlocked),
            Err(error) if error.is_passphrase() && left > 0 => app.warning("Wrong passphrase, try again."),
            Err(error) if error.is_passphrase() => {}
            Err(error) => return Err(wrong_passphrase(&error, found, kdf)),
        }
    }
    Err(passphrase::retries_exceeded())
}

/// The costs that this client uses, as the environment says.
pub(super) fn kdf() -> Kdf {
    if env::var_os("BORG_TESTONLY_WEAKEN_KDF").is_some_and(|value| value == "1") { Kdf::Weakened } else { Kdf::Stored }
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
        && !problems.iter().all(|(_, problem)| problem.is_passphrase())
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

/// How often a passphrase is asked for.
const PASSPHRASE_TRIES: usize = 3;
