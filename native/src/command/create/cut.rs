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
    /// Where in it the first chunk begins.
    pub start: usize,
    /// The chunks in it.
    pub chunks: Vec<Range<usize>>,
    /// What belongs to a chunk that ends in the next part.
    pub rest: Range<usize>,
    /// There is no next part.
    pub is_end: bool,
}

impl Block {
    /// With nothing in it.
    pub fn empty() -> Block {
        Block { buffer: Arc::default(), start: 0, chunks: Vec::new(), rest: 0..0, is_end: false }
    }

    /// How much is cut, in bytes.
    pub fn cut_bytes(&self) -> usize {
        self.rest.start - self.start
    }

    /// Adds what is cut to digests of the whole.
    pub fn digest(&self, hashers: &mut [(Digest, Hasher)]) {
        hashers.iter_mut().for_each(|(_, hasher)| hasher.update(&self.buffer[self.start..self.rest.start]));
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
    let max_size = chunker.max_size();
    let (chunks, rest) = if chunker.is_pure() {
        all(&buffer, 0..end, is_end, max_size, |from, ahead| one(chunker, offset + from as u64, ahead))?
    } else {
        // One that counts is not asked in vain.
        let until = if is_end { end } else { (end + 1).saturating_sub(max_size) };
        let (mut chunks, mut start) = (Vec::new(), 0);
        while start < until {
            let len = one(chunker, offset + start as u64, &buffer[start..end])?;
            chunks.push(start..start + len);
            start += len;
        }
        (chunks, start..end)
    };
    Ok(Block { buffer: Arc::new(buffer), start: 0, chunks, rest, is_end })
}

/// The chunks in a range of a buffer, and what is left. A chunk that ends before the end of what is there does not depend on
/// what comes.
pub fn all(
    buffer: &[u8],
    range: Range<usize>,
    is_end: bool,
    max_size: usize,
    mut cut: impl FnMut(usize, &[u8]) -> Result<usize, Fault>,
) -> Result<(Vec<Range<usize>>, Range<usize>), Fault> {
    let mut chunks = Vec::new();
    let Range { mut start, end } = range;
    while start < end {
        let ahead = &buffer[start..end];
        let len = cut(start, ahead)?;
        if !is_end && len == ahead.len() && len < max_size {
            break;
        }
        chunks.push(start..start + len);
        start += len;
    }
    Ok((chunks, start..end))
}

/// Length of the next chunk.
pub fn one(chunker: &mut Chunker, offset: u64, ahead: &[u8]) -> Result<usize, Fault> {
    // Only the chunker for tests of failures has any.
    chunker.cut(offset, ahead).map_err(|_| Fault::Object(Cause::os("read")(Errno::IO)))
}
