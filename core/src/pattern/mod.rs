//! Which paths of an archive are meant (data layer, section 14).
//!
//! Paths and patterns are bytes that need not be UTF-8: a path is what an item holds, a pattern what was typed or read
//! from a file.

mod command;
mod error;
mod glob;
mod matcher;
mod normpath;
#[expect(clippy::module_inception, reason = "the noun of the folder")]
mod pattern;
mod python_escape;
mod python_re;
mod python_set;
mod python_syntax;
mod style;
mod subject;

pub use command::{
    Command, Line, PatternFile, Rule, parse_exclude, parse_exclude_file, parse_line, parse_pattern_file,
};
pub use error::{PatternError, RegexFault};
pub use matcher::{PatternMatcher, Verdict};
pub use normpath::normpath;
pub use pattern::Pattern;
pub use style::Style;
pub use subject::Subject;

pub(crate) use glob::shell_to_python;
pub(crate) use python_re::PythonRegex;
pub(crate) use python_syntax::Flags;
pub(crate) use subject::to_text;
