//! What the system says of an object: its type, size and times.

use portaborg_core::time::{NANOS_PER_SEC, Timestamp};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// Whether `..` in an open directory is the one above: that could lead out of the sandbox.
pub const LEADS_UP: bool = false;

/// The type of what was examined, with the permissions that most objects of that type have: they are not told.
pub fn mode(stat: &Stat) -> u32 {
    let permissions = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => 0o755,
        FileType::Symlink => 0o777,
        _ => 0o644,
    };
    type_bits(stat.st_mode) | permissions
}

/// Whether what was examined has this type; nothing more is told.
pub fn has_mode(stat: &Stat, wanted: u32) -> bool {
    type_bits(stat.st_mode) == type_bits(wanted)
}

/// Not told.
pub fn owner(_stat: &Stat) -> Option<(u32, u32)> {
    None
}

/// Not told.
pub fn device(_stat: &Stat) -> Option<u64> {
    None
}

/// The last access.
pub fn atime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_atim.tv_sec, stat.st_atim.tv_nsec)
}

/// Takes over the last access from another look at the same object.
pub fn set_atime(stat: &mut Stat, other: &Stat) {
    stat.st_atim = other.st_atim;
}

/// The last change of the content.
pub fn mtime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec)
}

/// The last change of the inode.
pub fn ctime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_ctim.tv_sec, stat.st_ctim.tv_nsec)
}

/// Not told.
pub fn birthtime(_stat: &Stat) -> Option<Timestamp> {
    None
}

fn timestamp(secs: i64, nanos: impl Into<i128>) -> Timestamp {
    Timestamp::from_nanos(i128::from(secs) * i128::from(NANOS_PER_SEC) + nanos.into())
}

/// Not told, so it is taken for one that may be written to.
pub fn is_read_only(_file: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(false)
}

/// Holes are not told.
pub fn next_data(_file: BorrowedFd<'_>, _from: u64) -> Result<u64, Errno> {
    Err(Errno::NOTSUP)
}

/// Holes are not told.
pub fn next_hole(_file: BorrowedFd<'_>, _from: u64) -> Result<u64, Errno> {
    Err(Errno::NOTSUP)
}

fn type_bits(mode: u32) -> u32 {
    mode & 0o170_000
}
