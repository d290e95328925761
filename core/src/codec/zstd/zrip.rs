//! Frames by zrip: without unsafe code, too, and two to three times as fast as the reference.
//!
//! It decodes straight into the plaintext's buffer, so what a frame claims of its window costs no memory.

use super::super::{Algorithm, DecodeError, EncodeError, Room};
use super::frame::{DAMAGED, DataHeader, Frame, LARGEST_BLOCK};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use zrip::{CompressError, DecompressContext, compress_bound, compress_into};

/// One worker's tables.
#[derive(Default)]
pub(in crate::codec) struct Decompressor(DecompressContext);

/// Replaces `out` by the plaintext of all frames, or by a beginning of it that is longer than it may be.
pub(in crate::codec) fn expand(
    payload: &[u8],
    room: Room,
    decompressor: &mut Decompressor,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    if payload.is_empty() {
        return Err(DAMAGED);
    }
    out.clear();
    let mut rest = payload;
    while !rest.is_empty() {
        rest = match Frame::parse(rest)? {
            Frame::Skippable { behind } => behind,
            Frame::Data(header) => expand_frame(&header, rest, room, decompressor, out)?,
        };
    }
    Ok(())
}

/// Adds the plaintext of the frame in front to `out`, and returns what is behind it.
fn expand_frame<'a>(
    header: &DataHeader<'a>,
    frame: &'a [u8],
    room: Room,
    Decompressor(context): &mut Decompressor,
    out: &mut Vec<u8>,
) -> Result<&'a [u8], DecodeError> {
    let limit = room.limit();
    let left = limit.saturating_sub(out.len());
    if header.content_size.is_some_and(|size| size > left as u64) {
        return Err(DecodeError::TooLarge { limit });
    }
    // Where zrip finds the end of a frame it does not say.
    let behind = header.end()?;
    let frame = &frame[..frame.len() - behind.len()];
    // A block in which the limit lies is decoded whole: of one that it does not decode zrip can't say what is wrong with it.
    let most = left + LARGEST_BLOCK;
    let start = out.len();
    let decoded = match header.narrowed(LARGEST_WINDOW_LOG) {
        None => context.decompress_into_with_limit(frame, out, most),
        Some(narrowed) => {
            let frame = [&narrowed[..], &frame[header.raw.len()..]].concat();
            context.decompress_into_with_limit(&frame, out, most)
        }
    };
    if decoded.is_err() {
        // Its tables may be half of this frame.
        *context = DecompressContext::new();
    }
    match header.content_size {
        _ if out.len() > limit => Err(DecodeError::TooLarge { limit }),
        Some(size) if size != (out.len() - start) as u64 => Err(DAMAGED),
        _ => decoded.map(|_| behind).map_err(|_| DAMAGED),
    }
}

/// Replaces `out` by the plaintext's frame: with its content size, without a checksum. The level is among [`LEVELS`].
pub(in crate::codec) fn compress(plaintext: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    // To libzstd, 0 is the usual level, to zrip another one.
    let level = if level == 0 { USUAL_LEVEL } else { level };
    out.clear();
    out.resize(compress_bound(plaintext.len()), 0);
    let compressed = compress_into(plaintext, out, level);
    let length = compressed.map_err(|_: CompressError| EncodeError::Failed { algorithm: Algorithm::Zstd })?;
    out.truncate(length);
    Ok(())
}

/// The levels at which zrip compresses.
pub(in crate::codec) const LEVELS: RangeInclusive<i32> = -7..=4;

/// What level 0 means.
const USUAL_LEVEL: i32 = 3;

/// The largest window that zrip accepts. Since it needs no memory for windows, a smaller one serves it as well.
const LARGEST_WINDOW_LOG: u32 = 27;
