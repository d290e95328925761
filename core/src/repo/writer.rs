//! Adding chunks: packs in the making, and the index of what was added (repository layer, sections 5.3 and 6.3).

use super::fragments::{add_fragments, consolidate};
use super::reader::ChunkReader;
use crate::codec::{Compression, Engine};
use crate::create::{PackJob, PackLimits, Packing, Refused, SealJob, Sealed, StoredPack, seal_one};
use crate::crypto::Sealer;
use crate::id::ChunkId;
use crate::object::{ObjectTicket, ObjectType, ObjectWriteError, ObjectWriter};
use crate::store::{StoreError, StoreMut};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

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

impl From<Refused> for WriteError {
    fn from(Refused { id, source, .. }: Refused) -> Self {
        WriteError::Object { id, source }
    }
}

/// Work that a writer has for [somebody else](ChunkWriter::lend).
pub enum WriteJob {
    /// Chunks to be compressed and sealed.
    Seal(SealJob),
    /// A full pack.
    Pack(PackJob),
}

/// What became of a [`WriteJob`].
pub enum WriteDone {
    /// Objects.
    Sealed(Sealed),
    /// A pack that is stored, or could not be.
    Stored(StoredPack),
}

impl WriteJob {
    /// Does it.
    pub async fn run<S: StoreMut>(self, objects: &mut ObjectWriter<'_>, store: &S) -> WriteDone {
        match self {
            WriteJob::Seal(job) => WriteDone::Sealed(job.run(objects)),
            WriteJob::Pack(job) => WriteDone::Stored(job.store(store, objects.help()).await),
        }
    }
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
    packing: Packing,
    /// Whether somebody takes the jobs.
    is_lent: bool,
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
            packing: Packing::new(limits),
            is_lent: false,
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
        self.packing.has(id) || self.reader.index.get(id).is_some()
    }

    /// Adds a chunk; `false` if the repository has it already, as it is. `id` is the plaintext's.
    pub async fn add(&mut self, id: ChunkId, kind: ObjectType, plaintext: &[u8]) -> Result<bool, WriteError> {
        if self.is_lent {
            let is_new = self.put(id, kind, 0..plaintext.len());
            if is_new {
                self.submit(&Arc::new(plaintext.into()));
            }
            return Ok(is_new);
        }
        if self.has(&id) {
            return Ok(false);
        }
        let ticket = ObjectTicket::issue(&mut self.sealer, plaintext.len(), &self.compression);
        let number = self.packing.begin(id);
        let sealed = seal_one(number, id, kind, plaintext, &self.compression, ticket, &mut self.objects);
        self.packing.sealed(sealed)?;
        self.work().await?;
        Ok(true)
    }

    /// Adds a chunk that lies in a buffer, of which several may be [submitted](ChunkWriter::submit) at once.
    pub(super) async fn add_from(
        &mut self,
        id: ChunkId,
        kind: ObjectType,
        buffer: &[u8],
        range: Range<usize>,
    ) -> Result<bool, WriteError> {
        if self.is_lent { Ok(self.put(id, kind, range)) } else { self.add(id, kind, &buffer[range]).await }
    }

    /// Adds an object as it is, also if the repository has the chunk already: then this copy counts from now on.
    pub async fn add_object(&mut self, id: ChunkId, object: &[u8]) -> Result<(), WriteError> {
        self.packing.add_object(id, object);
        if self.is_lent { Ok(()) } else { self.work().await }
    }

    /// From now on somebody else does what there is to do: takes [jobs](ChunkWriter::next_job), does them in any order and at
    /// any time, and brings back what [became](ChunkWriter::done) of them. What is added is added in the order of adding, but
    /// an error comes when the job is done.
    ///
    /// With `false`, all jobs are back, and the writer does everything itself again.
    pub fn lend(&mut self, is_lent: bool) {
        self.is_lent = is_lent;
    }

    /// Adds a chunk that lies at `range` of the buffer that is [submitted](ChunkWriter::submit) next; `false` if the
    /// repository has it already. The writer is [lent](ChunkWriter::lend).
    pub fn put(&mut self, id: ChunkId, kind: ObjectType, range: Range<usize>) -> bool {
        if self.has(&id) {
            return false;
        }
        let ticket = ObjectTicket::issue(&mut self.sealer, range.len(), &self.compression);
        self.packing.put(id, kind, range, ticket);
        true
    }

    /// Hands over the buffer of the chunks that were put since the last one.
    pub fn submit(&mut self, plaintexts: &Arc<Vec<u8>>) {
        self.packing.submit(plaintexts, self.compression);
    }

    /// Work that can be done now. Packs come first: they hold most.
    pub fn next_job(&mut self) -> Option<WriteJob> {
        match self.packing.next_pack() {
            Some(job) => Some(WriteJob::Pack(job)),
            None => self.packing.next_seal().map(WriteJob::Seal),
        }
    }

    /// Takes in what became of a job.
    pub fn done(&mut self, done: WriteDone) -> Result<(), WriteError> {
        match done {
            WriteDone::Sealed(sealed) => self.packing.sealed(sealed)?,
            WriteDone::Stored(stored) => {
                self.packing.stored(stored, Arc::make_mut(&mut self.reader.index), &mut self.unsaved)?;
            }
        }
        Ok(())
    }

    /// Whether more should be added, if what is not sealed shall have no more than so many bytes.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.packing.has_room(bytes)
    }

    /// Whether everything is in packs, and all but the last one are stored.
    pub fn is_settled(&self) -> bool {
        self.packing.is_settled()
    }

    /// Ends the pack in the making: what is added from now on lies in another one.
    pub fn close_pack(&mut self) {
        self.packing.close();
    }

    /// Does all that there is to do.
    async fn work(&mut self) -> Result<(), WriteError> {
        while let Some(job) = self.next_job() {
            let done = job.run(&mut self.objects, &self.reader.repository.store).await;
            self.done(done)?;
        }
        Ok(())
    }

    /// Stores the pack in the making. No job is [away](ChunkWriter::lend).
    pub async fn flush(&mut self) -> Result<(), StoreError> {
        debug_assert!(!self.is_lent, "whoever does the jobs brings them back first");
        self.packing.close();
        while let Some(job) = self.packing.next_pack() {
            let stored = job.store(&self.reader.repository.store, self.objects.help()).await;
            self.packing.stored(stored, Arc::make_mut(&mut self.reader.index), &mut self.unsaved)?;
        }
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
