//! What may be in flight, and in which order it leaves.

use super::fetch::{Fetch, Job, Unpacked};
use crate::id::ChunkId;
use crate::index::{ChunkIndex, Location};
use crate::limits::MAX_DATA_SIZE;
use crate::object::{ObjectError, ObjectMeta, ObjectType};
use crate::repo::{Content, ReadError};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// How many chunks of zeros are remembered.
const KNOWN_ZEROS: usize = 64;
/// What a chunk of unknown length is taken for until it is here; only a hostile one is much longer.
const UNKNOWN_BYTES: u64 = 1 << 20;

/// Chunks that are read ahead: they are wanted in an order, fetched as they lie, worked on in any order, and given out in
/// the order in which they were wanted.
///
/// It waits for nothing and owns no thread. A driver adds what is [wanted](Window::want), takes [jobs](Window::next_fetch),
/// gives back what came of them ([`Window::finish`]), and takes the chunks out ([`Window::next_ready`]). Dropping the window is
/// how it is cancelled.
///
/// Each chunk costs its plaintext or its object, whichever is longer, from when it is fetched until it is given out. A chunk
/// that is wanted several times at once is fetched once; one that is known to be zeros is not fetched at all. What can't be
/// had is an error in its place. Plaintexts are buffers of type `B`, wherever those keep their bytes.
#[derive(Debug)]
pub struct Window<B = Vec<u8>> {
    job: Job,
    limits: ReadAhead,
    /// In the order in which they are given out; the first `planned` have entries.
    wants: VecDeque<Want>,
    planned: usize,
    entries: HashMap<Want, Entry<B>>,
    zeros: Vec<(ChunkId, usize)>,
    held_bytes: u64,
}

/// A chunk, as it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Want {
    /// Which one.
    pub id: ChunkId,
    /// How many bytes of plaintext it has, by whoever refers to it, if that is said: nobody has checked it.
    pub size: Option<u64>,
}

/// What chunks are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// As content of files.
    Content,
    /// As pieces of an item stream.
    Items,
    /// To verify them: whatever they are, nothing is kept of them.
    Verification,
}

/// How far reading may run ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadAhead {
    /// What chunks in flight may cost together, in bytes. One that costs more is let in alone.
    pub held_bytes: u64,
    /// How much is read for one job at most, in bytes; a single object may be longer.
    pub read_bytes: usize,
}

/// Where bytes are kept: in memory, or where only their owner can look.
pub trait Buffer {
    /// How many bytes there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Buffer for Vec<u8> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

/// The plaintext of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plain<B = Vec<u8>> {
    /// Bytes.
    Data(B),
    /// So many zero bytes.
    Zeros(usize),
    /// It is right, which was all that was wanted.
    Verified,
}

/// A chunk's plaintext, or why there is none.
pub type Outcome<B = Vec<u8>> = Result<Arc<Plain<B>>, ReadError>;

/// A chunk that is fetched or was, for all places where it is wanted.
#[derive(Debug)]
struct Entry<B> {
    places: usize,
    cost: u64,
    outcome: Option<Outcome<B>>,
}

impl<B: Buffer> Window<B> {
    /// With nothing in it. With `assert_ids`, contents are compared with their ids; in a verification they always are.
    pub fn new(purpose: Purpose, assert_ids: bool, limits: ReadAhead) -> Self {
        Window {
            job: Job { purpose, assert_ids: assert_ids || purpose == Purpose::Verification },
            limits,
            wants: VecDeque::new(),
            planned: 0,
            entries: HashMap::new(),
            zeros: Vec::new(),
            held_bytes: 0,
        }
    }

    /// Adds a chunk to the end of what is wanted.
    pub fn want(&mut self, want: Want) {
        self.wants.push_back(want);
    }

    /// How many chunks are wanted and not given out yet.
    pub fn len(&self) -> usize {
        self.wants.len()
    }

    /// Whether everything is given out.
    pub fn is_empty(&self) -> bool {
        self.wants.is_empty()
    }

    /// The next job; `None` while nothing more may be in flight, or is wanted.
    pub fn next_fetch(&mut self, index: &ChunkIndex) -> Option<Fetch> {
        let mut fetch = Fetch::new(self.job);
        let mut plain_bytes = 0;
        while let Some(&want) = self.wants.get(self.planned) {
            if let Some(entry) = self.entries.get_mut(&want) {
                entry.places += 1;
            } else {
                let (cost, outcome) = match self.look_up(want, index) {
                    Ok(location) => {
                        let cost = self.cost(want, location);
                        let is_full = self.held_bytes > 0 && self.held_bytes + cost > self.limits.held_bytes;
                        // Also of what compresses well no job is much longer than another.
                        let is_enough = plain_bytes > 0 && plain_bytes + cost > 4 * self.limits.read_bytes as u64;
                        if is_full || is_enough || !fetch.add(want, location, self.limits.read_bytes) {
                            break;
                        }
                        plain_bytes += cost;
                        (cost, None)
                    }
                    Err(known) => (0, Some(known.map(Arc::new))),
                };
                self.held_bytes += cost;
                self.entries.insert(want, Entry { places: 1, cost, outcome });
            }
            self.planned += 1;
        }
        (!fetch.is_empty()).then_some(fetch)
    }

    /// Takes in what came of a job, in any order.
    pub fn finish(&mut self, unpacked: Unpacked<B>) {
        for (want, result) in unpacked.0 {
            if let Ok(Plain::Zeros(len)) = result {
                self.zeros.truncate(KNOWN_ZEROS - 1);
                self.zeros.insert(0, (want.id, len));
            }
            let Some(entry) = self.entries.get_mut(&want) else { continue };
            let cost = match &result {
                Ok(Plain::Data(bytes)) => bytes.len() as u64,
                Ok(Plain::Zeros(_) | Plain::Verified) | Err(_) => 0,
            };
            self.held_bytes = self.held_bytes - entry.cost + cost;
            entry.cost = cost;
            entry.outcome = Some(result.map(Arc::new));
        }
    }

    /// The next chunk in order; `None` if it is not here yet, or none is wanted.
    pub fn next_ready(&mut self) -> Option<(Want, Outcome<B>)> {
        let want = *self.wants.front()?;
        let entry = self.entries.get_mut(&want)?;
        entry.outcome.as_ref()?;
        entry.places -= 1;
        let outcome = if entry.places > 0 {
            entry.outcome.clone()
        } else {
            self.held_bytes -= entry.cost;
            self.entries.remove(&want).and_then(|entry| entry.outcome)
        };
        self.wants.pop_front();
        self.planned -= 1;
        outcome.map(|outcome| (want, outcome))
    }

    /// Gives up the next chunk in order: it is not needed after all.
    pub fn skip(&mut self) {
        let Some(want) = self.wants.pop_front() else { return };
        if self.planned == 0 {
            return;
        }
        self.planned -= 1;
        if let Some(entry) = self.entries.get_mut(&want) {
            entry.places -= 1;
            if entry.places == 0 {
                self.held_bytes -= entry.cost;
                self.entries.remove(&want);
            }
        }
    }

    /// Where a chunk lies, or what is known of it without that.
    fn look_up(&self, want: Want, index: &ChunkIndex) -> Result<Location, Result<Plain<B>, ReadError>> {
        if let Some(claimed) = want.size.filter(|&size| size > MAX_DATA_SIZE as u64) {
            return Err(Err(ReadError::TooLarge { claimed }));
        }
        if let Some(&(_, found)) = self.zeros.iter().find(|(zeros, _)| *zeros == want.id) {
            return Err(same_size(want, found).map(|()| Plain::Zeros(found)));
        }
        let location = index.get(&want.id).ok_or(Err(ReadError::NotIndexed))?;
        if location.size as usize > MAX_DATA_SIZE {
            // No writer makes one; nothing is allocated for the claim.
            return Err(Err(ObjectError::Length { claimed: location.size.into(), found: 0 }.into()));
        }
        Ok(location)
    }

    fn cost(&self, want: Want, location: Location) -> u64 {
        let plain = match self.job.purpose {
            Purpose::Verification => 0,
            Purpose::Content | Purpose::Items => want.size.unwrap_or(UNKNOWN_BYTES),
        };
        plain.max(location.size.into())
    }
}

impl<B: Buffer> Plain<B> {
    /// How many bytes there are, in memory or not.
    pub fn len(&self) -> u64 {
        match self {
            Plain::Data(bytes) => bytes.len() as u64,
            Plain::Zeros(len) => *len as u64,
            Plain::Verified => 0,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same in a buffer of another kind.
    pub fn map<C>(self, keep: impl FnOnce(B) -> C) -> Plain<C> {
        match self {
            Plain::Data(bytes) => Plain::Data(keep(bytes)),
            Plain::Zeros(len) => Plain::Zeros(len),
            Plain::Verified => Plain::Verified,
        }
    }
}

impl Plain {
    /// The bytes, if there are any to be kept.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Plain::Data(bytes) => bytes,
            Plain::Zeros(_) | Plain::Verified => &[],
        }
    }

    /// The bytes; of a chunk that was only verified, none.
    pub fn content(&self) -> Content<'_> {
        match self {
            Plain::Zeros(len) => Content::Zeros(*len),
            Plain::Data(_) | Plain::Verified => Content::Data(self.bytes()),
        }
    }
}

impl From<Content<'_>> for Plain {
    fn from(content: Content<'_>) -> Self {
        match content {
            Content::Data(bytes) => Plain::Data(bytes.into()),
            Content::Zeros(len) => Plain::Zeros(len),
        }
    }
}

impl Purpose {
    /// The only type of object that is accepted, if it is one.
    pub(super) fn object_type(self) -> Option<ObjectType> {
        match self {
            Purpose::Content => Some(ObjectType::Content),
            Purpose::Items => Some(ObjectType::Items),
            Purpose::Verification => None,
        }
    }

    /// Takes the plaintext, or leaves it if it is of no use.
    pub(super) fn judge(self, want: Want, meta: &ObjectMeta, plaintext: &mut Vec<u8>) -> Result<Plain, ReadError> {
        match self {
            Purpose::Verification if meta.kind.is_none() => Err(ObjectError::Attribute { key: "type" }.into()),
            Purpose::Verification => Ok(Plain::Verified),
            Purpose::Items => Ok(Plain::Data(core::mem::take(plaintext))),
            Purpose::Content => {
                same_size(want, plaintext.len())?;
                if plaintext.iter().all(|&byte| byte == 0) {
                    return Ok(Plain::Zeros(plaintext.len()));
                }
                Ok(Plain::Data(core::mem::take(plaintext)))
            }
        }
    }
}

fn same_size(want: Want, found: usize) -> Result<(), ReadError> {
    match want.size {
        Some(expected) if expected != found as u64 => Err(ReadError::Size { expected, found }),
        _ => Ok(()),
    }
}
