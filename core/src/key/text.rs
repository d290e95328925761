//! Keys as text, which is the same in a repository and in a file (repository layer, section 3.3).

use super::KeyError;
use crate::bytes::from_hex;
use crate::id::RepositoryId;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What every key text begins with, before the repository's id.
const TEXT_MAGIC: &str = "BORG_KEY ";
/// Hexadecimal digits of a repository's id.
const ID_DIGITS: usize = 2 * size_of::<RepositoryId>();
/// Characters of base64 in a line.
const LINE_CHARS: usize = 70;
/// A key text larger than this is none: real ones have about 600 bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Whether a text claims to be a key, of whatever repository.
pub fn is_key(text: &[u8]) -> bool {
    text.starts_with(TEXT_MAGIC.as_bytes())
}

/// Whether a text claims to be a key of this repository: its first line says so.
pub fn is_key_of(text: &[u8], repository: RepositoryId) -> bool {
    repository_of(text) == Some(repository)
}

/// The repository that a key text's first line names; `None` if it is no key text.
pub fn repository_of(text: &[u8]) -> Option<RepositoryId> {
    let id = text.strip_prefix(TEXT_MAGIC.as_bytes())?.get(..ID_DIGITS)?;
    from_hex(core::str::from_utf8(id).ok()?).map(RepositoryId)
}

/// What a key text holds under its first line, without a look inside: what a paper key spells out (section 3.6).
pub fn blob(text: &[u8]) -> Result<Vec<u8>, KeyError> {
    let newline = text.iter().position(|&byte| byte == b'\n').ok_or(KeyError::Base64)?;
    let digits: Vec<u8> = text[newline..].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(&digits).map_err(|_| KeyError::Base64)
}

/// The key text around a [`blob`].
pub fn key_text(repository: RepositoryId, blob: &[u8]) -> String {
    let mut text = format!("{TEXT_MAGIC}{repository}\n");
    for (position, digit) in STANDARD.encode(blob).chars().enumerate() {
        if position > 0 && position % LINE_CHARS == 0 {
            text.push('\n');
        }
        text.push(digit);
    }
    text.push('\n');
    text
}
