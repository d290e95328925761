//! A compact table of chunks.

use crate::id::ChunkId;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

/// So many chunks lie behind each other; more of them get a place of their own, and nothing has to be moved.
const BLOCK_CHUNKS: usize = 1 << 15;

/// Where a chunk lies, with the number of its pack.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    pub pack: u32,
    pub offset: u32,
    pub size: u32,
}

/// Chunks with their slots: 44 bytes each, and about 8 more to find it.
///
/// What is hashed are numbers of chunks. So the table that has to be half empty, and that is there twice while it grows, has 5
/// bytes for a chunk: five million of them take 260 MB, where a table of the slots themselves would take 380 MB, and 570 MB
/// while it grows. The hash is seeded: an index that is made from headers holds ids that anyone with the files could choose.
#[derive(Debug, Clone, Default)]
pub struct Slots {
    numbers: HashTable<u32>,
    blocks: Vec<Vec<(ChunkId, Slot)>>,
    hasher: DefaultHashBuilder,
}

impl Slots {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Makes room for as many more.
    pub fn reserve(&mut self, more: usize) {
        let Slots { numbers, blocks, hasher } = self;
        numbers.reserve(more, |&number| hasher.hash_one(at(blocks, number).0));
    }

    pub fn get(&self, id: &ChunkId) -> Option<&Slot> {
        let number = self.numbers.find(self.hasher.hash_one(id), |&number| at(&self.blocks, number).0 == *id)?;
        Some(&at(&self.blocks, *number).1)
    }

    /// Adds a chunk, or gives it another slot.
    pub fn insert(&mut self, id: ChunkId, slot: Slot) {
        let Slots { numbers, blocks, hasher } = self;
        let is_same = |&number: &u32| at(blocks, number).0 == id;
        let entry = numbers.entry(hasher.hash_one(id), is_same, |&number| hasher.hash_one(at(blocks, number).0));
        match entry {
            Entry::Occupied(number) => {
                let number = *number.get() as usize;
                blocks[number / BLOCK_CHUNKS][number % BLOCK_CHUNKS].1 = slot;
            }
            Entry::Vacant(vacant) => {
                if blocks.last().is_none_or(|block| block.len() == BLOCK_CHUNKS) {
                    blocks.push(Vec::new());
                }
                let full_blocks = blocks.len() - 1;
                let block = &mut blocks[full_blocks];
                let number = full_blocks * BLOCK_CHUNKS + block.len();
                vacant.insert(u32::try_from(number).expect("fewer chunks fit into memory"));
                if full_blocks > 0 && block.is_empty() {
                    block.reserve_exact(BLOCK_CHUNKS);
                }
                block.push((id, slot));
            }
        }
    }

    pub fn remove(&mut self, id: &ChunkId) {
        let Slots { numbers, blocks, hasher } = self;
        let Ok(entry) = numbers.find_entry(hasher.hash_one(id), |&number| at(blocks, number).0 == *id) else { return };
        let (gone, _) = entry.remove();
        let last = blocks.last_mut().and_then(Vec::pop).expect("what has a number is in a block");
        let last_number = (blocks.len() - 1) * BLOCK_CHUNKS + blocks.last().map_or(0, Vec::len);
        if blocks.last().is_some_and(Vec::is_empty) {
            blocks.pop();
        }
        if last_number != gone as usize {
            // The last one takes the place that is free.
            let number = numbers.find_mut(hasher.hash_one(last.0), |&number| number as usize == last_number);
            *number.expect("every chunk has a number") = gone;
            blocks[gone as usize / BLOCK_CHUNKS][gone as usize % BLOCK_CHUNKS] = last;
        }
    }

    /// Removes the chunks whose slots are not kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&Slot) -> bool) {
        // From the end, so that what takes a free place was looked at before.
        for number in (0..self.len()).rev() {
            let (id, slot) = self.blocks[number / BLOCK_CHUNKS][number % BLOCK_CHUNKS];
            if !keep(&slot) {
                self.remove(&id);
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &(ChunkId, Slot)> {
        self.blocks.iter().flatten()
    }
}

fn at(blocks: &[Vec<(ChunkId, Slot)>], number: u32) -> &(ChunkId, Slot) {
    &blocks[number as usize / BLOCK_CHUNKS][number as usize % BLOCK_CHUNKS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    fn id(number: u32) -> ChunkId {
        let mut id = [7; 32];
        id[..4].copy_from_slice(&number.to_le_bytes());
        ChunkId(id)
    }

    fn slot(pack: u32) -> Slot {
        Slot { pack, offset: pack / 2, size: pack % 1000 }
    }

    /// What a map of the standard kind does, across the borders of blocks.
    #[test]
    fn chunks_come_move_and_go() {
        let (mut slots, mut map) = (Slots::default(), BTreeMap::new());
        let count = 2 * BLOCK_CHUNKS as u32 + 100;
        for number in 0..count {
            slots.insert(id(number), slot(number));
            map.insert(number, number);
        }
        for number in (0..count).step_by(3) {
            slots.insert(id(number), slot(number + 5));
            map.insert(number, number + 5);
        }
        for number in (0..count).step_by(7).chain([0, count - 1, count]) {
            slots.remove(&id(number));
            map.remove(&number);
        }
        slots.retain(|slot| slot.pack % 5 != 0);
        map.retain(|_, pack| *pack % 5 != 0);
        assert_eq!(slots.len(), map.len());
        assert_eq!(slots.iter().count(), map.len());
        for number in 0..count {
            assert_eq!(slots.get(&id(number)).map(|slot| slot.pack), map.get(&number).copied(), "{number}");
        }
        slots.retain(|_| false);
        assert_eq!((slots.len(), slots.iter().count(), slots.blocks.len()), (0, 0, 0));
        slots.insert(id(1), slot(2));
        assert_eq!(slots.get(&id(1)).unwrap().pack, 2);
    }
}
