//! An open repository, reading from it and adding to it.
//!
//! [`Repository::open`] reads the config, [`unlock()`] finds the key that a passphrase opens, [`load_index`] loads the chunk
//! index; a [`ChunkReader`] then gives chunks, [`list_archives`] the archives, and an [`ItemStream`] the items of one.

mod archive_writer;
mod archives;
mod create;
mod encoded_items;
mod fragments;
mod index;
mod items;
mod listing;
mod locks;
mod open;
mod reader;
mod rechunk;
mod unlock;
mod walk;
mod writer;

pub use crate::create::{DEFAULT_PACK_BYTES, PackLimits};
pub use archive_writer::{ArchiveWriter, PreparedArchive, SizeRule, Tally, prepare_archive};
pub use archives::{
    ArchiveEntry, ArchiveListing, ArchiveProblem, delete_archive, forget_archive, list_archives, undelete_archive,
};
pub use encoded_items::EncodedItems;
pub(crate) use fragments::delete_if_there;
pub use fragments::{consolidate, delete_fragments, replace_fragments};
pub use index::{
    IndexDamage, IndexError, LoadedIndex, load_fragments, load_index, load_index_to_add, load_index_to_rewrite,
    rebuild_index,
};
pub use items::{ItemProblem, ItemStep, ItemStream};
pub use listing::list_files;
pub use locks::{Blocker, LockError, LockRequest, LockStep, Locker, break_locks, peek_locks};
pub(crate) use open::exists;
pub use open::{DefaultsError, Foreign, OpenError, Repository, read_whole};
pub use reader::{ChunkReader, Content, ReadError};
pub use rechunk::Rechunker;
pub use unlock::{UnlockError, Unlocked, repository_keys, unlock};
pub use walk::{PackWalk, Walked};
pub use writer::{ChunkWriter, WriteDone, WriteError, WriteJob};
