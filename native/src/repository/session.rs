//! Opening a repository for a command: config, key, lock, security, index (repository layer, section 2.5).

use crate::app::App;
use crate::client::host;
use crate::client::random;
use crate::failure::{Failure, blocker};
use crate::interrupt;
use crate::output::json::Object;
use crate::output::log::{Level, Message, STATS};
use crate::repository::engine::Native;
use crate::repository::folder::{Folder, LocalRepository};
use crate::repository::keys::{FoundKey, KeyStore, UnlockedKey, find_keys, unlock_any};
use crate::repository::location::Location;
use crate::repository::permissions::Permissions;
use crate::repository::security::{self, Facts};
use portaborg_core::crypto::{Keys, SessionId};
use portaborg_core::index::ChunkIndex;
use portaborg_core::key::KeyLocation;
use portaborg_core::object::Opener;
use portaborg_core::repo::{ChunkReader, LockError, LockRequest, LockStep, Locker, Repository, load_index, peek_locks};
use portaborg_core::store::{Ready, StoreErrorKind, now};
use std::env;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often it is looked whether the lock is old enough to be written anew.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// What `BORG_ASSERT_ID` is if it is not set: where a wrong content would get a right id.
const DEFAULT_ASSERT_ID: &str = "repair,transfer,rechunk";
/// What `BORG_ASSERT_ID` may name.
const ASSERT_ID_PLACES: [&str; 4] = ["read", "repair", "transfer", "rechunk"];

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
    session: &'s Session,
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
        let (keys, key) = match Keys::lost(suite).filter(|_| skips_keys()) {
            Some(keys) => (keys, None),
            None => {
                let (keys, key) = unlock_any(app, &repository, &location, &key_sources, suite)?;
                (keys, Some(key))
            }
        };
        Ok(Session { repository, location, keys, key, key_sources, engine: Native })
    }

    /// Takes a lock. Where none can be written, reading goes on without one, with a warning.
    pub fn lock(&self, app: &App, lock: Lock) -> Result<Held<'_>, Failure> {
        let unlocked = || Held { locker: None, session: self, looked_at: Instant::now() };
        if let Err(error) = self.repository.store.0.takes_locks() {
            self.warn_of_no_lock(app, &error.to_string())?;
            return Ok(unlocked());
        }
        match self.acquire(app, lock)? {
            Err(LockError::Store(error)) if matches!(error.kind, StoreErrorKind::Denied | StoreErrorKind::ReadOnly) => {
                self.warn_of_no_lock(app, &error.detail)?;
                Ok(unlocked())
            }
            held => held.map_err(|error| Failure::lock(error, &self.location)),
        }
    }

    /// Takes a lock for a command that changes something, which can't do without one.
    pub fn lock_to_write(&self, app: &App, lock: Lock) -> Result<Held<'_>, Failure> {
        self.repository.store.0.takes_locks().map_err(|error| {
            let text = format!("Permission denied to {}: it can not be locked ({error}).", self.location);
            Failure::new(21, "Repository.PathPermissionDenied", text)
        })?;
        self.acquire(app, lock)?.map_err(|error| Failure::lock(error, &self.location))
    }

    fn acquire(&self, app: &App, lock: Lock) -> Result<Result<Held<'_>, LockError>, Failure> {
        let request =
            LockRequest { exclusive: lock == Lock::Exclusive, owner: host::owner(), is_alive: &host::is_alive };
        let locker = Locker::new(&self.keys, request);
        // Whatever ends the wait, dropping this leaves no lock behind.
        let mut held = Held { locker: Some(locker), session: self, looked_at: Instant::now() };
        let began = Instant::now();
        let wait = Duration::from_secs(app.common.lock_wait.max(0) as u64);
        loop {
            let Some(locker) = &mut held.locker else { return Ok(Ok(held)) };
            let timed_out = began.elapsed() >= wait;
            match now(locker.step(&self.repository, app.now(), fresh_session()?, timed_out)) {
                Ok(LockStep::Acquired) => return Ok(Ok(held)),
                Ok(LockStep::Wait(millis)) => interrupt::sleep(Duration::from_millis(millis.into()))?,
                Ok(LockStep::WaitLong) => {
                    let millis = 1000 + getrandom::u32().unwrap_or_default() % 4000;
                    let left = wait.saturating_sub(began.elapsed());
                    interrupt::sleep(Duration::from_millis(millis.into()).min(left))?;
                }
                Err(error) => return Ok(Err(error)),
            }
            held.refresh(app)?; // an exclusive lock may wait long for older shared ones
        }
    }

    /// Compares the repository with what is remembered of it.
    pub fn assert_secure(&self, app: &App) -> Result<(), Failure> {
        security::assert_secure(app, &self.facts())
    }

    /// Remembers the repository, which has just been made, so that it is a known one.
    pub fn remember(&self, app: &App) {
        security::remember(app, &self.facts());
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            repository: self.repository.id(),
            location: &self.location,
            suite: self.keys.suite(),
            key_location: self.key_location(),
            empty_passphrase: self.key.as_ref().is_some_and(|key| key.passphrase.is_empty()),
        }
    }

    /// Loads the chunk index and gives a reader of chunks. Damage that leaves most of the index is told of.
    pub fn reader(&self, app: &App, held: &Held<'_>) -> Result<ChunkReader<'_, Ready<Folder>>, Failure> {
        let mut observe = |damage| app.fail(&Failure::index_damage(damage, &self.location));
        let index = now(load_index(&self.repository, &mut self.opener(), &mut observe));
        self.reader_with(held, index.map_err(|error| Failure::index(error, &self.location))?)
    }

    /// Gives a reader of chunks with an index that is loaded already.
    pub fn reader_with(&self, held: &Held<'_>, index: ChunkIndex) -> Result<ChunkReader<'_, Ready<Folder>>, Failure> {
        let assert_ids = asserts_ids("read")?;
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
        self.unlocked_key().map(|key| key.source.location)
    }

    /// The unlocked key's file, if it is in one.
    pub fn key_file(&self) -> Option<&Path> {
        self.unlocked_key().and_then(|key| key.file.as_deref())
    }

    /// The unlocked key; `None` with `authenticated_no_key`.
    pub fn unlocked_key(&self) -> Option<&FoundKey> {
        self.key.as_ref().map(|key| &self.key_sources[key.number])
    }

    /// Where keys of the repository are stored and removed.
    pub fn key_store<'s>(&'s self, app: &'s App) -> KeyStore<'s> {
        KeyStore { app, store: &self.repository.store, repository: self.repository.id(), location: &self.location }
    }

    /// What every JSON document of a repository begins with (command line, section 3.5).
    pub fn json(&self) -> Object {
        let suite = self.keys.suite();
        let mut encryption =
            Object::new().with("encryption", suite.encryption_name()).with("id_hash", suite.id_hash.name());
        if let Some(file) = self.key_file() {
            encryption.set("keyfile", file.display().to_string());
        }
        let repository =
            Object::new().with("id", self.repository.id().to_string()).with("location", self.location.as_str());
        Object::new().with("repository", repository).with("encryption", encryption)
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
        let holders = match now(peek_locks(&self.repository, &self.keys, app.now())) {
            // Who may not look either has been warned.
            Err(error) if error.kind == StoreErrorKind::Denied => Vec::new(),
            holders => holders.map_err(|error| Failure::store(error, &self.location))?,
        };
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
        let refreshed = now(locker.refresh(&self.session.repository, app.now(), fresh_session()?));
        refreshed.map_err(|error| Failure::lock(error, &self.session.location))
    }
}

impl Held<'_> {
    /// Requires that the lock is still there: before a change that must not be made beside others.
    pub fn assert_held(&self) -> Result<(), Failure> {
        let Some(locker) = &self.locker else { return Ok(()) };
        let held = now(locker.assert_held(&self.session.repository));
        held.map_err(|error| Failure::lock(error, &self.session.location))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(locker) = &mut self.locker {
            // A lock that can't be removed is found stale by others, since its owner is gone.
            let _ = now(locker.release(&self.session.repository));
        }
    }
}

/// Random bytes that no other session has.
pub fn fresh_session() -> Result<SessionId, Failure> {
    random::bytes()
}

/// Reads the config alone.
pub fn open_repository(app: &App) -> Result<(LocalRepository, String), Failure> {
    let location = repository_location(app)?;
    Ok((open_repository_at(&location)?, location.to_string()))
}

/// Reads the config of the repository at a location.
pub fn open_repository_at(location: &Location) -> Result<LocalRepository, Failure> {
    let opened = now(Repository::open(Ready(open_folder(location)?)));
    opened.map_err(|error| Failure::open(error, &location.to_string()))
}

/// Where the repository lies that the command line or the environment names.
pub fn repository_location(app: &App) -> Result<Location, Failure> {
    let text = app
        .common
        .repo
        .as_deref()
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Failure::error("missing repository, please use --repo or BORG_REPO env var!"))?;
    location_of(app, text)
}

/// The location that a text names.
pub fn location_of(app: &App, text: &str) -> Result<Location, Failure> {
    let text = app.replace_placeholders(text)?;
    let here = env::current_dir().unwrap_or_default();
    Location::parse(&text, &here).map_err(Failure::error)
}

/// The folder at a location, which may or may not hold a repository.
pub fn open_folder(location: &Location) -> Result<Folder, Failure> {
    let permissions = Permissions::from_environment().map_err(Failure::error)?;
    let folder = Folder::open(&location.path).map(|folder| folder.with_permissions(permissions));
    folder.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Failure::new(21, "Repository.PathPermissionDenied", format!("Permission denied to {location}."))
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            let is_file = location.path.is_file();
            let why = if is_file { ": it is a file, and a repository is a folder" } else { "" };
            Failure::new(13, "Repository.DoesNotExist", format!("Repository {location} does not exist{why}."))
        }
        _ => Failure::error(format_args!("{location}: {error}")),
    })
}

fn skips_keys() -> bool {
    env::var("BORG_WORKAROUNDS").is_ok_and(|list| list.split(',').any(|name| name.trim() == "authenticated_no_key"))
}

/// Whether ids are verified at a place: `read` is that of normal reads (data layer, section 5.1).
pub fn asserts_ids(place: &str) -> Result<bool, Failure> {
    let list = env::var("BORG_ASSERT_ID").unwrap_or_else(|_| DEFAULT_ASSERT_ID.into());
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
    Ok(places.contains(&place))
}
