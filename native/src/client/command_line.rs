//! Command lines as they are stored with archives (data layer, section 9.1).

use crate::system::ffi::OsStrExt;
use std::ffi::OsString;

/// The words, quoted as a POSIX shell would need them, and as Python's `shlex.join` does it.
pub fn quoted(words: impl Iterator<Item = OsString>) -> Vec<u8> {
    let words: Vec<Vec<u8>> = words.map(|word| quote(word.as_bytes())).collect();
    words.join(&b' ')
}

fn quote(word: &[u8]) -> Vec<u8> {
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(byte);
    if !word.is_empty() && word.iter().all(is_safe) {
        return word.to_vec();
    }
    let mut quoted = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\"'\"'"),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python's `shlex.join` gives.
    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["borg", "create", "a b", "", "it's", "x=1,2:/@%+-_.", "ü", "$HOME"];
        let wanted = "borg create 'a b' '' 'it'\"'\"'s' x=1,2:/@%+-_. 'ü' '$HOME'";
        assert_eq!(quoted(words.into_iter().map(OsString::from)), wanted.as_bytes());
    }
}
