//! What an archive refers to, kept in the repository so that compacting need not read every archive again
//! (repository layer, section 7.1).

use crate::id::ChunkId;
use crate::table::{self, Layout};
use alloc::vec::Vec;

const LAYOUT: Layout =
    Layout { value: "ArchiveReferenceEntry", fields: &["size"], codes: &["I"], value_bytes: size_of::<u32>() };

/// The chunks that an archive refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchiveReferences {
    /// Number of items.
    pub file_count: u64,
    /// Length of their contents in bytes, each chunk as often as it occurs.
    pub content_size: u64,
    /// Each chunk once, with its plaintext's length; 0 for those that describe the archive.
    pub chunks: Vec<(ChunkId, u32)>,
}

impl ArchiveReferences {
    /// Reads the plaintext; `None` if it is none.
    pub fn decode(plaintext: &[u8]) -> Option<ArchiveReferences> {
        let (file_count, rest) = plaintext.split_first_chunk()?;
        let (content_size, rest) = rest.split_first_chunk()?;
        let entries = table::entries(rest, &LAYOUT).ok()?;
        let size = |value: &[u8]| u32::from_le_bytes(value.try_into().expect("a value's size"));
        Some(ArchiveReferences {
            file_count: u64::from_le_bytes(*file_count),
            content_size: u64::from_le_bytes(*content_size),
            chunks: entries.map(|(id, value)| (ChunkId(*id), size(value))).collect(),
        })
    }

    /// The plaintext.
    pub fn encode(&self) -> Vec<u8> {
        let entries: Vec<_> = self.chunks.iter().map(|(id, size)| (id.0, size.to_le_bytes())).collect();
        let mut plaintext = self.file_count.to_le_bytes().to_vec();
        plaintext.extend_from_slice(&self.content_size.to_le_bytes());
        plaintext.extend_from_slice(&table::serialise(&entries, &LAYOUT));
        plaintext
    }
}
