//! `{fingerprint}`: names a file's content by its chunks, without reading it (data layer, section 18).

use portaborg_core::archive::ChunkerParam;
use portaborg_core::bytes::Hex;
use portaborg_core::item::ChunkEntry;
use portaborg_core::text::Repr;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// What decides about the chunks that a content is cut into, hashed. Equal contents have equal fingerprints only under
/// equal conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions([u8; 8]);

impl Conditions {
    /// Hashes the text that Borg hashes: Python's view of the key type (a byte), the id key, the chunk seed and the
    /// archive's chunker parameters.
    pub fn new(key_type: u8, id_key: &[u8], chunk_seed: i64, params: Option<&[ChunkerParam]>) -> Conditions {
        let mut text = zeroize::Zeroizing::new(String::with_capacity(4 * id_key.len() + 128));
        write_bytes(&[key_type], &mut text);
        write_bytes(id_key, &mut text);
        write!(text, "{chunk_seed}").expect("writing to a String never fails");
        match params {
            None => text.push_str("None"),
            Some(params) => write_tuple(params, &mut text),
        }
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut short = [0; 8];
        short.copy_from_slice(&hash[..8]);
        Conditions(short)
    }

    /// The fingerprint of a content.
    pub fn fingerprint(&self, chunks: &[ChunkEntry]) -> String {
        let mut hasher = Sha256::new();
        for chunk in chunks {
            hasher.update(chunk.id.0);
        }
        format!("{}-{}", Hex(&self.0), Hex(&hasher.finalize()))
    }
}

/// Python's `repr()` of bytes.
fn write_bytes(bytes: &[u8], out: &mut String) {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    out.push('b');
    out.push(quote);
    for byte in bytes {
        match byte {
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\\' => out.push_str("\\\\"),
            byte if char::from(*byte) == quote => out.extend(['\\', quote]),
            b' '..=b'~' => out.push(char::from(*byte)),
            byte => write!(out, "\\x{byte:02x}").expect("writing to a String never fails"),
        }
    }
    out.push(quote);
}

/// Python's `repr()` of a tuple.
fn write_tuple(params: &[ChunkerParam], out: &mut String) {
    out.push('(');
    for (place, param) in params.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        match param {
            ChunkerParam::Int(number) => out.push_str(&number.to_string()),
            ChunkerParam::Text(text) => out.push_str(&Repr(text.as_bytes()).to_string()),
        }
    }
    if params.len() == 1 {
        out.push(',');
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What borg 2.0.0b25 printed for archive `odd` of the fixture `oddtree`.
    #[test]
    fn fingerprints_are_those_of_borg() {
        let id_key = b"\xd4a!\x81\xd1a\xda\xa8\xa9\x85\xcf\x8dsw*UW\xe0\xedg\x1f\x81\x15\x8a<\xfd\xd6\xa9\x03\xebs\x86";
        let params = [
            ChunkerParam::Text("fastcdc".into()),
            ChunkerParam::Int(19),
            ChunkerParam::Int(23),
            ChunkerParam::Int(21),
            ChunkerParam::Int(2),
        ];
        let conditions = Conditions::new(b'0', id_key, -1_156_938_098, Some(&params));
        let wanted = "a9b226ed0a6198fc-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(conditions.fingerprint(&[]), wanted);
        let id = "c9dbafd2cdbe5afaebfc3f6d27eba51b7fa7d9543cb3add642a6608818caf4d7".parse().unwrap();
        let wanted = "a9b226ed0a6198fc-5f8b299275d5c64a51e650bf74a162fa845ba5d711df5a341a274dfce5b2bb7f";
        assert_eq!(conditions.fingerprint(&[ChunkEntry { id, size: 11 }]), wanted);
    }

    #[test]
    fn bytes_are_quoted_as_python_quotes_them() {
        let mut text = String::new();
        write_bytes(b"a'\"\\\n\x00\xff", &mut text);
        assert_eq!(text, r#"b'a\'"\\\n\x00\xff'"#);
        text.clear();
        write_bytes(b"a'", &mut text);
        assert_eq!(text, r#"b"a'""#);
    }
}
