//! The native program's compressors: libzstd for zstd, pure Rust for the rest.

use portaborg_core::codec::{Algorithm, DecodeError, EncodeError, Engine, PureRust, Room, Scratch};
use std::ops::RangeInclusive;
use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{CCtx, CParameter, DCtx};

/// [`PureRust`] with libzstd in place of its zstd: at every level, and unlike that one it compares the checksums of zstd
/// frames that have one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl Engine for Native {
    fn expand(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        room: Room,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        match algorithm {
            Algorithm::Zstd => expand_zstd(payload, room, scratch.slot(), out),
            _ => PureRust.expand(algorithm, payload, room, scratch, out),
        }
    }

    fn compress(
        &self,
        algorithm: Algorithm,
        level: i32,
        plaintext: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.check_level(algorithm, level)?;
        match algorithm {
            Algorithm::Zstd => compress_zstd(plaintext, level, scratch.slot(), out),
            _ => PureRust.compress(algorithm, level, plaintext, scratch, out),
        }
    }

    fn levels(&self, algorithm: Algorithm) -> Option<RangeInclusive<i32>> {
        algorithm.levels()
    }
}

/// One worker's libzstd context for decompression.
struct Decompressor(DCtx<'static>);

impl Default for Decompressor {
    fn default() -> Self {
        Self(DCtx::create())
    }
}

/// One worker's libzstd context for compression, which keeps its tables from one plaintext to the next. It has no threads
/// of its own.
struct Compressor(CCtx<'static>);

impl Default for Compressor {
    fn default() -> Self {
        Self(CCtx::create())
    }
}

/// Replaces `out` by the plaintext of all frames.
///
/// Decodes in one go into a buffer of bounded length, again into a larger one where the plaintext's length was not known
/// and the guess was short: streaming would allocate the window that a frame claims.
fn expand_zstd(
    payload: &[u8],
    room: Room,
    Decompressor(context): &mut Decompressor,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let damaged = DecodeError::Damaged { algorithm: Algorithm::Zstd };
    if payload.is_empty() {
        return Err(damaged);
    }
    let mut length = first_buffer(payload, room)?;
    loop {
        out.resize(length, 0);
        match context.decompress(&mut out[..], payload) {
            Ok(written) => {
                out.truncate(written);
                return Ok(());
            }
            Err(code) if code == TOO_SMALL => length = room.larger_buffer(length)?,
            Err(_) => return Err(damaged),
        }
    }
}

/// The first buffer's length: what the first frame announces (mostly there is no other one), else a guess.
fn first_buffer(payload: &[u8], room: Room) -> Result<usize, DecodeError> {
    let limit = room.limit();
    match zstd_safe::get_frame_content_size(payload) {
        Ok(Some(size)) if size > limit as u64 => Err(DecodeError::TooLarge { limit }),
        // Of a skippable frame the size is 0.
        Ok(Some(size)) if size > 0 => Ok(size as usize + 1),
        _ => Ok(room.first_buffer(payload.len())),
    }
}

/// Replaces `out` by the plaintext's frame: with its content size, without a checksum.
fn compress_zstd(
    plaintext: &[u8],
    level: i32,
    Compressor(context): &mut Compressor,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let failed = |_| EncodeError::Failed { algorithm: Algorithm::Zstd };
    context.set_parameter(CParameter::CompressionLevel(level)).map_err(failed)?;
    out.clear();
    out.reserve(zstd_safe::compress_bound(plaintext.len()));
    context.compress2(out, plaintext).map_err(failed)?;
    Ok(())
}

/// libzstd returns error numbers as their negatives in an unsigned type.
const TOO_SMALL: usize = (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();

#[cfg(test)]
mod tests;
