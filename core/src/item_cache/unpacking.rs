//! Reading a file of the cache.

use super::head::{FileKey, HEAD_BYTES, parse};
use super::{
    Block, CacheError, LENGTH_BYTES, MAX_BLOCK_BYTES, SEGMENT_BYTES, SEGMENT_NONCE_BYTES, TAG_BYTES, segment_nonce,
};
use crate::crypto::Keys;
use crate::id::{ArchiveId, RepositoryId};
use alloc::vec::Vec;

/// Makes blocks of segments, which a face reads and opens.
#[derive(Debug)]
pub struct Unpacking {
    key: FileKey,
    segments: u32,
    file_bytes: u64,
    /// Of how many segments the plaintext was fed.
    fed: u32,
    plaintext: Vec<u8>,
    start: usize,
}

/// What comes next.
#[derive(Debug)]
pub enum CacheStep {
    /// Items.
    Block(Block),
    /// The plaintext of this segment is needed: [`Unpacking::feed`].
    Open(Place),
    /// There is nothing more, and nothing is missing.
    End,
}

/// Where a segment lies, and how it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 0.
    pub segment: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Length with the tag, in bytes.
    pub len: usize,
    /// Of GCM.
    pub nonce: [u8; SEGMENT_NONCE_BYTES],
}

impl Unpacking {
    /// The items of an archive from a file that begins with `head` (what follows is not looked at) and has so many bytes.
    pub fn new(
        keys: &Keys,
        repository: RepositoryId,
        archive: ArchiveId,
        head: &[u8],
        file_bytes: u64,
    ) -> Result<Unpacking, CacheError> {
        let head = parse(head)?;
        let key = FileKey::derive(keys, repository, archive, head).ok_or(CacheError::Head)?;
        let wrong = CacheError::Length { found: file_bytes };
        let sealed_bytes = file_bytes.checked_sub(HEAD_BYTES as u64).ok_or(wrong)?;
        let last_bytes = sealed_bytes % SEALED_BYTES;
        if sealed_bytes == 0 || (1..TAG_BYTES as u64).contains(&last_bytes) {
            return Err(wrong);
        }
        let segments = u32::try_from(sealed_bytes.div_ceil(SEALED_BYTES)).map_err(|_| wrong)?;
        Ok(Unpacking { key, segments, file_bytes, fed: 0, plaintext: Vec::new(), start: 0 })
    }

    /// With which its segments are opened.
    pub fn key(&self) -> &FileKey {
        &self.key
    }

    /// Where a segment lies, of which there may be more than are needed yet; `None` behind the last one.
    pub fn place(&self, segment: u32) -> Option<Place> {
        if segment >= self.segments {
            return None;
        }
        let offset = HEAD_BYTES as u64 + u64::from(segment) * SEALED_BYTES;
        let len = (self.file_bytes - offset).min(SEALED_BYTES) as usize;
        Some(Place { segment, offset, len, nonce: segment_nonce(segment, segment + 1 == self.segments) })
    }

    /// What comes next. After an error nothing does.
    pub fn step(&mut self) -> Result<CacheStep, CacheError> {
        let rest = &self.plaintext[self.start..];
        if let Some((length, content)) = rest.split_first_chunk::<LENGTH_BYTES>() {
            let length = u32::from_le_bytes(*length) as usize;
            if length > MAX_BLOCK_BYTES {
                return Err(CacheError::Block);
            }
            if let Some(content) = content.get(..length) {
                self.start += LENGTH_BYTES + length;
                return Block::parse(content.to_vec()).map(CacheStep::Block);
            }
        }
        match self.place(self.fed) {
            Some(place) => Ok(CacheStep::Open(place)),
            None if rest.is_empty() => Ok(CacheStep::End),
            None => Err(CacheError::Block),
        }
    }

    /// Takes the plaintext of the segment that the last step asked for.
    pub fn feed(&mut self, plaintext: &[u8]) {
        self.plaintext.drain(..self.start);
        self.start = 0;
        self.plaintext.extend_from_slice(plaintext);
        self.fed += 1;
    }
}

/// A whole segment with its tag, in bytes.
const SEALED_BYTES: u64 = (SEGMENT_BYTES + TAG_BYTES) as u64;
