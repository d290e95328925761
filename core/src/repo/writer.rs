//! Adding chunks: packs in the making, and the index of what was added (repository layer, sections 5.3 and 6.3).

use super::fragments::{add_fragments, consolidate};
use super::reader::ChunkReader;
use crate::codec::{Compression, Engine};
use crate::crypto::{Sealer, store_hash};
use crate::id::{ChunkId, PackId};
use crate::index::Location;
use crate::limits::MAX_DATA_SIZE;
use crate::name::Key;
use crate::object::{ObjectTicket, ObjectType, ObjectWriteError, ObjectWriter};
use crate::store::{StoreError, StoreMut};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// When a pack is full: with this many bytes or more, or this many objects. It has at most one object more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackLimits {
    /// In bytes.
    pub size: Option<usize>,
    /// In objects.
    pub count: Option<usize>,
}

/// The size of packs where nothing else is asked for, in bytes.
pub const DEFAULT_PACK_BYTES: usize = 50_000_000;

impl Default for PackLimits {
    fn default() -> Self {
        PackLimits { size: Some(DEFAULT_PACK_BYTES), count: None }
    }
}

/// The index tells of places below 4 GiB only, so a pack that is longer gets no more objects, whatever the limits.
const MAX_PACK_BYTES: u64 = u32::MAX as u64 - MAX_DATA_SIZE as u64;

/// Why a chunk can't be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It can't be made an object.
    #[error("chunk {id}: {source}")]
    Object {
        /// The chunk.
        id: ChunkId,
        /// Why.
        source: ObjectWriteError,
    },
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Adds chunks to a repository that is locked.
///
/// What is added lies in a pack in the making until that is full or [flushed](ChunkWriter::flush), and is found by other
/// clients when [`ChunkWriter::save_index`] has returned. Dropping the writer drops what was not flushed, and harms nothing.
pub struct ChunkWriter<'r, S> {
    /// What was there before, and its index; added chunks join it as their packs are stored.
    pub reader: ChunkReader<'r, S>,
    /// How added chunks are compressed.
    pub compression: Compression,
    sealer: Sealer<'r>,
    objects: ObjectWriter<'r>,
    limits: PackLimits,
    pack: Vec<u8>,
    /// What lies in the pack: id, offset and length.
    entries: Vec<(ChunkId, usize, usize)>,
    /// The same ids, to be found.
    pending: BTreeSet<ChunkId>,
    /// Chunks whose packs are stored, but that no stored fragment has.
    unsaved: Vec<ChunkId>,
    /// Whether those are all that the repository has.
    saves_all: bool,
}

impl<'r, S: StoreMut> ChunkWriter<'r, S> {
    /// Adds to what `reader` reads.
    pub fn new(
        reader: ChunkReader<'r, S>,
        sealer: Sealer<'r>,
        engine: &'r dyn Engine,
        compression: Compression,
        limits: PackLimits,
    ) -> Self {
        let objects = ObjectWriter::new(sealer.keys(), engine);
        ChunkWriter {
            reader,
            compression,
            sealer,
            objects,
            limits,
            pack: Vec::new(),
            entries: Vec::new(),
            pending: BTreeSet::new(),
            unsaved: Vec::new(),
            saves_all: false,
        }
    }

    /// The id of a chunk with this plaintext.
    pub fn chunk_id(&self, plaintext: &[u8]) -> ChunkId {
        self.sealer.keys().chunk_id(plaintext)
    }

    /// Whether the repository has a chunk, or will have it.
    pub fn has(&self, id: &ChunkId) -> bool {
        self.reader.index.get(id).is_some() || self.pending.contains(id)
    }

    /// Adds a chunk; `false` if the repository has it already, as it is. `id` is the plaintext's.
    pub async fn add(&mut self, id: ChunkId, kind: ObjectType, plaintext: &[u8]) -> Result<bool, WriteError> {
        if self.has(&id) {
            return Ok(false);
        }
        let ticket = ObjectTicket::issue(&mut self.sealer, plaintext.len(), &self.compression);
        let offset = self.pack.len();
        let written = self.objects.write(id, kind, plaintext, &self.compression, ticket, &mut self.pack);
        written.map_err(|source| WriteError::Object { id, source })?;
        self.added(id, offset).await?;
        Ok(true)
    }

    /// Adds an object as it is, also if the repository has the chunk already: then this copy counts from now on.
    pub async fn add_object(&mut self, id: ChunkId, object: &[u8]) -> Result<(), WriteError> {
        let offset = self.pack.len();
        self.pack.extend_from_slice(object);
        self.added(id, offset).await
    }

    async fn added(&mut self, id: ChunkId, offset: usize) -> Result<(), WriteError> {
        self.entries.push((id, offset, self.pack.len() - offset));
        self.pending.insert(id);
        let is_full = self.pack.len() as u64 > MAX_PACK_BYTES
            || self.limits.size.is_some_and(|size| self.pack.len() >= size)
            || self.limits.count.is_some_and(|count| self.entries.len() >= count);
        if is_full { Ok(self.flush().await?) } else { Ok(()) }
    }

    /// Stores the pack in the making.
    pub async fn flush(&mut self) -> Result<(), StoreError> {
        if self.entries.is_empty() {
            return Ok(());
        }
        let pack = PackId::from(store_hash(&self.pack));
        self.reader.repository.store.write(&Key::Pack(pack), &self.pack).await?;
        for (id, offset, size) in self.entries.drain(..) {
            // Offsets are below MAX_PACK_BYTES, and no object is longer than the rest.
            self.reader.index.insert(id, Location { pack, offset: offset as u32, size: size as u32 });
            self.unsaved.push(id);
        }
        self.pack.clear();
        self.pending.clear();
        Ok(())
    }

    /// Stores what was added so that it outlives a power failure, and a fragment that lets others find it.
    pub async fn save_index(&mut self) -> Result<(), StoreError> {
        self.flush().await?;
        self.reader.repository.store.sync().await?;
        if !self.unsaved.is_empty() {
            let ids = self.unsaved.clone();
            add_fragments(self.reader.repository, &mut self.sealer, &self.reader.index, ids, self.saves_all).await?;
            self.unsaved.clear();
            self.saves_all = false;
        }
        Ok(())
    }

    /// Chunks that came from the packs, since the fragments that should have them were not to be used, are stored with the
    /// next fragment.
    pub fn save_all(&mut self) {
        self.unsaved = self.reader.index.iter().map(|(id, _)| id).collect();
        self.saves_all = true;
    }

    /// Merges fragments of the index if there are many.
    pub async fn consolidate(&mut self) -> Result<(), StoreError> {
        consolidate(self.reader.repository, &mut self.sealer).await
    }

    /// What seals store objects in the same session.
    pub fn sealer(&mut self) -> &mut Sealer<'r> {
        &mut self.sealer
    }
}
