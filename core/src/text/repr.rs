//! Texts as Python's `repr` and `ascii` quote them, and what a terminal can be trusted with.

use core::fmt::{self, Write};

/// A text, UTF-8 or not, as Python's `repr(os.fsdecode(...))` shows it: quoted, with everything escaped that does not show
/// itself.
pub struct Repr<'a>(pub &'a [u8]);

/// The same as Python's `ascii` shows it: everything beyond ASCII is escaped.
pub struct Ascii<'a>(pub &'a [u8]);

/// One character as the escape that stands for it: `\n`, `\x1b`, `\u202e`, `\U000e0041`.
pub struct Escaped(pub char);

/// Whether a character shows itself and nothing else: no control character, no format character (direction marks,
/// joiners, tags), no line or paragraph separator, no character for private use.
pub fn is_printable(c: char) -> bool {
    let hidden = matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}'
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}');
    !hidden
}

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of the blanks Python shows only the space.
        quote(self.0, f, |c| is_printable(c) && (c == ' ' || !c.is_whitespace()))
    }
}

impl fmt::Display for Ascii<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quote(self.0, f, |c| matches!(c, ' '..='~'))
    }
}

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            '\t' => f.write_str("\\t"),
            c => match u32::from(c) {
                code @ ..0x100 => write!(f, "\\x{code:02x}"),
                code @ ..0x1_0000 => write!(f, "\\u{code:04x}"),
                code => write!(f, "\\U{code:08x}"),
            },
        }
    }
}

/// Stray bytes are shown as the surrogates that Python keeps them in.
fn quote(text: &[u8], f: &mut fmt::Formatter<'_>, shows: impl Fn(char) -> bool) -> fmt::Result {
    let quote = if text.contains(&b'\'') && !text.contains(&b'"') { '"' } else { '\'' };
    f.write_char(quote)?;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                c if c == quote => write!(f, "\\{c}")?,
                c if shows(c) => f.write_char(c)?,
                c => fmt::Display::fmt(&Escaped(c), f)?,
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\udc{byte:02x}")?;
        }
    }
    f.write_char(quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// Compared with Python 3's `repr(os.fsdecode(...))`.
    #[test]
    fn texts_are_quoted_as_python_quotes_them() {
        for (text, expected) in [
            (&b"it's"[..], r#""it's""#),
            (b"it's \"x\"", r#"'it\'s "x"'"#),
            (b"both ' and \"", r#"'both \' and "'"#),
            (b"a\\b\n\x1b[0m\x7f", r"'a\\b\n\x1b[0m\x7f'"),
            (b"\xff\xc3\xa4", "'\\udcff\u{e4}'"),
            ("\u{202e}\u{a0}\u{85}".as_bytes(), r"'\u202e\xa0\x85'"),
            ("it's\té\u{1b}💾\\".as_bytes(), r#""it's\té\x1b💾\\""#),
        ] {
            assert_eq!(Repr(text).to_string(), expected);
        }
        assert_eq!(Ascii("it's\té\u{1b}💾\\".as_bytes()).to_string(), r#""it's\t\xe9\x1b\U0001f4be\\""#);
    }
}
