//! The chunk index, put together from its fragments or rebuilt from the packs.

use super::fragments::{MAX_FRAGMENT_BYTES, consolidate, delete_fragments, fragments, replace_fragments};
use super::open::{Repository, exists, within};
use super::walk::{PackWalk, Walked};
use crate::crypto::{EnvelopeError, Sealer};
use crate::id::{PackId, StoreHash};
use crate::index::{ChunkIndex, Location};
use crate::name::{Key, Namespace};
use crate::object::Opener;
use crate::store::{Piece, Store, StoreError, StoreMut};
use crate::store_object::Place;
use crate::table::TableError;
use alloc::vec::Vec;

/// How often a listing may be overtaken by another client's merging of fragments.
const LOAD_ATTEMPTS: usize = 3;
/// How much of fragments is read together, for stores where a request is dear: a large one, or all small ones.
const READ_BYTES: u64 = 16 << 20;

/// Why a fragment of the chunk index, or the index as a whole, can't be used.
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
    /// There are packs, but nothing in them is authentic: the key is not the right one, or the config names another suite
    /// than the repository has.
    #[error("nothing in the packs is authentic for this key")]
    NothingAuthentic,
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// What a chunk index that is there all the same had to do without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexDamage {
    /// A fragment can't be used, so the index was made anew from the packs.
    Fragment(IndexError),
    /// A part of a pack is no object; what it held is lost to an index that is made from the packs.
    Range {
        /// The pack.
        pack: PackId,
        /// First byte.
        offset: u64,
        /// How many.
        bytes: u64,
    },
}

/// Loads the whole chunk index: all stored fragments, or, where they are missing, damaged or marked as not to be trusted,
/// what lies in all packs (repository layer, section 5.7). Part of the fragments alone is never used.
///
/// Damage that does not keep the rest from being found is told to `observe`.
pub async fn load_index<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
    observe: &mut dyn FnMut(IndexDamage),
) -> Result<ChunkIndex, IndexError> {
    match load_fragments(repository, opener).await {
        Ok(Some(index)) => Ok(index),
        Ok(None) => rebuild_index(&repository.store, opener, observe).await,
        Err(error @ IndexError::Store(_)) => Err(error),
        Err(error) => match rebuild_index(&repository.store, opener, observe).await {
            Err(IndexError::NothingAuthentic) => Err(error),
            rebuilt => {
                observe(IndexDamage::Fragment(error));
                rebuilt
            }
        },
    }
}

/// The chunk index of a client that is about to change the repository.
#[derive(Debug)]
pub struct LoadedIndex {
    /// The index.
    pub index: ChunkIndex,
    /// Whether it was made from the packs. Then no stored fragments have it, and all of it is to be stored.
    pub is_rebuilt: bool,
}

/// Loads the chunk index for a client that adds to the repository. Fragments that are not to be trusted are removed, and
/// the index is made from the packs; a damaged fragment is an error, since what is added beside it would be found by nobody.
pub async fn load_index_to_add<S: StoreMut>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
    observe: &mut dyn FnMut(IndexDamage),
) -> Result<LoadedIndex, IndexError> {
    match load_fragments(repository, opener).await? {
        Some(index) => Ok(LoadedIndex { index, is_rebuilt: false }),
        None => {
            if exists(&repository.store, &Key::IndexInvalid).await? {
                delete_fragments(&repository.store).await?;
            }
            let index = rebuild_index(&repository.store, opener, observe).await?;
            Ok(LoadedIndex { index, is_rebuilt: true })
        }
    }
}

/// Loads the chunk index for a client that holds the exclusive lock, and makes the stored one whole: an index that had to be
/// made from the packs is stored, and small fragments are merged.
pub async fn load_index_to_rewrite<S: StoreMut>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
    sealer: &mut Sealer<'_>,
    observe: &mut dyn FnMut(IndexDamage),
) -> Result<ChunkIndex, IndexError> {
    let damage = match load_fragments(repository, opener).await {
        Ok(Some(index)) => {
            consolidate(repository, sealer).await?;
            return Ok(index);
        }
        Ok(None) => None,
        Err(error @ IndexError::Store(_)) => return Err(error),
        Err(error) => Some(error),
    };
    let index = match (rebuild_index(&repository.store, opener, observe).await, damage) {
        (Err(IndexError::NothingAuthentic), Some(error)) => return Err(error),
        (rebuilt, damage) => {
            damage.into_iter().map(IndexDamage::Fragment).for_each(observe);
            rebuilt?
        }
    };
    replace_fragments(repository, sealer, &index).await?;
    Ok(index)
}

/// Loads the chunk index from its fragments; `None` where they are missing or marked as not to be trusted.
pub async fn load_fragments<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
) -> Result<Option<ChunkIndex>, IndexError> {
    for _ in 0..LOAD_ATTEMPTS {
        if exists(&repository.store, &Key::IndexInvalid).await? {
            return Ok(None);
        }
        let mut index = ChunkIndex::new();
        let mut complete = true;
        let fragments = fragments(&repository.store).await?;
        if fragments.is_empty() {
            return Ok(None);
        }
        let mut rest = &fragments[..];
        while !rest.is_empty() {
            let (some, behind) = rest.split_at(together(rest));
            complete &= merge_fragments(repository, opener, some, &mut index).await?;
            rest = behind;
        }
        if complete {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Makes the chunk index anew from all objects in all packs whose metadata is authentic. Nothing is stored.
pub async fn rebuild_index<S: Store>(
    store: &S,
    opener: &mut Opener<'_>,
    observe: &mut dyn FnMut(IndexDamage),
) -> Result<ChunkIndex, IndexError> {
    let mut index = ChunkIndex::new();
    let mut skipped = Vec::new();
    for entry in store.list(Namespace::Packs).await? {
        let Ok(pack) = entry.name.parse() else { continue };
        if entry.deleted {
            continue;
        }
        let mut walk = PackWalk::new(pack, entry.size);
        while let Some(walked) = walk.next(store, opener).await {
            match walked {
                Ok(Walked::Object { offset, header }) => {
                    // An index can't tell of a place beyond 4 GiB, and no writer makes such packs.
                    let (Ok(offset), Ok(size)) = (u32::try_from(offset), u32::try_from(header.total())) else { break };
                    index.insert(header.id, Location { pack, offset, size });
                }
                Ok(Walked::Skipped { offset, bytes }) => skipped.push(IndexDamage::Range { pack, offset, bytes }),
                Err(error) if error.is_not_found() => break, // removed meanwhile
                Err(error) => return Err(error.into()),
            }
        }
    }
    if index.is_empty() && !skipped.is_empty() {
        return Err(IndexError::NothingAuthentic);
    }
    skipped.into_iter().for_each(observe);
    Ok(index)
}

/// How many of these fragments are read together: at least one.
fn together(fragments: &[(StoreHash, u64)]) -> usize {
    let mut bytes = 0_u64;
    let fits = |(_, size): &&(StoreHash, u64)| {
        bytes = bytes.saturating_add(*size);
        bytes <= READ_BYTES
    };
    fragments.iter().take_while(fits).count().max(1)
}

/// Adds what these fragments have; `false` if one is not there any more.
async fn merge_fragments<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
    fragments: &[(StoreHash, u64)],
    index: &mut ChunkIndex,
) -> Result<bool, IndexError> {
    let piece = |&(name, size): &(StoreHash, u64)| {
        // Where lengths are unknown, they are 0.
        let known = usize::try_from(size).ok().filter(|size| (1..=MAX_FRAGMENT_BYTES).contains(size));
        Piece { key: Key::Fragment(name), offset: 0, len: known.unwrap_or(MAX_FRAGMENT_BYTES + 1) }
    };
    let pieces: Vec<Piece> = fragments.iter().map(piece).collect();
    let mut is_complete = true;
    for (&(name, _), stored) in fragments.iter().zip(repository.store.gather(&pieces).await) {
        let mut stored = match stored {
            Err(error) if error.is_not_found() => {
                is_complete = false;
                continue;
            }
            stored => within(stored?, &Key::Fragment(name), MAX_FRAGMENT_BYTES)?,
        };
        let plaintext = repository
            .open_store_object(opener, Place::Hashed(Namespace::Index), &mut stored)
            .map_err(|source| IndexError::Envelope { name, source })?;
        index.merge_fragment(plaintext).map_err(|source| IndexError::Table { name, source })?;
    }
    Ok(is_complete)
}
