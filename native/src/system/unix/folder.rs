//! Folders.

use rustix::fs::Dir;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// What is in an open directory.
pub fn list(directory: BorrowedFd<'_>) -> Result<Dir, Errno> {
    // A descriptor of its own, but the same open directory: it was opened so that reading leaves no trace.
    let own = directory.try_clone_to_owned();
    Dir::new(own.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?)
}

/// Returns once the names in a folder would survive a crash of the machine.
pub fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
