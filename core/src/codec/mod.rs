//! Compression: payload bytes to plaintext, with hard output limits (data layer, section 6).
//!
//! An [`Engine`] is a value that the caller passes in. [`PureRust`] is the one that needs nothing but this crate; a face
//! may bring a faster one that yields the same plaintexts. A payload is hostile until its plaintext has been compared
//! with the chunk's id: every engine stops one byte beyond the longest plaintext that could be right, and a damaged
//! payload may well decode, to other bytes in every engine.

mod error;
mod lz4;
mod lzma;
mod room;
mod scratch;
#[cfg(test)]
mod tests;
mod zlib;
mod zstd;

pub use error::DecodeError;
pub use room::Room;
pub use scratch::Scratch;

use alloc::vec::Vec;

/// Turns payloads into plaintexts. Threads share an engine; what it keeps between calls lives in each worker's
/// [`Scratch`].
pub trait Engine: Send + Sync {
    /// Decodes one payload: `out` is replaced by the plaintext, and is empty after an error.
    ///
    /// `payload` comes without obfuscation padding. `size` is the plaintext's length in bytes where the object's metadata
    /// has it: the result has exactly that length. Without it (objects written by `auto` compression) the plaintext has
    /// at most [`MAX_DATA_SIZE`](crate::limits::MAX_DATA_SIZE) bytes. Data layer, sections 0 and 6.4.
    ///
    /// # Errors
    /// Any [`DecodeError`].
    fn decode(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        size: Option<usize>,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let result = Room::new(size).and_then(|room| {
            self.expand(algorithm, payload, room, scratch, out)?;
            room.check(out.len())
        });
        if result.is_err() {
            out.clear();
        }
        result
    }

    /// Replaces `out` by the payload's plaintext, or by its first [`Room::limit`]` + 1` bytes. This is what an engine
    /// implements and [`decode`](Engine::decode) calls: length and leftovers are dealt with there.
    ///
    /// # Errors
    /// Any [`DecodeError`] but `WrongSize`.
    fn expand(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        room: Room,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError>;
}

/// The engine without dependencies outside Rust: runs everywhere, WebAssembly included.
#[derive(Debug, Clone, Copy, Default)]
pub struct PureRust;

impl Engine for PureRust {
    fn expand(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        room: Room,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        match algorithm {
            Algorithm::None => {
                room.check(payload.len())?;
                out.clear();
                out.extend_from_slice(payload);
                Ok(())
            }
            Algorithm::Lz4 => lz4::expand(payload, room, out),
            Algorithm::Lzma => lzma::expand(payload, room, out),
            Algorithm::Zstd => zstd::expand(payload, room, scratch.slot(), out),
            Algorithm::Zlib => zlib::expand(payload, room, scratch.slot(), out),
        }
    }
}

/// How a payload was made from its plaintext: the `ctype` of an object's metadata (data layer, section 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The payload is the plaintext.
    None,
    /// One raw LZ4 block.
    Lz4,
    /// An `.xz` container.
    Lzma,
    /// Zstandard frames; Borg writes one.
    Zstd,
    /// A zlib stream (RFC 1950).
    Zlib,
}

impl Algorithm {
    /// The algorithm with this `ctype`; `None` for the reserved, the legacy and the unknown ones.
    pub fn from_ctype(ctype: u8) -> Option<Self> {
        Some(match ctype {
            0 => Self::None,
            1 => Self::Lz4,
            2 => Self::Lzma,
            3 => Self::Zstd,
            5 => Self::Zlib,
            _ => return None,
        })
    }

    /// The `ctype` that stands in an object's metadata.
    pub fn ctype(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Lz4 => 1,
            Self::Lzma => 2,
            Self::Zstd => 3,
            Self::Zlib => 5,
        }
    }

    /// The name in Borg's compression specifications: `none`, `lz4`, `lzma`, `zstd` or `zlib`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Lzma => "lzma",
            Self::Zstd => "zstd",
            Self::Zlib => "zlib",
        }
    }
}
