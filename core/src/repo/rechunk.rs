//! Cutting contents anew (data layer, section 18).

use super::archive_writer::Tally;
use super::reader::ReadError;
use super::writer::{ChunkWriter, WriteError};
use crate::chunk::{Chunker, InjectedFault};
use crate::id::ChunkId;
use crate::item::ChunkEntry;
use crate::object::ObjectType;
use crate::store::StoreMut;
use alloc::vec::Vec;

/// Why a content can't be cut anew.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RechunkError {
    /// A chunk of it can't be read. What would stand in for it would pass for good data from then on.
    #[error("chunk {id}: {source}")]
    Read {
        /// The chunk.
        id: ChunkId,
        /// Why.
        source: ReadError,
    },
    /// A chunk can't be added.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// The chunker is one that fails on purpose.
    #[error("{0}")]
    Fault(#[from] InjectedFault),
}

/// Cuts a content with another chunker, adds the chunks and gives them. `tally` counts them.
pub async fn rechunk<S: StoreMut>(
    chunks: &[ChunkEntry],
    chunker: &mut Chunker,
    writer: &mut ChunkWriter<'_, S>,
    tally: &mut Tally,
) -> Result<Vec<ChunkEntry>, RechunkError> {
    let mut sources = chunks.iter();
    let (mut ahead, mut start, mut offset) = (Vec::new(), 0, 0);
    let mut cut = Vec::new();
    loop {
        while ahead.len() - start < chunker.max_size() {
            let Some(source) = sources.next() else { break };
            let content = writer.reader.read_content(source.id, source.size).await;
            let content = content.map_err(|error| RechunkError::Read { id: source.id, source: error })?;
            content.pieces().for_each(|piece| ahead.extend_from_slice(piece));
        }
        if start == ahead.len() {
            return Ok(cut);
        }
        let len = chunker.cut(offset, &ahead[start..])?;
        let chunk = &ahead[start..start + len];
        let id = writer.chunk_id(chunk);
        let is_new = writer.add(id, ObjectType::Content, chunk).await?;
        tally.add(len as u64, is_new);
        cut.push(ChunkEntry { id, size: len as u64 });
        start += len;
        offset += len as u64;
        if start >= chunker.max_size() {
            ahead.drain(..start);
            start = 0;
        }
    }
}
