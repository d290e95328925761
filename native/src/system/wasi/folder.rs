//! Folders.

use rustix::fs::Dir;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// What is in an open directory.
pub fn list(directory: BorrowedFd<'_>) -> Result<Dir, Errno> {
    // It is opened again: descriptors can't be duplicated.
    Dir::read_from(directory)
}

/// Does nothing: only files can be made durable here, names become so when the system that lends the folder sees fit.
pub fn sync(_folder: &Path) -> io::Result<()> {
    Ok(())
}
