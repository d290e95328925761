//! An object of the file system on the way into an archive.

use super::problem::Cause;
use crate::filesystem::stat::{Inode, file_type};
use crate::system::stat::{is_read_only, set_atime};
use portaborg_core::item::FileType;
use rustix::fs::{Access, AtFlags, Mode, OFlags, Stat, accessat, fstat, openat, statat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// What was found, and where.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    /// The normalised path that was walked, for messages and patterns.
    pub path: &'a [u8],
    /// The directory that `name` is relative to.
    pub parent: BorrowedFd<'a>,
    /// The name in `parent`.
    pub name: &'a [u8],
    /// What the first look said.
    pub stat: Stat,
    /// It is what a symbolic link at `name` points to.
    pub follow: bool,
    /// Left out of the item's path (data layer, section 10.2).
    pub strip_prefix: Option<&'a [u8]>,
}

impl Object<'_> {
    /// Its type at the first look.
    pub fn file_type(&self) -> FileType {
        file_type(&self.stat)
    }

    /// Looks again.
    pub fn look(&self, follow: bool) -> Result<Stat, Cause> {
        look(self.parent, self.name, follow)
    }

    /// Whether it is on a file system that can't be written to, which is as it is to stay, such as a snapshot.
    fn is_read_only(&self) -> bool {
        accessat(self.parent, self.name, Access::WRITE_OK, AtFlags::empty()) == Err(Errno::ROFS)
    }

    /// Opens it for reading. Its time of access stays, where that is allowed.
    ///
    /// With [`OFlags::PATH`], it is only held.
    pub fn open(&self, flags: OFlags, operation: &'static str) -> Result<OwnedFd, Cause> {
        let nofollow = if self.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        open(self.parent, self.name, flags | nofollow).map_err(Cause::os_on(operation, self.name))
    }

    /// Requires that what is open now is what was looked at first, and gives what is to be archived of it: everything is
    /// as it is now, but the access may have been our own.
    pub fn confirm(&self, now: Stat) -> Result<Stat, Cause> {
        if file_type(&self.stat) != file_type(&now) {
            return Err(Cause::TypeChanged);
        }
        if self.stat.st_ino != now.st_ino {
            return Err(Cause::InodeChanged);
        }
        let mut confirmed = now;
        set_atime(&mut confirmed, &self.stat);
        Ok(confirmed)
    }

    /// [`confirm`](Self::confirm) for an open file.
    pub fn confirm_open(&self, file: BorrowedFd<'_>) -> Result<Stat, Cause> {
        self.confirm(fstat(file).map_err(Cause::os("fstat"))?)
    }
}

/// What is known of a directory, so that not each of its files need be asked: whether it is on a file system that can't be
/// written to.
#[derive(Default)]
pub struct ReadOnly {
    directory: Option<Arc<OwnedFd>>,
    /// Its device, and the answer.
    known: Option<(u64, bool)>,
}

impl ReadOnly {
    /// From now on objects are in this directory, under the inode numbers that it has of them: nothing is mounted there.
    pub fn enter(&mut self, directory: &Arc<OwnedFd>) {
        if self.directory.as_ref().is_some_and(|last| Arc::ptr_eq(last, directory)) {
            return;
        }
        let known = fstat(directory).and_then(|stat| Ok((Inode::of(&stat).device, is_read_only(directory.as_fd())?)));
        (self.directory, self.known) = (Some(Arc::clone(directory)), known.ok());
    }

    /// Whether an object is on a file system that can't be written to, which is as it is to stay, such as a snapshot.
    pub fn has(&self, object: &Object<'_>, stat: &Stat) -> bool {
        match self.known {
            Some((device, is_read_only)) if device == Inode::of(stat).device => is_read_only,
            _ => object.is_read_only(),
        }
    }
}

/// What is at `name`.
pub fn look(parent: BorrowedFd<'_>, name: &[u8], follow: bool) -> Result<Stat, Cause> {
    let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
    statat(parent, name, flags).map_err(Cause::os_on("stat", name))
}

/// Opens for reading without leaving a trace, if that is allowed.
pub fn open(parent: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    match openat(parent, name, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => {} // only the owner may
        result => return result,
    }
    openat(parent, name, flags, Mode::empty())
}
