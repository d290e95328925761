//! LZ4: one raw block, without frame or length (data layer, section 6.2).

use super::{Algorithm, DecodeError, EncodeError, Room};
use alloc::vec::Vec;
use lz4_flex::block::get_maximum_output_size;
use lz4_flex::block::{CompressTable, DecompressError, compress_into_with_table, decompress_into};

/// Replaces `out` by the block's plaintext. A block does not say how long that is, so without a known size this is done
/// again with larger buffers until it fits.
pub(super) fn expand(payload: &[u8], room: Room, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let mut length = room.first_buffer(payload.len());
    loop {
        out.resize(length, 0);
        match decompress_into(payload, out) {
            Ok(written) => {
                out.truncate(written);
                return Ok(());
            }
            Err(DecompressError::OutputTooSmall { .. }) => length = room.larger_buffer(length)?,
            Err(_) => return Err(DecodeError::Damaged { algorithm: Algorithm::Lz4 }),
        }
    }
}

/// Replaces `out` by the plaintext's block.
pub(super) fn compress(plaintext: &[u8], tables: &mut Tables, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.resize(get_maximum_output_size(plaintext.len()), 0);
    let table = if plaintext.len() < SMALL_TABLE_BYTES { &mut tables.small } else { &mut tables.large };
    let written = compress_into_with_table(plaintext, out, table);
    out.truncate(written.map_err(|_| EncodeError::Failed { algorithm: Algorithm::Lz4 })?);
    Ok(())
}

/// One worker's memory of what stood where. There are two, as a large one gives other results for small plaintexts, and
/// what was compressed before must not show in a payload.
pub(super) struct Tables {
    small: CompressTable,
    large: CompressTable,
}

impl Default for Tables {
    fn default() -> Self {
        Self { small: CompressTable::small(), large: CompressTable::large() }
    }
}

/// From this length on, in bytes, positions don't fit into the small table.
const SMALL_TABLE_BYTES: usize = u16::MAX as usize;
