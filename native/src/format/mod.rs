//! `--format`: Python's format strings over the attributes of archives and items (command line, section 4.1).

pub(crate) mod archive;
pub(crate) mod digest;
pub(crate) mod fingerprint;
mod float;
pub(crate) mod item;
pub(crate) mod spec;
pub(crate) mod template;
pub(crate) mod value;

pub(crate) use template::{RenderError, Template, TemplateError};
pub(crate) use value::Value;

/// The keys that every format has, each with its text.
pub(crate) const FIXED_KEYS: [(&str, &str); 7] =
    [("NEWLINE", "\n"), ("NL", "\n"), ("LF", "\n"), ("CR", "\r"), ("TAB", "\t"), ("SPACE", " "), ("NUL", "\0")];

/// The text of one of [`FIXED_KEYS`].
pub(crate) fn fixed_key(name: &str) -> Option<&'static str> {
    FIXED_KEYS.iter().find(|(key, _)| *key == name).map(|(_, text)| *text)
}
