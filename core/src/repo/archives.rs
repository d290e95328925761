//! The archives that a repository points to.

use super::fragments::delete_if_there;
use super::reader::{ChunkReader, ReadError};
use crate::archive::{ArchiveError, ArchiveMeta};
use crate::id::ArchiveId;
use crate::name::{Key, Namespace};
use crate::object::ObjectType;
use crate::store::{Store, StoreError, StoreMut};
use alloc::string::String;
use alloc::vec::Vec;

/// An archive that the repository points to.
#[derive(Debug, Clone)]
pub struct ArchiveEntry {
    /// Its id.
    pub id: ArchiveId,
    /// What is said of it, or why that can't be had.
    pub meta: Result<ArchiveMeta, ArchiveProblem>,
}

/// Why an archive that is pointed to can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveProblem {
    /// Its metadata object can't be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// Its metadata object is authentic, but makes no sense.
    #[error("{0}")]
    Meta(#[from] ArchiveError),
}

/// The archives of a repository.
#[derive(Debug, Clone, Default)]
pub struct ArchiveListing {
    /// In order of their ids.
    pub archives: Vec<ArchiveEntry>,
    /// Names of pointers that are no archive id.
    pub strays: Vec<String>,
}

/// Lists the archives, or the soft-deleted ones, and reads what is said of each (repository layer, section 6.1). One that
/// can't be used costs no other.
pub async fn list_archives<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    deleted: bool,
) -> Result<ArchiveListing, StoreError> {
    let mut listing = ArchiveListing::default();
    for entry in reader.repository.store.list(Namespace::Archives).await? {
        if entry.deleted != deleted {
            continue;
        }
        match entry.name.parse() {
            Ok(id) => listing.archives.push(ArchiveEntry { id, meta: read_meta(reader, id).await }),
            Err(_) => listing.strays.push(entry.name),
        }
    }
    listing.archives.sort_by_key(|archive| archive.id);
    Ok(listing)
}

/// Soft-deletes an archive: it is listed no more, but can come back until the next compaction. The caller makes that
/// durable, once for all it deletes.
pub async fn delete_archive<S: StoreMut>(store: &S, id: ArchiveId) -> Result<(), StoreError> {
    store.rename(&Key::Archive(id), &Key::DeletedArchive(id)).await
}

/// Brings a soft-deleted archive back.
pub async fn undelete_archive<S: StoreMut>(store: &S, id: ArchiveId) -> Result<(), StoreError> {
    store.rename(&Key::DeletedArchive(id), &Key::Archive(id)).await
}

/// Removes a soft-deleted archive for good. Its chunks are left for the compaction that calls this.
pub async fn forget_archive<S: StoreMut>(store: &S, id: ArchiveId) -> Result<(), StoreError> {
    delete_if_there(store, &Key::DeletedArchive(id)).await
}

async fn read_meta<S: Store>(reader: &mut ChunkReader<'_, S>, id: ArchiveId) -> Result<ArchiveMeta, ArchiveProblem> {
    let plaintext = reader.read(id.into(), ObjectType::Archive).await?;
    Ok(ArchiveMeta::decode(plaintext)?)
}
