//! A repository's defaults: settings that its creator chose for all clients (data layer, section 17).

use crate::msgpack::{MsgpackError, Reader, Writer};
use alloc::string::String;
use alloc::vec::Vec;

/// What applies where a repository has no default of its own. Borg takes `lz4`: this is about as fast, and smaller.
pub const BUILTIN_COMPRESSION: &str = "zstd,-4";
/// What applies where a repository has no default of its own.
pub const BUILTIN_CHUNKER_PARAMS: &str = "fastcdc,19,23,21,2";

/// The content of `config/defaults`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Compression in its canonical text form.
    pub compression: Option<String>,
    /// Chunker and its parameters, separated by commas.
    pub chunker_params: Option<String>,
}

impl Defaults {
    /// Reads the plaintext; entries of other names are passed over.
    pub fn decode(plaintext: &[u8]) -> Result<Defaults, MsgpackError> {
        let mut defaults = Defaults::default();
        let mut reader = Reader::new(plaintext);
        for _ in 0..reader.map_len()? {
            match reader.bytes()? {
                b"compression" => defaults.compression = Some(reader.text()?.into()),
                b"chunker_params" => defaults.chunker_params = Some(reader.text()?.into()),
                _ => drop(reader.skip()?),
            }
        }
        reader.finish()?;
        Ok(defaults)
    }

    /// The plaintext.
    pub fn encode(&self) -> Vec<u8> {
        let entries = [("chunker_params", &self.chunker_params), ("compression", &self.compression)];
        let mut writer = Writer::new();
        writer.sorted_map(&[], |map| {
            for (key, value) in entries {
                map.optional(key, value.as_ref(), |writer, value| writer.str(value));
            }
        });
        writer.into_bytes()
    }
}
