//! LZMA: `.xz` containers (data layer, section 6.2).

use super::{Algorithm, DecodeError, EncodeError, Room};
use alloc::vec::Vec;
use lzma_rust2::{Action, CheckType, Status, Write, XzOptions, XzStream, XzWriter};

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

/// Replaces `out` by the plaintext's container, without an integrity check: the chunk's id covers the plaintext.
pub(super) fn compress(plaintext: &[u8], level: u32, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let mut options = XzOptions::with_preset(level);
    options.set_check_sum_type(CheckType::None);
    // No match reaches further back than the plaintext's beginning, and the encoder takes about eleven times its
    // dictionary's size: of the 64 MiB of level 9 that would be 700 MiB.
    let dictionary = &mut options.lzma_options.dict_size;
    *dictionary = (*dictionary).min(u32::try_from(plaintext.len()).unwrap_or(u32::MAX)).max(SMALLEST_DICTIONARY);
    out.resize(plaintext.len() + plaintext.len() / 1024 + CONTAINER_BYTES, 0);
    let length = out.len();
    let written = XzWriter::new(&mut out[..], options).and_then(|mut writer| {
        writer.write_all(plaintext)?;
        writer.finish().map(|left| length - left.len())
    });
    out.truncate(written.map_err(|_| EncodeError::Failed { algorithm: Algorithm::Lzma })?);
    Ok(())
}

/// First bytes of every container.
const MAGIC: &[u8] = b"\xfd7zXZ\0";

/// Largest dictionary that is accepted, in bytes: twice that of level 9. The decoder's memory grows with the plaintext
/// and not with this claim, so it only bounds what a change there could cost.
const DICTIONARY_LIMIT: usize = 128 * 1024 * 1024;

/// The same for the decoder, in KiB, which counts its own state (40 KiB) in.
const MEMORY_LIMIT_KIB: u32 = (DICTIONARY_LIMIT / 1024) as u32 + 64;

/// The smallest dictionary that a container can name, in bytes.
const SMALLEST_DICTIONARY: u32 = 4096;

/// More than a container's headers and its index take, in bytes. Where nothing compresses there are six bytes in front of
/// each piece of about 64 KiB besides.
const CONTAINER_BYTES: usize = 1024;
