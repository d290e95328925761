//! Reading extended attributes of an object that is open, or only held.

use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// The way to an object's attributes.
pub enum Node<'a> {
    /// A file, directory or named pipe that is open.
    Open(BorrowedFd<'a>),
    /// A symbolic link or a device. Nothing can be read through a descriptor that only names an object but through `/proc`;
    /// where that is not mounted, or elsewhere than on Linux, there is only the path.
    Named {
        /// Names the object, on Linux.
        handle: Option<BorrowedFd<'a>>,
        /// The object's path.
        path: &'a [u8],
    },
}

impl<'a> Node<'a> {
    /// The object's descriptor, if it is open.
    pub fn open(&self) -> Option<BorrowedFd<'a>> {
        match self {
            Node::Open(file) => Some(*file),
            Node::Named { .. } => None,
        }
    }

    /// The names, each with a zero byte behind it.
    pub fn list_xattrs(&self) -> Result<Vec<u8>, Errno> {
        use rustix::fs::{flistxattr, listxattr, llistxattr};
        filled(|buffer| match self {
            Node::Open(file) => flistxattr(file, buffer),
            Node::Named { handle, path } => {
                by_proc(*handle, buffer, |proc, buffer| listxattr(proc, buffer), |buffer| llistxattr(*path, buffer))
            }
        })
    }

    /// A value; `None` if there is no attribute of that name.
    pub fn xattr(&self, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
        use rustix::fs::{fgetxattr, getxattr, lgetxattr};
        let value = filled(|buffer| match self {
            Node::Open(file) => fgetxattr(file, name, buffer),
            Node::Named { handle, path } => by_proc(
                *handle,
                buffer,
                |proc, buffer| getxattr(proc, name, buffer),
                |buffer| lgetxattr(*path, name, buffer),
            ),
        });
        match value {
            Ok(value) => Ok(Some(value)),
            Err(ABSENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

#[cfg(target_os = "linux")]
fn by_proc(
    handle: Option<BorrowedFd<'_>>,
    buffer: &mut [u8],
    by_handle: impl FnOnce(&[u8], &mut [u8]) -> Result<usize, Errno>,
    by_path: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let Some(handle) = handle else { return by_path(buffer) };
    match by_handle(&super::stat::proc_path(&handle), buffer) {
        Err(Errno::NOENT) => by_path(buffer), // no /proc: what a handle names can't be missing
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn by_proc(
    _handle: Option<BorrowedFd<'_>>,
    buffer: &mut [u8],
    _by_handle: impl FnOnce(&[u8], &mut [u8]) -> Result<usize, Errno>,
    by_path: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    by_path(buffer)
}

/// What `ask` fills in. It is asked again with more room as long as it says that there is too little.
fn filled(ask: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut small = [0; SMALL_BYTES];
    match ask(&mut small) {
        Err(Errno::RANGE) => {}
        len => return Ok(small[..len?].into()),
    }
    let mut buffer = vec![0; SMALL_BYTES];
    loop {
        buffer.resize(buffer.len() * 4, 0);
        match ask(&mut buffer) {
            Err(Errno::RANGE) if buffer.len() < MAX_BYTES => {}
            len => {
                buffer.truncate(len?);
                return Ok(buffer);
            }
        }
    }
}

/// Most lists and values fit; the kernel gets as much memory for an answer as it is offered.
const SMALL_BYTES: usize = 1024;
/// No list and no value is longer, in bytes.
const MAX_BYTES: usize = 16 << 20;

#[cfg(target_os = "macos")]
const ABSENT: Errno = Errno::NOATTR;
#[cfg(not(target_os = "macos"))]
const ABSENT: Errno = Errno::NODATA;
