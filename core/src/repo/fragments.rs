//! Storing the chunk index as fragments (repository layer, sections 5.6 and 7.4).
//!
//! Whoever adds chunks stores a fragment with their entries; many small ones are merged into one in time. Before entries
//! may go, or packs that they point at, a marker tells that the fragments are not to be trusted.

use super::open::{Repository, exists, read_whole};
use crate::crypto::{Sealer, Sessions, store_hash};
use crate::id::{ChunkId, StoreHash};
use crate::index::{ChunkIndex, batches};
use crate::name::{Entry, Key, Namespace};
use crate::store::{Store, StoreError, StoreMut};
use crate::store_object::{Place, open_store_object, seal_store_object};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Bytes of an entry in a fragment, by which it is told how many entries a stored fragment has.
const ENTRY_BYTES: u64 = 80;
/// A fragment with fewer entries is small: it is worth merging with others.
const SMALL_ENTRIES: u64 = 100_000;
/// So many small fragments are left alone.
const MAX_SMALL_FRAGMENTS: usize = 15;
/// Writers stop at 400,000 entries, which is 32 MB; a fragment larger than this is none.
pub(super) const MAX_FRAGMENT_BYTES: usize = 256 << 20;
const PLACE: Place<'static> = Place::Hashed(Namespace::Index);

/// Stores the entries of these chunks beside what is stored already, durably. The packs that they lie in must be durable.
/// `is_whole` if these are all chunks, since nothing was stored.
pub(super) async fn add_fragments<S: StoreMut>(
    repository: &Repository<S>,
    sealer: &mut Sealer<'_>,
    index: &ChunkIndex,
    mut ids: Vec<ChunkId>,
    is_whole: bool,
) -> Result<(), StoreError> {
    let store = &repository.store;
    // A chunk that was added again is there twice.
    ids.sort_unstable();
    ids.dedup();
    let batches = batches(&mut ids);
    // Where there is nothing else, one of several fragments alone would pass for the whole index.
    let is_guarded = is_whole && batches.len() > 1;
    if is_guarded {
        store.write(&Key::IndexInvalid, &[]).await?;
        store.sync().await?;
    }
    for batch in batches {
        add_fragment(repository, sealer, &index.fragment(batch)).await?;
    }
    store.sync().await?;
    if is_guarded { remove_marker(store).await } else { Ok(()) }
}

/// Stores the whole index, an empty one too, and removes all other fragments.
pub async fn replace_fragments<S: StoreMut>(
    repository: &Repository<S>,
    sealer: &mut Sealer<'_>,
    index: &ChunkIndex,
) -> Result<(), StoreError> {
    let store = &repository.store;
    let old: Vec<StoreHash> = fragments(store).await?.into_iter().map(|(name, _)| name).collect();
    let mut ids: Vec<ChunkId> = index.iter().map(|(id, _)| id).collect();
    let batches = match batches(&mut ids) {
        none if none.is_empty() => alloc::vec![&[][..]],
        batches => batches,
    };
    // One of several fragments alone would pass for the whole index.
    let is_guarded = batches.len() > 1 || !old.is_empty();
    if is_guarded {
        store.write(&Key::IndexInvalid, &[]).await?;
    }
    // Packs that were removed, too: an index that is back before they are gone would leave them to nobody.
    store.sync().await?;
    let mut new = BTreeSet::new();
    for batch in batches {
        new.insert(add_fragment(repository, sealer, &index.fragment(batch)).await?);
    }
    store.sync().await?;
    for name in old.into_iter().filter(|name| !new.contains(name)) {
        delete_if_there(store, &Key::Fragment(name)).await?;
    }
    store.sync().await?;
    remove_marker(store).await
}

/// Removes the stored index: from then on it is made from the packs, until a new one is stored.
pub async fn delete_fragments<S: StoreMut>(store: &S) -> Result<(), StoreError> {
    let old = fragments(store).await?;
    if !old.is_empty() {
        store.write(&Key::IndexInvalid, &[]).await?;
        store.sync().await?;
        for (name, _) in old {
            delete_if_there(store, &Key::Fragment(name)).await?;
        }
        store.sync().await?;
    }
    remove_marker(store).await
}

/// Removes the marker, also one that someone else left: what it warned of is mended.
async fn remove_marker<S: StoreMut>(store: &S) -> Result<(), StoreError> {
    delete_if_there(store, &Key::IndexInvalid).await?;
    store.sync().await
}

/// Merges small fragments if there are many of them, or enough for a large one.
pub async fn consolidate<S: StoreMut>(repository: &Repository<S>, sealer: &mut Sealer<'_>) -> Result<(), StoreError> {
    let store = &repository.store;
    if exists(store, &Key::IndexInvalid).await? {
        return Ok(());
    }
    let small: Vec<(StoreHash, u64)> = fragments(store)
        .await?
        .into_iter()
        .map(|(name, bytes)| (name, bytes / ENTRY_BYTES))
        .filter(|(_, entries)| *entries < SMALL_ENTRIES)
        .collect();
    let entries: u64 = small.iter().map(|(_, entries)| entries).sum();
    if small.len() < 2 || entries < SMALL_ENTRIES && small.len() <= MAX_SMALL_FRAGMENTS {
        return Ok(());
    }
    let mut merged = ChunkIndex::new();
    // What each merged fragment says, so that one which would be written again just stays.
    let mut sources = Vec::new();
    let mut sessions = Sessions::new();
    for (name, _) in small {
        let mut stored = match read_whole(store, &Key::Fragment(name), MAX_FRAGMENT_BYTES).await {
            Err(error) if error.is_not_found() => continue, // merged by someone else meanwhile
            other => other?,
        };
        // A damaged one is left for `check`.
        let opened = open_store_object(sealer.keys(), &mut sessions, repository.id(), PLACE, &mut stored);
        let Ok(plaintext) = opened else { continue };
        if merged.merge_fragment(plaintext).is_ok() {
            sources.push((name, store_hash(plaintext)));
        }
    }
    if sources.is_empty() {
        return Ok(());
    }
    let mut ids: Vec<ChunkId> = merged.iter().map(|(id, _)| id).collect();
    let mut kept = BTreeSet::new();
    for batch in batches(&mut ids) {
        let plaintext = merged.fragment(batch);
        let content = store_hash(&plaintext);
        match sources.iter().find(|(_, source)| *source == content) {
            Some((name, _)) => kept.insert(*name),
            None => kept.insert(add_fragment(repository, sealer, &plaintext).await?),
        };
    }
    if kept.is_empty() {
        return Ok(()); // only empty fragments: one of them must stay
    }
    store.sync().await?;
    for (name, _) in sources.iter().filter(|(name, _)| !kept.contains(name)) {
        delete_if_there(store, &Key::Fragment(*name)).await?;
    }
    Ok(())
}

/// Removes an object, if it is there.
pub(crate) async fn delete_if_there<S: StoreMut>(store: &S, key: &Key) -> Result<(), StoreError> {
    match store.delete(key).await {
        Err(error) if error.is_not_found() => Ok(()),
        other => other,
    }
}

async fn add_fragment<S: StoreMut>(
    repository: &Repository<S>,
    sealer: &mut Sealer<'_>,
    plaintext: &[u8],
) -> Result<StoreHash, StoreError> {
    let stored = seal_store_object(sealer, repository.id(), PLACE, plaintext);
    let name = store_hash(&stored);
    repository.store.write(&Key::Fragment(name), &stored).await?;
    Ok(name)
}

/// Names and stored lengths of all fragments.
pub(super) async fn fragments<S: Store>(store: &S) -> Result<Vec<(StoreHash, u64)>, StoreError> {
    let is_fragment = |entry: Entry| Some((entry.name.parse().ok().filter(|_| !entry.deleted)?, entry.size));
    Ok(store.list(Namespace::Index).await?.into_iter().filter_map(is_fragment).collect())
}
