//! Extended attributes, which no object has here.

use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// The way to an object's attributes.
pub enum Node<'a> {
    /// A file, directory or named pipe that is open.
    Open(BorrowedFd<'a>),
    /// A symbolic link or a device.
    #[allow(dead_code, reason = "there is nothing to ask it for")]
    Named {
        /// Names the object, where that is possible.
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

    /// They can't be listed.
    pub fn list_xattrs(&self) -> Result<Vec<u8>, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// There is none of that name.
    pub fn xattr(&self, _name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
        Ok(None)
    }
}
