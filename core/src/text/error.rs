//! What can be wrong with format strings. Each `Display` is the text of Python's exception.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use thiserror::Error;

/// Why a format string is refused before anything is formatted. `Display` is Borg's text after `Command error: `.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// Its braces or conversions are broken.
    #[error("Invalid format string: {0}")]
    Syntax(SyntaxError),
    /// It names keys that are not there.
    #[error("Invalid format keys: {}", .0.join(", "))]
    UnknownKeys(Vec<String>),
}

/// What is broken in a format string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SyntaxError {
    /// A closing brace that nothing opened.
    #[error("Single '}}' encountered in format string")]
    SingleClose,
    /// An opening brace at the end.
    #[error("Single '{{' encountered in format string")]
    SingleOpen,
    /// An opening brace inside a key.
    #[error("unexpected '{{' in field name")]
    OpenInName,
    /// The text ends inside a key.
    #[error("expected '}}' before end of string")]
    UnterminatedName,
    /// The text ends after `!`.
    #[error("end of string while looking for conversion specifier")]
    UnterminatedConversion,
    /// A conversion of more than one character.
    #[error("expected ':' after conversion specifier")]
    LongConversion,
    /// The text ends inside a specification.
    #[error("unmatched '{{' in format spec")]
    UnterminatedSpec,
}

/// Why a value could not be formatted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenderError {
    /// The specification doesn't suit the value.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A specification's own fields are broken.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A key that is not there.
    #[error("'{0}'")]
    UnknownKey(String),
    /// A field without a key, or with a number for one.
    #[error("Format string contains positional fields")]
    Positional,
    /// A conversion that is not one of `s`, `r`, `a`.
    #[error("Unknown conversion specifier {}", shown(*.0))]
    UnknownConversion(char),
    /// Specifications in specifications in specifications.
    #[error("Max string recursion exceeded")]
    TooDeep,
}

/// Why a value can't be formatted by a specification.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A width or precision that no integer holds.
    #[error("Too many decimal digits in format string")]
    TooManyDigits,
    /// A width or precision that would need an absurd amount of memory.
    #[error("Format width or precision is too large")]
    TooWide,
    /// A point without digits after it.
    #[error("Format specifier missing precision")]
    MissingPrecision,
    /// Both group separators.
    #[error("Cannot specify both ',' and '_'.")]
    BothSeparators,
    /// A group separator with a presentation that has no groups.
    #[error("Cannot specify '{separator}' with '{}'.", shown(*presentation))]
    Separator {
        /// The separator.
        separator: char,
        /// The presentation type.
        presentation: char,
    },
    /// Text after the presentation type.
    #[error("Invalid format specifier '{spec}' for object of type '{kind}'")]
    Invalid {
        /// The whole specification.
        spec: String,
        /// Python's name of the value's type.
        kind: &'static str,
    },
    /// A presentation type that the value doesn't have.
    #[error("Unknown format code '{}' for object of type '{kind}'", shown(*code))]
    UnknownCode {
        /// The presentation type.
        code: char,
        /// Python's name of the value's type.
        kind: &'static str,
    },
    /// Any specification for a value that takes none.
    #[error("unsupported format string passed to {kind}.__format__")]
    Unsupported {
        /// Python's name of the value's type.
        kind: &'static str,
    },
    /// Something that texts or integers can't have; the words name it.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// An integer that is no character.
    #[error("%c arg not in range(0x110000)")]
    NotAChar,
    /// An integer that is far from any character.
    #[error("Python int too large to convert to C long")]
    TooLarge,
}

impl RenderError {
    /// The name of the exception that Python raises.
    pub fn exception(&self) -> &'static str {
        match self {
            RenderError::Spec(error) => error.exception(),
            RenderError::UnknownKey(_) => "KeyError",
            _ => "ValueError",
        }
    }
}

impl SpecError {
    /// The name of the exception that Python raises.
    pub fn exception(&self) -> &'static str {
        match self {
            SpecError::Unsupported { .. } => "TypeError",
            SpecError::NotAChar | SpecError::TooLarge => "OverflowError",
            _ => "ValueError",
        }
    }
}

/// A character in a message: beyond ASCII, or invisible, as its number.
fn shown(code: char) -> String {
    match code {
        '!'..='\x7f' => code.to_string(),
        other => format!("\\x{:x}", u32::from(other)),
    }
}
