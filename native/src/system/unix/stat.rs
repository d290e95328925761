//! What the system says of an object.

use portaborg_core::time::Timestamp;
use rustix::fs::{SeekFrom, Stat, StatVfsMountFlags, fstatvfs, seek};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// Whether `..` in an open directory is the one above.
pub const LEADS_UP: bool = true;

/// The type and the permissions of what was examined.
#[allow(clippy::useless_conversion, reason = "the field is narrower on macOS")]
pub fn mode(stat: &Stat) -> u32 {
    stat.st_mode.into()
}

/// Whether what was examined has this type and these permissions.
pub fn has_mode(stat: &Stat, wanted: u32) -> bool {
    mode(stat) == wanted
}

/// The numbers of user and group.
pub fn owner(stat: &Stat) -> Option<(u32, u32)> {
    Some((stat.st_uid, stat.st_gid))
}

/// The number of a device.
#[allow(clippy::unnecessary_cast, reason = "the field has another type on macOS")]
pub fn device(stat: &Stat) -> Option<u64> {
    Some(stat.st_rdev as u64)
}

/// The last access.
pub fn atime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_atime, stat.st_atime_nsec)
}

/// Takes over the last access from another look at the same object.
pub fn set_atime(stat: &mut Stat, other: &Stat) {
    stat.st_atime = other.st_atime;
    stat.st_atime_nsec = other.st_atime_nsec;
}

/// The last change of the content.
pub fn mtime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_mtime, stat.st_mtime_nsec)
}

/// The last change of the inode.
pub fn ctime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_ctime, stat.st_ctime_nsec)
}

/// The creation, where it is told.
#[cfg(target_os = "macos")]
pub fn birthtime(stat: &Stat) -> Option<Timestamp> {
    Some(timestamp(stat.st_birthtime, stat.st_birthtime_nsec))
}

/// The creation, where it is told. Borg does not ask for it on Linux.
#[cfg(not(target_os = "macos"))]
pub fn birthtime(_stat: &Stat) -> Option<Timestamp> {
    None
}

/// The fields have other types elsewhere.
fn timestamp(secs: impl Into<i128>, nanos: impl Into<i128>) -> Timestamp {
    Timestamp::from_nanos(secs.into() * 1_000_000_000 + nanos.into())
}

/// Whether an open object is on a file system that can't be written to.
pub fn is_read_only(file: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(fstatvfs(file)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Where the next data is, from a position on.
pub fn next_data(file: BorrowedFd<'_>, from: u64) -> Result<u64, Errno> {
    seek(file, SeekFrom::Data(from))
}

/// Where the next hole is, from a position on.
pub fn next_hole(file: BorrowedFd<'_>, from: u64) -> Result<u64, Errno> {
    seek(file, SeekFrom::Hole(from))
}

/// The name under which Linux shows an open file to its process.
#[cfg(target_os = "linux")]
pub fn proc_path(fd: &impl std::os::fd::AsFd) -> Vec<u8> {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into_bytes()
}
