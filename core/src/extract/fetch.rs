//! What is done with chunks in flight, many at once: fetched, opened, unpacked. Each stage is a value that carries all it
//! needs to whoever does the work, so they can be done in one go, by different threads, or where one can only wait.

use super::window::{Buffer, Plain, Purpose, Want};
use crate::crypto::SessionId;
use crate::id::PackId;
use crate::index::Location;
use crate::name::Key;
use crate::object::{self, ObjectMeta, Opener};
use crate::repo::ReadError;
use crate::store::{Piece, StoreError};
use alloc::vec::Vec;
use core::ops::Range;

/// Objects that lie so close behind each other are read at once, with what lies between.
const MAX_GAP_BYTES: u64 = 16 << 10;

/// Chunks that are to be fetched together.
#[derive(Debug)]
pub struct Fetch {
    /// What is to be read, in this order.
    pub pieces: Vec<Piece>,
    pub(super) parts: Vec<Part>,
    bytes: usize,
    pub(super) job: Job,
}

/// Chunks as they are stored, or why they could not be read.
#[derive(Debug)]
pub struct Stored {
    pub(super) pieces: Vec<Result<Vec<u8>, StoreError>>,
    pub(super) parts: Vec<Part>,
    pub(super) job: Job,
}

/// Chunks whose payloads are prepared for a block cipher elsewhere, or why they are not.
#[derive(Debug)]
pub struct Begun {
    pieces: Vec<Result<Vec<u8>, StoreError>>,
    parts: Vec<(Part, Result<object::Begun, ReadError>)>,
    job: Job,
}

/// Chunks that are authenticated and decrypted, or why they are not.
#[derive(Debug)]
pub struct Opened {
    pieces: Vec<Result<Vec<u8>, StoreError>>,
    parts: Vec<(Part, Result<Payload, ReadError>)>,
    job: Job,
}

/// What an object says of its payload, and where in its piece the payload is.
type Payload = (ObjectMeta, Range<usize>);

/// Plaintexts with what they were wanted as, or why there are none.
#[derive(Debug)]
pub struct Unpacked<B = Vec<u8>>(pub(super) Vec<(Want, Result<Plain<B>, ReadError>)>);

/// What all chunks of a window are read for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub purpose: Purpose,
    pub assert_ids: bool,
}

/// One chunk, and where in the pieces it is.
#[derive(Debug)]
pub(super) struct Part {
    pub want: Want,
    pub pack: PackId,
    pub piece: usize,
    pub at: usize,
    pub len: usize,
}

impl Fetch {
    pub(super) fn new(job: Job) -> Self {
        Fetch { pieces: Vec::new(), parts: Vec::new(), bytes: 0, job }
    }

    /// Whether there are no chunks: not in a job that a window has given.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds a chunk, unless more than `read_bytes` would be read then and it is not the only one.
    pub(super) fn add(&mut self, want: Want, location: Location, read_bytes: usize) -> bool {
        let Location { pack, offset, size } = location;
        let (offset, len) = (u64::from(offset), size as usize);
        let gap = self.pieces.last().filter(|last| last.key == Key::Pack(pack)).and_then(|last| {
            // One that begins before another ends is read apart: each is opened in place.
            offset.checked_sub(last.offset + last.len as u64).filter(|&gap| gap <= MAX_GAP_BYTES)
        });
        let grows_by = gap.unwrap_or(0) as usize + len;
        if !self.is_empty() && self.bytes + grows_by > read_bytes {
            return false;
        }
        self.bytes += grows_by;
        match self.pieces.last_mut().filter(|_| gap.is_some()) {
            Some(last) => last.len += grows_by,
            None => self.pieces.push(Piece { key: Key::Pack(pack), offset, len }),
        }
        let piece = self.pieces.len() - 1;
        self.parts.push(Part { want, pack, piece, at: self.pieces[piece].len - len, len });
        true
    }

    /// How much is read, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes what was read of each piece, as [`Store::gather`](crate::store::Store::gather) gives it.
    pub fn fetched(self, pieces: Vec<Result<Vec<u8>, StoreError>>) -> Stored {
        Stored { pieces, parts: self.parts, job: self.job }
    }
}

impl Stored {
    /// Authenticates and decrypts every chunk.
    pub fn open(mut self, opener: &mut Opener<'_>) -> Opened {
        let wanted = self.job.purpose.object_type();
        let mut open = |part: &Part| {
            let (meta, payload) = opener.decrypt(part.find(&mut self.pieces)?, part.want.id, wanted)?;
            Ok((meta, part.at + payload.start..part.at + payload.end))
        };
        let opened = self.parts.into_iter().map(|part| {
            let result = open(&part);
            (part, result)
        });
        Opened { parts: opened.collect(), pieces: self.pieces, job: self.job }
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().flatten().map(Vec::len).sum()
    }

    /// Does the same but for what a block cipher elsewhere may do: what is AES-256-OCB, and has `from_bytes` and more. That are
    /// the [blocks](Begun::blocks) of the result; when they are decrypted, [`Begun::finish`].
    pub fn begin(mut self, opener: &mut Opener<'_>, from_bytes: usize) -> Begun {
        let wanted = self.job.purpose.object_type();
        let mut begin = |part: &Part| {
            let stored = part.find(&mut self.pieces)?;
            Ok(opener.begin(stored, part.want.id, wanted, from_bytes)?)
        };
        let begun = self.parts.into_iter().map(|part| {
            let result = begin(&part);
            (part, result)
        });
        Begun { parts: begun.collect(), pieces: self.pieces, job: self.job }
    }
}

impl Begun {
    /// What is to be decrypted in place by the bare inverse of AES-256, and the sessions whose
    /// [keys](crate::crypto::Keys::block_key) it takes.
    pub fn blocks(&mut self) -> impl Iterator<Item = (SessionId, &mut [u8])> {
        let mut pieces: Vec<&mut [u8]> =
            self.pieces.iter_mut().map(|piece| piece.as_deref_mut().unwrap_or_default()).collect();
        let mut cut = alloc::vec![0; pieces.len()];
        self.parts.iter().filter_map(move |(part, begun)| {
            let (session, place) = begun.as_ref().ok()?.blocks.as_ref()?;
            // Parts lie behind each other in their piece.
            let rest = core::mem::take(pieces.get_mut(part.piece)?);
            let skipped = (part.at + place.start).checked_sub(cut[part.piece])?;
            let (_, rest) = rest.split_at_mut(skipped);
            let (blocks, rest) = rest.split_at_mut(place.len());
            cut[part.piece] = part.at + place.end;
            pieces[part.piece] = rest;
            Some((*session, blocks))
        })
    }

    /// Authenticates every chunk.
    pub fn finish(mut self, opener: &mut Opener<'_>) -> Opened {
        let finished = self.parts.into_iter().map(|(part, begun)| {
            let finish = |begun| {
                let (meta, payload) = opener.finish(part.find(&mut self.pieces)?, begun)?;
                Ok((meta, part.at + payload.start..part.at + payload.end))
            };
            let result = begun.and_then(finish);
            (part, result)
        });
        Opened { parts: finished.collect(), pieces: self.pieces, job: self.job }
    }
}

impl Opened {
    /// Decompresses every chunk, and verifies its length where it is known, and its id where that is asked for.
    pub fn unpack(self, opener: &mut Opener<'_>) -> Unpacked {
        let Job { purpose, assert_ids } = self.job;
        let mut unpacked = Vec::with_capacity(self.parts.len());
        for (part, opened) in self.parts {
            let result = opened.and_then(|(meta, payload)| {
                let bytes = self.pieces[part.piece].as_ref().map_err(|error| error.clone())?;
                let mut plaintext = opener.spare.take(meta.payload.size.unwrap_or(meta.payload.csize));
                let result = opener
                    .decompress(&meta, &bytes[payload], &mut plaintext)
                    .and_then(|()| if assert_ids { opener.assert_id(part.want.id, &plaintext) } else { Ok(()) });
                let judged =
                    result.map_err(ReadError::from).and_then(|()| purpose.judge(part.want, &meta, &mut plaintext));
                opener.spare.give(plaintext);
                judged
            });
            unpacked.push((part.want, result));
        }
        self.pieces.into_iter().flatten().for_each(|bytes| opener.spare.give(bytes));
        Unpacked(unpacked)
    }
}

impl<B: Buffer> Unpacked<B> {
    /// The same in buffers of another kind.
    pub fn map<C>(self, mut keep: impl FnMut(B) -> C) -> Unpacked<C> {
        let each =
            |(want, result): (Want, Result<Plain<B>, ReadError>)| (want, result.map(|plain| plain.map(&mut keep)));
        Unpacked(self.0.into_iter().map(each).collect())
    }
}

impl Part {
    /// The object among what was read.
    fn find<'p>(&self, pieces: &'p mut [Result<Vec<u8>, StoreError>]) -> Result<&'p mut [u8], ReadError> {
        let Part { pack, at, len, .. } = *self;
        match pieces.get_mut(self.piece) {
            Some(Ok(bytes)) => {
                let found = bytes.len().saturating_sub(at);
                bytes.get_mut(at..at + len).ok_or(ReadError::Truncated { pack, expected: len, found })
            }
            Some(Err(error)) if !error.is_not_found() => Err(error.clone().into()),
            Some(Err(_)) | None => Err(ReadError::PackMissing { pack }),
        }
    }
}
