//! The chunk index: in which pack, and where in it, each chunk lies (repository layer, sections 5.4 to 5.6).

mod slots;

use crate::id::{ChunkId, PackId};
use crate::table::{self, Layout, TableError};
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};
use slots::{Slot, Slots};

const VALUE_BYTES: usize = 48;
/// What Borg writes into the flags of every entry. It means nothing to a reader.
const NEW_FLAG: u32 = 0x0100_0000;
const LAYOUT: Layout = Layout {
    value: "ChunkIndexEntry",
    fields: &["flags", "size", "pack_id", "obj_offset", "obj_size"],
    codes: &["I", "I", "32s", "I", "I"],
    value_bytes: VALUE_BYTES,
};

/// Most entries of a fragment: 32 MB.
const MAX_FRAGMENT_ENTRIES: usize = 400_000;
/// Where entries are divided by their first bits, so many are aimed at, since no division is even.
const TARGET_FRAGMENT_ENTRIES: usize = MAX_FRAGMENT_ENTRIES - MAX_FRAGMENT_ENTRIES / 20;

/// Divides chunks, which become sorted, into those of one fragment each. Equal sets are divided equally, by whatever
/// client, so that equal fragments come out (section 5.6).
pub fn batches(ids: &mut [ChunkId]) -> Vec<&[ChunkId]> {
    ids.sort_unstable();
    if ids.len() <= MAX_FRAGMENT_ENTRIES {
        return if ids.is_empty() { Vec::new() } else { alloc::vec![&*ids] };
    }
    let parts = ids.len().div_ceil(TARGET_FRAGMENT_ENTRIES);
    let bits = usize::BITS - (parts - 1).leading_zeros();
    let prefix = |id: &ChunkId| u32::from_be_bytes([id.0[0], id.0[1], id.0[2], id.0[3]]) >> (u32::BITS - bits);
    ids.chunk_by(|a, b| prefix(a) == prefix(b)).flat_map(|part| part.chunks(MAX_FRAGMENT_ENTRIES)).collect()
}

/// Where a chunk's object lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The pack.
    pub pack: PackId,
    /// First byte in the pack.
    pub offset: u32,
    /// Length of the object in bytes.
    pub size: u32,
}

/// All chunks that a repository has. Packs are numbered, so that an entry costs 44 bytes instead of 80.
#[derive(Debug, Clone, Default)]
pub struct ChunkIndex {
    slots: Slots,
    packs: Vec<PackId>,
    pack_numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl ChunkIndex {
    /// Without any chunk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the entries of a fragment's plaintext (section 5.6). An id that is there already moves: any copy is as good.
    pub fn merge_fragment(&mut self, plaintext: &[u8]) -> Result<(), TableError> {
        let entries = table::entries(plaintext, &LAYOUT)?;
        self.slots.reserve(entries.len());
        for (id, value) in entries {
            // flags(4) size(4) pack(32) offset(4) size(4); flags and plaintext size mean nothing in a fragment
            let pack = PackId(value[8..40].try_into().expect("a pack id's size"));
            let word = |at: usize| u32::from_le_bytes(value[at..at + 4].try_into().expect("a word's size"));
            self.insert(ChunkId(*id), Location { pack, offset: word(40), size: word(44) });
        }
        Ok(())
    }

    /// The plaintext of a fragment with the entries of these chunks, which are sorted and all there (section 5.6).
    pub fn fragment(&self, ids: &[ChunkId]) -> Vec<u8> {
        let entry = |id: &ChunkId| {
            let Location { pack, offset, size } = self.get(id).expect("only chunks that are there are written");
            let mut value = [0; VALUE_BYTES];
            value[..4].copy_from_slice(&NEW_FLAG.to_le_bytes());
            value[8..40].copy_from_slice(&pack.0);
            value[40..44].copy_from_slice(&offset.to_le_bytes());
            value[44..].copy_from_slice(&size.to_le_bytes());
            (id.0, value)
        };
        table::serialise(&ids.iter().map(entry).collect::<Vec<_>>(), &LAYOUT)
    }

    /// Forgets a chunk.
    pub fn remove(&mut self, id: &ChunkId) {
        self.slots.remove(id);
    }

    /// Adds one chunk, or moves it.
    pub fn insert(&mut self, id: ChunkId, location: Location) {
        let Location { pack, offset, size } = location;
        let pack = self.pack_number(pack);
        self.slots.insert(id, Slot { pack, offset, size });
    }

    /// Adds the chunks of one pack with their offsets and sizes, or moves them there.
    pub fn insert_pack(&mut self, pack: PackId, objects: impl Iterator<Item = (ChunkId, u32, u32)>) {
        let pack = self.pack_number(pack);
        objects.for_each(|(id, offset, size)| self.slots.insert(id, Slot { pack, offset, size }));
    }

    fn pack_number(&mut self, pack: PackId) -> u32 {
        let ChunkIndex { packs, pack_numbers, hasher, .. } = self;
        let is_same = |&number: &u32| packs[number as usize] == pack;
        let hash = |&number: &u32| hasher.hash_one(packs[number as usize]);
        match pack_numbers.entry(hasher.hash_one(pack), is_same, hash) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(vacant) => {
                let number = u32::try_from(packs.len()).expect("there are fewer packs than chunks fit into memory");
                vacant.insert(number);
                packs.push(pack);
                number
            }
        }
    }

    /// Where a chunk lies.
    pub fn get(&self, id: &ChunkId) -> Option<Location> {
        self.slots.get(id).map(|slot| self.location(slot))
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no chunk.
    pub fn is_empty(&self) -> bool {
        self.slots.len() == 0
    }

    /// All chunks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (ChunkId, Location)> {
        self.slots.iter().map(|(id, slot)| (*id, self.location(slot)))
    }

    /// The packs that chunks lie in. A few may be among them from which all chunks have moved away.
    pub fn packs(&self) -> &[PackId] {
        &self.packs
    }

    /// Forgets all chunks that lie in these packs.
    pub fn remove_packs(&mut self, packs: &[PackId]) {
        let mut gone = alloc::vec![false; self.packs.len()];
        for pack in packs {
            let is_same = |&number: &u32| self.packs[number as usize] == *pack;
            if let Some(number) = self.pack_numbers.find(self.hasher.hash_one(pack), is_same) {
                gone[*number as usize] = true;
            }
        }
        self.slots.retain(|slot| !gone[slot.pack as usize]);
    }

    fn location(&self, slot: &Slot) -> Location {
        Location { pack: self.packs[slot.pack as usize], offset: slot.offset, size: slot.size }
    }
}
