//! Making a file of the cache.

use super::head::{FILE_NONCE_BYTES, FileKey, HEAD_BYTES, encode};
use super::{SEGMENT_BYTES, SEGMENT_NONCE_BYTES, segment_nonce};
use crate::crypto::Keys;
use crate::id::{ArchiveId, RepositoryId};
use alloc::vec::Vec;

/// Makes segments of blocks. A face seals them and stores them one after another, behind the head.
#[derive(Debug)]
pub struct Packing {
    head: [u8; HEAD_BYTES],
    key: FileKey,
    next: u32,
    /// At most as long as a segment.
    pending: Vec<u8>,
}

/// Plaintext that is to be sealed with the file's key.
#[derive(Debug)]
pub struct Segment {
    /// Used for nothing else with this key.
    pub nonce: [u8; SEGMENT_NONCE_BYTES],
    /// The plaintext.
    pub plaintext: Vec<u8>,
}

impl Packing {
    /// A new file for the items of an archive; `nonce` must be random. `None` if nothing can be sealed with these keys.
    pub fn new(
        keys: &Keys,
        repository: RepositoryId,
        archive: ArchiveId,
        nonce: &[u8; FILE_NONCE_BYTES],
    ) -> Option<Packing> {
        let head = encode(nonce);
        let key = FileKey::derive(keys, repository, archive, &head)?;
        Some(Packing { head, key, next: 0, pending: Vec::new() })
    }

    /// What the file begins with.
    pub fn head(&self) -> &[u8; HEAD_BYTES] {
        &self.head
    }

    /// With which its segments are sealed.
    pub fn key(&self) -> &FileKey {
        &self.key
    }

    /// Takes a block, with its length before it, and gives the segments that are full.
    ///
    /// # Panics
    ///
    /// If the file becomes longer than half a petabyte.
    pub fn add(&mut self, block: &[u8]) -> Vec<Segment> {
        self.pending.extend_from_slice(block);
        let mut full = Vec::new();
        // One more byte, since the last segment is not to be empty.
        while self.pending.len() > SEGMENT_BYTES {
            let rest = self.pending.split_off(SEGMENT_BYTES);
            full.push(self.segment(rest, false));
        }
        full
    }

    /// The last segment.
    pub fn finish(mut self) -> Segment {
        self.segment(Vec::new(), true)
    }

    fn segment(&mut self, rest: Vec<u8>, is_last: bool) -> Segment {
        let nonce = segment_nonce(self.next, is_last);
        self.next = self.next.checked_add(1).expect("a file has fewer segments than there are numbers");
        Segment { nonce, plaintext: core::mem::replace(&mut self.pending, rest) }
    }
}
