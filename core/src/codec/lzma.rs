//! LZMA: `.xz` containers (data layer, section 6.2).

use super::{Algorithm, DecodeError, Room};
use alloc::vec::Vec;
use lzma_rust2::{Action, Status, XzStream};

/// Replaces `out` by the container's plaintext. Like Borg, reads several containers in a row as one.
pub(super) fn expand(payload: &[u8], room: Room, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    out.resize(room.first_buffer(payload.len()), 0);
    let mut filled = 0;
    let mut rest = expand_one(payload, room, out, &mut filled)?;
    while !rest.is_empty() {
        if !rest.starts_with(MAGIC) {
            return Err(DecodeError::TrailingData { algorithm: Algorithm::Lzma, bytes: rest.len() });
        }
        rest = expand_one(rest, room, out, &mut filled)?;
    }
    out.truncate(filled);
    Ok(())
}

/// Decodes the container at the front of `rest` into `out` from `filled` on, and returns what is behind it.
fn expand_one<'a>(
    mut rest: &'a [u8],
    room: Room,
    out: &mut Vec<u8>,
    filled: &mut usize,
) -> Result<&'a [u8], DecodeError> {
    let algorithm = Algorithm::Lzma;
    let mut stream = XzStream::new_mem_limit(false, MEMORY_LIMIT_KIB);
    loop {
        if *filled == out.len() {
            out.resize(room.larger_buffer(out.len())?, 0);
        }
        let Ok(step) = stream.process(rest, &mut out[*filled..], Action::Finish) else {
            return Err(match stream.memory_usage() {
                Some(kib) if kib > MEMORY_LIMIT_KIB => {
                    DecodeError::DictionaryTooLarge { algorithm, limit: DICTIONARY_LIMIT }
                }
                _ => DecodeError::Damaged { algorithm },
            });
        };
        rest = &rest[step.bytes_consumed..];
        *filled += step.bytes_produced;
        match step.status {
            Status::StreamEnd => return Ok(rest),
            // There was room, and all input that will ever come.
            Status::Ok if step.bytes_consumed == 0 && step.bytes_produced == 0 => {
                return Err(DecodeError::Damaged { algorithm });
            }
            Status::Ok => {}
        }
    }
}

/// First bytes of every container.
const MAGIC: &[u8] = b"\xfd7zXZ\0";

/// Largest dictionary that is accepted, in bytes: twice that of level 9. The decoder's memory grows with the plaintext
/// and not with this claim, so it only bounds what a change there could cost.
const DICTIONARY_LIMIT: usize = 128 * 1024 * 1024;

/// The same for the decoder, in KiB, which counts its own state (40 KiB) in.
const MEMORY_LIMIT_KIB: u32 = (DICTIONARY_LIMIT / 1024) as u32 + 64;
