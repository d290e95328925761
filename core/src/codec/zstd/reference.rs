//! Frames by ruzstd, which many have read and used for long. A frame's checksum is skipped: the chunk's id covers the plaintext.

use super::super::{Algorithm, DecodeError, EncodeError, Room};
use super::frame::{DAMAGED, DataHeader, Frame, LARGEST_BLOCK};
use alloc::vec::Vec;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress as compress_frame};
use ruzstd::io::Read;

/// Replaces `out` by the plaintext of all frames.
pub(in crate::codec) fn expand(
    payload: &[u8],
    room: Room,
    decoder: &mut FrameDecoder,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    if payload.is_empty() {
        return Err(DAMAGED);
    }
    out.resize(room.first_buffer(payload.len()), 0);
    let (mut rest, mut filled) = (payload, 0);
    while !rest.is_empty() {
        rest = match Frame::parse(rest)? {
            Frame::Skippable { behind } => behind,
            Frame::Data(header) => expand_frame(&header, room, decoder, out, &mut filled)?,
        };
    }
    out.truncate(filled);
    Ok(())
}

/// Decodes one frame into `out` from `filled` on, and returns what is behind it.
fn expand_frame<'a>(
    header: &DataHeader<'a>,
    room: Room,
    decoder: &mut FrameDecoder,
    out: &mut Vec<u8>,
    filled: &mut usize,
) -> Result<&'a [u8], DecodeError> {
    let limit = room.limit();
    let start = *filled;
    if header.content_size.is_some_and(|size| size > limit.saturating_sub(start) as u64) {
        return Err(DecodeError::TooLarge { limit });
    }
    let narrowed = header.narrowed(window_log(limit));
    decoder.reset(narrowed.as_ref().map_or(header.raw, |header| &header[..])).map_err(|_| DAMAGED)?;
    let mut blocks = header.behind;
    while !decoder.is_finished() {
        decoder.decode_blocks(&mut blocks, BlockDecodingStrategy::UptoBlocks(1)).map_err(|_| DAMAGED)?;
        // Mid-frame this takes what has left the window, at the end the rest.
        while decoder.can_collect() > 0 {
            if *filled == out.len() {
                out.resize(room.larger_buffer(out.len())?, 0);
            }
            *filled += decoder.read(&mut out[*filled..]).map_err(|_| DAMAGED)?;
        }
    }
    match header.content_size {
        Some(size) if size != (*filled - start) as u64 => Err(DAMAGED),
        _ => Ok(blocks),
    }
}

/// The window that is large enough for `limit` bytes of plaintext.
///
/// The decoder holds plaintext back until the window is full, so the window decides how much memory a frame takes
/// and how late a bomb is noticed. A claim may be as large as terabytes, and honest ones come to 128 MiB (level 22,
/// content size unknown). Within the limit no match reaches beyond the smaller window, so the result is the same.
fn window_log(limit: usize) -> u32 {
    (limit + LARGEST_BLOCK).next_power_of_two().trailing_zeros()
}

/// Replaces `out` by the plaintext's frame, at [`LEVEL`].
pub(in crate::codec) fn compress(plaintext: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let failed = EncodeError::Failed { algorithm: Algorithm::Zstd };
    out.clear();
    compress_frame(plaintext, &mut *out, CompressionLevel::Fastest);
    let (Ok(Frame::Data(header)), Ok(size)) = (Frame::parse(out), u32::try_from(plaintext.len())) else {
        return Err(failed);
    };
    let (length, announcing) = (header.raw.len(), header.announcing(size));
    out.splice(..length, announcing);
    Ok(())
}

/// The level at which ruzstd compresses: it calls it roughly that one.
pub(in crate::codec) const LEVEL: i32 = 1;
