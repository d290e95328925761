//! Pattern files, exclude files and the arguments of `--pattern` and `--exclude` (data layer, section 14.3).

use super::error::PatternError;
use super::pattern::Pattern;
use super::style::Style;
use crate::bytes::lossy;
use alloc::vec::Vec;

/// What a pattern does with the paths that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `+`: they are included.
    Include,
    /// `-`: they are excluded; directories are entered nevertheless.
    Exclude,
    /// `!`: they are excluded, and directories not entered.
    ExcludeNoRecurse,
}

impl Command {
    /// Whether matching paths are included.
    pub fn includes(self) -> bool {
        self == Command::Include
    }

    /// Whether a matching directory is entered.
    pub fn recurses(self) -> bool {
        self != Command::ExcludeNoRecurse
    }
}

/// A pattern and what it does.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Which paths.
    pub pattern: Pattern,
    /// What is done with them.
    pub command: Command,
}

/// One line of a pattern file, or one `--pattern` argument.
#[derive(Debug, Clone)]
pub enum Line {
    /// `R`: a path to start from; only creating archives has a use for it.
    Root(Vec<u8>),
    /// `P`: the style of the patterns that follow in this file.
    Style(Style),
    /// `+`, `-` or `!`.
    Rule(Rule),
}

/// What a pattern file says.
#[derive(Debug, Clone, Default)]
pub struct PatternFile {
    /// Its `R` lines, in order.
    pub roots: Vec<Vec<u8>>,
    /// Its `+`, `-` and `!` lines, in order.
    pub rules: Vec<Rule>,
}

/// Reads a pattern file (`--patterns-from`); patterns without a prefix are `sh` until a `P` line.
///
/// # Errors
/// The first line that is no command or holds no pattern.
pub fn parse_pattern_file(text: &[u8]) -> Result<PatternFile, PatternError> {
    let mut file = PatternFile::default();
    let mut style = Style::Sh;
    for line in clean_lines(text) {
        match parse_line(line, style)? {
            Line::Root(path) => file.roots.push(path),
            Line::Style(chosen) => style = chosen,
            Line::Rule(rule) => file.rules.push(rule),
        }
    }
    Ok(file)
}

/// Reads one `--pattern` argument, or one cleaned line; a pattern without a prefix has style `default`.
///
/// # Errors
/// The text is no command or holds no pattern.
pub fn parse_line(text: &[u8], default: Style) -> Result<Line, PatternError> {
    let (&letter, value) = text.split_first().ok_or(PatternError::EmptyCommand)?;
    let value = strip(value, Side::Start);
    if !b"-!+RrPp".contains(&letter) {
        return Err(PatternError::UnknownCommand);
    }
    if value.is_empty() {
        return Err(PatternError::NoValue);
    }
    let command = match letter {
        b'+' => Command::Include,
        b'-' => Command::Exclude,
        b'!' => Command::ExcludeNoRecurse,
        b'R' | b'r' => return Ok(Line::Root(value.to_vec())),
        _ => {
            let style = core::str::from_utf8(value).ok().and_then(Style::from_prefix);
            return style.map(Line::Style).ok_or_else(|| PatternError::InvalidStyle(lossy(value).0.into_owned()));
        }
    };
    Ok(Line::Rule(Rule { pattern: Pattern::parse(value, default)?, command }))
}

/// Reads an exclude file (`--exclude-from`): one pattern a line, `fm` without a prefix.
///
/// # Errors
/// The first line that is no pattern.
pub fn parse_exclude_file(text: &[u8]) -> Result<Vec<Rule>, PatternError> {
    clean_lines(text).map(parse_exclude).collect()
}

/// Reads one `--exclude` argument: a pattern, `fm` without a prefix.
///
/// # Errors
/// The text is no pattern.
pub fn parse_exclude(text: &[u8]) -> Result<Rule, PatternError> {
    Ok(Rule { pattern: Pattern::parse(text, Style::Fm)?, command: Command::ExcludeNoRecurse })
}

/// The lines without blanks at both ends, without empty lines and comments.
fn clean_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.map(|line| strip(line, Side::Both)).filter(|line| !line.is_empty() && !line.starts_with(b"#"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    Both,
}

/// Without what Python takes for white space; in a text that is not UTF-8, without ASCII white space.
fn strip(text: &[u8], side: Side) -> &[u8] {
    let Ok(utf8) = core::str::from_utf8(text) else {
        return if side == Side::Both { text.trim_ascii() } else { text.trim_ascii_start() };
    };
    let is_space = |c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c);
    let stripped = if side == Side::Both { utf8.trim_matches(is_space) } else { utf8.trim_start_matches(is_space) };
    stripped.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_cleaned_and_keep_their_order() {
        let file = parse_pattern_file(b"  # c\n\n\t+ a/*.o \r\nP  pf\n-/x y\nR  /home/\xff\r! re:\\.o$").unwrap();
        assert_eq!(file.roots, [b"/home/\xff"]);
        let seen: Vec<_> = file.rules.iter().map(|r| (r.pattern.given(), r.pattern.style(), r.command)).collect();
        let expected: [(&[u8], _, _); 3] = [
            (b"a/*.o", Style::Sh, Command::Include),
            (b"/x y", Style::Pf, Command::Exclude),
            (br"\.o$", Style::Re, Command::ExcludeNoRecurse),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn exclude_files_hold_bare_patterns() {
        let rules = parse_exclude_file(b"# no\n*.tmp\nsh:a/*\n").unwrap();
        assert_eq!(rules.len(), 2);
        assert!(rules.iter().all(|rule| rule.command == Command::ExcludeNoRecurse));
        assert_eq!(rules[0].pattern.style(), Style::Fm);
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for (text, error) in [
            ("", PatternError::EmptyCommand),
            ("+", PatternError::NoValue),
            ("R  ", PatternError::NoValue),
            ("etc", PatternError::UnknownCommand),
            ("P xx", PatternError::InvalidStyle("xx".into())),
            ("+ xx:a", PatternError::UnknownStyle("xx".into())),
        ] {
            assert_eq!(parse_line(text.as_bytes(), Style::Sh).err(), Some(error), "{text}");
        }
    }
}
