//! Contents that are cut anew, until the ids of their new chunks are known.

use super::work::{HashDone, HashJob};
use crate::repository::lender::Buffers;
use portaborg_core::chunk::{Chunker, InjectedFault};
use portaborg_core::id::ChunkId;
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::repo::{Content, Rechunker};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// So many bytes are hashed, and then sealed, by one job.
const JOB_BYTES: usize = 1 << 20;
/// A buffer has no more chunks and items than these.
const MAX_PARTS: usize = 1000;
/// So many buffers are kept to be used again.
const SPARE_BUFFERS: usize = 4;

/// Cuts contents and keeps the order: what lies in which job depends on the contents alone.
pub struct Rechunking {
    rechunker: Rechunker,
    /// What is cut of the buffer that is filled.
    cut: Vec<Cut>,
    /// Jobs that nobody has taken.
    jobs: VecDeque<HashJob>,
    /// What waits for ids, in order.
    waiting: VecDeque<Waiting>,
    hashed: HashMap<u64, Vec<ChunkId>>,
    /// Bytes of chunks that wait.
    unhashed: usize,
    /// The chunks that are known of the content whose turn it is.
    entries: Vec<ChunkEntry>,
    buffers: Buffers,
    numbers: u64,
}

/// Chunks, and items at the ends of their contents.
enum Cut {
    Chunk(Range<usize>),
    Item(Box<Item>),
}

/// What one job is for.
#[derive(Default)]
struct Waiting {
    number: u64,
    buffer: Arc<Vec<u8>>,
    parts: Vec<Cut>,
    chunks: usize,
    bytes: usize,
}

/// What is to be added, in this order.
pub struct Hashed {
    /// Where the chunks lie.
    pub buffer: Arc<Vec<u8>>,
    /// Chunks and items.
    pub parts: Vec<Part>,
}

/// A part of that.
pub enum Part {
    /// A chunk, and its place in the buffer.
    Chunk(ChunkId, Range<usize>),
    /// An item that is complete.
    Item(Box<Item>),
}

impl Rechunking {
    /// With nothing to be cut.
    pub fn new(chunker: Chunker) -> Self {
        Rechunking {
            rechunker: Rechunker::new(chunker),
            cut: Vec::new(),
            jobs: VecDeque::new(),
            waiting: VecDeque::new(),
            hashed: HashMap::new(),
            unhashed: 0,
            entries: Vec::new(),
            buffers: Buffers::new(SPARE_BUFFERS),
            numbers: 0,
        }
    }

    /// Whether what comes next of the content must be known before the next cut, if there is more of it.
    pub fn needs_more(&self) -> bool {
        self.rechunker.needs_more()
    }

    /// Adds what comes next of the content.
    pub fn push(&mut self, content: Content<'_>) {
        self.rechunker.push(content);
    }

    /// Cuts the next chunk; `false` at the end of the content.
    pub fn cut(&mut self) -> Result<bool, InjectedFault> {
        let chunk = self.rechunker.cut()?;
        let is_cut = chunk.is_some();
        self.cut.extend(chunk.map(Cut::Chunk));
        Ok(is_cut)
    }

    /// Ends the content, which is this item's.
    pub fn end(&mut self, item: Item) {
        self.cut.push(Cut::Item(Box::new(item)));
    }

    /// Whether it is time to take the buffer.
    pub fn is_full(&self) -> bool {
        self.rechunker.is_full() || self.cut.len() >= MAX_PARTS
    }

    /// Makes jobs of all that is cut.
    pub fn take_buffer(&mut self) {
        if self.cut.is_empty() {
            return;
        }
        let buffer = Arc::new(self.rechunker.take_buffer(self.buffers.take()));
        self.buffers.keep(&buffer);
        let mut next = self.begin(&buffer);
        for part in std::mem::take(&mut self.cut) {
            if let Cut::Chunk(place) = &part {
                if next.bytes >= JOB_BYTES {
                    let begun = self.begin(&buffer);
                    self.wait(std::mem::replace(&mut next, begun));
                }
                next.chunks += 1;
                next.bytes += place.len();
            }
            next.parts.push(part);
        }
        self.wait(next);
    }

    /// The next chunks to be hashed.
    pub fn next_job(&mut self) -> Option<HashJob> {
        self.jobs.pop_front()
    }

    /// Takes in what came of a job, in any order.
    pub fn hashed(&mut self, done: HashDone) {
        self.hashed.insert(done.number, done.ids);
    }

    /// What comes next, if its ids are known.
    pub fn next_hashed(&mut self) -> Option<Hashed> {
        let first = self.waiting.front()?;
        let ids = if first.chunks == 0 { Vec::new() } else { self.hashed.remove(&first.number)? };
        let Waiting { buffer, parts, bytes, .. } = self.waiting.pop_front()?;
        self.unhashed -= bytes;
        let mut ids = ids.into_iter();
        let parts = parts.into_iter().filter_map(|part| match part {
            Cut::Chunk(place) => {
                let id = ids.next()?;
                self.entries.push(ChunkEntry { id, size: place.len() as u64 });
                Some(Part::Chunk(id, place))
            }
            Cut::Item(mut item) => {
                let chunks = std::mem::take(&mut self.entries);
                if item.chunks.is_some() {
                    item.chunks = Some(chunks);
                    item.size = Some(item.content_size());
                }
                Some(Part::Item(item))
            }
        });
        Some(Hashed { parts: parts.collect(), buffer })
    }

    /// How many bytes wait for ids.
    pub fn unhashed(&self) -> usize {
        self.unhashed
    }

    /// Whether nothing waits for ids.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn begin(&mut self, buffer: &Arc<Vec<u8>>) -> Waiting {
        self.numbers += 1;
        Waiting { number: self.numbers, buffer: Arc::clone(buffer), ..Waiting::default() }
    }

    fn wait(&mut self, waiting: Waiting) {
        let place = |part: &Cut| match part {
            Cut::Chunk(place) => Some(place.clone()),
            Cut::Item(_) => None,
        };
        if waiting.chunks > 0 {
            let chunks = waiting.parts.iter().filter_map(place).collect();
            self.jobs.push_back(HashJob { number: waiting.number, buffer: Arc::clone(&waiting.buffer), chunks });
        }
        self.unhashed += waiting.bytes;
        self.waiting.push_back(waiting);
    }
}
