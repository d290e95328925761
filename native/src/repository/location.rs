//! Where a repository lies, as users write it (command line, section 5.4).

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Schemes that Borg knows and that this version does not reach.
const OTHER_SCHEMES: [&str; 7] = ["ssh:", "sftp:", "http:", "https:", "rclone:", "s3:", "b2:"];

/// A repository's location: so far, a local folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The folder, absolute.
    pub path: PathBuf,
}

/// A text that is no location, or one that can't be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocationError(String);

impl Location {
    /// Parses a location. `here` is what a relative path is relative to.
    pub fn parse(text: &str, here: &Path) -> Result<Location, LocationError> {
        if text.is_empty() {
            return Err(LocationError("Invalid location format: \"\"".into()));
        }
        if text.starts_with("//") || text.starts_with("\\\\") {
            return Err(LocationError(format!(
                "UNC paths are not supported: \"{text}\". Mount the share (Windows: net use X: \\\\server\\share) \
                 and use the mounted path instead."
            )));
        }
        if let Some(scheme) = OTHER_SCHEMES.iter().find(|scheme| text.starts_with(**scheme)) {
            return Err(LocationError(format!(
                "Repositories at {scheme} locations can not be reached by this version yet: \"{text}\". \
                 Mount or copy the repository, or write ./{text} if it is the name of a folder."
            )));
        }
        let path = match text.strip_prefix("file:") {
            Some(rest) => match rest.strip_prefix("//") {
                Some(path) if path.starts_with('/') => percent_decoded(path),
                _ => {
                    return Err(LocationError(format!(
                        "Invalid location format: \"{text}\". Expected: file:///absolute/path/to/repo"
                    )));
                }
            },
            None => text.into(),
        };
        Ok(Location { path: normalised(&here.join(path)) })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The path without `.` and `..`, by its text alone.
fn normalised(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, LocationError> {
        Location::parse(text, Path::new("/here")).map(|location| location.to_string())
    }

    #[test]
    fn local_paths_become_absolute() {
        assert_eq!(parse("/a/b"), Ok("/a/b".into()));
        assert_eq!(parse("a/../b/./c/"), Ok("/here/b/c".into()));
        assert_eq!(parse("file:///a%20b"), Ok("/a b".into()));
        assert_eq!(parse("host:path"), Ok("/here/host:path".into()));
        assert_eq!(parse("./ssh:x"), Ok("/here/ssh:x".into()));
    }

    #[test]
    fn other_schemes_and_shares_never_become_a_local_folder() {
        for text in ["ssh://host/", "http://x/y", "//srv/share", "file://rel", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
