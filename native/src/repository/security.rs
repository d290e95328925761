//! Is this the repository that it was? (repository layer, section 8.4)

use crate::app::App;
use crate::client::dirs;
use crate::failure::Failure;
use crate::output::prompt::Question;
use portaborg_core::crypto::{Mode, Suite};
use portaborg_core::id::RepositoryId;
use portaborg_core::key::KeyLocation;
use portaborg_core::text::Repr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is known of the repository now.
pub struct Facts<'a> {
    /// Its id.
    pub repository: RepositoryId,
    /// Where it was found.
    pub location: &'a str,
    /// Its suite.
    pub suite: Suite,
    /// Where the key was; `None` if it is read without one.
    pub key_location: Option<KeyLocation>,
    /// Whether the key opened with an empty passphrase.
    pub empty_passphrase: bool,
}

/// What is remembered, a file each.
struct Memory {
    folder: PathBuf,
    location: PathBuf,
    key_type: PathBuf,
}

impl Memory {
    fn of(repository: RepositoryId) -> Memory {
        let folder = dirs::security(repository);
        Memory { location: folder.join("location"), key_type: folder.join("key-type"), folder }
    }
}

/// Compares the repository with what is remembered of it, asks the user where it differs, and remembers it if it is new.
/// A place that can't be written is no reason not to read a repository.
pub fn assert_secure(app: &App, facts: &Facts<'_>) -> Result<(), Failure> {
    let memory = Memory::of(facts.repository);
    let stored_type = read(app, &memory.key_type);
    let stored_location = read(app, &memory.location);
    if let Some(previous) = &stored_location {
        app.debug(&format!("security: read previous location {}", Repr(previous.as_bytes())));
    }
    let known = stored_type.is_some() && stored_location.is_some();
    if !known && let Some(reason) = unprotected(facts) {
        let text = format!(
            "Warning: Attempting to access a previously unknown unencrypted repository!\n{reason}\n\
             Do you want to continue? [yN] "
        );
        if !confirm(app, &text, "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK") {
            return Err(Failure::new(60, "CacheInitAbortedError", "Cache initialization aborted"));
        }
    }
    if let Some(previous) = stored_location.as_deref().filter(|&previous| previous != facts.location) {
        let text = format!(
            "Warning: The repository at location {} was previously located at {previous}\nDo you want to continue? [yN] ",
            facts.location
        );
        if !confirm(app, &text, "BORG_RELOCATED_REPO_ACCESS_IS_OK") {
            return Err(Failure::new(62, "RepositoryAccessAborted", "Repository access aborted"));
        }
        store(app, &memory.location, facts.location);
    }
    if known && stored_type.as_ref() != Some(&key_type(facts)) {
        return Err(Failure::new(
            61,
            "EncryptionMethodMismatch",
            "Repository encryption method changed since last access, refusing to continue",
        ));
    }
    if !known {
        remember(app, facts);
    }
    Ok(())
}

/// Remembers the repository as it is now.
pub fn remember(app: &App, facts: &Facts<'_>) {
    let memory = Memory::of(facts.repository);
    dirs::create(&memory.folder).unwrap_or_else(|failure| app.debug(&failure.text));
    store(app, &memory.location, facts.location);
    store(app, &memory.key_type, &key_type(facts));
}

/// A suite as it is remembered.
fn key_type(facts: &Facts<'_>) -> String {
    facts.suite.type_byte().to_string()
}

fn confirm(app: &App, text: &str, env_var: &str) -> bool {
    let question = Question {
        false_text: Some("Aborting."),
        invalid_text: Some("Invalid answer, aborting."),
        ..Question::new(text, env_var)
    };
    question.ask(&app.log)
}

/// Why anyone who has the repository can read it; `None` if they can't.
fn unprotected(facts: &Facts<'_>) -> Option<String> {
    match facts.suite.mode {
        Mode::Authenticated => {
            let mode = facts.suite.encryption_name();
            Some(format!("The repository uses the {mode} mode, which does not encrypt the data."))
        }
        Mode::Encrypted(_) if facts.empty_passphrase && facts.key_location == Some(KeyLocation::Repokey) => Some(
            "The repository is encrypted, but its key is stored inside the repository (repokey) and has an empty \
             passphrase, so anybody who can read the repository can also unlock the key."
                .into(),
        ),
        Mode::Encrypted(_) => None,
    }
}

fn read(app: &App, file: &Path) -> Option<String> {
    match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                app.warning(&format!("Could not read {}: {error}", file.display()));
            }
            None
        }
    }
}

fn store(app: &App, file: &Path, text: &str) {
    if let Err(error) = dirs::save(file, text.as_bytes()) {
        app.debug(&format!("can not store {}: {error}", file.display()));
    }
}
