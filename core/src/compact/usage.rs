//! Which chunks are needed.

use crate::id::ChunkId;
use crate::index::ChunkIndex;
use crate::references::ArchiveReferences;
use alloc::collections::BTreeSet;
use hashbrown::HashMap;

/// The chunks that archives refer to, added up over all of them.
#[derive(Debug, Default)]
pub struct Usage {
    /// Each with its plaintext's length as far as that is known.
    used: HashMap<ChunkId, u32>,
    /// Those that the repository doesn't have: data is lost.
    missing: BTreeSet<ChunkId>,
    file_count: u64,
    content_size: u64,
}

impl Usage {
    /// Nothing is needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// All that an archive refers to is needed, and it counts in the sums.
    pub fn add(&mut self, references: &ArchiveReferences, index: &ChunkIndex) {
        self.file_count = self.file_count.saturating_add(references.file_count);
        self.content_size = self.content_size.saturating_add(references.content_size);
        for (id, size) in &references.chunks {
            if !self.mark(*id, *size, index) {
                self.missing.insert(*id);
            }
        }
    }

    /// All that an archive refers to is kept, though the archive itself counts no more. Gives the number of chunks that are
    /// missing.
    pub fn keep(&mut self, references: &ArchiveReferences, index: &ChunkIndex) -> usize {
        references.chunks.iter().filter(|(id, _)| !self.mark(*id, 0, index)).count()
    }

    fn mark(&mut self, id: ChunkId, size: u32, index: &ChunkIndex) -> bool {
        let is_there = index.get(&id).is_some();
        if is_there {
            let known = self.used.entry(id).or_default();
            *known = (*known).max(size);
        }
        is_there
    }

    /// Whether a chunk is needed.
    pub fn is_used(&self, id: &ChunkId) -> bool {
        self.used.contains_key(id)
    }

    /// Chunks that archives refer to and the repository doesn't have.
    pub fn missing(&self) -> &BTreeSet<ChunkId> {
        &self.missing
    }

    /// Number of items of all archives.
    pub fn file_count(&self) -> u64 {
        self.file_count
    }

    /// Length of all contents in bytes, as often as they occur.
    pub fn content_size(&self) -> u64 {
        self.content_size
    }

    /// Length of all contents in bytes, each chunk once.
    pub fn deduplicated_size(&self) -> u64 {
        self.used.values().map(|&size| u64::from(size)).sum()
    }
}
