//! What can be wrong with a text that has placeholders.

use alloc::string::String;
use thiserror::Error;

/// A text whose placeholders can't be replaced. The fault of who wrote it; the messages are Borg's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlaceholderError {
    /// Braces or a format that mean nothing (Borg's `PlaceholderError`, exit code 5).
    #[error("Formatting Error: \"{text}\".format({{...}}): {}({fault})", fault.python_class())]
    BadFormat {
        /// The whole text.
        text: String,
        /// What is wrong with it.
        fault: FormatFault,
    },
    /// No placeholder has this name, or a `!conversion` follows it (Borg's `InvalidPlaceholder`, exit code 6).
    #[error("Invalid placeholder \"{name}\" in string: {text}")]
    Unknown {
        /// What stands between the braces, up to `!` or `:`.
        name: String,
        /// The whole text.
        text: String,
    },
}

/// What is wrong with a format string. The messages are those of Python, which Borg passes on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatFault {
    /// `{` at the end.
    #[error("Single '{{' encountered in format string")]
    SingleOpen,
    /// `}` that closes nothing.
    #[error("Single '}}' encountered in format string")]
    SingleClose,
    /// `{name` without an end.
    #[error("expected '}}' before end of string")]
    UnterminatedName,
    /// `{` in a name.
    #[error("unexpected '{{' in field name")]
    BraceInName,
    /// `!` at the end.
    #[error("end of string while looking for conversion specifier")]
    UnterminatedConversion,
    /// More than one character after `!`.
    #[error("expected ':' after conversion specifier")]
    LongConversion,
    /// `{name:format` without an end.
    #[error("unmatched '{{' in format spec")]
    UnterminatedFormat,
    /// `{}`, or a number for a name.
    #[error("Format string contains positional fields")]
    Positional,
    /// A name that is not known, in a format.
    #[error("'{0}'")]
    UnknownKey(String),
    /// Formats in formats in formats.
    #[error("Max string recursion exceeded")]
    NestedTooDeep,
    /// A format that has not the form of one.
    #[error("Invalid format specifier '{spec}' for object of type '{kind}'")]
    InvalidSpec {
        /// The format.
        spec: String,
        /// `str` or `int`.
        kind: &'static str,
    },
    /// A type letter that does not fit the value.
    #[error("Unknown format code '{code}' for object of type '{kind}'")]
    UnknownCode {
        /// The letter.
        code: char,
        /// `str` or `int`.
        kind: &'static str,
    },
    /// A part of the format that does not fit the value.
    #[error("{0} not allowed in {1} format specifier")]
    NotAllowed(&'static str, &'static str),
    /// A thousands separator that does not fit the type letter.
    #[error("Cannot specify '{separator}' with '{code}'.")]
    Separator {
        /// `,` or `_`.
        separator: char,
        /// The letter.
        code: char,
    },
    /// `,` and `_`.
    #[error("Cannot specify both ',' and '_'.")]
    BothSeparators,
    /// `.` without a number.
    #[error("Format specifier missing precision")]
    MissingPrecision,
    /// A width or precision that is too large.
    #[error("Too many decimal digits in format string")]
    TooManyDigits,
    /// A time that the calendar does not have.
    #[error("date value out of range")]
    TimeOutOfRange,
}

impl FormatFault {
    fn python_class(&self) -> &'static str {
        match self {
            FormatFault::UnknownKey(_) => "KeyError",
            FormatFault::TimeOutOfRange => "OverflowError",
            _ => "ValueError",
        }
    }
}
