//! Names on a terminal: whatever could steer it or mislead its reader is shown as an escape.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Where a text goes, which decides whether names are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A terminal: control and format characters are escaped.
    Terminal,
    /// A pipe or file: texts stay as they are.
    Pipe,
}

impl Target {
    /// What a stream leads to.
    pub(crate) fn of(stream: &impl IsTerminal) -> Target {
        if stream.is_terminal() { Target::Terminal } else { Target::Pipe }
    }

    /// A name as it is to be written there.
    pub(crate) fn name<'a>(self, name: &'a str) -> Cow<'a, str> {
        match self {
            Target::Terminal => escape(name),
            Target::Pipe => Cow::Borrowed(name),
        }
    }

    /// The same for a name that is owned already.
    pub(crate) fn cow(self, name: Cow<'_, str>) -> Cow<'_, str> {
        match (self, name) {
            (Target::Terminal, Cow::Owned(name)) => escape(&name).into_owned().into(),
            (Target::Terminal, Cow::Borrowed(name)) => escape(name),
            (Target::Pipe, name) => name,
        }
    }
}

/// Shows control characters, direction marks and invisible characters as `\n`, `\x1b`, `\u202e`.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    if name.chars().all(is_printable) {
        return Cow::Borrowed(name);
    }
    escape_where(name, |c| !is_printable(c)).into()
}

/// Like [`escape`] for a whole message, which may have several lines and tabs.
pub(crate) fn escape_message(message: &str) -> Cow<'_, str> {
    let harmless = |c| is_printable(c) || matches!(c, '\n' | '\t');
    if message.chars().all(harmless) {
        return Cow::Borrowed(message);
    }
    escape_where(message, |c| !harmless(c)).into()
}

/// Whether a character shows itself and nothing else: no control character, no format character (direction marks,
/// joiners, tags), no line or paragraph separator, no character for private use.
pub(crate) fn is_printable(c: char) -> bool {
    let hidden = matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}'
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}');
    !hidden
}

fn escape_where(text: &str, escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !escaped(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                let code = u32::from(c);
                let done = match code {
                    ..0x100 => write!(out, "\\x{code:02x}"),
                    0x100..0x1_0000 => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
                done.expect("writing to a String never fails");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_neither_steered_nor_deceived() {
        assert_eq!(escape("esc\x1b[31mred\r\n\u{7f}"), "esc\\x1b[31mred\\r\\n\\x7f");
        assert_eq!(escape("\u{202e}gpj.exe\u{9b}1m\u{e0041}"), "\\u202egpj.exe\\x9b1m\\U000e0041");
        assert_eq!(escape_message("two\nlines\x07"), "two\nlines\\x07");
    }

    #[test]
    fn ordinary_names_and_pipes_are_left_alone() {
        assert!(matches!(escape("back\\slash café 💾 日本"), Cow::Borrowed(_)));
        assert_eq!(Target::Pipe.name("a\x1bb"), "a\x1bb");
    }
}
