//! Character sets of Python's regular expressions.

use super::error::RegexFault;
use super::python_escape::literal_escape;
use alloc::string::String;
use core::fmt::Write;

/// `\d`, `\s`, `\w` and their opposites.
#[derive(Clone, Copy)]
pub(super) struct ShorthandSet {
    letter: char,
}

impl ShorthandSet {
    /// The set that a letter after a backslash stands for.
    pub(super) fn of(letter: char) -> Option<ShorthandSet> {
        matches!(letter, 'd' | 's' | 'w' | 'D' | 'S' | 'W').then_some(ShorthandSet { letter })
    }

    /// Writes the set in the engine's dialect; it may stand alone or within another set.
    pub(super) fn push(self, ascii: bool, out: &mut String) {
        // Python's words are letters, numbers of any kind and `_`, without marks; its space has four control
        // characters more than Unicode's.
        let members = match (self.letter.to_ascii_lowercase(), ascii) {
            ('d', true) => "0-9",
            ('d', false) => r"\p{Nd}",
            ('s', true) => r"\t-\r\x20",
            ('s', false) => r"\s\x{1c}-\x{1f}",
            (_, true) => "0-9A-Za-z_",
            (_, false) => r"\p{L}\p{N}_",
        };
        out.push_str(if self.letter.is_ascii_uppercase() { "[^" } else { "[" });
        out.push_str(members);
        out.push(']');
    }
}

/// Reads the set that begins `after_bracket`, writes it in the engine's dialect, and gives what follows it.
pub(super) fn push_set<'a>(after_bracket: &'a str, ascii: bool, out: &mut String) -> Result<&'a str, RegexFault> {
    let mut rest = after_bracket;
    out.push('[');
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    loop {
        if let Some(after) = rest.strip_prefix(']').filter(|_| !first) {
            out.push(']');
            return Ok(after);
        }
        first = false;
        let (member, after) = read_member(rest)?;
        rest = after;
        let range = rest.strip_prefix('-').filter(|after| !after.starts_with(']'));
        let (low, after) = match (member, range) {
            (Member::Set(_), Some(after)) if !after.is_empty() => return Err(RegexFault::BadRange),
            (Member::Set(set), _) => {
                set.push(ascii, out);
                continue;
            }
            (Member::Character(single), None) => {
                push_character(single, out);
                continue;
            }
            (Member::Character(low), Some(after)) => (low, after),
        };
        let (Member::Character(high), after) = read_member(after)? else { return Err(RegexFault::BadRange) };
        if low > high {
            return Err(RegexFault::BadRange);
        }
        push_character(low, out);
        out.push('-');
        push_character(high, out);
        rest = after;
    }
}

enum Member {
    Character(char),
    Set(ShorthandSet),
}

fn read_member(rest: &str) -> Result<(Member, &str), RegexFault> {
    let character = rest.chars().next().ok_or(RegexFault::UnterminatedSet)?;
    let after = &rest[character.len_utf8()..];
    if character != '\\' {
        return Ok((Member::Character(character), after));
    }
    let escaped = after.chars().next().ok_or(RegexFault::TrailingBackslash)?;
    if let Some(set) = ShorthandSet::of(escaped) {
        return Ok((Member::Set(set), &after[1..]));
    }
    if escaped == 'b' {
        return Ok((Member::Character('\x08'), &after[1..]));
    }
    let octal = after.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    if octal > 0 {
        let value = u32::from_str_radix(&after[..octal], 8).ok().filter(|&value| value <= 0o377);
        let character = value.and_then(char::from_u32).ok_or(RegexFault::BadEscape(escaped))?;
        return Ok((Member::Character(character), &after[octal..]));
    }
    let (character, after) = literal_escape(after)?;
    Ok((Member::Character(character), after))
}

/// By number unless it is a letter or digit, so that nothing in a set can mean more to the engine than to Python.
fn push_character(character: char, out: &mut String) {
    if character.is_ascii_alphanumeric() {
        out.push(character);
    } else {
        let _ = write!(out, "\\x{{{:x}}}", u32::from(character));
    }
}
