//! `--format`: the keys of archives and items for format strings (command line, section 4.1).

pub mod archive;
pub mod digest;
pub mod fingerprint;
pub mod item;

/// The keys that every format has, each with its text.
pub const FIXED_KEYS: [(&str, &str); 7] =
    [("NEWLINE", "\n"), ("NL", "\n"), ("LF", "\n"), ("CR", "\r"), ("TAB", "\t"), ("SPACE", " "), ("NUL", "\0")];

/// The text of one of [`FIXED_KEYS`].
pub fn fixed_key(name: &str) -> Option<&'static str> {
    FIXED_KEYS.iter().find(|(key, _)| *key == name).map(|(_, text)| *text)
}
