//! Signals, which never come here: what runs the program ends it at once.

use std::io;

/// The user's Ctrl-C.
pub const SIGINT: i32 = 2;
/// Somebody asks to end.
pub const SIGTERM: i32 = 15;
/// The terminal is gone.
pub const SIGHUP: i32 = 1;

/// There is nothing to watch for.
pub fn watch() -> io::Result<()> {
    Ok(())
}

/// None.
pub fn arrived() -> impl Iterator<Item = i32> {
    std::iter::empty()
}
