//! Verifying every chunk of a repository.

use crate::id::{ChunkId, PackId};
use crate::object::ObjectError;
use crate::repo::{ChunkReader, ReadError};
use crate::store::{Store, StoreError};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::ControlFlow;

/// What the verification of all data meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataFinding<'a> {
    /// A chunk is damaged or forged, or not what its id stands for.
    Defect(ChunkId, &'a ReadError),
    /// A pack is missing, and so many chunks with it.
    PackMissing(PackId, usize),
    /// So many of all chunks are done.
    Progress(usize, usize),
}

/// The outcome of the verification of all data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataSummary {
    /// Chunks that were verified.
    pub verified: usize,
    /// Chunks that are not right, or lost.
    pub errors: usize,
    /// Chunks that are there, but not right.
    pub defects: usize,
    /// Whether the observer stopped it.
    pub interrupted: bool,
}

/// Reads every indexed chunk, pack by pack and in the order they lie there, and verifies that it is authentic, can be
/// decompressed, and has its id. The reader goes on asserting ids afterwards.
pub async fn verify_data<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    observe: &mut dyn FnMut(DataFinding<'_>) -> ControlFlow<()>,
) -> Result<DataSummary, StoreError> {
    let mut packs: BTreeMap<PackId, Vec<(u32, ChunkId)>> = BTreeMap::new();
    for (id, location) in reader.index.iter() {
        packs.entry(location.pack).or_default().push((location.offset, id));
    }
    let total = reader.index.len();
    reader.assert_ids(true);
    let mut summary = DataSummary::default();
    for (pack, mut chunks) in packs {
        chunks.sort_unstable();
        let count = chunks.len();
        for (done, (_, id)) in chunks.into_iter().enumerate() {
            match verify_chunk(reader, id).await {
                Ok(()) => {}
                Err(ReadError::PackMissing { .. } | ReadError::Changed) => {
                    let lost = count - done;
                    summary.errors += lost;
                    summary.verified += lost;
                    let _ = observe(DataFinding::PackMissing(pack, lost));
                    break;
                }
                Err(ReadError::Store(error)) => return Err(error),
                Err(error) => {
                    summary.errors += 1;
                    summary.defects += 1;
                    let _ = observe(DataFinding::Defect(id, &error));
                }
            }
            summary.verified += 1;
            if observe(DataFinding::Progress(summary.verified, total)).is_break() {
                summary.interrupted = true;
                return Ok(summary);
            }
        }
    }
    Ok(summary)
}

async fn verify_chunk<S: Store>(reader: &mut ChunkReader<'_, S>, id: ChunkId) -> Result<(), ReadError> {
    match reader.read_any(id).await?.0.kind {
        Some(_) => Ok(()),
        None => Err(ObjectError::Attribute { key: "type" }.into()),
    }
}
