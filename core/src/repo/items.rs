//! The item stream of an archive, whole or damaged.

use super::encoded_items::EncodedItems;
use super::reader::{ChunkReader, ReadError};
use crate::id::ChunkId;
use crate::item::{Item, ItemError};
use crate::msgpack::{MsgpackError, Reader, Skipper};
use crate::object::ObjectType;
use crate::store::Store;
use alloc::vec::Vec;

/// An item larger than this is none: it would describe a file of terabytes in smallest chunks.
const MAX_ITEM_BYTES: usize = 1 << 30;
/// How many bytes of would-be items are looked through, in all, in search of where items go on.
const MAX_SEARCH_EFFORT: u64 = 1 << 30;

/// The items of an archive, in the order they were archived.
///
/// Damage costs what it must: after a chunk of the stream that can't be read, or bytes that are no item, the stream goes on at
/// the next position where an item begins.
///
/// [`ItemStream::next`] reads one item after the other. Who reads ahead, or decodes with several threads, goes
/// [step by step](ItemStream::step).
pub struct ItemStream {
    pointers: Numbered,
    pieces: Numbered,
    awaited: Option<Awaited>,
    /// What [`ItemStream::next`] has not given yet.
    given: EncodedItems,
    buffer: Vec<u8>,
    start: usize,
    skipper: Skipper,
    /// Something was lost, and the place where the next item begins is not found yet.
    in_search: bool,
    passed_over: usize,
    effort: u64,
    at_end: bool,
}

/// What a stream has, or needs.
#[derive(Debug)]
pub enum ItemStep {
    /// Items, to be decoded by whomever.
    Items(EncodedItems),
    /// Something is wrong with the stream here.
    Problem(ItemProblem),
    /// It needs this chunk of this type next: [`ItemStream::feed`].
    Read(ChunkId, ObjectType),
    /// There is nothing more.
    End,
}

/// The object that the stream has asked for, by its number.
#[derive(Debug, Clone, Copy)]
enum Awaited {
    Pointers(usize, ChunkId),
    Piece(usize, ChunkId),
}

/// Ids that are taken one by one and counted.
#[derive(Default)]
struct Numbered {
    ids: Vec<ChunkId>,
    taken: usize,
}

impl Numbered {
    fn take(&mut self) -> Option<(usize, ChunkId)> {
        let id = *self.ids.get(self.taken)?;
        self.taken += 1;
        Some((self.taken - 1, id))
    }
}

/// What stands in the stream.
enum Ahead {
    /// A whole map.
    Item,
    /// The beginning of an item.
    Part,
    /// Nothing that could become an item.
    Nothing,
}

/// What went wrong with a part of an item stream. Items may be missing there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemProblem {
    /// An object that lists chunks of the stream can't be read.
    #[error("item pointers {id}: {source}")]
    Pointers {
        /// Its place among the archive's item pointers, from 0.
        number: usize,
        /// The object.
        id: ChunkId,
        /// Why.
        source: ReadError,
    },
    /// An object that lists chunks of the stream is authentic, but is no list.
    #[error("item pointers {id}: {source}")]
    NoPointers {
        /// Its place among the archive's item pointers, from 0.
        number: usize,
        /// The object.
        id: ChunkId,
        /// Why.
        source: MsgpackError,
    },
    /// A chunk of the stream can't be read.
    #[error("item stream chunk {id}: {source}")]
    Chunk {
        /// Its place in the stream, from 0, as far as the stream's chunks are known.
        number: usize,
        /// The chunk.
        id: ChunkId,
        /// Why.
        source: ReadError,
    },
    /// A value of the stream is no usable item.
    #[error("an item {0}")]
    Item(ItemError),
    /// Bytes of the stream are no items at all, or the stream ends inside one.
    #[error("{bytes} bytes of the item stream are not items")]
    Garbage {
        /// How many were passed over.
        bytes: usize,
    },
}

impl ItemStream {
    /// The stream of an archive whose metadata has these item pointers.
    pub fn new(item_ptrs: &[ChunkId]) -> Self {
        ItemStream {
            pointers: Numbered { ids: item_ptrs.to_vec(), taken: 0 },
            pieces: Numbered::default(),
            awaited: None,
            given: EncodedItems::default(),
            buffer: Vec::new(),
            start: 0,
            skipper: Skipper::new(),
            in_search: false,
            passed_over: 0,
            effort: 0,
            at_end: false,
        }
    }

    /// The next item, or what is wrong with the stream here; `None` at the end.
    pub async fn next<S: Store>(&mut self, reader: &mut ChunkReader<'_, S>) -> Option<Result<Item, ItemProblem>> {
        loop {
            if let Some(item) = self.given.next() {
                return Some(item);
            }
            match self.step() {
                ItemStep::Items(items) => self.given = items,
                ItemStep::Problem(problem) => return Some(Err(problem)),
                ItemStep::Read(id, wanted) => {
                    if let Err(problem) = self.feed(reader.read(id, wanted).await) {
                        return Some(Err(problem));
                    }
                }
                ItemStep::End => return None,
            }
        }
    }

    /// What comes next. A chunk that it needs must be fed before the next step.
    pub fn step(&mut self) -> ItemStep {
        loop {
            if self.in_search && self.search() {
                self.in_search = false;
                if self.passed_over > 0 {
                    return ItemStep::Problem(ItemProblem::Garbage { bytes: core::mem::take(&mut self.passed_over) });
                }
            }
            if !self.in_search && self.start < self.buffer.len() {
                if let Some(items) = self.take() {
                    return ItemStep::Items(items);
                }
                match self.look() {
                    Ahead::Part if !self.at_end => {}
                    _ => {
                        self.in_search = true;
                        self.pass_over(1);
                        continue;
                    }
                }
            }
            if self.at_end {
                return ItemStep::End;
            }
            match self.next_read() {
                Some(read) => return read,
                None => self.at_end = true,
            }
        }
    }

    /// Takes the chunk that the last step asked for, or why it can't be had. Without such a step, nothing happens.
    pub fn feed(&mut self, plaintext: Result<&[u8], ReadError>) -> Result<(), ItemProblem> {
        match (self.awaited.take(), plaintext) {
            (None, _) => {}
            (Some(Awaited::Pointers(number, id)), plaintext) => match plaintext.map(decode_pointers) {
                Ok(Ok(pieces)) => self.pieces.ids.extend(pieces),
                Ok(Err(source)) => return Err(self.cut(ItemProblem::NoPointers { number, id, source })),
                Err(source) => return Err(self.cut(ItemProblem::Pointers { number, id, source })),
            },
            (Some(Awaited::Piece(number, id)), Err(source)) => {
                return Err(self.cut(ItemProblem::Chunk { number, id, source }));
            }
            (Some(Awaited::Piece(..)), Ok(plaintext)) => {
                self.buffer.drain(..self.start);
                self.start = 0;
                self.buffer.extend_from_slice(plaintext);
            }
        }
        Ok(())
    }

    /// The chunks of the stream that are known so far: at its end, all of them.
    pub fn chunks(&self) -> &[ChunkId] {
        &self.pieces.ids
    }

    /// What stands at the beginning of the buffer.
    fn look(&mut self) -> Ahead {
        let rest = &self.buffer[self.start..];
        if !begins_map(rest) {
            return Ahead::Nothing;
        }
        match self.skipper.advance(rest) {
            Ok(true) => Ahead::Item,
            Ok(false) if rest.len() <= MAX_ITEM_BYTES => Ahead::Part,
            Ok(false) | Err(_) => Ahead::Nothing,
        }
    }

    /// Takes the whole maps that stand at the beginning of the buffer, if there are any.
    fn take(&mut self) -> Option<EncodedItems> {
        let start = self.start;
        let mut ends = Vec::new();
        while self.start < self.buffer.len() && matches!(self.look(), Ahead::Item) {
            self.start += self.skipper.position();
            self.skipper = Skipper::new();
            ends.push(self.start);
        }
        if ends.is_empty() {
            return None;
        }
        let rest = self.buffer[self.start..].to_vec();
        self.start = 0;
        Some(EncodedItems::of_stream(core::mem::replace(&mut self.buffer, rest), start, ends))
    }

    /// Moves to the next position where a whole, usable item begins, or to the end. `false` if more data is needed to tell.
    fn search(&mut self) -> bool {
        while self.start < self.buffer.len() {
            let rest = &self.buffer[self.start..];
            if begins_item(rest) {
                let before = self.skipper.position();
                let whole = self.skipper.advance(rest);
                self.effort += (self.skipper.position() - before) as u64;
                match whole {
                    Ok(true) if Item::decode(&rest[..self.skipper.position()]).is_ok() => return true,
                    Ok(false) if !self.at_end && rest.len() <= MAX_ITEM_BYTES && !self.is_exhausted() => return false,
                    _ => {}
                }
            }
            let all = self.buffer.len() - self.start;
            self.pass_over(if self.is_exhausted() { all } else { 1 });
        }
        self.at_end
    }

    /// Crafted bytes could make every position look like the beginning of an endless item.
    fn is_exhausted(&self) -> bool {
        self.effort > MAX_SEARCH_EFFORT
    }

    fn pass_over(&mut self, bytes: usize) {
        self.start += bytes;
        self.passed_over += bytes;
        self.skipper = Skipper::new();
    }

    /// Asks for the next chunk of the stream, or for the next list of them; `None` when there is none.
    fn next_read(&mut self) -> Option<ItemStep> {
        if let Some((number, id)) = self.pieces.take() {
            self.awaited = Some(Awaited::Piece(number, id));
            return Some(ItemStep::Read(id, ObjectType::Items));
        }
        let (number, id) = self.pointers.take()?;
        self.awaited = Some(Awaited::Pointers(number, id));
        Some(ItemStep::Read(id, ObjectType::ItemPtrs))
    }

    /// A part of the stream is lost: what is left of the item before it is of no use, and the next chunk begins anywhere.
    fn cut(&mut self, problem: ItemProblem) -> ItemProblem {
        self.passed_over += self.buffer.len() - self.start;
        self.buffer.clear();
        self.start = 0;
        self.skipper = Skipper::new();
        self.in_search = true;
        problem
    }
}

/// Items are maps of far fewer than 65536 keys.
fn begins_map(data: &[u8]) -> bool {
    matches!(data, [0x80..=0x8f | 0xde, ..])
}

/// Whether a map with a first key as items have it may begin here (data layer, section 9.3).
fn begins_item(data: &[u8]) -> bool {
    let key = match data {
        [0x80..=0x8f, rest @ ..] => rest,
        [0xde, _, _, rest @ ..] => rest,
        // The number of its keys is not here yet.
        [0xde] | [0xde, _] => return true,
        _ => return false,
    };
    match key {
        [marker @ 0xa1..=0xbf, rest @ ..] => {
            let len = usize::from(marker & 0x1f);
            let key = rest.get(..len).unwrap_or(rest);
            key.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        }
        // The key is not here yet.
        [] => true,
        _ => false,
    }
}

fn decode_pointers(plaintext: &[u8]) -> Result<Vec<ChunkId>, MsgpackError> {
    let mut reader = Reader::new(plaintext);
    let mut ids = Vec::new();
    for _ in 0..reader.array_len()? {
        ids.push(ChunkId(reader.byte_array()?));
    }
    reader.finish()?;
    Ok(ids)
}
