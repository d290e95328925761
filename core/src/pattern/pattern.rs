//! One pattern.

use super::error::PatternError;
use super::glob::{fnmatch_to_python, shell_to_python};
use super::normpath::{normpath, strip_leading_slashes, strip_trailing_slashes};
use super::python_re::PythonRegex;
use super::python_syntax::Flags;
use super::style::Style;
use super::subject::{Subject, to_text};
use crate::bytes::lossy;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A path pattern, ready to match (data layer, section 14.1).
#[derive(Debug, Clone)]
pub struct Pattern {
    given: Vec<u8>,
    style: Style,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// The path and a `/` must match the whole expression.
    Glob(Box<PythonRegex>),
    /// The path must contain a match.
    Search(Box<PythonRegex>),
    /// The path and a `/` must start with this.
    Prefix(Vec<u8>),
    /// The path must be this.
    Full(Vec<u8>),
}

impl Pattern {
    /// Reads a pattern: with a prefix such as `re:` in that style, else in style `default`.
    ///
    /// # Errors
    /// A prefix that names no style, or an expression that is not valid.
    pub fn parse(text: &[u8], default: Style) -> Result<Pattern, PatternError> {
        let (style, body) = match split_prefix(text) {
            None => (default, text),
            Some((prefix, body)) => {
                let style = Style::from_prefix(prefix).ok_or_else(|| PatternError::UnknownStyle(prefix.into()))?;
                (style, body)
            }
        };
        Pattern::new(body, style)
    }

    /// A pattern of the given style; `body` has no prefix.
    ///
    /// # Errors
    /// An expression that is not valid.
    pub fn new(body: &[u8], style: Style) -> Result<Pattern, PatternError> {
        let kind = match style {
            Style::Fm => {
                let glob = fnmatch_to_python(&prepared(body, b"/*", b"/*/"));
                Kind::Glob(Box::new(PythonRegex::anchored(&glob, Flags::DOT_ALL).map_err(bad_regex(body))?))
            }
            Style::Sh => {
                let glob = shell_to_python(&prepared(body, b"/**/*", b"/**/*/"));
                let flags = Flags::DOT_ALL | Flags::MULTI_LINE;
                Kind::Glob(Box::new(PythonRegex::anchored(&glob, flags).map_err(bad_regex(body))?))
            }
            Style::Re => Kind::Search(Box::new(PythonRegex::search(&to_text(body)).map_err(bad_regex(body))?)),
            Style::Pp => {
                let mut path = normpath(body);
                path.truncate(strip_trailing_slashes(&path).len());
                path.push(b'/');
                Kind::Prefix(strip_leading_slashes(&path).to_vec())
            }
            Style::Pf => Kind::Full(strip_leading_slashes(&normpath(body)).to_vec()),
        };
        Ok(Pattern { given: body.to_vec(), style, kind })
    }

    /// Whether the path matches.
    ///
    /// # Errors
    /// [`PatternError::TooComplex`] if that takes too long to find out.
    pub fn matches(&self, path: &[u8]) -> Result<bool, PatternError> {
        self.matches_subject(&mut Subject::new(path, &mut String::new()))
    }

    /// Whether a path that meets several patterns matches this one.
    ///
    /// # Errors
    /// [`PatternError::TooComplex`] if that takes too long to find out.
    pub fn matches_subject(&self, subject: &mut Subject<'_>) -> Result<bool, PatternError> {
        let found = match &self.kind {
            Kind::Prefix(prefix) => match subject.path().strip_prefix(strip_trailing_slashes(prefix)) {
                Some(rest) => prefix.is_empty() || rest.first().is_none_or(|&byte| byte == b'/'),
                None => false,
            },
            Kind::Full(full) => subject.path() == full,
            Kind::Glob(regex) => return regex.is_match(subject.text_with_slash()).ok_or_else(|| self.gave_up(subject)),
            Kind::Search(regex) => return regex.is_match(subject.text()).ok_or_else(|| self.gave_up(subject)),
        };
        Ok(found)
    }

    /// The pattern as it was given, without its prefix.
    pub fn given(&self) -> &[u8] {
        &self.given
    }

    /// The style it is matched in.
    pub fn style(&self) -> Style {
        self.style
    }

    /// The path that a `pf` pattern stands for.
    pub(super) fn full_path(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Full(path) => Some(path),
            _ => None,
        }
    }

    fn gave_up(&self, subject: &Subject<'_>) -> PatternError {
        PatternError::TooComplex {
            pattern: lossy(&self.given).0.into_owned(),
            path: lossy(subject.path()).0.into_owned(),
        }
    }
}

/// The style's letters and what follows the colon, if the text starts with two letters or digits and a colon.
fn split_prefix(text: &[u8]) -> Option<(&str, &[u8])> {
    let colon = text.iter().position(|&byte| byte == b':')?;
    let prefix = core::str::from_utf8(&text[..colon]).ok()?;
    let is_style = prefix.chars().count() == 2 && prefix.chars().all(char::is_alphanumeric);
    is_style.then(|| (prefix, &text[colon + 1..]))
}

/// A glob, made to match its path and what lies below it: normalised, with `below` after it, or with `only_below` if it
/// ends with a slash and so means the directory's content alone.
fn prepared(body: &[u8], below: &[u8], only_below: &[u8]) -> String {
    let mut path = normpath(body);
    if body.ends_with(b"/") {
        path.truncate(strip_trailing_slashes(&path).len());
        path.extend(only_below);
    } else {
        path.extend(below);
    }
    to_text(strip_leading_slashes(&path))
}

fn bad_regex(body: &[u8]) -> impl FnOnce(super::error::RegexFault) -> PatternError {
    let pattern = lossy(body).0.into_owned();
    |fault| PatternError::BadRegex { pattern, fault }
}
