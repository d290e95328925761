//! LZ4: one raw block, without frame or length (data layer, section 6.2).

use super::{Algorithm, DecodeError, Room};
use alloc::vec::Vec;
use lz4_flex::block::{DecompressError, decompress_into};

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
