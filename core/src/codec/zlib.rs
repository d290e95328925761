//! zlib: one stream of RFC 1950 (data layer, section 6.2).

use super::{Algorithm, DecodeError, Room};
use alloc::vec::Vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// Replaces `out` by the stream's plaintext, whose Adler-32 is compared.
pub(super) fn expand(
    payload: &[u8],
    room: Room,
    state: &mut DecompressorOxide,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let algorithm = Algorithm::Zlib;
    state.init();
    out.resize(room.first_buffer(payload.len()), 0);
    let (mut rest, mut filled) = (payload, 0);
    loop {
        let (status, read, written) = decompress(state, rest, out, filled, FLAGS);
        rest = &rest[read..];
        filled += written;
        match status {
            TINFLStatus::Done => break,
            TINFLStatus::HasMoreOutput => out.resize(room.larger_buffer(out.len())?, 0),
            _ => return Err(DecodeError::Damaged { algorithm }),
        }
    }
    if !rest.is_empty() {
        return Err(DecodeError::TrailingData { algorithm, bytes: rest.len() });
    }
    out.truncate(filled);
    Ok(())
}

/// `out` is the window: what was decoded before stands in front of `filled`.
const FLAGS: u32 = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
