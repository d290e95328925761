//! Packs in the making (repository layer, section 5.3).

use crate::crypto::store_hash_of;
use crate::id::{ChunkId, PackId};
use crate::index::ChunkIndex;
use crate::limits::MAX_DATA_SIZE;
use crate::name::Key;
use crate::store::{StoreError, StoreMut};
use crate::tuning::Help;
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

/// The index tells of places below 4 GiB only, so a pack that is longer gets no more objects, whatever the limits.
const MAX_PACK_BYTES: u64 = u32::MAX as u64 - MAX_DATA_SIZE as u64;
/// Pieces of a pack that are shorter are gathered in one.
const SHORT_PIECE_BYTES: usize = 64 << 10;
/// What short pieces are gathered in.
const GATHERED_BYTES: usize = 1 << 20;

impl Default for PackLimits {
    fn default() -> Self {
        PackLimits { size: Some(DEFAULT_PACK_BYTES), count: None }
    }
}

/// Objects one behind the other. They stay in the pieces in which they came: nothing is copied until they are stored.
#[derive(Debug, Default)]
pub(super) struct Pack {
    pieces: Vec<Vec<u8>>,
    /// Length of all pieces together.
    pub(super) bytes: usize,
    objects: Vec<Object>,
}

#[derive(Debug, Clone, Copy)]
struct Object {
    id: ChunkId,
    offset: usize,
    size: usize,
}

/// A full pack, to be stored.
#[derive(Debug)]
pub struct PackJob(pub(super) Pack);

/// What became of a [`PackJob`].
#[derive(Debug)]
pub struct StoredPack {
    pub(super) pack: Pack,
    pub(super) name: Result<PackId, StoreError>,
}

impl Pack {
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Says that the next `size` bytes are this chunk's object.
    pub(super) fn note(&mut self, id: ChunkId, size: usize) {
        self.objects.push(Object { id, offset: self.bytes, size });
        self.bytes += size;
    }

    /// Adds bytes whose objects are [noted](Pack::note).
    pub(super) fn push(&mut self, piece: Vec<u8>) {
        if piece.len() >= SHORT_PIECE_BYTES {
            self.pieces.push(piece);
            return;
        }
        match self.pieces.last_mut().filter(|last| last.capacity() - last.len() >= piece.len()) {
            Some(last) => last.extend_from_slice(&piece),
            None => {
                let mut gathered = Vec::with_capacity(GATHERED_BYTES);
                gathered.extend_from_slice(&piece);
                self.pieces.push(gathered);
            }
        }
    }

    pub(super) fn is_full(&self, limits: PackLimits) -> bool {
        self.bytes as u64 > MAX_PACK_BYTES
            || limits.size.is_some_and(|size| self.bytes >= size)
            || limits.count.is_some_and(|count| self.objects.len() >= count)
    }

    /// Enters where the objects lie once the pack is stored.
    pub(super) fn enter(&self, pack: PackId, index: &mut ChunkIndex) {
        // Offsets are below MAX_PACK_BYTES, and no object is longer than the rest.
        let place = |object: &Object| (object.id, object.offset as u32, object.size as u32);
        index.insert_pack(pack, self.objects.iter().map(place));
    }

    /// The chunks that it has.
    pub(super) fn ids(&self) -> impl Iterator<Item = ChunkId> {
        self.objects.iter().map(|object| object.id)
    }
}

impl PackJob {
    /// Stores the pack under the name that its content gives it. It is durable after the next [`StoreMut::sync`].
    pub async fn store<S: StoreMut>(self, store: &S, help: Help) -> StoredPack {
        let PackJob(mut pack) = self;
        let name = PackId::from(store_hash_of(&pack.pieces, &help.tuning, &help.exec()));
        let written = store.write_pieces(&Key::Pack(name), &pack.pieces).await;
        if written.is_ok() {
            pack.pieces = Vec::new();
        }
        StoredPack { pack, name: written.map(|()| name) }
    }
}
