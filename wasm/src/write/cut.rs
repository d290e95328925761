//! Cutting a content that comes in pieces (data layer, section 3).

use super::Target;
use super::failure::write_failure;
use crate::failure::Failure;
use portaborg_core::chunk::Chunker;
use portaborg_core::item::ChunkEntry;
use portaborg_core::object::ObjectType;
use portaborg_core::repo::{ChunkWriter, Tally};

/// Cuts one content after another.
pub struct Cutter {
    chunker: Chunker,
    buffer: Vec<u8>,
    /// What was cut off the front of the buffer.
    start: usize,
    /// What was cut of the content.
    offset: u64,
    chunks: Vec<ChunkEntry>,
}

impl Cutter {
    /// With no content yet.
    pub fn new(chunker: Chunker) -> Self {
        Cutter { chunker, buffer: Vec::new(), start: 0, offset: 0, chunks: Vec::new() }
    }

    /// Takes the next piece, and stores what it completes.
    pub async fn add(
        &mut self,
        piece: &[u8],
        writer: &mut ChunkWriter<'_, Target>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let max_size = self.chunker.max_size();
        // What is left is shorter than the longest chunk, and so moved less often than cut.
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(piece);
        while self.buffer.len() - self.start >= max_size {
            self.cut(writer, tally).await?;
        }
        Ok(())
    }

    /// Stores the rest, and gives the content's chunks.
    pub async fn finish(
        &mut self,
        writer: &mut ChunkWriter<'_, Target>,
        tally: &mut Tally,
    ) -> Result<Vec<ChunkEntry>, Failure> {
        while self.start < self.buffer.len() {
            self.cut(writer, tally).await?;
        }
        self.buffer.clear();
        (self.start, self.offset) = (0, 0);
        Ok(std::mem::take(&mut self.chunks))
    }

    async fn cut(&mut self, writer: &mut ChunkWriter<'_, Target>, tally: &mut Tally) -> Result<(), Failure> {
        let ahead = &self.buffer[self.start..];
        let length = self.chunker.cut(self.offset, ahead).map_err(|_| Failure::argument("chunkerParams"))?;
        let chunk = &ahead[..length];
        let id = writer.chunk_id(chunk);
        let is_new = writer.add(id, ObjectType::Content, chunk).await.map_err(write_failure)?;
        tally.add(length as u64, is_new);
        self.chunks.push(ChunkEntry { id, size: length as u64 });
        self.start += length;
        self.offset += length as u64;
        Ok(())
    }
}
