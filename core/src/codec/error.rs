//! Why a payload has no plaintext, and why a plaintext has no payload.

use super::Algorithm;
use core::ops::RangeInclusive;
use thiserror::Error;

/// A payload that cannot be decoded. Whichever it is, the object holding the payload is corrupt or was crafted: decoding
/// does not fail for lack of anything on the reader's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The plaintext goes on beyond the announced size, or beyond
    /// [`MAX_DATA_SIZE`](crate::limits::MAX_DATA_SIZE); or a size above that maximum was announced. Usually a
    /// decompression bomb.
    #[error("plaintext exceeds {limit} bytes")]
    TooLarge {
        /// The longest plaintext that would have been accepted, in bytes.
        limit: usize,
    },

    /// The payload decodes, but not to the length that the object's metadata announces.
    #[error("plaintext has {found} bytes, expected {expected}")]
    WrongSize {
        /// The announced length in bytes.
        expected: usize,
        /// The plaintext's length in bytes.
        found: usize,
    },

    /// The payload is not what its algorithm writes: corrupted, cut short, or of another algorithm.
    #[error("invalid {} data", algorithm.name())]
    Damaged {
        /// The algorithm that the metadata names.
        algorithm: Algorithm,
    },

    /// The payload goes on behind the end of its compressed data; no writer does that. (Borg ignores such bytes behind
    /// zlib data, and some of them behind lzma data.)
    #[error("{bytes} bytes behind the {} data", algorithm.name())]
    TrailingData {
        /// The algorithm that the metadata names.
        algorithm: Algorithm,
        /// How many bytes are left over.
        bytes: usize,
    },

    /// The payload asks for a dictionary larger than any that Borg's levels use.
    #[error("{} dictionary exceeds {limit} bytes", algorithm.name())]
    DictionaryTooLarge {
        /// The algorithm that the metadata names.
        algorithm: Algorithm,
        /// The largest dictionary that is accepted, in bytes.
        limit: usize,
    },
}

/// A plaintext that cannot be encoded. Whichever it is, the fault is on the writer's side: every plaintext has a payload.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The plaintext is larger than any that a reader accepts.
    #[error("plaintext has {size} bytes, at most {limit} are possible")]
    TooLarge {
        /// The plaintext's length in bytes.
        size: usize,
        /// [`MAX_DATA_SIZE`](crate::limits::MAX_DATA_SIZE).
        limit: usize,
    },

    /// The engine does not compress at this level. Another one is not taken in its place.
    #[error("{} level {level} is not possible here, only {}", algorithm.name(), one_or_range(levels))]
    Level {
        /// The algorithm.
        algorithm: Algorithm,
        /// The level that was asked for.
        level: i32,
        /// The levels at which this engine compresses.
        levels: RangeInclusive<i32>,
    },

    /// The compressor gave up. Usually there is not enough memory for the level.
    #[error("{} compression failed", algorithm.name())]
    Failed {
        /// The algorithm.
        algorithm: Algorithm,
    },
}

fn one_or_range(levels: &RangeInclusive<i32>) -> impl core::fmt::Display {
    let (first, last) = (*levels.start(), *levels.end());
    core::fmt::from_fn(move |f| if first == last { write!(f, "{first}") } else { write!(f, "{first} to {last}") })
}
