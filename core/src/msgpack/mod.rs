//! Msgpack as Borg writes it (data layer, section 7).
//!
//! Texts are bytes: Borg writes names that are not UTF-8 as they are inside a msgpack str. Older data has bin where newer
//! data has str, so both are read as either.

mod reader;
mod skip;
mod writer;

pub use reader::Reader;
pub use skip::Skipper;
pub use writer::{SortedMap, Writer};

/// What is wrong with a piece of msgpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MsgpackError {
    /// The data ends inside a value.
    #[error("data ends inside a value")]
    Truncated,
    /// A value of another type stands where `wanted` should.
    #[error("{wanted} expected, found type byte {found:#04x}")]
    Unexpected {
        /// The type that was asked for.
        wanted: &'static str,
        /// The first byte of the value that is there.
        found: u8,
    },
    /// A byte that begins no value (0xc1).
    #[error("byte 0xc1 begins no value")]
    Reserved,
    /// A value of the right type that is not among those asked for: an integer too large, a string of another length, a text
    /// that is not UTF-8, an extension that is no timestamp.
    #[error("value out of range")]
    OutOfRange,
    /// Bytes are left after the last value.
    #[error("bytes left after the last value")]
    TrailingData,
}
