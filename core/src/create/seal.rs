//! Compressing and sealing chunks.

use crate::codec::Compression;
use crate::id::ChunkId;
use crate::object::{ObjectTicket, ObjectType, ObjectWriteError, ObjectWriter};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

/// What an object needs beside its chunk's payload, at most: header, metadata and two envelopes, in bytes.
const OBJECT_OVERHEAD_BYTES: usize = 512;

/// Chunks that lie in one buffer, to be compressed and sealed. It has all that this takes, and can be done anywhere.
pub struct SealJob {
    pub(super) number: u64,
    pub(super) compression: Compression,
    pub(super) plaintexts: Arc<Vec<u8>>,
    pub(super) chunks: Vec<Sealing>,
}

/// One of them.
pub(super) struct Sealing {
    pub(super) id: ChunkId,
    pub(super) kind: ObjectType,
    pub(super) range: Range<usize>,
    pub(super) ticket: ObjectTicket,
}

/// The objects that came of a [`SealJob`].
pub struct Sealed {
    pub(super) number: u64,
    pub(super) objects: Vec<u8>,
    /// Chunk and length of each object.
    pub(super) sizes: Vec<(ChunkId, usize)>,
    pub(super) refused: Option<Refused>,
    /// What it held until now, in bytes.
    pub(super) plaintext_bytes: usize,
}

/// A chunk that can't be made an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The chunk.
    pub id: ChunkId,
    /// Why.
    pub source: ObjectWriteError,
    /// It and those that would have come after it: none of them is in a pack.
    pub(super) missing: Vec<ChunkId>,
}

impl SealJob {
    /// How many bytes of plaintext there are.
    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.range.len()).sum()
    }

    /// Does it. A chunk that is refused ends it.
    pub fn run(self, writer: &mut ObjectWriter<'_>) -> Sealed {
        let plaintext_bytes = self.bytes();
        let SealJob { number, compression, plaintexts, chunks } = self;
        let mut objects = Vec::with_capacity(plaintext_bytes + chunks.len() * OBJECT_OVERHEAD_BYTES);
        let mut sizes = Vec::with_capacity(chunks.len());
        let mut refused = None;
        let mut chunks = chunks.into_iter();
        for Sealing { id, kind, range, ticket } in chunks.by_ref() {
            let start = objects.len();
            match writer.write(id, kind, &plaintexts[range], &compression, ticket, &mut objects) {
                Ok(_) => sizes.push((id, objects.len() - start)),
                Err(source) => {
                    refused = Some(Refused { id, source, missing: alloc::vec![id] });
                    break;
                }
            }
        }
        if let Some(refused) = &mut refused {
            refused.missing.extend(chunks.map(|chunk| chunk.id));
        }
        objects.shrink_to_fit();
        Sealed { number, objects, sizes, refused, plaintext_bytes }
    }
}

/// Does at once what a job of one chunk would do, without a buffer that the job can own.
pub(crate) fn seal_one(
    number: u64,
    id: ChunkId,
    kind: ObjectType,
    plaintext: &[u8],
    compression: &Compression,
    ticket: ObjectTicket,
    writer: &mut ObjectWriter<'_>,
) -> Sealed {
    let mut objects = Vec::new();
    let written = writer.write(id, kind, plaintext, compression, ticket, &mut objects);
    let (sizes, refused) = match written {
        Ok(_) => (alloc::vec![(id, objects.len())], None),
        Err(source) => (Vec::new(), Some(Refused { id, source, missing: alloc::vec![id] })),
    };
    Sealed { number, objects, sizes, refused, plaintext_bytes: 0 }
}
