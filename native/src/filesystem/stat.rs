//! What the system says of an object.

use portaborg_core::time::Timestamp;
use rustix::fs::{FileType, Stat};

/// Identifies an object of the file system as long as it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inode {
    /// The file system.
    pub device: u64,
    /// The object's number in it.
    pub number: u64,
}

impl Inode {
    /// Of what was examined.
    #[allow(clippy::unnecessary_cast, reason = "the fields have other types on macOS")]
    pub fn of(stat: &Stat) -> Inode {
        Inode { device: stat.st_dev as u64, number: stat.st_ino as u64 }
    }
}

/// The type of what was examined.
pub fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The type and the permissions of what was examined.
#[allow(clippy::useless_conversion, reason = "the field is narrower on macOS")]
pub fn mode(stat: &Stat) -> u32 {
    stat.st_mode.into()
}

/// The last access.
pub fn atime(stat: &Stat) -> Timestamp {
    timestamp(stat.st_atime, stat.st_atime_nsec)
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

/// The name under which Linux shows an open file to its process.
#[cfg(target_os = "linux")]
pub fn proc_path(fd: &impl std::os::fd::AsFd) -> Vec<u8> {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into_bytes()
}
