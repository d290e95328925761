//! Zstandard: frames of RFC 8878 (data layer, sections 6.2 and 6.4).
//!
//! Borg writes one frame with a content size and without checksum or dictionary; several frames, skippable frames and
//! frames without a content size are read too. A frame's checksum is skipped: the chunk's id covers the plaintext.

use super::{Algorithm, DecodeError, EncodeError, Room};
use alloc::vec::Vec;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress as compress_frame};
use ruzstd::io::Read;

/// Replaces `out` by the plaintext of all frames.
pub(super) fn expand(
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
    let narrowed = header.narrowed(limit);
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

/// Replaces `out` by the plaintext's frame, at [`LEVEL`].
pub(super) fn compress(plaintext: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
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

/// What stands at the front of a payload or behind a frame.
enum Frame<'a> {
    /// Bytes for somebody else.
    Skippable { behind: &'a [u8] },
    /// Compressed data.
    Data(DataHeader<'a>),
}

/// A frame's header (RFC 8878, section 3.1.1.1).
struct DataHeader<'a> {
    /// The whole header, magic included.
    raw: &'a [u8],
    /// The blocks, and whatever comes behind them.
    behind: &'a [u8],
    descriptor: u8,
    /// Absent if the content size is the window size (a single segment).
    window_descriptor: Option<u8>,
    /// Length of the plaintext in bytes.
    content_size: Option<u64>,
}

impl<'a> Frame<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut rest = bytes;
        let magic = little_endian(take(&mut rest, 4)?);
        if SKIPPABLE_MAGICS.contains(&magic) {
            let length = little_endian(take(&mut rest, 4)?);
            take(&mut rest, usize::try_from(length).map_err(|_| DAMAGED)?)?;
            return Ok(Self::Skippable { behind: rest });
        }
        let descriptor = take(&mut rest, 1)?[0];
        if magic != MAGIC || descriptor & RESERVED != 0 {
            return Err(DAMAGED);
        }
        let single_segment = descriptor & SINGLE_SEGMENT != 0;
        let window_descriptor = if single_segment { None } else { Some(take(&mut rest, 1)?[0]) };
        let dictionary_id = little_endian(take(&mut rest, [0, 1, 2, 4][usize::from(descriptor & 3)])?);
        if dictionary_id != 0 {
            return Err(DAMAGED);
        }
        let content_size = match descriptor >> 6 {
            0 if !single_segment => None,
            0 => Some(little_endian(take(&mut rest, 1)?)),
            // Smaller ones fit into one byte.
            1 => Some(little_endian(take(&mut rest, 2)?) + 256),
            2 => Some(little_endian(take(&mut rest, 4)?)),
            _ => Some(little_endian(take(&mut rest, 8)?)),
        };
        let raw = &bytes[..bytes.len() - rest.len()];
        Ok(Self::Data(DataHeader { raw, behind: rest, descriptor, window_descriptor, content_size }))
    }
}

impl DataHeader<'_> {
    /// The header with a window just large enough for `limit` bytes of plaintext, if it claims a larger one.
    ///
    /// The decoder holds plaintext back until the window is full, so the window decides how much memory a frame takes
    /// and how late a bomb is noticed. A claim may be as large as terabytes, and honest ones come to 128 MiB (level 22,
    /// content size unknown). Within the limit no match reaches beyond the smaller window, so the result is the same.
    fn narrowed(&self, limit: usize) -> Option<[u8; 6]> {
        let enough = (limit + LARGEST_BLOCK).next_power_of_two().trailing_zeros();
        let exponent = enough.saturating_sub(SMALLEST_WINDOW_LOG) as u8;
        let descriptor = exponent << 3;
        let [a, b, c, d] = (MAGIC as u32).to_le_bytes();
        (self.window_descriptor? > descriptor).then_some([a, b, c, d, self.descriptor & HAS_CHECKSUM, descriptor])
    }
}

impl DataHeader<'_> {
    /// The header with a content size, which the encoder does not write: the shortest form that can have `size`.
    fn announcing(&self, size: u32) -> Vec<u8> {
        let fits_window = size as usize <= LARGEST_BLOCK;
        let (form, field) = match size {
            0..=255 if fits_window => (0, 1),
            256..=65_791 if fits_window => (1, 2),
            _ => (2, 4),
        };
        let number = if form == 1 { size - 256 } else { size };
        let shape = if fits_window { SINGLE_SEGMENT } else { 0 };
        let descriptor = form << 6 | shape | self.descriptor & HAS_CHECKSUM;
        let window = self.window_descriptor.filter(|_| !fits_window);
        let magic = (MAGIC as u32).to_le_bytes();
        magic
            .into_iter()
            .chain([descriptor])
            .chain(window)
            .chain(number.to_le_bytes().into_iter().take(field))
            .collect()
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], DecodeError> {
    let (taken, behind) = rest.split_at_checked(length).ok_or(DAMAGED)?;
    *rest = behind;
    Ok(taken)
}

/// The number in up to eight bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The level at which ruzstd compresses: it calls it roughly that one.
pub(super) const LEVEL: i32 = 1;

const DAMAGED: DecodeError = DecodeError::Damaged { algorithm: Algorithm::Zstd };

const MAGIC: u64 = 0xFD2F_B528;
const SKIPPABLE_MAGICS: core::ops::RangeInclusive<u64> = 0x184D_2A50..=0x184D_2A5F;

// Bits of a frame header's descriptor.
const HAS_CHECKSUM: u8 = 1 << 2;
const RESERVED: u8 = 1 << 3;
const SINGLE_SEGMENT: u8 = 1 << 5;

/// Largest plaintext of one block, in bytes.
const LARGEST_BLOCK: usize = 128 * 1024;

/// Binary logarithm of the smallest window.
const SMALLEST_WINDOW_LOG: u32 = 10;
