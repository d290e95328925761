//! Names on a terminal: whatever could steer it or mislead its reader is shown as an escape.

use portaborg_core::text::{Escaped, is_printable};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;

/// Where a text goes, which decides whether names are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A terminal: control and format characters are escaped.
    Terminal,
    /// A pipe or file: texts stay as they are.
    Pipe,
}

impl Target {
    /// What a stream leads to.
    pub fn of(stream: &impl IsTerminal) -> Target {
        if stream.is_terminal() { Target::Terminal } else { Target::Pipe }
    }

    /// A name as it is to be written there.
    pub fn name<'a>(self, name: &'a str) -> Cow<'a, str> {
        match self {
            Target::Terminal => escape(name),
            Target::Pipe => Cow::Borrowed(name),
        }
    }

    /// The same for a name that is owned already.
    pub fn cow(self, name: Cow<'_, str>) -> Cow<'_, str> {
        match (self, name) {
            (Target::Terminal, Cow::Owned(name)) => escape(&name).into_owned().into(),
            (Target::Terminal, Cow::Borrowed(name)) => escape(name),
            (Target::Pipe, name) => name,
        }
    }
}

/// Shows control characters, direction marks and invisible characters as `\n`, `\x1b`, `\u202e`.
pub fn escape(name: &str) -> Cow<'_, str> {
    if name.chars().all(is_printable) {
        return Cow::Borrowed(name);
    }
    escape_where(name, |c| !is_printable(c)).into()
}

/// Like [`escape`] for a whole message, which may have several lines and tabs.
pub fn escape_message(message: &str) -> Cow<'_, str> {
    let harmless = |c| is_printable(c) || matches!(c, '\n' | '\t');
    if message.chars().all(harmless) {
        return Cow::Borrowed(message);
    }
    escape_where(message, |c| !harmless(c)).into()
}

fn escape_where(text: &str, escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !escaped(c) => out.push(c),
            c => write!(out, "{}", Escaped(c)).expect("writing to a String never fails"),
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
