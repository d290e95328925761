//! The native program's compressors: libzstd for zstd, pure Rust for the rest.

use portaborg_core::codec::{Algorithm, DecodeError, EncodeError, Engine, PureRust, Room, Scratch};
use portaborg_core::tuning::Help;
use std::ops::RangeInclusive;
use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{CCtx, CParameter, DCtx, SafeResult};

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
        help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.check_level(algorithm, level)?;
        match algorithm {
            Algorithm::Zstd => compress_zstd(plaintext, level, help, scratch.slot(), out),
            _ => PureRust.compress(algorithm, level, plaintext, help, scratch, out),
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

/// One worker's libzstd context for compression, which keeps its tables from one plaintext to the next, and the threads of its
/// own, once it has had some: starting them for each plaintext would cost as much as compressing a quarter of it.
struct Compressor {
    context: CCtx<'static>,
    /// What it is set to.
    workers: usize,
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor { context: CCtx::create(), workers: 0 }
    }
}

impl Compressor {
    fn compress(&mut self, plaintext: &[u8], level: i32, help: Help, out: &mut Vec<u8>) -> SafeResult {
        let workers = help.tuning.zstd_workers(plaintext.len(), level, help.idle);
        let context = &mut self.context;
        context.set_parameter(CParameter::CompressionLevel(level))?;
        if workers != self.workers {
            context.set_parameter(CParameter::NbWorkers(workers as u32))?; // libzstd lowers it to its limit
            self.workers = workers;
        }
        if workers > 0 {
            context.set_parameter(CParameter::JobSize(help.tuning.zstd_job_bytes as u32))?;
            context.set_parameter(CParameter::OverlapSizeLog(help.tuning.zstd_overlap_log))?;
        }
        context.compress2(out, plaintext)
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
    help: Help,
    compressor: &mut Compressor,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    out.clear();
    out.reserve(zstd_safe::compress_bound(plaintext.len()));
    compressor.compress(plaintext, level, help, out).map(drop).map_err(|_| {
        // Workers may be left in the middle of something.
        *compressor = Compressor::default();
        EncodeError::Failed { algorithm: Algorithm::Zstd }
    })
}

/// libzstd returns error numbers as their negatives in an unsigned type.
const TOO_SMALL: usize = (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();

#[cfg(test)]
mod tests;
