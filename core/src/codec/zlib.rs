//! zlib: one stream of RFC 1950 (data layer, section 6.2).

use super::{Algorithm, DecodeError, EncodeError, Room};
use alloc::vec::Vec;
use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, TDEFLStatus, compress as deflate};
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

/// Replaces `out` by the plaintext's stream.
pub(super) fn compress(
    plaintext: &[u8],
    level: u8,
    state: &mut CompressorOxide,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    state.reset();
    state.set_format_and_level(DataFormat::Zlib, level);
    out.resize(plaintext.len() / 2 + STREAM_BYTES, 0);
    let (mut rest, mut filled) = (plaintext, 0);
    loop {
        let (status, read, written) = deflate(state, rest, &mut out[filled..], TDEFLFlush::Finish);
        rest = &rest[read..];
        filled += written;
        match status {
            TDEFLStatus::Done => break,
            TDEFLStatus::Okay => out.resize(out.len() * 2, 0),
            _ => return Err(EncodeError::Failed { algorithm: Algorithm::Zlib }),
        }
    }
    out.truncate(filled);
    Ok(())
}

/// `out` is the window: what was decoded before stands in front of `filled`.
const FLAGS: u32 = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;

/// Room for what a stream has besides compressed data, in bytes.
const STREAM_BYTES: usize = 64;
