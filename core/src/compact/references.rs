//! The references of archives: kept ones, or what their items say.

use crate::archive::ArchiveMeta;
use crate::crypto::{EnvelopeError, Sealer};
use crate::id::{ArchiveId, ChunkId};
use crate::item::Item;
use crate::name::{Key, Namespace, REFERENCES_PREFIX};
use crate::references::ArchiveReferences;
use crate::repo::{ChunkReader, ItemProblem, ItemStream, delete_if_there};
use crate::store::{Store, StoreError, StoreMut};
use crate::store_object::{Place, seal_store_object};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// 36 bytes a chunk: an archive has less than a billion.
const MAX_STORED_BYTES: usize = 1 << 30;

/// The references of an archive that are kept in the repository. `Ok(None)` if there are none, `Err(None)` if they are of no
/// use; they can be made anew, so that harms nothing.
pub async fn load_references<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    id: ArchiveId,
) -> Result<Result<Option<ArchiveReferences>, Option<EnvelopeError>>, StoreError> {
    let key = Key::References(id);
    // A larger object is cut, and so it is of no use.
    let mut stored = match reader.repository.store.read(&key, 0, MAX_STORED_BYTES).await {
        Ok(stored) => stored,
        Err(error) if error.is_not_found() => return Ok(Ok(None)),
        Err(error) => return Err(error),
    };
    let name = alloc::format!("{key}");
    Ok(match reader.repository.open_store_object(&mut reader.opener, Place::Name(&name), &mut stored) {
        Ok(plaintext) => ArchiveReferences::decode(plaintext).map(Some).ok_or(None),
        Err(error) => Err(Some(error)),
    })
}

/// Keeps the references of an archive in the repository.
pub async fn store_references<S: StoreMut>(
    reader: &ChunkReader<'_, S>,
    sealer: &mut Sealer<'_>,
    id: ArchiveId,
    references: &ArchiveReferences,
) -> Result<(), StoreError> {
    let key = Key::References(id);
    let name = alloc::format!("{key}");
    let repository = reader.repository;
    let stored = seal_store_object(sealer, repository.id(), Place::Name(&name), &references.encode());
    repository.store.write(&key, &stored).await
}

/// Removes the references of all archives but these.
pub async fn forget_references<S: StoreMut>(store: &S, archives: &BTreeSet<ArchiveId>) -> Result<(), StoreError> {
    for entry in store.list(Namespace::Cache).await? {
        let id = entry.name.strip_prefix(REFERENCES_PREFIX).and_then(|id| id.parse::<ArchiveId>().ok());
        if let Some(id) = id.filter(|id| !archives.contains(id)) {
            delete_if_there(store, &Key::References(id)).await?;
        }
    }
    Ok(())
}

/// Reads what an archive refers to from its items. If one of them can't be read, nothing may be removed.
pub async fn scan_references<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    id: ArchiveId,
    meta: &ArchiveMeta,
) -> Result<ArchiveReferences, ItemProblem> {
    let mut scan = ReferencesScan::default();
    let mut items = ItemStream::new(&meta.item_ptrs);
    while let Some(item) = items.next(reader).await {
        scan.add(ItemReferences::of([&item?]));
    }
    Ok(scan.finish(id, meta, items.chunks()))
}

/// What some items of an archive refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemReferences {
    file_count: u64,
    content_size: u64,
    /// A chunk as often as it occurs.
    chunks: Vec<(ChunkId, u32)>,
}

impl ItemReferences {
    /// Of these items.
    pub fn of<'i>(items: impl IntoIterator<Item = &'i Item>) -> ItemReferences {
        let mut references = ItemReferences::default();
        for item in items {
            references.file_count += 1;
            for chunk in item.chunks.iter().flatten() {
                references.content_size = references.content_size.saturating_add(chunk.size);
                // No chunk is so long; what an item claims beyond that changes no more than a statistic.
                references.chunks.push((chunk.id, u32::try_from(chunk.size).unwrap_or(u32::MAX)));
            }
        }
        references
    }
}

/// What an archive refers to, as far as its items are known, in their order.
#[derive(Debug, Default)]
pub struct ReferencesScan {
    file_count: u64,
    content_size: u64,
    chunks: HashMap<ChunkId, u32>,
}

impl ReferencesScan {
    /// Adds what more items refer to.
    pub fn add(&mut self, references: ItemReferences) {
        self.file_count += references.file_count;
        self.content_size = self.content_size.saturating_add(references.content_size);
        self.chunks.extend(references.chunks);
    }

    /// Ends with what the archive needs besides: its metadata, and the chunks of its item stream.
    pub fn finish(mut self, id: ArchiveId, meta: &ArchiveMeta, item_chunks: &[ChunkId]) -> ArchiveReferences {
        let described = meta.item_ptrs.iter().chain(item_chunks).map(|id| (*id, 0));
        self.chunks.entry(id.into()).or_insert(0);
        self.chunks.extend(described);
        let mut chunks: Vec<(ChunkId, u32)> = self.chunks.into_iter().collect();
        chunks.sort_unstable();
        ArchiveReferences { file_count: self.file_count, content_size: self.content_size, chunks }
    }
}
