//! Escapes of Python's regular expressions that stand for one character.

use super::error::RegexFault;

/// What follows a backslash, if it stands for one character: that character, and the rest.
pub(super) fn literal_escape(after_backslash: &str) -> Result<(char, &str), RegexFault> {
    let escaped = after_backslash.chars().next().ok_or(RegexFault::TrailingBackslash)?;
    let after = &after_backslash[escaped.len_utf8()..];
    let numeric = |digits: usize| -> Result<(char, &str), RegexFault> {
        let number = after.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = number.and_then(|text| u32::from_str_radix(text, 16).ok()).and_then(char::from_u32);
        Ok((value.ok_or(RegexFault::BadEscape(escaped))?, &after[digits..]))
    };
    let character = match escaped {
        'x' => return numeric(2),
        'u' => return numeric(4),
        'U' => return numeric(8),
        '0' => {
            let digits = after.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let value = u32::from_str_radix(&after_backslash[..=digits], 8).ok().and_then(char::from_u32);
            return Ok((value.ok_or(RegexFault::BadEscape(escaped))?, &after[digits..]));
        }
        'a' => '\x07',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        _ if escaped.is_ascii_alphanumeric() => return Err(RegexFault::BadEscape(escaped)),
        _ => escaped,
    };
    Ok((character, after))
}
