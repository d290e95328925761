//! `key import`: a key from a backup (repository layer, section 3.6).

use super::{paper, shown};
use crate::app::App;
use crate::failure::Failure;
use crate::options::key_location::key_location;
use crate::output::stdout::print;
use crate::repository::keys::KeyStore;
use crate::repository::session::open_repository;
use clap::Args;
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{KeyLocation, LockedKey, MAX_TEXT_BYTES, blob, is_key, is_key_of, key_text};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// This command restores a key from what "key export" made. With --paper the lines are asked for one by one, and each is
/// checked. Other keys of the repository stay; only the file that BORG_KEY_FILE names is replaced.
#[derive(Debug, Args)]
pub struct ImportOptions {
    /// interactively import from a backup done with --paper
    #[arg(long)]
    paper: bool,

    /// where to store the imported key: in the repository (repokey) or in the local keys directory (keyfile)
    #[arg(long, value_name = "LOCATION", value_parser = key_location(), default_value = "repokey")]
    key_location: KeyLocation,

    /// path to the backup ('-' to read from stdin)
    path: Option<PathBuf>,
}

/// Imports a key. No lock is needed, nor the passphrase.
pub fn run(app: &App, options: &ImportOptions) -> Result<(), Failure> {
    let (repository, location) = open_repository(app)?;
    let id = repository.id();
    let blob = match (options.paper, &options.path) {
        (true, Some(_)) => return Err(Failure::command("with --paper, import from file is not supported")),
        (true, None) => match paper::ask(app, id)? {
            Some(blob) => blob,
            None => return print("\n - aborted\n"),
        },
        (false, None) => return Err(Failure::command("expected input file to import the key from")),
        (false, Some(path)) => from_file(path, id, &location)?,
    };
    let text = key_text(id, &blob);
    let label = match LockedKey::parse(text.as_bytes()) {
        Ok(locked) => locked.label,
        Err(problem) => {
            app.warning(&format!("The key {problem}: it is imported, but opens nothing."));
            None
        }
    };
    let keys = KeyStore { app, store: &repository.store, repository: id, location: &location };
    let new = keys.import(&text, options.key_location)?;
    app.info(&format!("Imported borg key {} (label {}).", new.short_id(), shown(label.as_deref())));
    app.info(&format!("Key location: {}", new.place(&location)));
    Ok(())
}

/// What the key in a file holds.
fn from_file(path: &Path, repository: RepositoryId, location: &str) -> Result<Vec<u8>, Failure> {
    let shown = path.display();
    let mut text = Vec::new();
    let limit = MAX_TEXT_BYTES as u64 + 1;
    let read = if path == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut text)
    } else {
        File::open(path).and_then(|file| file.take(limit).read_to_end(&mut text))
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::command(format_args!("input file does not exist: {shown}")),
        _ => Failure::error(format_args!("can not read {shown}: {error}")),
    })?;
    if !is_key(&text) || text.len() > MAX_TEXT_BYTES {
        return Err(Failure::new(43, "NotABorgKeyFile", "This file is not a Borg key backup, aborting."));
    }
    if !is_key_of(&text, repository) {
        return Err(mismatch());
    }
    blob(&text).map_err(|_| {
        let text = format!("Invalid key data for repository {location} found in {shown}.");
        Failure::new(40, "KeyfileInvalidError", text)
    })
}

/// The key is that of another repository.
pub fn mismatch() -> Failure {
    Failure::new(45, "RepoIdMismatch", "This key backup seems to be for a different backup repository, aborting.")
}
