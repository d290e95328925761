//! `repo-create`: makes a repository (command line, section 1.2; repository layer, section 2.4).

use crate::app::App;
use crate::client::random;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::chunker_params::ChosenChunkerParams;
use crate::options::key_location::key_location;
use crate::repository::engine::Native;
use crate::repository::folder::{Folder, LocalRepository, Made};
use crate::repository::keys::{KeyStore, NewKey, UnlockedKey, create_key};
use crate::repository::location::Location;
use crate::repository::permissions::Permissions;
use crate::repository::session::{Lock, Session, repository_location};
use clap::Args;
use clap::builder::PossibleValuesParser;
use portaborg_core::codec::Compression;
use portaborg_core::config::Config;
use portaborg_core::crypto::Suite;
use portaborg_core::defaults::Defaults;
use portaborg_core::id::RepositoryId;
use portaborg_core::key::KeyLocation;
use portaborg_core::repo::{Foreign, OpenError, Repository};
use portaborg_core::store::{Ready, now};
use std::io;

/// What `--encryption` may be.
const ENCRYPTIONS: [&str; 4] = ["aes256-ocb", "chacha20-poly1305", "authenticated-sha256", "authenticated-blake3"];
/// What `--id-hash` may be; where nothing is asked for, the first one that the encryption goes with.
const ID_HASHES: [&str; 2] = ["sha256", "blake3"];

/// Where the keys are, for someone whose first repository this is.
const KEEP_THE_KEY: &str = "
IMPORTANT: to get at this repository you need BOTH its KEY and the PASSPHRASE of the key.

Where the key is stored depends on --key-location:
- repokey: in the repository; if the repository is lost or damaged, so is the key.
- keyfile: in a file of this user on this machine; if the machine is lost, so is the key.

Therefore, whichever it is:
1. Export the key, and keep the export in a safe place outside the repository and this machine:
   borg key export -r REPOSITORY           encrypted-key-backup
   borg key export -r REPOSITORY --paper   encrypted-key-backup.txt
   borg key export -r REPOSITORY --qr-html encrypted-key-backup.html
2. Write down the passphrase of the key, and keep it in a safe place, too.";

/// This command creates a new, empty repository.
///
/// The folder must not be there yet, or must be empty; its parents are made as needed. If anything fails, or if you interrupt
/// it, nothing is left behind.
///
/// --encryption can not be changed later. "aes256-ocb" and "chacha20-poly1305" encrypt and authenticate: take the first one
/// where the processor has AES instructions, the second one elsewhere. "authenticated-sha256" and "authenticated-blake3" do
/// not encrypt: everyone who gets at the repository can read it, but nobody can change it unnoticed. --id-hash selects how the
/// chunks of encrypted repositories are named; "blake3" is faster where the processor has no SHA instructions.
///
/// --key-location selects where the key is stored: with "repokey", whoever has the repository and the passphrase can read it;
/// with "keyfile", the key file is needed, too. "key change-location" moves it. The key is protected by a passphrase, which
/// "key change-passphrase" changes; with an empty one it is not protected at all.
///
/// --compression and --chunker-params become the repository's defaults for all its clients; they can be overridden by the
/// same options of other commands.
#[derive(Debug, Args)]
pub struct Options {
    /// select the encryption (required)
    #[arg(short, long, value_name = "ENCRYPTION", value_parser = PossibleValuesParser::new(ENCRYPTIONS))]
    encryption: String,

    /// select the id hash function of the encrypted modes (default: sha256); the others name theirs themselves
    #[arg(short, long, value_name = "HASH", value_parser = PossibleValuesParser::new(ID_HASHES))]
    id_hash: Option<String>,

    /// where to store the key: in the repository (default) or in the local keys directory
    #[arg(long, value_name = "LOCATION", value_parser = key_location(), default_value = "repokey")]
    #[arg(hide_default_value = true)]
    key_location: KeyLocation,

    /// set the default compression of the repository, see the output of the "borg help compression" command for details
    #[arg(short = 'C', long, value_name = "COMPRESSION")]
    compression: Option<Compression>,

    /// set the default chunker parameters of the repository
    #[arg(long, value_name = "PARAMS")]
    chunker_params: Option<ChosenChunkerParams>,
}

/// Makes a repository, wholly or not at all.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let suite = suite(options)?;
    let location = repository_location(app)?;
    if Permissions::from_environment().map_err(Failure::error)? != Permissions::All {
        return Err(Failure::denied("making a repository needs all permissions (BORG_REPO_PERMISSIONS)."));
    }
    let config = Config { id: RepositoryId(random::bytes()?), suite: Some(suite) };
    app.info(&format!("Initializing repository at \"{location}\""));
    let mut made = Made::default();
    let folder = Folder::create(&location.path, &mut made).map_err(|error| refusal(&error, &location));
    let created = folder.and_then(|folder| create(app, options, Repository::unborn(Ready(folder), config), &location));
    if let Err(failure) = created {
        if let Err(error) = made.undo() {
            app.warning(&format!("What was made of the repository could not be removed again: {error}"));
        }
        return Err(if interrupt::is_cancelled() { Failure::cancelled() } else { failure });
    }
    app.warning(KEEP_THE_KEY);
    Ok(())
}

/// The suite that is asked for.
fn suite(options: &Options) -> Result<Suite, Failure> {
    let Options { encryption, id_hash, .. } = options;
    let any = ID_HASHES.iter().find_map(|id_hash| Suite::from_names(encryption, id_hash));
    let any = any.expect("every encryption goes with one of the hashes");
    let Some(id_hash) = id_hash else { return Ok(any) };
    Suite::from_names(encryption, id_hash).ok_or_else(|| {
        Failure::error(format_args!(
            "The \"{encryption}\" encryption mode always uses the \"{}\" id-hash, \
             thus --id-hash \"{id_hash}\" can not be used with it.",
            any.id_hash.name()
        ))
    })
}

/// Makes a key and all else. After a failure no key file is left; the folder is for the caller to clear.
fn create(app: &App, options: &Options, repository: LocalRepository, location: &Location) -> Result<(), Failure> {
    let location = location.to_string();
    let keys = KeyStore { app, store: &repository.store, repository: repository.id(), location: &location };
    let suite = repository.config.suite.expect("it was chosen");
    let NewKey { secrets, stored, passphrase } = create_key(&keys, suite, options.key_location)?;
    let session = Session {
        repository,
        location,
        keys: secrets,
        key: Some(UnlockedKey { number: 0, passphrase }),
        key_sources: vec![stored],
        engine: Native,
    };
    let initialised = initialise(app, &session, options);
    if initialised.is_err()
        && session.key_file().is_some()
        && let Err(failure) = session.key_store(app).remove(&session.key_sources[0])
    {
        app.warning(&failure.text);
    }
    initialised
}

/// Stores what makes it a repository, under a lock that is there when others first see it.
fn initialise(app: &App, session: &Session, options: &Options) -> Result<(), Failure> {
    let _held = session.lock_to_write(app, Lock::Exclusive)?;
    interrupt::check()?;
    let stored = now(session.repository.initialise(&defaults(options), &mut session.sealer()?));
    stored.map_err(|error| Failure::store(error, &session.location))?;
    session.remember(app);
    Ok(())
}

fn defaults(options: &Options) -> Defaults {
    let chunker_params = match &options.chunker_params {
        Some(ChosenChunkerParams::Given(params)) => Some(params.to_string()),
        Some(ChosenChunkerParams::Default) | None => None,
    };
    Defaults { compression: options.compression.map(|compression| compression.to_string()), chunker_params }
}

/// Why no repository can be made there.
fn refusal(error: &io::Error, location: &Location) -> Failure {
    match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => occupied(location),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let text = format!("Permission denied to {location}: {error}.");
            Failure::new(21, "Repository.PathPermissionDenied", text)
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if location.path.symlink_metadata().is_ok() => {
            let text = format!("There is already something at {location}, and it is not a folder.");
            Failure::new(19, "Repository.PathAlreadyExists", text)
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            let text = format!(
                "The parent path of the repository directory [{location}] does not exist and can not be made: {error}."
            );
            Failure::new(18, "Repository.ParentPathDoesNotExist", text)
        }
        _ => Failure::error(format_args!("can not make {location}: {error}")),
    }
}

/// What is in the way at a location.
fn occupied(location: &Location) -> Failure {
    let exists = || Failure::new(10, "Repository.AlreadyExists", format!("A repository already exists at {location}."));
    let other = |what: &str| {
        let text = format!("{location} has no repository config, but it is not empty: {what}.");
        Failure::new(11, "Repository.IncompleteRepository", text)
    };
    let Ok(folder) = Folder::open(&location.path) else { return exists() };
    let is_leftover = folder.looks_like_repository();
    match now(Repository::open(Ready(folder))) {
        Err(OpenError::Foreign(Foreign::Borg1)) => other("it looks like a borg 1.x repository"),
        Err(OpenError::Foreign(Foreign::Restic)) => other("it looks like a restic repository"),
        Err(OpenError::NoConfig) if is_leftover => other(
            "it is what is left of a repository, or of an interrupted repo-create. \
             \"borg repo-delete --force\" removes it",
        ),
        Err(OpenError::NoConfig) => other("a new repository needs a folder of its own"),
        _ => exists(),
    }
}
