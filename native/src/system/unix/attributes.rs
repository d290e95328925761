//! Setting attributes: of what is open, or of a name in an open directory, which is never followed if it is a symbolic link.

use portaborg_core::item::FileType;
use rustix::fs::{AtFlags, Gid, Mode, Uid, XattrFlags, chownat, fchmod, fchown, fsetxattr};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::BorrowedFd;

/// Whether there are owners, permissions, extended attributes, flags, named pipes and devices here at all.
pub const EXIST: bool = true;

/// Changes the numbers of user and group; `None` leaves one as it is.
pub fn change_owner(file: BorrowedFd<'_>, user: Option<u32>, group: Option<u32>) -> Result<(), Errno> {
    fchown(file, user.map(Uid::from_raw), group.map(Gid::from_raw))
}

/// The same for a name.
pub fn change_owner_at(
    parent: BorrowedFd<'_>,
    name: &[u8],
    user: Option<u32>,
    group: Option<u32>,
) -> Result<(), Errno> {
    chownat(parent, name, user.map(Uid::from_raw), group.map(Gid::from_raw), AtFlags::SYMLINK_NOFOLLOW)
}

/// Changes the permissions.
pub fn change_mode(file: BorrowedFd<'_>, mode: Mode) -> Result<(), Errno> {
    fchmod(file, mode)
}

/// The same for a name.
///
/// This goes through a descriptor that only names the object: nobody can put a link in its place meanwhile, a pipe
/// does not block, and a directory need not be readable.
#[cfg(target_os = "linux")]
pub fn change_mode_at(parent: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<(), Errno> {
    use super::stat::proc_path;
    use crate::filesystem::stat::file_type;
    use rustix::fs::{CWD, OFlags, chmodat, fstat, openat};
    let node = openat(parent, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    match file_type(&fstat(&node)?) {
        FileType::Symlink => Err(Errno::LOOP),
        _ => chmodat(CWD, proc_path(&node), mode, AtFlags::empty()),
    }
}

/// The same for a name.
#[cfg(not(target_os = "linux"))]
pub fn change_mode_at(parent: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmodat(parent, name, mode, AtFlags::SYMLINK_NOFOLLOW)
}

/// Sets an extended attribute.
pub fn set_xattr(file: BorrowedFd<'_>, xattr: &[u8], value: &[u8]) -> Result<(), Errno> {
    fsetxattr(file, xattr, value, XattrFlags::empty())
}

/// The same for a name. There is no call for it that is relative to a directory and does not follow links, except through
/// `/proc`.
#[cfg(target_os = "linux")]
pub fn set_xattr_at(parent: BorrowedFd<'_>, name: &[u8], xattr: &[u8], value: &[u8]) -> Result<(), Errno> {
    let mut path = super::stat::proc_path(&parent);
    path.push(b'/');
    path.extend_from_slice(name);
    rustix::fs::lsetxattr(path, xattr, value, XattrFlags::empty())
}

/// The same for a name.
#[cfg(not(target_os = "linux"))]
pub fn set_xattr_at(_parent: BorrowedFd<'_>, _name: &[u8], _xattr: &[u8], _value: &[u8]) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}

/// Makes a named pipe or a device, readable for its owner only.
#[cfg(target_os = "linux")]
pub fn make_node(parent: BorrowedFd<'_>, name: &[u8], file_type: FileType, device: u64) -> Result<(), Errno> {
    use rustix::fs::{FileType as NodeType, mknodat};
    let node_type = match file_type {
        FileType::CharDevice => NodeType::CharacterDevice,
        FileType::BlockDevice => NodeType::BlockDevice,
        _ => NodeType::Fifo,
    };
    // The system would cut a longer number off and make another device.
    let device = u32::try_from(device).map_err(|_| Errno::INVAL)?;
    mknodat(parent, name, node_type, Mode::RUSR | Mode::WUSR, device.into())
}

/// There is no call for it that is relative to a directory.
#[cfg(not(target_os = "linux"))]
pub fn make_node(_parent: BorrowedFd<'_>, _name: &[u8], _file_type: FileType, _device: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}

/// Closes a file that was written to. Network file systems may tell only now that the content could not be stored.
pub fn close(file: File) -> Result<(), Errno> {
    nix::unistd::close(file).map_err(|errno| Errno::from_raw_os_error(errno as i32))
}
