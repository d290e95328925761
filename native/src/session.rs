//! Opening a repository for a command: config, key, lock, security, index (repository layer, section 2.5).

use crate::app::App;
use crate::dirs;
use crate::engine::Native;
use crate::failure::{Failure, blocker};
use crate::folder::Folder;
use crate::host;
use crate::interrupt;
use crate::location::Location;
use crate::log::{Level, Message, STATS};
use crate::passphrase::{self, Passphrase};
use crate::security::{self, Facts};
use portaborg_core::crypto::{Kdf, Keys, SessionId, store_hash};
use portaborg_core::id::RepositoryId;
use portaborg_core::index::ChunkIndex;
use portaborg_core::key::{KeyLocation, KeySource, MAX_TEXT_BYTES, is_key_of, repository_of};
use portaborg_core::name::Key;
use portaborg_core::object::Opener;
use portaborg_core::repo::{
    ChunkReader, LockError, LockRequest, LockStep, Locker, Repository, UnlockError, load_index, peek_locks,
    repository_keys, unlock,
};
use portaborg_core::store::{Ready, StoreErrorKind, now};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a passphrase is asked for.
const PASSPHRASE_TRIES: usize = 3;
/// How often it is looked whether the lock is old enough to be written anew.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// What `BORG_ASSERT_ID` may name.
const ASSERT_ID_PLACES: [&str; 4] = ["read", "repair", "transfer", "rechunk"];

/// A repository in a local folder.
pub type LocalRepository = Repository<Ready<Folder>>;

/// An open repository and the key to it.
pub struct Session {
    /// The repository.
    pub repository: LocalRepository,
    /// Where it lies, as shown to users.
    pub location: String,
    /// The secrets.
    pub keys: Keys,
    /// The key that was unlocked; `None` with `authenticated_no_key`.
    pub key: Option<UnlockedKey>,
    /// All keys of the repository, in the order they are tried.
    pub key_sources: Vec<FoundKey>,
    /// Decompressors.
    pub engine: Native,
}

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

/// What kind of lock a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Others may read and add.
    Shared,
    /// No one else may be there.
    Exclusive,
}

/// A lock that is held, or the knowledge that none can be.
pub struct Held<'s> {
    locker: Option<Locker<'s>>,
    repository: &'s LocalRepository,
    looked_at: Instant,
}

impl Session {
    /// Reads the config and unlocks the key.
    pub fn open(app: &App) -> Result<Session, Failure> {
        let (repository, location) = open_repository(app)?;
        let suite = repository.config.suite.ok_or_else(|| {
            let text = format!("Repository {location} has no key information in its config.");
            Failure::new(54, "RepositoryKeyInfoMissing", text)
        })?;
        let key_sources = find_keys(app, &repository, &location)?;
        let (keys, key) = if skips_keys() && Keys::lost(suite).is_some() {
            let keys = Keys::lost(suite).expect("just seen to be there");
            (keys, None)
        } else {
            let (keys, key) = unlock_any(app, &repository, &location, &key_sources, suite)?;
            (keys, Some(key))
        };
        Ok(Session { repository, location, keys, key, key_sources, engine: Native::default() })
    }

    /// Takes a lock. Where none can be written, reading goes on without one, with a warning.
    pub fn lock(&self, app: &App, lock: Lock) -> Result<Held<'_>, Failure> {
        let request =
            LockRequest { exclusive: lock == Lock::Exclusive, owner: host::owner(), is_alive: &host::is_alive };
        let mut locker = Locker::new(&self.keys, request);
        let began = Instant::now();
        let wait = Duration::from_secs(app.common.lock_wait.max(0) as u64);
        loop {
            let timed_out = began.elapsed() >= wait;
            match now(locker.step(&self.repository, app.now(), fresh_session()?, timed_out)) {
                Ok(LockStep::Acquired) => {
                    return Ok(self.held(Some(locker)));
                }
                Ok(LockStep::Wait(millis)) => interrupt::sleep(Duration::from_millis(millis.into()))?,
                Ok(LockStep::WaitLong) => {
                    let millis = 1000 + getrandom::u32().unwrap_or_default() % 4000;
                    let left = wait.saturating_sub(began.elapsed());
                    interrupt::sleep(Duration::from_millis(millis.into()).min(left))?;
                }
                Err(LockError::Store(error))
                    if matches!(error.kind, StoreErrorKind::Denied | StoreErrorKind::ReadOnly) =>
                {
                    self.warn_of_no_lock(app, &error.detail)?;
                    return Ok(self.held(None));
                }
                Err(error) => return Err(Failure::lock(error, &self.location)),
            }
        }
    }

    fn held<'s>(&'s self, locker: Option<Locker<'s>>) -> Held<'s> {
        Held { locker, repository: &self.repository, looked_at: Instant::now() }
    }

    /// Compares the repository with what is remembered of it.
    pub fn assert_secure(&self, app: &App) -> Result<(), Failure> {
        let facts = Facts {
            repository: self.repository.id(),
            location: &self.location,
            suite: self.keys.suite(),
            key_location: self.key_location(),
            empty_passphrase: self.key.is_some_and(|key| key.empty_passphrase),
        };
        security::assert_secure(app, &facts)
    }

    /// Loads the chunk index and gives a reader of chunks.
    pub fn reader(&self, held: &Held<'_>) -> Result<ChunkReader<'_, Ready<Folder>>, Failure> {
        let index = now(load_index(&self.repository, &mut self.opener()));
        self.reader_with(held, index.map_err(|error| Failure::index(error, &self.location))?)
    }

    /// Gives a reader of chunks with an index that is loaded already.
    pub fn reader_with(&self, held: &Held<'_>, index: ChunkIndex) -> Result<ChunkReader<'_, Ready<Folder>>, Failure> {
        let assert_ids = asserts_ids()?;
        let mut reader = ChunkReader::new(&self.repository, &self.keys, &self.engine, index);
        reader.assert_ids(assert_ids);
        if !held.is_locked() {
            reader.without_lock();
        }
        Ok(reader)
    }

    /// Opens objects and store objects.
    pub fn opener(&self) -> Opener<'_> {
        Opener::new(&self.keys, &self.engine)
    }

    /// Where the unlocked key is.
    pub fn key_location(&self) -> Option<KeyLocation> {
        self.key.map(|key| self.key_sources[key.number].source.location)
    }

    /// The unlocked key's file, if it is in one.
    pub fn key_file(&self) -> Option<&Path> {
        self.key.and_then(|key| self.key_sources[key.number].file.as_deref())
    }

    /// Prints what was read from the repository.
    pub fn show_stats(&self, app: &App) {
        for line in self.repository.store.0.stats().lines(app.units()) {
            app.log.message(&Message::new(Level::Info, STATS, line));
        }
    }

    fn warn_of_no_lock(&self, app: &App, why: &str) -> Result<(), Failure> {
        let mut text = format!(
            "Repository {} can not be locked ({why}): reading without a lock, \
             what others change meanwhile may be missing.",
            self.location
        );
        let holders = now(peek_locks(&self.repository, &self.keys, app.now()));
        let holders = holders.map_err(|error| Failure::store(error, &self.location))?;
        let exclusive = holders.iter().filter(|holder| holder.lock.as_ref().is_none_or(|lock| lock.exclusive));
        for holder in exclusive {
            text.push_str(&format!(" It is in use: {}.", blocker(holder)));
        }
        app.warning(&text);
        Ok(())
    }
}

impl Held<'_> {
    /// Whether there is a lock at all.
    pub fn is_locked(&self) -> bool {
        self.locker.is_some()
    }

    /// Shows others that we are still alive; to be called often, which costs nothing.
    pub fn refresh(&mut self, app: &App) -> Result<(), Failure> {
        let Some(locker) = self.locker.as_mut().filter(|_| self.looked_at.elapsed() >= LOOK_INTERVAL) else {
            return Ok(());
        };
        self.looked_at = Instant::now();
        let refreshed = now(locker.refresh(self.repository, app.now(), fresh_session()?));
        refreshed.map_err(|error| Failure::lock(error, &app.location()))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(locker) = &mut self.locker {
            // A lock that can't be removed is found stale by others, since its owner is gone.
            let _ = now(locker.release(self.repository));
        }
    }
}

/// Random bytes that no other session has.
pub fn fresh_session() -> Result<SessionId, Failure> {
    let mut session = SessionId::default();
    match getrandom::fill(&mut session) {
        Ok(()) => Ok(session),
        Err(error) => Err(Failure::error(format_args!("the system gives no random bytes: {error}"))),
    }
}

/// Reads the config alone.
pub fn open_repository(app: &App) -> Result<(LocalRepository, String), Failure> {
    let text = app
        .common
        .repo
        .as_deref()
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Failure::error("missing repository, please use --repo or BORG_REPO env var!"))?;
    let text = app.replace_placeholders(text)?;
    let here = env::current_dir().unwrap_or_default();
    let location =
        Location::parse(&text, &here).map_err(|error| Failure::new(2, "Error", format!("Error: {error}")))?;
    let shown = location.to_string();
    let folder = match Folder::open(&location.path) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Failure::new(21, "Repository.PathPermissionDenied", format!("Permission denied to {shown}.")));
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(Failure::new(13, "Repository.DoesNotExist", format!("Repository {shown} does not exist.")));
        }
        Err(error) => return Err(Failure::error(format_args!("{shown}: {error}"))),
    };
    match now(Repository::open(Ready(folder))) {
        Ok(repository) => Ok((repository, shown)),
        Err(error) => Err(Failure::open(error, &shown)),
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

fn read_key_file(file: &PathBuf) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() || metadata.len() > MAX_TEXT_BYTES as u64 {
        return Err(io::Error::other("is no key file"));
    }
    fs::read(file)
}

fn unlock_any(
    app: &App,
    repository: &LocalRepository,
    location: &str,
    found: &[FoundKey],
    suite: portaborg_core::crypto::Suite,
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
    let no_key = || {
        let text = format!("No key found in repository {location}.");
        Failure::new(44, "RepoKeyNotFoundError", text)
    };
    if sources.is_empty() {
        return Err(no_key());
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

fn is_just_wrong(problem: &portaborg_core::key::KeyError) -> bool {
    use portaborg_core::crypto::KdfError;
    *problem == portaborg_core::key::KeyError::Kdf(KdfError::Passphrase)
}

fn skips_keys() -> bool {
    env::var("BORG_WORKAROUNDS").is_ok_and(|list| list.split(',').any(|name| name.trim() == "authenticated_no_key"))
}

/// Whether ids are verified on normal reads (data layer, section 5.1).
fn asserts_ids() -> Result<bool, Failure> {
    let Ok(list) = env::var("BORG_ASSERT_ID") else { return Ok(false) };
    let places: Vec<&str> = list.split(',').map(str::trim).filter(|place| !place.is_empty()).collect();
    let valid = ASSERT_ID_PLACES.join(", ");
    for place in &places {
        if *place == "verify_data" {
            return Err(Failure::error(format_args!(
                "BORG_ASSERT_ID: verify_data: always verifies, can not be configured. Valid place names are: {valid}."
            )));
        }
        if !ASSERT_ID_PLACES.contains(place) {
            return Err(Failure::error(format_args!(
                "BORG_ASSERT_ID: {place}: unknown place name. Valid place names are: {valid}."
            )));
        }
    }
    Ok(places.contains(&"read"))
}
