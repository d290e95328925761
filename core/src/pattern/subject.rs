//! A path on its way through many patterns.

use super::normpath::strip_leading_slashes;
use alloc::string::String;

/// A path prepared for matching: without leading slashes, and as text for the styles that need text, converted at most
/// once however many patterns look at it.
pub struct Subject<'a> {
    path: &'a [u8],
    text: &'a mut String,
    has_text: bool,
}

impl<'a> Subject<'a> {
    /// Prepares `path`; `buffer` is overwritten when text is needed, and lent so that it is allocated once only.
    pub fn new(path: &'a [u8], buffer: &'a mut String) -> Self {
        Subject { path: strip_leading_slashes(path), text: buffer, has_text: false }
    }

    /// The path's bytes.
    pub(super) fn path(&self) -> &[u8] {
        self.path
    }

    /// The path as text.
    pub(super) fn text(&mut self) -> &str {
        let with_slash = self.text_with_slash();
        &with_slash[..with_slash.len() - 1]
    }

    /// The path as text, and `/` after it.
    pub(super) fn text_with_slash(&mut self) -> &str {
        if !self.has_text {
            self.text.clear();
            push_text(self.path, self.text);
            self.text.push('/');
            self.has_text = true;
        }
        self.text
    }
}

/// Bytes as text in which each byte that is not part of UTF-8 is a private character of its own.
pub(crate) fn to_text(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    push_text(raw, &mut text);
    text
}

fn push_text(raw: &[u8], out: &mut String) {
    for piece in raw.utf8_chunks() {
        out.push_str(piece.valid());
        out.extend(piece.invalid().iter().map(|&byte| stray(byte)));
    }
}

/// The character that stands for a stray byte. Python uses lone surrogates, which Rust's text can't hold; like those, a
/// private character is neither letter, digit nor space.
fn stray(byte: u8) -> char {
    char::from_u32(STRAY_BASE + u32::from(byte)).expect("below the last code point")
}

/// The last 512 code points of the last private plane, which nobody uses for names.
const STRAY_BASE: u32 = 0x10_FE00;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_bytes_keep_their_number_and_their_difference() {
        assert_eq!(to_text(b"a\xff\xc3\xa4\xe2\x82").chars().count(), 5);
        assert_ne!(to_text(b"\xff"), to_text(b"\xfe"));
    }
}
