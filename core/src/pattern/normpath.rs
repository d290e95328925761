//! POSIX path normalisation as Python has it, by text alone.

use alloc::vec::Vec;

/// Removes empty and `.` components and resolves `..` against the component before it; nothing left is `.`.
///
/// One leading `/` stays, exactly two stay two; `..` above the root vanishes, above a relative start it stays.
pub fn normpath(path: &[u8]) -> Vec<u8> {
    let slashes = match path.iter().take_while(|&&byte| byte == b'/').count() {
        2 => 2,
        more => more.min(1),
    };
    let mut kept: Vec<&[u8]> = Vec::new();
    for component in path.split(|&byte| byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|&last| last != b"..") => {
                kept.pop();
            }
            b".." if slashes > 0 => {}
            _ => kept.push(component),
        }
    }
    let mut out = alloc::vec![b'/'; slashes];
    out.extend(kept.join(&b'/'));
    if out.is_empty() {
        out.push(b'.');
    }
    out
}

/// The path without slashes at its start.
pub(super) fn strip_leading_slashes(path: &[u8]) -> &[u8] {
    &path[path.iter().take_while(|&&byte| byte == b'/').count()..]
}

/// The path without slashes at its end.
pub(super) fn strip_trailing_slashes(path: &[u8]) -> &[u8] {
    &path[..path.len() - path.iter().rev().take_while(|&&byte| byte == b'/').count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_what_python_gives() {
        for (path, expected) in [
            ("", "."),
            (".", "."),
            ("/", "/"),
            ("//", "//"),
            ("///", "/"),
            ("//a", "//a"),
            ("a//b/./c/", "a/b/c"),
            ("a/../b", "b"),
            ("a/..", "."),
            ("../a/../..", "../.."),
            ("/../a", "/a"),
            ("/a/../..", "/"),
        ] {
            assert_eq!(normpath(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }
}
