//! Frames and their headers (RFC 8878, sections 3.1.1 and 3.1.2).

use super::super::{Algorithm, DecodeError};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// What stands at the front of a payload or behind a frame.
pub(super) enum Frame<'a> {
    /// Bytes for somebody else.
    Skippable { behind: &'a [u8] },
    /// Compressed data.
    Data(DataHeader<'a>),
}

/// A frame's header (RFC 8878, section 3.1.1.1).
pub(super) struct DataHeader<'a> {
    /// The whole header, magic included.
    pub(super) raw: &'a [u8],
    /// The blocks, and whatever comes behind them.
    pub(super) behind: &'a [u8],
    descriptor: u8,
    /// Absent if the content size is the window size (a single segment).
    window_descriptor: Option<u8>,
    /// Length of the plaintext in bytes.
    pub(super) content_size: Option<u64>,
}

impl<'a> Frame<'a> {
    /// The frame in front; `Damaged` if there is none, or if it asks for a dictionary.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
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

impl<'a> DataHeader<'a> {
    /// What is behind the frame.
    #[cfg(feature = "zrip")]
    pub(super) fn end(&self) -> Result<&'a [u8], DecodeError> {
        let mut rest = self.behind;
        loop {
            let block = little_endian(take(&mut rest, BLOCK_HEADER_BYTES)?);
            let size = (block >> 3) as usize;
            match block >> 1 & 3 {
                0 | 2 => take(&mut rest, size)?,
                // A byte, so many times.
                1 => take(&mut rest, 1)?,
                _ => return Err(DAMAGED),
            };
            if block & IS_LAST != 0 {
                break;
            }
        }
        if self.descriptor & HAS_CHECKSUM != 0 {
            take(&mut rest, CHECKSUM_BYTES)?;
        }
        Ok(rest)
    }

    /// The header with a window of so many bytes, as a power of two, if it claims a larger one. It has no content size.
    pub(super) fn narrowed(&self, window_log: u32) -> Option<[u8; 6]> {
        let exponent = window_log.saturating_sub(SMALLEST_WINDOW_LOG) as u8;
        let descriptor = exponent << 3;
        let [a, b, c, d] = (MAGIC as u32).to_le_bytes();
        (self.window_descriptor? > descriptor).then_some([a, b, c, d, self.descriptor & HAS_CHECKSUM, descriptor])
    }

    /// The header with a content size, which the encoder does not write: the shortest form that can have `size`.
    pub(super) fn announcing(&self, size: u32) -> Vec<u8> {
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

/// What is not well-formed.
pub(super) const DAMAGED: DecodeError = DecodeError::Damaged { algorithm: Algorithm::Zstd };

const MAGIC: u64 = 0xFD2F_B528;
const SKIPPABLE_MAGICS: RangeInclusive<u64> = 0x184D_2A50..=0x184D_2A5F;

// Bits of a frame header's descriptor.
const HAS_CHECKSUM: u8 = 1 << 2;
const RESERVED: u8 = 1 << 3;
const SINGLE_SEGMENT: u8 = 1 << 5;

/// Lengths, in bytes.
#[cfg(feature = "zrip")]
const BLOCK_HEADER_BYTES: usize = 3;
#[cfg(feature = "zrip")]
const CHECKSUM_BYTES: usize = 4;

/// The bit of a block's header that says that there is none after it.
#[cfg(feature = "zrip")]
const IS_LAST: u64 = 1;

/// Largest plaintext of one block, in bytes.
pub(super) const LARGEST_BLOCK: usize = 128 * 1024;

/// Binary logarithm of the smallest window.
const SMALLEST_WINDOW_LOG: u32 = 10;
