//! Cutting a content that comes in parts.

use crate::backup::{Cause, Fault};
use crate::output::format::digest::{Digest, Hasher};
use portaborg_core::chunk::Chunker;
use rustix::io::Errno;
use std::ops::Range;
use std::sync::Arc;

/// How much is read at once, in bytes.
const READ_BYTES: usize = 1 << 20;

/// A part of a content in one buffer.
pub struct Block {
    /// The buffer.
    pub buffer: Arc<Vec<u8>>,
    /// The chunks in it.
    pub chunks: Vec<Range<usize>>,
    /// What belongs to a chunk that ends in the next part.
    pub rest: Range<usize>,
    /// How much was read of the content.
    pub read: usize,
    /// There is no next part.
    pub is_end: bool,
}

impl Block {
    /// With nothing in it.
    pub fn empty() -> Block {
        Block { buffer: Arc::default(), chunks: Vec::new(), rest: 0..0, read: 0, is_end: false }
    }

    /// What is cut, one chunk after another.
    fn cut(&self) -> &[u8] {
        &self.buffer[..self.rest.start]
    }

    /// How much is cut, in bytes.
    pub fn cut_bytes(&self) -> usize {
        self.rest.start
    }

    /// Adds what is cut to digests of the whole.
    pub fn digest(&self, hashers: &mut [(Digest, Hasher)]) {
        hashers.iter_mut().for_each(|(_, hasher)| hasher.update(self.cut()));
    }
}

/// How long a block's buffer should be so that little of it is carried over, in bytes.
pub fn block_bytes(chunker: &Chunker) -> usize {
    (2 * chunker.max_size()).max(4 * READ_BYTES)
}

/// Reads on behind `carry` into a buffer of `room` bytes, which is longer than the longest chunk, unless that is more than
/// there is; and cuts. `offset` is how much was cut before.
pub fn block(
    chunker: &mut Chunker,
    offset: u64,
    carry: &[u8],
    room: usize,
    read: &mut dyn FnMut(&mut [u8]) -> Result<usize, Fault>,
) -> Result<Block, Fault> {
    let mut buffer = vec![0; room.max(carry.len() + 1)];
    buffer[..carry.len()].copy_from_slice(carry);
    let (mut end, mut is_end) = (carry.len(), false);
    while end < buffer.len() && !is_end {
        let until = buffer.len().min(end + READ_BYTES);
        let count = read(&mut buffer[end..until])?;
        end += count;
        is_end = count == 0;
    }
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < end {
        let ahead = &buffer[start..end];
        // A cut before the end of what is there does not depend on what comes.
        let is_enough = is_end || ahead.len() >= chunker.max_size();
        if !is_enough && !chunker.is_pure() {
            break;
        }
        let len = chunker.cut(offset + start as u64, ahead);
        // Only the chunker for tests of failures has any.
        let len = len.map_err(|_| Fault::Object(Cause::os("read")(Errno::IO)))?;
        if !is_enough && len == ahead.len() {
            break;
        }
        chunks.push(start..start + len);
        start += len;
    }
    Ok(Block { buffer: Arc::new(buffer), chunks, rest: start..end, read: end - carry.len(), is_end })
}
