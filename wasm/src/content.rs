//! The content of a file, in order.

use crate::ahead::Ahead;
use crate::batch::parse_chunks;
use crate::failure::Failure;
use crate::held::Held;
use crate::repository::Open;
use crate::sink::{Sink, Stopped};
use js_sys::Uint8Array;
use portaborg_core::extract::{Plain, Purpose, Want};
use portaborg_core::item::ChunkEntry;
use std::ops::Range;
use std::sync::Arc;
use std::vec::IntoIter;

/// How much is handed over at once, if there is so much: a message costs as much as copying a few KiB.
const PIECE_BYTES: usize = 512 << 10;
/// How many chunks are wanted ahead; how many of them are fetched is for the window to say.
const WANTED_CHUNKS: usize = 256;

/// Gives the bytes of these chunks to the sink, from `range.start` up to `range.end`. Chunks outside are not read.
pub async fn run(open: &Open, chunks: &[u8], range: Range<f64>, sink: &Sink) -> Result<(), Failure> {
    let chunks = parse_chunks(chunks).ok_or_else(|| Failure::argument("chunks"))?;
    let mut cut = Cut::new(chunks, range);
    let mut reader = open.reader();
    let mut ahead = Ahead::new(Purpose::Content, false, open.hands.clone());
    let mut pieces = Pieces::new(sink);
    let done = loop {
        cut.want(&mut ahead);
        let Some((want, chunk)) = ahead.next(&mut reader).await else { break pieces.flush().await };
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                // What comes before the error is good.
                let _ = pieces.flush().await;
                return Err(Failure::read(error, want.id));
            }
        };
        let part = cut.part_of(chunk.len());
        if let Err(stopped) = pieces.add(chunk, part).await {
            break Err(stopped);
        }
    };
    let _ = done; // nobody wanting more is no failure
    open.keep_index(&reader);
    Ok(())
}

/// The chunks that a range touches, by their sizes; each chunk is verified to have its size when it is read.
struct Cut {
    chunks: IntoIter<ChunkEntry>,
    /// Bytes before the range in the next chunk that comes out.
    skip: u64,
    /// Bytes of the range that are not out yet.
    left: u64,
    /// The same, not wanted yet.
    unwanted: u64,
}

impl Cut {
    fn new(chunks: Vec<ChunkEntry>, range: Range<f64>) -> Self {
        let (start, end) = (range.start as u64, range.end as u64);
        let mut chunks = chunks.into_iter();
        let mut skip = start;
        while let Some(first) = chunks.as_slice().first()
            && first.size <= skip
        {
            skip -= first.size;
            chunks.next();
        }
        let left = end.saturating_sub(start);
        Cut { chunks, skip, left, unwanted: left.saturating_add(skip) }
    }

    fn want(&mut self, ahead: &mut Ahead) {
        while self.left > 0 && self.unwanted > 0 && ahead.window.len() < WANTED_CHUNKS {
            let Some(ChunkEntry { id, size }) = self.chunks.next() else { break };
            self.unwanted = self.unwanted.saturating_sub(size);
            ahead.window.want(Want { id, size: Some(size) });
        }
    }

    /// The part of the next chunk, which has so many bytes, that is in the range.
    fn part_of(&mut self, bytes: u64) -> Range<usize> {
        let start = self.skip.min(bytes);
        let end = bytes.min(start.saturating_add(self.left));
        self.skip = 0;
        self.left -= end - start;
        start as usize..end as usize
    }
}

/// Puts short chunks together and cuts long runs of zeros, so that pieces are neither short nor too long.
pub struct Pieces<'s> {
    sink: &'s Sink,
    collected: Vec<u8>,
}

impl<'s> Pieces<'s> {
    /// With nothing in it.
    pub fn new(sink: &'s Sink) -> Self {
        Pieces { sink, collected: Vec::new() }
    }

    /// Hands over a part of a chunk, or keeps it until there is more.
    pub async fn add(&mut self, chunk: Arc<Plain<Held>>, part: Range<usize>) -> Result<(), Stopped> {
        let data = match &*chunk {
            Plain::Data(Held::Here(bytes)) => &bytes[part],
            Plain::Data(Held::There(array)) => {
                self.flush().await?;
                // Handed over as it is, unless it is wanted elsewhere, too.
                let is_whole = part == (0..array.length() as usize) && Arc::strong_count(&chunk) == 1;
                let piece = if is_whole { array.clone() } else { array.slice(part.start as u32, part.end as u32) };
                return if piece.length() > 0 { self.sink.give_bytes(piece).await } else { Ok(()) };
            }
            Plain::Zeros(_) => return self.add_zeros(part.len()).await,
            Plain::Verified => return Ok(()), // no content is read for that
        };
        if self.collected.is_empty() && data.len() >= PIECE_BYTES {
            return self.sink.give_bytes(Uint8Array::from(data)).await;
        }
        self.collected.extend_from_slice(data);
        if self.collected.len() >= PIECE_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn add_zeros(&mut self, mut zeros: usize) -> Result<(), Stopped> {
        while self.collected.len() + zeros >= PIECE_BYTES {
            let some = zeros.min(PIECE_BYTES);
            self.flush().await?;
            // JavaScript's buffers begin as zeros, so there is nothing to copy.
            self.sink.give_bytes(Uint8Array::new_with_length(some as u32)).await?;
            zeros -= some;
        }
        self.collected.resize(self.collected.len() + zeros, 0);
        Ok(())
    }

    /// Hands over what was kept.
    pub async fn flush(&mut self) -> Result<(), Stopped> {
        if self.collected.is_empty() {
            return Ok(());
        }
        let piece = Uint8Array::from(&self.collected[..]);
        self.collected.clear();
        self.sink.give_bytes(piece).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Hands;
    use portaborg_core::id::ChunkId;

    /// The numbers of the chunks that are wanted, and the parts of them.
    fn parts(range: Range<f64>) -> Vec<(u8, Range<usize>)> {
        let sizes = [3, 0, 4, 5];
        let entry = |(number, size)| ChunkEntry { id: ChunkId([number; 32]), size };
        let mut cut = Cut::new((0..).zip(sizes).map(entry).collect(), range);
        let mut ahead = Ahead::new(Purpose::Content, false, Hands::default());
        cut.want(&mut ahead);
        let mut parts = Vec::new();
        let empty = portaborg_core::index::ChunkIndex::new();
        while ahead.window.next_fetch(&empty).is_some() {}
        while let Some((want, _)) = ahead.window.next_ready() {
            parts.push((want.id.0[0], cut.part_of(want.size.unwrap())));
        }
        parts
    }

    #[test]
    fn only_the_chunks_that_a_range_touches_are_wanted() {
        assert_eq!(parts(0.0..f64::INFINITY), [(0, 0..3), (1, 0..0), (2, 0..4), (3, 0..5)]);
        assert_eq!(parts(0.0..3.0), [(0, 0..3)]);
        assert_eq!(parts(1.0..4.0), [(0, 1..3), (1, 0..0), (2, 0..1)]);
        assert_eq!(parts(3.0..4.0), [(2, 0..1)]);
        assert_eq!(parts(8.0..99.0), [(3, 1..5)]);
        for nothing in [0.0..0.0, 12.0..20.0, 5.0..2.0, 99.0..f64::INFINITY] {
            assert_eq!(parts(nothing.clone()), [], "{nothing:?}");
        }
    }
}
