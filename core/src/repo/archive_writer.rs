//! Writing an archive (data layer, sections 9.2 to 9.4).

use super::writer::{ChunkWriter, WriteError};
use crate::archive::ArchiveMeta;
use crate::chunk::{Chunker, ChunkerParams};
use crate::crypto::Keys;
use crate::id::{ArchiveId, ChunkId};
use crate::item::Item;
use crate::limits::IDS_PER_CHUNK;
use crate::msgpack::Writer;
use crate::name::Key;
use crate::object::ObjectType;
use crate::store::{StoreError, StoreMut};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The item stream is cut when so much of it has gathered. Equal items give equal chunks only with this number.
const ITEM_BUFFER_BYTES: usize = 8 << 20;

/// Sizes of what was stored, in bytes of plaintext.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// All of it, once for each reference.
    pub original: u64,
    /// What the repository did not have before.
    pub deduplicated: u64,
}

impl Tally {
    /// Counts a chunk.
    pub fn add(&mut self, bytes: u64, is_new: bool) {
        self.original += bytes;
        self.deduplicated += if is_new { bytes } else { 0 };
    }
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.original += other.original;
        self.deduplicated += other.deduplicated;
    }
}

/// Whether the whole item stream counts in an archive's size, or only what was cut before its end: that differs from command
/// to command in Borg (data layer, section 9.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeRule {
    /// Without the end of the stream: create.
    WithoutLastItems,
    /// With all of it: recreate.
    WithItems,
}

/// Takes the items of a new archive in order.
pub struct ArchiveWriter {
    chunker: Chunker,
    stream: Vec<u8>,
    pieces: Vec<ChunkId>,
    items: Tally,
    ended: Option<Ended>,
}

/// What is known when there are no more items.
struct Ended {
    item_ptrs: Vec<ChunkId>,
    /// Of the item stream but its end.
    before_end: Tally,
    /// Of the lists of its chunks.
    lists: Tally,
}

/// An archive of which everything is stored and durable, but that nothing points to yet.
#[derive(Debug)]
#[must_use = "there is no archive until it is committed"]
pub struct PreparedArchive {
    /// Its id.
    pub id: ArchiveId,
    /// What it says of itself.
    pub meta: ArchiveMeta,
    /// Sizes of what describes the archive, as far as they count.
    pub metadata: Tally,
}

impl PreparedArchive {
    /// Points to the archive: from now on it is there, also after a power failure. Whoever calls this has made sure that the
    /// repository is still locked, so that nobody has removed what the archive needs.
    pub async fn commit<S: StoreMut>(&self, store: &S) -> Result<(), StoreError> {
        store.write(&Key::Archive(self.id), &[]).await?;
        store.sync().await
    }
}

impl ArchiveWriter {
    /// Without items.
    pub fn new(keys: &Keys) -> Self {
        let chunker = Chunker::new(&ChunkerParams::ITEMS, keys);
        ArchiveWriter { chunker, stream: Vec::new(), pieces: Vec::new(), items: Tally::default(), ended: None }
    }

    /// Adds an item. The chunks that it names are added already.
    pub async fn add<S: StoreMut>(&mut self, item: &Item, writer: &mut ChunkWriter<'_, S>) -> Result<(), WriteError> {
        item.encode_into(&mut self.stream);
        self.cut_if_long(writer).await
    }

    /// Adds items that are encoded already, one after another.
    pub async fn add_encoded<S: StoreMut>(
        &mut self,
        item: &[u8],
        writer: &mut ChunkWriter<'_, S>,
    ) -> Result<(), WriteError> {
        self.stream.extend_from_slice(item);
        self.cut_if_long(writer).await
    }

    async fn cut_if_long<S: StoreMut>(&mut self, writer: &mut ChunkWriter<'_, S>) -> Result<(), WriteError> {
        if self.stream.len() > ITEM_BUFFER_BYTES { self.cut(false, writer).await } else { Ok(()) }
    }

    /// Adds what describes the items; there is none to come. [`prepare`](ArchiveWriter::prepare) does it where that was not
    /// done before.
    pub async fn end_items<S: StoreMut>(&mut self, writer: &mut ChunkWriter<'_, S>) -> Result<(), WriteError> {
        if self.ended.is_some() {
            return Ok(());
        }
        let before_end = self.items;
        self.cut(true, writer).await?;
        let (mut item_ptrs, mut lists) = (Vec::new(), Tally::default());
        for ids in self.pieces.chunks(IDS_PER_CHUNK) {
            let mut list = Writer::new();
            list.array(ids.len());
            ids.iter().for_each(|id| list.bin(&id.0));
            item_ptrs.push(store(&list.into_bytes(), ObjectType::ItemPtrs, writer, &mut lists).await?);
        }
        self.ended = Some(Ended { item_ptrs, before_end, lists });
        Ok(())
    }

    /// Stores all that describes the archive. `meta` has everything but the item pointers; to its size is added what counts of
    /// the archive's description.
    pub async fn prepare<S: StoreMut>(
        mut self,
        mut meta: ArchiveMeta,
        rule: SizeRule,
        writer: &mut ChunkWriter<'_, S>,
    ) -> Result<PreparedArchive, WriteError> {
        self.end_items(writer).await?;
        let Ended { item_ptrs, before_end, lists } = self.ended.expect("it was just ended");
        let mut metadata = match rule {
            SizeRule::WithoutLastItems => before_end,
            SizeRule::WithItems => self.items,
        };
        metadata += lists;
        meta.item_ptrs = item_ptrs;
        meta.size = meta.size.saturating_add(metadata.original);
        prepare_archive(meta, metadata, writer).await
    }

    /// Cuts the stream into chunks. All but the last are stored; the last one only at the end, or if it is the only one:
    /// what comes next belongs to it.
    async fn cut<S: StoreMut>(&mut self, at_end: bool, writer: &mut ChunkWriter<'_, S>) -> Result<(), WriteError> {
        let stream = Arc::new(core::mem::take(&mut self.stream));
        let mut start = 0;
        while start < stream.len() {
            let rest = &stream[start..];
            let cut = self.chunker.cut(start as u64, rest);
            let len = cut.expect("the chunker of item streams has no faults");
            if len == rest.len() && start > 0 && !at_end {
                break;
            }
            let id = writer.chunk_id(&rest[..len]);
            let is_new = writer.add_from(id, ObjectType::Items, &stream, start..start + len).await?;
            self.items.add(len as u64, is_new);
            self.pieces.push(id);
            start += len;
        }
        writer.submit(&stream);
        if !at_end {
            self.stream.reserve(ITEM_BUFFER_BYTES + ITEM_BUFFER_BYTES / 8);
            self.stream.extend_from_slice(&stream[start..]);
        }
        Ok(())
    }
}

/// Stores an archive's metadata, in a pack of its own where listings find it quickly, and makes everything that was added
/// durable. `metadata` is what was counted so far of the archive's description.
pub async fn prepare_archive<S: StoreMut>(
    meta: ArchiveMeta,
    mut metadata: Tally,
    writer: &mut ChunkWriter<'_, S>,
) -> Result<PreparedArchive, WriteError> {
    writer.flush().await?;
    let id = ArchiveId(store(&meta.encode(), ObjectType::Archive, writer, &mut metadata).await?.0);
    writer.save_index().await?;
    Ok(PreparedArchive { id, meta, metadata })
}

async fn store<S: StoreMut>(
    plaintext: &[u8],
    kind: ObjectType,
    writer: &mut ChunkWriter<'_, S>,
    tally: &mut Tally,
) -> Result<ChunkId, WriteError> {
    let id = writer.chunk_id(plaintext);
    let is_new = writer.add(id, kind, plaintext).await?;
    tally.add(plaintext.len() as u64, is_new);
    Ok(id)
}
