//! Why archives can't be selected.

use super::date::DateError;
use crate::pattern::PatternError;
use crate::text::Repr;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use thiserror::Error;

/// A selection that can't be made (command line, section 5.3). All are the fault of who asked for it (Borg's
/// `CommandError`, exit code 4); the messages are Borg's without its "Command error: ".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SelectError {
    /// An `aid:` pattern left no archive or several.
    #[error("archive ID based match needs to match precisely one archive ID")]
    AidNotUnique {
        /// How many were left.
        matched: usize,
    },
    /// A `date:` pattern is not valid.
    #[error("Invalid date pattern: {pattern} ({fault})")]
    BadDate {
        /// The pattern with its prefix.
        pattern: String,
        /// What is wrong with it.
        fault: DateError,
    },
    /// A `sh:` or `re:` pattern is not valid, or takes too long on a name.
    #[error(transparent)]
    BadPattern(#[from] PatternError),
    /// A command on one archive got patterns that match none or several.
    #[error("{} needed to match precisely one archive, but matched {matched}.", PythonList(patterns))]
    NotOne {
        /// All its patterns.
        patterns: Vec<String>,
        /// How many archives they match.
        matched: usize,
    },
}

/// Texts as Python's `repr` shows a list of them.
struct PythonList<'a>(&'a [String]);

impl fmt::Display for PythonList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (at, text) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            Repr(text.as_bytes()).fmt(f)?;
        }
        f.write_char(']')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// Texts as the real client prints them.
    #[test]
    fn messages_are_borgs() {
        let not_one = SelectError::NotOne { patterns: ["it's".into(), "a\n".into()].into(), matched: 3 };
        assert_eq!(not_one.to_string(), r#"["it's", 'a\n'] needed to match precisely one archive, but matched 3."#);
        let date = SelectError::BadDate { pattern: "date:x\"y".into(), fault: DateError::Unrecognised("x\"y".into()) };
        assert_eq!(date.to_string(), r#"Invalid date pattern: date:x"y (unrecognised date: 'x"y')"#);
    }
}
