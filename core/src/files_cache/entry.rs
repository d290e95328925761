//! What is remembered of one file.

use crate::id::PathHash;
use crate::item::{ChunkEntry, Pairs, byte_map, chunks, write_chunks, write_pairs};
use crate::msgpack::{MsgpackError, Reader, Writer};
use crate::time::Timestamp;
use alloc::vec::Vec;

/// One file, as it was when it was archived last (data layer, section 13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// For how many archives the file was not seen.
    pub age: u64,
    /// How it looked.
    pub state: FileState,
    /// Its content.
    pub chunks: Vec<ChunkEntry>,
    /// Digests of its content by algorithm name, if any were made.
    pub digests: Option<Pairs>,
}

/// What tells that a file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileState {
    /// Inode number.
    pub inode: u64,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the inode, as it is stored.
    pub ctime: Timestamp,
    /// Last change of the content, as it is stored.
    pub mtime: Timestamp,
}

/// The entries of an encoded cache.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    reader: Reader<'a>,
}

impl Entry {
    /// Appends the entry's encoding to `out`.
    pub fn encode_into(&self, path: &PathHash, out: &mut Vec<u8>) {
        self.encode_aged(self.age, path, out);
    }

    /// The same with another age.
    pub fn encode_aged(&self, age: u64, path: &PathHash, out: &mut Vec<u8>) {
        encode(path, age, &self.state, &self.chunks, self.digests.as_ref(), out);
    }

    /// Whether the entry is worth to be stored.
    ///
    /// An entry of the archive just made (age 0) is not if the file changed at or after `newest`: it could have changed again
    /// within the same tick of the file system's clock. Others are kept until they have an age of `ttl`.
    pub fn is_kept(&self, newest: Option<Timestamp>, ttl: u64) -> bool {
        match self.age {
            0 => newest.is_none_or(|newest| self.state.last_change() < newest),
            age => age < ttl,
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<(PathHash, Entry), MsgpackError> {
        if reader.array_len()? != 2 {
            return Err(MsgpackError::OutOfRange);
        }
        let path = PathHash(reader.byte_array()?);
        let elements = reader.array_len()?;
        if !(ELEMENTS - 1..=ELEMENTS).contains(&elements) {
            return Err(MsgpackError::OutOfRange);
        }
        let age = reader.int()?;
        let state = FileState {
            inode: reader.int()?,
            size: reader.int()?,
            ctime: reader.timestamp()?,
            mtime: reader.timestamp()?,
        };
        let chunks = chunks(reader)?;
        let has_digests = elements == ELEMENTS && !reader.nil();
        let digests = has_digests.then(|| byte_map(reader)).transpose()?;
        Ok((path, Entry { age, state, chunks, digests }))
    }
}

/// Appends the encoding of an entry with these parts to `out`.
pub fn encode(
    path: &PathHash,
    age: u64,
    state: &FileState,
    chunks: &[ChunkEntry],
    digests: Option<&Pairs>,
    out: &mut Vec<u8>,
) {
    let mut writer = Writer::after(core::mem::take(out));
    writer.array(2);
    writer.bin(&path.0);
    writer.array(ELEMENTS);
    writer.uint(age);
    writer.uint(state.inode);
    writer.uint(state.size);
    writer.timestamp(state.ctime);
    writer.timestamp(state.mtime);
    write_chunks(&mut writer, chunks);
    match digests {
        Some(digests) => write_pairs(&mut writer, digests, |writer, name| writer.str(name)),
        None => writer.nil(),
    }
    *out = writer.into_bytes();
}

impl FileState {
    /// The later of both times.
    pub fn last_change(&self) -> Timestamp {
        self.ctime.max(self.mtime)
    }
}

impl<'a> Entries<'a> {
    /// Reads the entries of a whole cache.
    pub fn new(data: &'a [u8]) -> Self {
        Entries { reader: Reader::new(data) }
    }
}

/// Ends after the first error: nothing behind it can be found.
impl Iterator for Entries<'_> {
    type Item = Result<(PathHash, Entry), MsgpackError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.rest().is_empty() {
            return None;
        }
        let entry = Entry::decode(&mut self.reader);
        if entry.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(entry)
    }
}

/// Of an entry. Early ones had no digests.
const ELEMENTS: usize = 7;
