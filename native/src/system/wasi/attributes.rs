//! Attributes, of which there are none here but times.

use portaborg_core::item::FileType;
use rustix::fs::Mode;
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::BorrowedFd;

/// Whether there are owners, permissions, extended attributes, flags, named pipes and devices here at all.
pub const EXIST: bool = false;

/// Does nothing: who lends the folder owns what is made in it.
pub fn change_owner(_file: BorrowedFd<'_>, _user: Option<u32>, _group: Option<u32>) -> Result<(), Errno> {
    Ok(())
}

/// Does nothing.
pub fn change_owner_at(
    _parent: BorrowedFd<'_>,
    _name: &[u8],
    _user: Option<u32>,
    _group: Option<u32>,
) -> Result<(), Errno> {
    Ok(())
}

/// Does nothing: what is made has the permissions that who lends the folder gives it.
pub fn change_mode(_file: BorrowedFd<'_>, _mode: Mode) -> Result<(), Errno> {
    Ok(())
}

/// Does nothing.
pub fn change_mode_at(_parent: BorrowedFd<'_>, _name: &[u8], _mode: Mode) -> Result<(), Errno> {
    Ok(())
}

/// Is refused.
pub fn set_xattr(_file: BorrowedFd<'_>, _xattr: &[u8], _value: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

/// Is refused.
pub fn set_xattr_at(_parent: BorrowedFd<'_>, _name: &[u8], _xattr: &[u8], _value: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

/// Is refused.
pub fn make_node(_parent: BorrowedFd<'_>, _name: &[u8], _file_type: FileType, _device: u64) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

/// Closes a file that was written to. That it failed is not told.
pub fn close(file: File) -> Result<(), Errno> {
    drop(file);
    Ok(())
}
