//! Taking, keeping, looking at and breaking locks (repository layer, section 6).

use super::fragments::delete_if_there;
use super::open::{Repository, exists};
use crate::crypto::{Keys, SessionId, Sessions, store_hash};
use crate::id::StoreHash;
use crate::lock::{Lock, Owner, REFRESH_SECS, STALE_SECS};
use crate::name::{Key, Namespace};
use crate::store::{Store, StoreError, StoreMut};
use crate::store_object::{Place, open_store_object, seal_one_shot};
use crate::time::Timestamp;
use alloc::vec::Vec;

/// A lock object has about 250 bytes.
const MAX_LOCK_BYTES: usize = 64 * 1024;
const PLACE: Place<'static> = Place::Hashed(Namespace::Locks);

/// What the face knows and this crate can't.
pub struct LockRequest<'a> {
    /// Whether no other lock may be beside it.
    pub exclusive: bool,
    /// Who asks.
    pub owner: Owner,
    /// Whether a process of this machine is alive.
    pub is_alive: &'a dyn Fn(u64) -> bool,
}

/// Someone else's lock that is in the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocker {
    /// What it says; `None` if it can't be read, and then it counts as an exclusive one.
    pub lock: Option<Lock>,
    /// How long ago it was written, in seconds, by its owner's clock (by the storage's if it can't be read).
    pub age_secs: Option<f64>,
}

/// Why a lock can't be had, or was lost.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LockError {
    /// Others held it all the time.
    #[error("the repository is locked")]
    Timeout(Vec<Blocker>),
    /// The own lock is gone: someone broke it.
    #[error("the own lock was removed")]
    Killed,
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum LockStep {
    /// Nothing: the lock is held.
    Acquired,
    /// Wait so many milliseconds and step again.
    Wait(u32),
    /// Wait one to five seconds, at random so that two clients don't meet for ever, and step again.
    WaitLong,
}

/// Acquires and holds one lock (repository layer, section 6.4). It never waits itself.
pub struct Locker<'r> {
    keys: &'r Keys,
    request: LockRequest<'r>,
    phase: Phase,
    own: Option<Own>,
    anchor: Option<Anchor>,
    sessions: Sessions,
}

#[derive(Clone, Copy)]
enum Phase {
    Start,
    /// The own lock is written; another client may have written one at the same moment.
    Written,
    /// The own lock keeps newcomers away, but older shared locks are still there.
    Draining,
}

#[derive(Clone, Copy)]
struct Own {
    name: StoreHash,
    written: Timestamp,
}

/// One moment by two clocks: when a lock of ours was written. It outlives the lock.
#[derive(Clone, Copy)]
struct Anchor {
    written: Timestamp,
    stored: Timestamp,
}

struct Found {
    name: StoreHash,
    lock: Option<Lock>,
    modified: Option<Timestamp>,
}

/// Whether a lock's owner is gone.
#[derive(PartialEq, Eq)]
enum Staleness {
    Fresh,
    /// The storage's clock, which decides, is not known yet.
    Maybe,
    Stale,
}

impl<'r> Locker<'r> {
    /// Nothing is written before the first step.
    pub fn new(keys: &'r Keys, request: LockRequest<'r>) -> Self {
        Locker { keys, request, phase: Phase::Start, own: None, anchor: None, sessions: Sessions::new() }
    }

    /// Goes one step towards the lock. `now` is the face's clock, `session` fresh random bytes, and `timed_out` tells that the
    /// user would wait no longer: then the lock is had or refused after one short wait at most. A refusal leaves nothing
    /// behind; who gives up otherwise must [`release`](Locker::release).
    pub async fn step<S: StoreMut>(
        &mut self,
        repository: &Repository<S>,
        now: Timestamp,
        session: SessionId,
        timed_out: bool,
    ) -> Result<LockStep, LockError> {
        let locks = self.sweep(repository, now).await?;
        let others = || locks.iter().filter(|(found, _)| self.own.is_none_or(|own| own.name != found.name));
        let exclusive = || others().filter(|(found, _)| found.lock.as_ref().is_none_or(|lock| lock.exclusive));
        // Someone may break it while we wait.
        let is_there = others().count() < locks.len();
        let next = match self.phase {
            Phase::Start if exclusive().all(|(_, staleness)| *staleness == Staleness::Maybe) => {
                self.write(repository, now, session).await?;
                self.phase = Phase::Written;
                return Ok(LockStep::Wait(10));
            }
            Phase::Start => LockStep::WaitLong,
            Phase::Written if exclusive().next().is_some() => LockStep::WaitLong,
            Phase::Written | Phase::Draining if !is_there => LockStep::WaitLong,
            Phase::Written | Phase::Draining if !self.request.exclusive || others().next().is_none() => {
                return Ok(LockStep::Acquired);
            }
            Phase::Written | Phase::Draining => LockStep::Wait(100),
        };
        let blockers: Vec<Blocker> = match next {
            LockStep::WaitLong => exclusive().map(|(found, _)| found.blocker(now)).collect(),
            _ => others().map(|(found, _)| found.blocker(now)).collect(),
        };
        if timed_out || next == LockStep::WaitLong {
            self.release(repository).await?;
            self.phase = Phase::Start;
        } else {
            self.phase = Phase::Draining;
        }
        if timed_out { Err(LockError::Timeout(blockers)) } else { Ok(next) }
    }

    /// Writes the lock anew if it is old enough, so that nobody takes its owner for dead.
    pub async fn refresh<S: StoreMut>(
        &mut self,
        repository: &Repository<S>,
        now: Timestamp,
        session: SessionId,
    ) -> Result<(), LockError> {
        let age_secs = |own: &Own| now.secs.saturating_sub(own.written.secs);
        let Some(old) = self.own.filter(|own| age_secs(own) >= REFRESH_SECS) else { return Ok(()) };
        self.write(repository, now, session).await?;
        match repository.store.delete(&Key::Lock(old.name)).await {
            Ok(()) => Ok(()),
            Err(error) if error.is_not_found() => {
                self.release(repository).await?;
                Err(LockError::Killed)
            }
            Err(error) => {
                // The old one may still be there, and then it is the one to release.
                let _ = self.release(repository).await;
                self.own = Some(old);
                Err(error.into())
            }
        }
    }

    /// Requires that the own lock is still there: before what must not happen beside others.
    pub async fn assert_held<S: Store>(&self, repository: &Repository<S>) -> Result<(), LockError> {
        let Some(own) = self.own else { return Err(LockError::Killed) };
        if exists(&repository.store, &Key::Lock(own.name)).await? { Ok(()) } else { Err(LockError::Killed) }
    }

    /// Removes the own lock.
    pub async fn release<S: StoreMut>(&mut self, repository: &Repository<S>) -> Result<(), StoreError> {
        match self.own.take() {
            Some(own) => delete_if_there(&repository.store, &Key::Lock(own.name)).await,
            None => Ok(()),
        }
    }

    async fn write<S: StoreMut>(
        &mut self,
        repository: &Repository<S>,
        now: Timestamp,
        session: SessionId,
    ) -> Result<(), StoreError> {
        let lock = Lock { exclusive: self.request.exclusive, owner: self.request.owner.clone(), time: now };
        let stored = seal_one_shot(self.keys, session, repository.id(), PLACE, &lock.encode());
        let name = store_hash(&stored);
        repository.store.write(&Key::Lock(name), &stored).await?;
        self.own = Some(Own { name, written: now });
        Ok(())
    }

    /// Lists the locks and removes the stale ones.
    async fn sweep<S: StoreMut>(
        &mut self,
        repository: &Repository<S>,
        now: Timestamp,
    ) -> Result<Vec<(Found, Staleness)>, StoreError> {
        let found = list_locks(repository, self.keys, &mut self.sessions).await?;
        if let Some(own) = self.own
            && let Some(stored) = found.iter().find(|found| found.name == own.name).and_then(|found| found.modified)
        {
            self.anchor = Some(Anchor { written: own.written, stored });
        }
        let mut locks = Vec::new();
        for found in found {
            match self.staleness(&found, now) {
                Staleness::Stale => delete_if_there(&repository.store, &Key::Lock(found.name)).await?,
                staleness => locks.push((found, staleness)),
            }
        }
        Ok(locks)
    }

    fn staleness(&self, found: &Found, now: Timestamp) -> Staleness {
        if self.own.is_some_and(|own| own.name == found.name) {
            return Staleness::Fresh;
        }
        let store_now = self.anchor.and_then(|anchor| anchor.store_now(now));
        let by_storage = |unknown_time| match (found.modified, store_now) {
            (None, _) => unknown_time,
            (Some(_), None) => Staleness::Maybe,
            (Some(modified), Some(store_now)) if store_now > modified.secs.saturating_add(STALE_SECS) => {
                Staleness::Stale
            }
            _ => Staleness::Fresh,
        };
        match &found.lock {
            None => by_storage(Staleness::Fresh),
            Some(lock) if self.is_dead(&lock.owner) => Staleness::Stale,
            Some(lock) if now.secs <= lock.time.secs.saturating_add(STALE_SECS) => Staleness::Fresh,
            Some(_) => by_storage(Staleness::Stale),
        }
    }

    fn is_dead(&self, owner: &Owner) -> bool {
        let is_local = owner.host == self.request.owner.host && owner.thread == 0;
        is_local && !(self.request.is_alive)(owner.process)
    }
}

impl Anchor {
    /// The storage's clock in seconds; `None` if the anchor is too old to tell.
    fn store_now(self, now: Timestamp) -> Option<i64> {
        let passed_secs = now.secs.saturating_sub(self.written.secs);
        (passed_secs <= STALE_SECS).then(|| self.stored.secs.saturating_add(passed_secs))
    }
}

impl Found {
    fn blocker(&self, now: Timestamp) -> Blocker {
        let since = self.lock.as_ref().map(|lock| lock.time).or(self.modified);
        let age_secs = since.map(|since| (now.as_nanos() - since.as_nanos()) as f64 / 1e9);
        Blocker { lock: self.lock.clone(), age_secs }
    }
}

/// Looks who holds locks, without taking or removing any: for reading where no lock can be written.
pub async fn peek_locks<S: Store>(
    repository: &Repository<S>,
    keys: &Keys,
    now: Timestamp,
) -> Result<Vec<Blocker>, StoreError> {
    let found = list_locks(repository, keys, &mut Sessions::new()).await?;
    Ok(found.iter().map(|found| found.blocker(now)).collect())
}

/// Removes all locks, whoever holds them.
pub async fn break_locks<S: StoreMut>(repository: &Repository<S>) -> Result<(), StoreError> {
    for entry in repository.store.list(Namespace::Locks).await? {
        if let Ok(name) = entry.name.parse() {
            delete_if_there(&repository.store, &Key::Lock(name)).await?;
        }
    }
    Ok(())
}

async fn list_locks<S: Store>(
    repository: &Repository<S>,
    keys: &Keys,
    sessions: &mut Sessions,
) -> Result<Vec<Found>, StoreError> {
    let mut locks = Vec::new();
    for entry in repository.store.list(Namespace::Locks).await? {
        let Ok(name) = entry.name.parse() else { continue };
        if entry.deleted {
            continue;
        }
        // A larger one is cut, and so it can't be read.
        let mut stored = match repository.store.read(&Key::Lock(name), 0, MAX_LOCK_BYTES).await {
            Ok(stored) => stored,
            Err(error) if error.is_not_found() => continue, // released meanwhile
            Err(error) => return Err(error),
        };
        let opened = open_store_object(keys, sessions, repository.id(), PLACE, &mut stored);
        let lock = opened.ok().and_then(|plaintext| Lock::decode(plaintext));
        locks.push(Found { name, lock, modified: entry.modified });
    }
    Ok(locks)
}
