//! The directories between a root and where the walk is.

use super::entries::Entry;
use super::object::open;
use super::problem::{Cause, Problem};
use super::status::Status;
use crate::filesystem::stat::Inode;
use crate::system::stat::LEADS_UP;
use rustix::fs::{OFlags, fstat};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::vec;

/// The open directories, the root first. However deep it goes, there is a limit to how many are really open, if they can be
/// opened again from below.
#[derive(Default)]
pub struct Levels(Vec<Level>);

/// A directory whose entries are gone through.
pub struct Level {
    /// `None` while it is closed for being far above.
    directory: Option<Arc<OwnedFd>>,
    inode: Inode,
    entries: vec::IntoIter<Entry>,
    /// The path that was walked to it.
    pub path: Vec<u8>,
    /// What is told when it is left.
    pub end: End,
}

/// What is told of a directory after what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its status.
    Status(Option<Status>),
    /// A line that does not count.
    Line(Status),
    /// Nothing: an excluded directory was told of before.
    Silent,
}

impl Level {
    /// A directory with these entries.
    pub fn new(directory: Arc<OwnedFd>, inode: Inode, path: Vec<u8>, entries: Vec<Entry>, end: End) -> Self {
        Level { directory: Some(directory), inode, entries: entries.into_iter(), path, end }
    }

    /// The directory and its next entry.
    pub fn next(&mut self) -> Option<(Arc<OwnedFd>, Entry)> {
        Some((self.directory.clone()?, self.entries.next()?))
    }

    /// Opens it again from a directory that was in it. If that is somewhere else now, the remaining entries are lost.
    fn reopen(&mut self, below: Option<&OwnedFd>) -> Result<(), Cause> {
        let below = below.ok_or(Cause::InodeChanged)?;
        let directory = open(below.as_fd(), b"..", OFlags::DIRECTORY | OFlags::NOFOLLOW);
        let directory = directory.map_err(Cause::os_on("dir_open", b".."))?;
        if Inode::of(&fstat(&directory).map_err(Cause::os("fstat"))?) != self.inode {
            return Err(Cause::InodeChanged);
        }
        self.directory = Some(Arc::new(directory));
        Ok(())
    }
}

impl Levels {
    /// The deepest directory.
    pub fn last_mut(&mut self) -> Option<&mut Level> {
        self.0.last_mut()
    }

    /// Goes down. Those near the root stay open: nobody who moves a deep directory away can make them be lost.
    pub fn push(&mut self, level: Level) {
        self.0.push(level);
        if let Some(far) = self.0.len().checked_sub(RECENT_LEVELS + 1)
            && far >= PINNED_LEVELS
            && LEADS_UP
        {
            self.0[far].directory = None;
        }
    }

    /// Goes up. There is a problem if the rest of the directory above is lost.
    pub fn pop(&mut self) -> Option<(Level, Option<Problem>)> {
        let left = self.0.pop()?;
        let lost = self.0.last_mut().filter(|above| above.directory.is_none()).and_then(|above| {
            let cause = above.reopen(left.directory.as_deref()).err().filter(|_| above.entries.len() > 0)?;
            above.entries = Vec::new().into_iter();
            above.end = End::Status(Some(Status::Error));
            Some(Problem { path: above.path.clone(), cause })
        });
        Some((left, lost))
    }
}

/// Directories that are never closed, from the root down.
const PINNED_LEVELS: usize = 64;
/// Directories that are open, from the deepest up.
const RECENT_LEVELS: usize = 64;
