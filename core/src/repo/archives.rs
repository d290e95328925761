//! The archives that a repository points to.

use super::fragments::delete_if_there;
use super::reader::{ChunkReader, ReadError};
use crate::archive::{ArchiveError, ArchiveMeta};
use crate::id::{ArchiveId, ChunkId};
use crate::index::Location;
use crate::limits::MAX_DATA_SIZE;
use crate::name::{Key, Namespace};
use crate::object::ObjectType;
use crate::store::{Piece, Store, StoreError, StoreMut};
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
/// can't be used costs no other. Their metadata is read together, for stores where a request is dear.
pub async fn list_archives<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    deleted: bool,
) -> Result<ArchiveListing, StoreError> {
    let mut listing = ArchiveListing::default();
    let mut ids: Vec<ArchiveId> = Vec::new();
    for entry in reader.repository.store.list(Namespace::Archives).await? {
        if entry.deleted != deleted {
            continue;
        }
        match entry.name.parse() {
            Ok(id) => ids.push(id),
            Err(_) => listing.strays.push(entry.name),
        }
    }
    ids.sort_unstable();
    let mut rest = &ids[..];
    while !rest.is_empty() {
        let (some, behind) = rest.split_at(together(reader, rest));
        read_some(reader, some, &mut listing.archives).await;
        rest = behind;
    }
    Ok(listing)
}

/// For how many of these archives metadata is read together: at least for one.
fn together<S>(reader: &ChunkReader<'_, S>, ids: &[ArchiveId]) -> usize {
    let mut bytes = 0;
    let fits = |id: &&ArchiveId| {
        bytes += reader.index.get(&ChunkId::from(**id)).map_or(0, |place| u64::from(place.size));
        bytes <= READ_BYTES
    };
    ids.iter().take_while(fits).count().max(1)
}

async fn read_some<S: Store>(reader: &mut ChunkReader<'_, S>, ids: &[ArchiveId], archives: &mut Vec<ArchiveEntry>) {
    let piece = |id: &ArchiveId| {
        let Location { pack, offset, size } = reader.index.get(&ChunkId::from(*id))?;
        let is_possible = size as usize <= MAX_DATA_SIZE;
        is_possible.then(|| Piece { key: Key::Pack(pack), offset: offset.into(), len: size as usize })
    };
    let places: Vec<Option<Piece>> = ids.iter().map(piece).collect();
    let pieces: Vec<Piece> = places.iter().flatten().copied().collect();
    let mut stored = reader.repository.store.gather(&pieces).await.into_iter();
    let mut plaintext = Vec::new();
    for (&id, place) in ids.iter().zip(places) {
        let object = place.and_then(|_| stored.next()?.ok());
        let opened = object.and_then(|mut object| {
            reader.opener.open(&mut object, id.into(), Some(ObjectType::Archive), &mut plaintext).ok()
        });
        let is_right = !reader.asserts_ids() || reader.opener.assert_id(id.into(), &plaintext).is_ok();
        let meta = match opened.filter(|_| is_right) {
            Some(_) => ArchiveMeta::decode(&plaintext).map_err(ArchiveProblem::Meta),
            // The reader knows what else can be tried, and what is wrong.
            None => read_meta(reader, id).await,
        };
        archives.push(ArchiveEntry { id, meta });
    }
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

/// How much metadata is read together, in bytes; that of an archive has a few hundred, unless its command line is long.
const READ_BYTES: u64 = 8 << 20;
