//! The item cache: the items of an archive as a client keeps them for itself, sealed, so that they need not be read from the
//! repository again. This format is the project's own, no part of Borg's.
//!
//! ```text
//! file       magic(8) version(4, little endian) nonce(32) segment*
//! segment    ciphertext tag(16)                 AES-256-GCM, without associated data
//! plaintext  block*                             one after another, across the borders of segments
//! block      length(4, little endian) content   the content's layout is drawn at [`Block`]
//! ```
//!
//! Each segment has [`SEGMENT_BYTES`] of plaintext, but for the last one, which has as many or fewer: so the length of the file
//! tells where each of them lies. The nonce of a segment is its number from 0 (bytes 7 to 10, big endian) and whether it is the
//! last one (byte 11: 1 or 0), as in the STREAM construction: none can be left out, repeated, moved, or cut off.
//!
//! # Whose it is
//!
//! The key of a file is made by BLAKE3's `derive_key` from the repository's crypt key, the repository's id, the archive's id
//! and all of the file's head, of which the nonce is random. So every file has a key of its own, which serves nothing else, and
//! opens for this archive of this repository alone, in this version. An archive's id is a keyed hash of what the archive refers to:
//! there is nothing that could be out of date.
//!
//! Repositories that are authenticated only have a crypt key, too, and their items are sealed all the same. Where the key is lost
//! ([`Keys::verifies`](crate::crypto::Keys::verifies)), there is no item cache.
//!
//! # When it counts
//!
//! It is never trusted more than the archive. Only the items of a whole, undamaged archive are stored. Whatever is wrong with a
//! file (its head, its length, a tag, a block: [`CacheError`]) means one thing: it is as if it were not there. Blocks are
//! looked through before an item of them is used, since they may be of a program with a mistake; the tag says only that whoever
//! made them had the key.
//!
//! # Who does what
//!
//! [`Packing`] makes plaintext segments of blocks, [`Unpacking`] says which segment is needed next and makes blocks of their
//! plaintexts. A face reads, writes, opens and seals: natively with a crate, in JavaScript through Web Crypto.

mod block;
mod common;
mod head;
mod number;
mod packing;
mod row;
mod unpacking;

pub use block::{Block, BlockItems};
pub use head::{FILE_KEY_BYTES, FILE_NONCE_BYTES, FileKey, HEAD_BYTES};
pub use packing::{Packing, Segment};
pub use unpacking::{CacheStep, Place, Unpacking};

/// What GCM takes as a nonce, in bytes.
pub const SEGMENT_NONCE_BYTES: usize = 12;
/// What sealing adds to a segment, in bytes.
pub const TAG_BYTES: usize = 16;
/// Plaintext of a segment, in bytes. Web Crypto is fastest with so much at once.
pub const SEGMENT_BYTES: usize = 128 << 10;

/// Bytes of a block's length.
const LENGTH_BYTES: usize = 4;
/// A longer block is none. It has room for the longest item that Borg makes, of a file of terabytes.
const MAX_BLOCK_BYTES: usize = 64 << 20;

/// Why a file of the cache is as good as none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// It does not begin as files of this version do.
    #[error("it is no item cache of this version")]
    Head,
    /// No file has so many bytes.
    #[error("no item cache has {found} bytes")]
    Length {
        /// Length of the file in bytes.
        found: u64,
    },
    /// A segment is damaged or forged, or of another archive; told by the face.
    #[error("segment {segment} is not authentic")]
    Tag {
        /// Its number, from 0.
        segment: u32,
    },
    /// It is authentic, but makes no sense.
    #[error("a block is malformed")]
    Block,
}

/// The nonce of a segment.
fn segment_nonce(number: u32, is_last: bool) -> [u8; SEGMENT_NONCE_BYTES] {
    let mut nonce = [0; SEGMENT_NONCE_BYTES];
    nonce[7..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = is_last.into();
    nonce
}
