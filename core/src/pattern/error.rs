//! What can be wrong with a pattern.

use alloc::string::String;
use thiserror::Error;

/// A pattern that can't be used (command line, section 5.1). All of these are the fault of who wrote the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The pattern starts with two letters or digits and a colon, and they name no style.
    #[error("Unknown pattern style: {0}")]
    UnknownStyle(String),
    /// The regular expression, or the one that a shell pattern stands for, is not valid.
    #[error("Invalid pattern {pattern:?}: {fault}")]
    BadRegex {
        /// The pattern without its style.
        pattern: String,
        /// What is wrong with it.
        fault: RegexFault,
    },
    /// Matching was given up: the expression backtracks too much on this path. Nothing is known about the path.
    #[error("Pattern {pattern:?} needs too many steps to match {path:?}")]
    TooComplex {
        /// The pattern without its style.
        pattern: String,
        /// The path it was tried on; bytes that are not UTF-8 as `?`.
        path: String,
    },
    /// An empty text where a command was expected.
    #[error("A pattern/command must not be empty.")]
    EmptyCommand,
    /// The first character is no command.
    #[error("A pattern/command must start with any of: -, !, +, R, r, P, p")]
    UnknownCommand,
    /// Nothing follows the command.
    #[error("A pattern/command must have a value part.")]
    NoValue,
    /// What follows the command `P` names no style.
    #[error("Invalid pattern style: {0}")]
    InvalidStyle(String),
}

/// What is wrong with a regular expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegexFault {
    /// A quantifier with nothing before it.
    #[error("nothing to repeat")]
    NothingToRepeat,
    /// A quantifier after a quantifier.
    #[error("multiple repeat")]
    MultipleRepeat,
    /// `{m,n}` with m above n.
    #[error("min repeat greater than max repeat")]
    RepeatBounds,
    /// A backslash with a character after it that means nothing.
    #[error("bad escape \\{0}")]
    BadEscape(char),
    /// A backslash at the end.
    #[error("bad escape (end of pattern)")]
    TrailingBackslash,
    /// `)` without `(`.
    #[error("unbalanced parenthesis")]
    UnbalancedParenthesis,
    /// `(` without `)`.
    #[error("missing ), unterminated subpattern")]
    UnterminatedGroup,
    /// `[` without `]`.
    #[error("unterminated character set")]
    UnterminatedSet,
    /// A range in a set whose ends are in the wrong order, or are no characters.
    #[error("bad character range")]
    BadRange,
    /// `(?` with something after it that Python does not know.
    #[error("unknown extension")]
    UnknownExtension,
    /// Letters between `(?` and `)` or `:` that are no flags, or not allowed there.
    #[error("bad inline flags")]
    BadFlags,
    /// `(?i)` and the like after the start.
    #[error("global flags not at the start of the expression")]
    FlagsNotAtStart,
    /// A reference to a group that does not exist, or is still open.
    #[error("invalid group reference")]
    BadGroupReference,
    /// A group's name that is no identifier, or used twice.
    #[error("bad group name")]
    BadGroupName,
    /// The engine refuses it, in its words.
    #[error("{0}")]
    Engine(String),
}
