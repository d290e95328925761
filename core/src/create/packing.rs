//! The machine itself.

use super::pack::{DEFAULT_PACK_BYTES, Pack, PackJob, PackLimits, StoredPack};
use super::seal::{Refused, SealJob, Sealed, Sealing};
use crate::codec::Compression;
use crate::id::ChunkId;
use crate::index::ChunkIndex;
use crate::limits::MAX_DATA_SIZE;
use crate::object::{ObjectTicket, ObjectType};
use crate::store::StoreError;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use hashbrown::HashSet;

/// What packs that wait to be stored, or are being stored, may have together, in bytes: while one is stored, the next is
/// filled.
const MAX_WAITING_BYTES: usize = DEFAULT_PACK_BYTES + 2 * MAX_DATA_SIZE;

/// What is in flight between chunks and packs.
pub struct Packing {
    limits: PackLimits,
    /// Chunks that were put and not submitted.
    open: Vec<Sealing>,
    /// Jobs that nobody has taken.
    jobs: VecDeque<SealJob>,
    /// Number of the next job.
    next: u64,
    /// Whose objects come next into a pack.
    turn: u64,
    /// What was sealed before its turn.
    early: BTreeMap<u64, Sealed>,
    /// Bytes of plaintext that are not sealed, or sealed before their turn.
    held: usize,
    pack: Pack,
    full: VecDeque<Pack>,
    /// Packs that somebody is storing.
    storing: usize,
    /// Bytes of packs that are full and not stored.
    waiting: usize,
    /// Chunks that are put, and not in a stored pack.
    pending: HashSet<ChunkId>,
}

impl Packing {
    /// With nothing in flight.
    pub fn new(limits: PackLimits) -> Self {
        Packing {
            limits,
            open: Vec::new(),
            jobs: VecDeque::new(),
            next: 0,
            turn: 0,
            early: BTreeMap::new(),
            held: 0,
            pack: Pack::default(),
            full: VecDeque::new(),
            storing: 0,
            waiting: 0,
            pending: HashSet::new(),
        }
    }

    /// Whether a chunk is in flight or in the pack in the making.
    pub fn has(&self, id: &ChunkId) -> bool {
        self.pending.contains(id)
    }

    /// Puts a chunk that nobody has. It lies at `range` of the buffer that is [submitted](Packing::submit) next.
    pub fn put(&mut self, id: ChunkId, kind: ObjectType, range: Range<usize>, ticket: ObjectTicket) {
        self.pending.insert(id);
        self.open.push(Sealing { id, kind, range, ticket });
    }

    /// Makes a job of the chunks that were put since the last one.
    pub fn submit(&mut self, plaintexts: &Arc<Vec<u8>>, compression: Compression) {
        if self.open.is_empty() {
            return;
        }
        let chunks = core::mem::take(&mut self.open);
        let job = SealJob { number: self.number(), compression, plaintexts: Arc::clone(plaintexts), chunks };
        self.held += job.bytes();
        self.jobs.push_back(job);
    }

    /// A number for what is put and sealed at once.
    pub(crate) fn begin(&mut self, id: ChunkId) -> u64 {
        self.pending.insert(id);
        self.number()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Takes an object as it is.
    pub fn add_object(&mut self, id: ChunkId, object: &[u8]) {
        let number = self.begin(id);
        let sizes = alloc::vec![(id, object.len())];
        let sealed = Sealed { number, objects: object.into(), sizes, refused: None, plaintext_bytes: 0 };
        let refused = self.sealed(sealed);
        debug_assert!(refused.is_ok(), "what is sealed before its turn is not refused here");
    }

    /// The next job of sealing.
    pub fn next_seal(&mut self) -> Option<SealJob> {
        self.jobs.pop_front()
    }

    /// Takes in the objects of a job, in any order. The first chunk that was refused is an error; what came before and after
    /// its job goes into packs all the same.
    pub fn sealed(&mut self, sealed: Sealed) -> Result<(), Refused> {
        self.early.insert(sealed.number, sealed);
        let mut result = Ok(());
        while let Some(sealed) = self.early.remove(&self.turn) {
            self.turn += 1;
            self.held -= sealed.plaintext_bytes;
            self.append(sealed.objects, sealed.sizes);
            if let Some(refused) = sealed.refused {
                for id in &refused.missing {
                    self.pending.remove(id);
                }
                result = result.and(Err(refused));
            }
        }
        result
    }

    fn append(&mut self, mut objects: Vec<u8>, sizes: Vec<(ChunkId, usize)>) {
        let mut end = 0;
        for (id, size) in sizes {
            self.pack.note(id, size);
            end += size;
            if self.pack.is_full(self.limits) {
                let rest = objects.split_off(end);
                self.pack.push(objects);
                (objects, end) = (rest, 0);
                self.close();
            }
        }
        self.pack.push(objects);
    }

    /// Makes the pack in the making full, whatever its size.
    pub fn close(&mut self) {
        if !self.pack.is_empty() {
            let pack = core::mem::take(&mut self.pack);
            self.waiting += pack.bytes;
            self.full.push_back(pack);
        }
    }

    /// The next pack to be stored.
    pub fn next_pack(&mut self) -> Option<PackJob> {
        let pack = self.full.pop_front()?;
        self.storing += 1;
        Some(PackJob(pack))
    }

    /// Takes in what became of a pack, in any order: enters its chunks into the index, and appends their ids to `added`. One
    /// that could not be stored is the next to be stored again.
    pub fn stored(
        &mut self,
        stored: StoredPack,
        index: &mut ChunkIndex,
        added: &mut Vec<ChunkId>,
    ) -> Result<(), StoreError> {
        self.storing -= 1;
        let StoredPack { pack, name } = stored;
        match name {
            Ok(name) => {
                self.waiting -= pack.bytes;
                pack.enter(name, index);
                for id in pack.ids() {
                    self.pending.remove(&id);
                    added.push(id);
                }
                Ok(())
            }
            Err(error) => {
                self.full.push_front(pack);
                Err(error)
            }
        }
    }

    /// Whether more should be put: what is not sealed stays within `bytes`, and packs are stored as fast as they are filled.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.held < bytes && self.waiting <= MAX_WAITING_BYTES
    }

    /// Whether all that was put lies in packs that are stored, but for the pack in the making.
    pub fn is_settled(&self) -> bool {
        self.turn == self.next && self.full.is_empty() && self.storing == 0
    }
}
