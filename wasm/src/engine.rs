//! What decompresses. Nothing is compressed here: without the compressors the module is a tenth shorter.

use portaborg_core::codec::{Algorithm, DecodeError, EncodeError, Engine, Room, Scratch, Zrip};
use portaborg_core::tuning::Help;

/// The decompressors of [`Zrip`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading;

impl Engine for Reading {
    fn expand(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        room: Room,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        Zrip.expand(algorithm, payload, room, scratch, out)
    }

    fn compress(
        &self,
        algorithm: Algorithm,
        _: i32,
        _: &[u8],
        _: Help,
        _: &mut Scratch,
        _: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        Err(EncodeError::Failed { algorithm })
    }
}
