//! The door to wherever a repository lies: objects under names, seven namespaces of them (repository layer, section 1).
//!
//! A face implements [`Store`], and [`StoreMut`] where it may also write; the browser implements the first alone, so that
//! reading code can't write there. Stores that just block (a local folder) implement [`BlockingStore`] and are wrapped in
//! [`Ready`], for which [`now`] finishes any call of this crate without an executor.

mod blocking;

pub use blocking::{BlockingStore, BlockingStoreMut, Ready, now};

use crate::name::{Entry, Key, Namespace};
use alloc::string::String;
use alloc::vec::Vec;

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {}", match kind {
    StoreErrorKind::NotFound => "not found",
    StoreErrorKind::Denied | StoreErrorKind::ReadOnly | StoreErrorKind::Failed => detail,
})]
pub struct StoreError {
    /// The object or namespace.
    pub name: String,
    /// What kind of failure.
    pub kind: StoreErrorKind,
    /// What the storage said.
    pub detail: String,
}

/// Kinds of [`StoreError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such object.
    NotFound,
    /// The user may not.
    Denied,
    /// The storage takes no changes.
    ReadOnly,
    /// Anything else: input or output failed, the connection broke.
    Failed,
}

impl StoreError {
    /// Whether the object just isn't there.
    pub fn is_not_found(&self) -> bool {
        self.kind == StoreErrorKind::NotFound
    }
}

/// A range of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The object.
    pub key: Key,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: usize,
}

/// A place to read from.
#[allow(async_fn_in_trait)] // used through generics only; whether futures are Send is for the face to decide
pub trait Store {
    /// Up to `len` bytes from `offset`; fewer if the object ends before. `len` bounds what is allocated.
    async fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError>;

    /// All objects of a namespace, at any depth, in order of their names. A namespace that isn't there is empty.
    async fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError>;

    /// Several pieces, each as [`Store::read`] gives it; a store for which a request is dear fetches them together.
    async fn gather(&self, pieces: &[Piece]) -> Vec<Result<Vec<u8>, StoreError>> {
        let mut results = Vec::with_capacity(pieces.len());
        for piece in pieces {
            results.push(self.read(&piece.key, piece.offset, piece.len).await);
        }
        results
    }
}

/// A place to read from and write to.
///
/// What is written is visible at once, whole or not at all. It outlives a power failure only when [`StoreMut::sync`] has
/// returned after it; until then any part of what was done since may be lost, whatever the order.
#[allow(async_fn_in_trait)] // as above
pub trait StoreMut: Store {
    /// Stores an object whole, replacing what has its name.
    async fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError>;

    /// The same for content that lies in several pieces.
    async fn write_pieces(&self, key: &Key, pieces: &[Vec<u8>]) -> Result<(), StoreError> {
        self.write(key, &pieces.concat()).await
    }

    /// Removes an object.
    async fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Gives an object another name of the same namespace, replacing what has that name.
    async fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError>;

    /// Makes everything that was done so far durable. Locks need not be: a machine that lost power holds none.
    async fn sync(&self) -> Result<(), StoreError>;
}
