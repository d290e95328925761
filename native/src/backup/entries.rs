//! What is in a directory.

use super::object::open;
use super::problem::Cause;
use super::walk::Options;
use crate::filesystem::stat::file_type;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};
use rustix::io::{read, retry_on_intr};
use std::os::fd::{AsFd, BorrowedFd};

/// The names in a directory, by inode number: that is about the order in which they are on disk.
pub fn entries(directory: BorrowedFd<'_>) -> Result<Vec<Vec<u8>>, Cause> {
    // A descriptor of its own, but the same open directory: it was opened so that reading leaves no trace.
    let own = directory.try_clone_to_owned().map_err(|error| {
        let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
        Cause::os("scandir")(errno)
    })?;
    let mut found = Vec::new();
    for entry in Dir::new(own).map_err(Cause::os("scandir"))? {
        let entry = entry.map_err(Cause::os("scandir"))?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            found.push((entry.ino(), name.to_vec()));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    Ok(found.into_iter().map(|(_, name)| name).collect())
}

/// The objects in a directory because of which it is left out.
pub fn tags(directory: BorrowedFd<'_>, options: &Options) -> Vec<Vec<u8>> {
    let mut tags = Vec::new();
    if options.exclude_caches && is_cache(directory) {
        tags.push(CACHE_TAG.to_vec());
    }
    for name in &options.exclude_if_present {
        if statat(directory, &**name, AtFlags::empty()).is_ok() {
            tags.push(name.clone());
        }
    }
    tags
}

fn is_cache(directory: BorrowedFd<'_>) -> bool {
    let Ok(tag) = open(directory, CACHE_TAG, OFlags::NONBLOCK) else { return false };
    // Reading from a device could do anything.
    if !fstat(&tag).is_ok_and(|stat| file_type(&stat) == FileType::RegularFile) {
        return false;
    }
    let mut begin = [0; CACHE_SIGNATURE.len()];
    retry_on_intr(|| read(tag.as_fd(), &mut begin[..])) == Ok(begin.len()) && begin == *CACHE_SIGNATURE
}

const CACHE_TAG: &[u8] = b"CACHEDIR.TAG";
/// What the file of that name begins with (<https://bford.info/cachedir/>).
const CACHE_SIGNATURE: &[u8; 43] = b"Signature: 8a477f597d28d172789f06886806bc55";
