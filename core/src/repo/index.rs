//! The chunk index, put together from its fragments or rebuilt from the packs.

use super::open::{Repository, read_whole};
use super::walk::{PackWalk, WalkError};
use crate::crypto::EnvelopeError;
use crate::id::StoreHash;
use crate::index::{ChunkIndex, Location};
use crate::name::{Key, Namespace};
use crate::object::Opener;
use crate::store::{Store, StoreError};
use crate::store_object::Place;
use crate::table::TableError;

/// How often a listing may be overtaken by another client's merging of fragments.
const LOAD_ATTEMPTS: usize = 3;

/// Writers stop at 400,000 entries, which is 32 MB; a fragment larger than this is none.
const MAX_FRAGMENT_BYTES: usize = 256 << 20;

/// Why the chunk index can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// A fragment is not authentic: damaged, forged, or of another repository.
    #[error("index fragment {name}: {source}")]
    Envelope {
        /// The fragment.
        name: StoreHash,
        /// What is wrong.
        source: EnvelopeError,
    },
    /// A fragment is authentic, but is no table.
    #[error("index fragment {name} {source}")]
    Table {
        /// The fragment.
        name: StoreHash,
        /// What is wrong.
        source: TableError,
    },
    /// The index is lost and can't be rebuilt, since a pack is damaged.
    #[error("{0}")]
    Pack(#[from] WalkError),
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Loads the whole chunk index: all stored fragments, or, where they are missing or marked as not to be trusted, the headers
/// in all packs (repository layer, section 5.7). A damaged fragment is an error: part of an index is worse than none.
pub async fn load_index<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
) -> Result<ChunkIndex, IndexError> {
    match load_fragments(repository, opener).await? {
        Some(index) => Ok(index),
        None => rebuild_index(&repository.store).await,
    }
}

/// Loads the chunk index from its fragments; `None` where they are missing or marked as not to be trusted.
pub async fn load_fragments<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
) -> Result<Option<ChunkIndex>, IndexError> {
    for _ in 0..LOAD_ATTEMPTS {
        if is_marked_invalid(&repository.store).await? {
            return Ok(None);
        }
        let mut index = ChunkIndex::new();
        let mut complete = true;
        let mut fragments = 0;
        for entry in repository.store.list(Namespace::Index).await? {
            let Ok(name) = entry.name.parse() else { continue };
            if entry.deleted {
                continue;
            }
            fragments += 1;
            match merge_fragment(repository, opener, name, &mut index).await {
                Err(IndexError::Store(error)) if error.is_not_found() => complete = false,
                done => done?,
            }
        }
        if fragments == 0 {
            return Ok(None);
        }
        if complete {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Makes the chunk index anew from the headers in all packs. Nothing is stored.
pub async fn rebuild_index<S: Store>(store: &S) -> Result<ChunkIndex, IndexError> {
    let mut index = ChunkIndex::new();
    for entry in store.list(Namespace::Packs).await? {
        let Ok(pack) = entry.name.parse() else { continue };
        if entry.deleted {
            continue;
        }
        let mut walk = PackWalk::new(pack, entry.size);
        while let Some(object) = walk.next(store).await {
            let (offset, header) = object?;
            let unusable = || WalkError::Header { pack, offset };
            let offset = u32::try_from(offset).map_err(|_| unusable())?;
            let size = u32::try_from(header.total()).map_err(|_| unusable())?;
            index.insert(header.id, Location { pack, offset, size });
        }
    }
    Ok(index)
}

async fn merge_fragment<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
    name: StoreHash,
    index: &mut ChunkIndex,
) -> Result<(), IndexError> {
    let mut stored = read_whole(&repository.store, &Key::Fragment(name), MAX_FRAGMENT_BYTES).await?;
    let plaintext = repository
        .open_store_object(opener, Place::Hashed(Namespace::Index), &mut stored)
        .map_err(|source| IndexError::Envelope { name, source })?;
    index.merge_fragment(plaintext).map_err(|source| IndexError::Table { name, source })
}

async fn is_marked_invalid<S: Store>(store: &S) -> Result<bool, StoreError> {
    match store.read(&Key::IndexInvalid, 0, 1).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}
