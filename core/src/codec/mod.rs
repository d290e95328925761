//! Compression: plaintext to payload, and payload to plaintext with hard output limits (data layer, section 6).
//!
//! [`Compression`] is what users choose; it makes payloads. An [`Engine`] is a value that the caller passes in.
//! [`PureRust`] is the one that needs nothing but this crate; a face may bring a faster one that yields the same
//! plaintexts. A payload is hostile until its plaintext has been compared
//! with the chunk's id: every engine stops one byte beyond the longest plaintext that could be right, and a damaged
//! payload may well decode, to other bytes in every engine.

mod compression;
mod encode;
mod error;
mod lz4;
mod lzma;
mod obfuscation;
mod room;
mod scratch;
#[cfg(test)]
mod tests;
mod zlib;
mod zstd;

pub use compression::{Compression, CompressionError, Compressor, Settings};
pub use encode::Payload;
pub use error::{DecodeError, EncodeError};
pub use obfuscation::{LARGEST_PADDED_BYTES, Obfuscation};
pub use room::Room;
pub use scratch::Scratch;

use crate::tuning::Help;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Turns payloads into plaintexts and plaintexts into payloads. Threads share an engine; what it keeps between calls lives in each worker's
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

    /// Replaces `out` by what one algorithm makes of `plaintext` at one level, be it longer than the plaintext. Algorithms
    /// without levels ignore `level`. [`Compression::encode`] is what decides which result an object gets. An engine that can
    /// may take `help`: that may change the result, but not its plaintext.
    ///
    /// # Errors
    /// [`EncodeError::Level`] for a level that is not among [`levels`](Engine::levels): it is never replaced by another.
    /// [`EncodeError::Failed`]. What is in `out` then is of no use.
    fn compress(
        &self,
        algorithm: Algorithm,
        level: i32,
        plaintext: &[u8],
        help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError>;

    /// The levels at which this engine compresses; `None` where the algorithm has no levels.
    fn levels(&self, algorithm: Algorithm) -> Option<RangeInclusive<i32>> {
        algorithm.levels()
    }

    /// Whether this engine compresses at this level.
    ///
    /// # Errors
    /// [`EncodeError::Level`] if it does not.
    fn check_level(&self, algorithm: Algorithm, level: i32) -> Result<(), EncodeError> {
        match self.levels(algorithm) {
            Some(levels) if !levels.contains(&level) => Err(EncodeError::Level { algorithm, level, levels }),
            _ => Ok(()),
        }
    }
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
        expand(algorithm, payload, room, scratch, out, |scratch, out| {
            zstd::reference::expand(payload, room, scratch.slot(), out)
        })
    }

    fn compress(
        &self,
        algorithm: Algorithm,
        level: i32,
        plaintext: &[u8],
        _help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.check_level(algorithm, level)?;
        compress(algorithm, level, plaintext, scratch, out, |out| zstd::reference::compress(plaintext, out))
    }

    /// Of zstd's levels there is only 1.
    fn levels(&self, algorithm: Algorithm) -> Option<RangeInclusive<i32>> {
        match algorithm {
            Algorithm::Zstd => Some(zstd::reference::LEVEL..=zstd::reference::LEVEL),
            _ => algorithm.levels(),
        }
    }
}

/// [`PureRust`] with zrip in place of its zstd, which has more levels and is several times as fast: for WebAssembly. Unlike
/// the reference it compares the checksums of zstd frames that have one.
#[cfg(feature = "zrip")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Zrip;

#[cfg(feature = "zrip")]
impl Engine for Zrip {
    fn expand(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        room: Room,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        expand(algorithm, payload, room, scratch, out, |scratch, out| {
            zstd::zrip::expand(payload, room, scratch.slot(), out)
        })
    }

    fn compress(
        &self,
        algorithm: Algorithm,
        level: i32,
        plaintext: &[u8],
        _help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.check_level(algorithm, level)?;
        compress(algorithm, level, plaintext, scratch, out, |out| zstd::zrip::compress(plaintext, level, out))
    }

    /// Of zstd's levels there are those from -7 to 4.
    fn levels(&self, algorithm: Algorithm) -> Option<RangeInclusive<i32>> {
        match algorithm {
            Algorithm::Zstd => Some(zstd::zrip::LEVELS),
            _ => algorithm.levels(),
        }
    }
}

/// Decompresses all but zstd.
#[inline]
fn expand(
    algorithm: Algorithm,
    payload: &[u8],
    room: Room,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
    zstd: impl FnOnce(&mut Scratch, &mut Vec<u8>) -> Result<(), DecodeError>,
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
        Algorithm::Zstd => zstd(scratch, out),
        Algorithm::Zlib => zlib::expand(payload, room, scratch.slot(), out),
    }
}

/// Compresses with all but zstd, at a level that the algorithm has.
#[inline]
fn compress(
    algorithm: Algorithm,
    level: i32,
    plaintext: &[u8],
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
    zstd: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    match algorithm {
        Algorithm::None => {
            out.clear();
            out.extend_from_slice(plaintext);
            Ok(())
        }
        Algorithm::Lz4 => lz4::compress(plaintext, scratch.slot(), out),
        Algorithm::Lzma => lzma::compress(plaintext, level as u32, out),
        Algorithm::Zstd => zstd(out),
        Algorithm::Zlib => zlib::compress(plaintext, level as u8, scratch.slot(), out),
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

    /// The algorithm with this name in Borg's compression specifications.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::None, Self::Lz4, Self::Lzma, Self::Zstd, Self::Zlib].into_iter().find(|known| known.name() == name)
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
