//! Cutting contents anew (data layer, section 18).

use super::reader::Content;
use crate::chunk::{Chunker, InjectedFault};
use alloc::vec::Vec;
use core::ops::Range;

/// Cuts contents anew, one after another. Their bytes gather in a buffer, a long content in several, many short ones in one;
/// whoever takes a [buffer](Rechunker::take_buffer) finds the chunks in it and adds them.
pub struct Rechunker {
    chunker: Chunker,
    buffer: Vec<u8>,
    /// How much of the buffer is cut.
    cut_bytes: usize,
    /// How much of the content is cut.
    offset: u64,
}

/// A buffer is full with so many bytes, unless more would be copied into the next one than stays in it.
const FULL_BYTES: usize = 1 << 20;

impl Rechunker {
    /// With nothing to be cut.
    pub fn new(chunker: Chunker) -> Self {
        Rechunker { chunker, buffer: Vec::new(), cut_bytes: 0, offset: 0 }
    }

    /// Whether what comes next of the content must be known before the next cut, if there is more of it.
    pub fn needs_more(&self) -> bool {
        self.buffer.len() - self.cut_bytes < self.chunker.max_size()
    }

    /// Adds what comes next of the content.
    pub fn push(&mut self, content: Content<'_>) {
        content.pieces().for_each(|piece| self.buffer.extend_from_slice(piece));
    }

    /// The place of the next chunk in the buffer; `None` if all is cut, which is the end of the content.
    ///
    /// # Errors
    /// The chunker is one that fails on purpose.
    pub fn cut(&mut self) -> Result<Option<Range<usize>>, InjectedFault> {
        let start = self.cut_bytes;
        if start == self.buffer.len() {
            self.offset = 0;
            return Ok(None);
        }
        let len = self.chunker.cut(self.offset, &self.buffer[start..])?;
        self.cut_bytes += len;
        self.offset += len as u64;
        Ok(Some(start..start + len))
    }

    /// Whether it is time to take the buffer.
    pub fn is_full(&self) -> bool {
        self.cut_bytes >= FULL_BYTES.max(self.buffer.len() - self.cut_bytes)
    }

    /// The buffer with all that is cut. `next` is the one that comes after it, whatever is in it.
    pub fn take_buffer(&mut self, mut next: Vec<u8>) -> Vec<u8> {
        next.clear();
        next.extend_from_slice(&self.buffer[self.cut_bytes..]);
        self.cut_bytes = 0;
        core::mem::replace(&mut self.buffer, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ChunkerParams;
    use alloc::vec;

    fn rechunker() -> Rechunker {
        Rechunker::new(Chunker::with_key(&ChunkerParams::Fixed { block_size: 1 << 20, header_size: 3 }, &[0; 32], 0))
    }

    /// The lengths of the chunks of contents that come in pieces of so many bytes, and how many buffers were taken.
    fn cut(rechunker: &mut Rechunker, contents: &[&[usize]]) -> (Vec<Vec<usize>>, usize) {
        let mut buffers = 0;
        let lengths = contents.iter().map(|pieces| {
            let (mut pieces, mut lengths) = (pieces.iter(), Vec::new());
            loop {
                while rechunker.needs_more() {
                    let Some(&len) = pieces.next() else { break };
                    rechunker.push(Content::Zeros(len));
                }
                let Some(range) = rechunker.cut().unwrap() else { break };
                lengths.push(range.len());
                if rechunker.is_full() {
                    let buffer = rechunker.take_buffer(alloc::vec![1; 7]);
                    assert!(buffer[..range.end].iter().all(|&byte| byte == 0));
                    buffers += 1;
                }
            }
            lengths
        });
        (lengths.collect(), buffers)
    }

    #[test]
    fn each_content_is_cut_on_its_own() {
        let (lengths, buffers) = cut(&mut rechunker(), &[&[5], &[], &[1, 1, 1, 10], &[3], &[1 << 20, 8]]);
        assert_eq!(lengths, [vec![3, 2], vec![], vec![3, 10], vec![3], vec![3, 1 << 20, 5]]);
        assert_eq!(buffers, 1);
    }

    #[test]
    fn a_long_content_needs_several_buffers() {
        let (lengths, buffers) = cut(&mut rechunker(), &[&[700_000; 12]]);
        assert_eq!(lengths[0].iter().sum::<usize>(), 8_400_000);
        assert_eq!(lengths[0][..3], [3, 1 << 20, 1 << 20]);
        assert!((4..=9).contains(&buffers), "{buffers}");
    }
}
