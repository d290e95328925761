//! This process, which is alone and has one thread.

use std::io::{self, Read};
use std::sync::LazyLock;

/// Everything is done by the one thread that there is.
pub const MAX_THREADS: usize = 1;

/// A number that hardly any other run has.
pub fn id() -> u32 {
    static ID: LazyLock<u32> = LazyLock::new(|| getrandom::u32().unwrap_or_default() >> 1);
    *ID
}

/// Others can't be seen, so each counts as alive until its lock is old.
pub fn is_alive(_process: u64) -> bool {
    true
}

/// Does nothing: there are no permissions.
pub fn set_umask(_bits: u32) {}

/// It is not told.
pub fn processor_secs() -> Option<(f64, f64)> {
    None
}

/// What is open under a number: of what the program is started with, only standard input can be read.
pub fn open_fd(number: u32) -> io::Result<impl Read> {
    match number {
        0 => Ok(io::stdin()),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "only 0, standard input, can be read here")),
    }
}
