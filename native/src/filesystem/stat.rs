//! What the system says of an object.

pub use crate::system::stat::{atime, birthtime, ctime, mode, mtime};
use portaborg_core::item::FileType;
use rustix::fs::Stat;

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
    FileType::of_mode(mode(stat))
}
