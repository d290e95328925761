//! What is in a directory.

use super::object::open;
use super::problem::Cause;
use super::walk::Options;
use crate::filesystem::stat::file_type;
use crate::system::folder::list;
use portaborg_core::item::FileType;
use rustix::fs::{AtFlags, OFlags, fstat, statat};
use rustix::io::{read, retry_on_intr};
use std::os::fd::{AsFd, BorrowedFd};

/// What a directory says of an object that is in it.
pub struct Entry {
    /// Its name. A tag's may be a path.
    pub name: Vec<u8>,
    /// Its inode number, if it is a regular file.
    pub file: Option<u64>,
}

/// What is in a directory, by inode number: that is about the order in which it is on disk.
pub fn entries(directory: BorrowedFd<'_>) -> Result<Vec<Entry>, Cause> {
    let mut found = Vec::new();
    for entry in list(directory).map_err(Cause::os("scandir"))? {
        let entry = entry.map_err(Cause::os("scandir"))?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            let file = (entry.file_type() == rustix::fs::FileType::RegularFile).then_some(entry.ino());
            found.push((entry.ino(), Entry { name: name.to_vec(), file }));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

/// The objects in a directory because of which it is left out.
pub fn tags(directory: BorrowedFd<'_>, options: &Options) -> Vec<Entry> {
    let mut tags = Vec::new();
    if options.exclude_caches && is_cache(directory) {
        tags.push(Entry { name: CACHE_TAG.to_vec(), file: None });
    }
    for name in &options.exclude_if_present {
        if statat(directory, &**name, AtFlags::empty()).is_ok() {
            tags.push(Entry { name: name.clone(), file: None });
        }
    }
    tags
}

fn is_cache(directory: BorrowedFd<'_>) -> bool {
    let Ok(tag) = open(directory, CACHE_TAG, OFlags::NONBLOCK) else { return false };
    // Reading from a device could do anything.
    if !fstat(&tag).is_ok_and(|stat| file_type(&stat) == FileType::Regular) {
        return false;
    }
    let mut begin = [0; CACHE_SIGNATURE.len()];
    retry_on_intr(|| read(tag.as_fd(), &mut begin[..])) == Ok(begin.len()) && begin == *CACHE_SIGNATURE
}

const CACHE_TAG: &[u8] = b"CACHEDIR.TAG";
/// What the file of that name begins with (<https://bford.info/cachedir/>).
const CACHE_SIGNATURE: &[u8; 43] = b"Signature: 8a477f597d28d172789f06886806bc55";
