//! What can go wrong only where something is written.

use crate::failure::{Failure, Fault};
use portaborg_core::compact::RewriteError;
use portaborg_core::object::ObjectWriteError;
use portaborg_core::repo::{Blocker, DefaultsError, LockError, WriteError};
use portaborg_core::store::{StoreError, StoreErrorKind};

/// The storage failed at a change, or at a read for it.
pub fn written(error: StoreError) -> Failure {
    match error.kind {
        StoreErrorKind::NotFound | StoreErrorKind::Denied => Failure::store(error),
        StoreErrorKind::ReadOnly | StoreErrorKind::Failed => {
            let StoreError { name, detail, .. } = error;
            Failure::new(Fault::Source, "Error", &name, format_args!("The storage failed at {name}: {detail}."))
        }
    }
}

/// The defaults can't be used.
pub fn defaults_failure(error: DefaultsError) -> Failure {
    match error {
        DefaultsError::Store(error) => written(error),
        error => Failure::defaults(error),
    }
}

/// A chunk can't be added.
pub fn write_failure(error: WriteError) -> Failure {
    match error {
        WriteError::Store(error) => written(error),
        WriteError::Object { id, source } => {
            let fault = match source {
                ObjectWriteError::TooLong { .. } => Fault::Damaged,
                _ => Fault::Misuse,
            };
            Failure::new(fault, "Error", id, format_args!("Chunk {id} can not be stored: {source}."))
        }
    }
}

/// Packs can't be rewritten.
pub fn rewrite_failure(error: RewriteError) -> Failure {
    match error {
        RewriteError::Store(error) => written(error),
        error => {
            Failure::new(Fault::Damaged, "IntegrityError", "packs", format_args!("Data integrity error: {error}."))
        }
    }
}

/// A lock can't be had, or was lost.
pub fn lock_failure(error: LockError) -> Failure {
    let timeout = |text| Failure::new(Fault::Source, "LockTimeout", "locks", text);
    match error {
        LockError::Store(error) => written(error),
        LockError::Killed => timeout("The lock was removed by someone else.".into()),
        LockError::Timeout(blockers) => {
            let holders: Vec<String> = blockers.iter().take(MAX_HOLDERS).map(holder).collect();
            timeout(format!("The repository is locked by: {}.", holders.join("; ")))
        }
    }
}

fn holder(blocker: &Blocker) -> String {
    let age = blocker.age_secs.map(|age| format!(", age {age:.3} seconds")).unwrap_or_default();
    match &blocker.lock {
        Some(lock) => {
            let kind = if lock.exclusive { "exclusive" } else { "shared" };
            format!("{kind} lock on host {}, pid {}{age}", lock.owner.host, lock.owner.process)
        }
        None => format!("a lock object that can not be read (treated as an exclusive lock){age}"),
    }
}

/// No more are named.
const MAX_HOLDERS: usize = 5;
