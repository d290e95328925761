//! Hexadecimal text, and text that need not be UTF-8.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// Displays bytes as lowercase hexadecimal digits.
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Decodes exactly `N` bytes from `2 * N` lowercase hexadecimal digits; anything else is `None`.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(out)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The text with every byte that is not part of valid UTF-8 replaced by `?`, and whether any was
/// (the format keeps names as raw bytes; Borg shows them so).
pub fn lossy(raw: &[u8]) -> (Cow<'_, str>, bool) {
    if let Ok(text) = core::str::from_utf8(raw) {
        return (Cow::Borrowed(text), false);
    }
    let mut out = String::with_capacity(raw.len());
    for piece in raw.utf8_chunks() {
        out.push_str(piece.valid());
        out.extend(core::iter::repeat_n('?', piece.invalid().len()));
    }
    (Cow::Owned(out), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn hex_goes_both_ways_and_refuses_upper_case() {
        assert_eq!(Hex(&[0x00, 0xff, 0x1a]).to_string(), "00ff1a");
        assert_eq!(from_hex::<3>("00ff1a"), Some([0x00, 0xff, 0x1a]));
        assert_eq!(from_hex::<3>("00FF1A"), None);
        assert_eq!(from_hex::<3>("00ff1"), None);
    }

    #[test]
    fn each_stray_byte_becomes_one_question_mark() {
        assert_eq!(lossy(b"b\xffad"), ("b?ad".into(), true));
        assert_eq!(lossy("bäd".as_bytes()), ("bäd".into(), false));
    }
}
