//! Texts as Python makes them: format strings, format specifications, times and quotes (command line, section 4.1).
//!
//! A [`Template`] is a format string over keys, which the caller knows and gives a [`Value`] each. The texts of errors are
//! Python's, since Borg passes them on.

mod error;
mod float;
mod pieces;
mod repr;
mod spec;
mod template;
mod time;
mod value;

pub use error::{RenderError, SpecError, SyntaxError, TemplateError};
pub use pieces::{Field, Piece, Pieces};
pub use repr::{Ascii, Escaped, Repr, is_printable};
pub use spec::FormatSpec;
pub use template::Template;
pub use time::{isoformat, strftime};
pub use value::Value;
