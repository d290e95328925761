//! An open repository, and reading from it.
//!
//! [`Repository::open`] reads the config, [`unlock()`] finds the key that a passphrase opens, [`load_index`] loads the chunk
//! index; a [`ChunkReader`] then gives chunks, [`list_archives`] the archives, and an [`ItemStream`] the items of one.

mod archives;
mod index;
mod items;
mod locks;
mod open;
mod reader;
mod unlock;
mod walk;

pub use archives::{ArchiveEntry, ArchiveListing, ArchiveProblem, list_archives};
pub use index::{IndexDamage, IndexError, load_fragments, load_index, rebuild_index};
pub use items::{ItemProblem, ItemStream};
pub use locks::{Blocker, LockError, LockRequest, LockStep, Locker, break_locks, peek_locks};
pub(crate) use open::exists;
pub use open::{DefaultsError, Foreign, OpenError, Repository, read_whole};
pub use reader::{ChunkReader, Content, ReadError};
pub use unlock::{UnlockError, Unlocked, repository_keys, unlock};
pub use walk::{PackWalk, Walked};
