//! Questions to a user, through standard input and standard error: there is no way to the terminal.

use std::fs::File;
use std::io::{self, IsTerminal};

/// There is none.
pub fn open() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Is refused.
pub fn ask(_prompt: &str, _terminal: &File, _is_over: fn() -> bool) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads an answer. Nothing can end that before.
pub fn unless(_is_over: fn() -> bool, read: impl FnOnce() -> io::Result<String>) -> io::Result<String> {
    read()
}

/// Whether a passphrase may be read from standard input: not if a user types it there, for all to see.
pub fn is_discreet() -> bool {
    !io::stdin().is_terminal()
}
