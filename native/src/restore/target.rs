//! The directory that is extracted into, and the way to what lies below it without ever following a symbolic link.

use crate::filesystem::stat::file_type;
use crate::system::attributes;
use crate::system::ffi::OsStringExt;
use portaborg_core::item::FileType;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// An open target directory. Whatever happens below it is relative to a directory that was reached from it name by name.
pub struct Target {
    root: Arc<OwnedFd>,
    absolute: Vec<u8>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is but one way"))]
    beneath: Beneath,
    implicit_mode: Mode,
    /// Directories that were used of late, the last one in front, by their path below the target.
    recent: Vec<(Vec<u8>, Arc<OwnedFd>)>,
}

/// How a path of several components is opened without following symbolic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beneath {
    /// The kernel does it in one call (Linux 5.6 and later).
    #[cfg(target_os = "linux")]
    Openat2,
    /// Component by component, each without following it.
    Stepwise,
}

/// A name in an open directory.
pub struct Place<'a> {
    /// The directory.
    pub parent: Arc<OwnedFd>,
    /// The last component of `path`.
    pub name: &'a [u8],
    /// The whole path below the target.
    pub path: &'a [u8],
}

/// Why a directory below the target can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A component is a symbolic link or another thing that is no directory.
    NotADirectory,
    /// The system refused.
    Os(Errno),
}

impl Target {
    /// Opens the directory `path`; symbolic links in `path` itself are the user's, and followed.
    ///
    /// `umask` is taken from the mode of directories that must be made although the archive has no item for them.
    pub fn open(path: &Path, umask: u32) -> io::Result<Target> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, path, flags, Mode::empty())?;
        Ok(Target {
            beneath: Beneath::available(&root),
            root: Arc::new(root),
            absolute: std::path::absolute(path)?.into_os_string().into_vec(),
            implicit_mode: Mode::from_bits_truncate((0o777 & !umask) as _) | Mode::RWXU,
            recent: Vec::new(),
        })
    }

    /// The target directory itself.
    pub fn root(&self) -> &Arc<OwnedFd> {
        &self.root
    }

    /// The absolute path of an item, for messages.
    pub fn absolute(&self, path: &[u8]) -> Vec<u8> {
        let mut absolute = self.absolute.clone();
        if absolute.last() != Some(&b'/') {
            absolute.push(b'/');
        }
        absolute.extend_from_slice(path);
        absolute
    }

    /// Where the object `path` belongs. Missing parent directories are made.
    pub fn place<'a>(&mut self, path: &'a [u8]) -> Result<Place<'a>, Refusal> {
        let (parent, name) = split(path);
        Ok(Place { parent: self.directory(parent, true)?, name, path })
    }

    /// Where the object `path` is, if its parent directory is still there.
    pub fn existing_place<'a>(&mut self, path: &'a [u8]) -> Result<Place<'a>, Refusal> {
        let (parent, name) = split(path);
        Ok(Place { parent: self.directory(parent, false)?, name, path })
    }

    /// Must be called when the directory `path` was removed: what is at `path` from now on is another object.
    pub fn forget(&mut self, path: &[u8]) {
        self.recent.retain(|(recent, _)| recent != path && !is_below(recent, path));
    }

    /// Goes component by component from now on, as on a system without `openat2`.
    #[cfg(test)]
    pub fn go_stepwise(&mut self) {
        self.beneath = Beneath::Stepwise;
    }

    fn directory(&mut self, path: &[u8], create: bool) -> Result<Arc<OwnedFd>, Refusal> {
        if path.is_empty() {
            return Ok(self.root.clone());
        }
        if let Some(hit) = self.recent.iter().position(|(recent, _)| recent == path) {
            self.recent[..=hit].rotate_right(1);
            return Ok(self.recent[0].1.clone());
        }
        let nearest = self.recent.iter().filter(|(recent, _)| is_below(path, recent)).max_by_key(|(p, _)| p.len());
        let (start, rest) = match nearest {
            Some((recent, fd)) => (fd.clone(), &path[recent.len() + 1..]),
            None => (self.root.clone(), path),
        };
        let fd = Arc::new(self.descend(&start, rest, create)?);
        self.recent.truncate(RECENT_DIRECTORIES - 1);
        self.recent.insert(0, (path.into(), fd.clone()));
        Ok(fd)
    }

    fn descend(&self, start: &OwnedFd, path: &[u8], create: bool) -> Result<OwnedFd, Refusal> {
        #[cfg(target_os = "linux")]
        if self.beneath == Beneath::Openat2 {
            match open_beneath(start, path) {
                Ok(fd) => return Ok(fd),
                Err(Errno::LOOP | Errno::NOTDIR | Errno::XDEV) => return Err(Refusal::NotADirectory),
                Err(Errno::NOENT) if create => {}
                // A path longer than the system takes at once, or a rename meanwhile.
                Err(Errno::NAMETOOLONG | Errno::AGAIN) => {}
                Err(errno) => return Err(Refusal::Os(errno)),
            }
        }
        let mut current: Option<OwnedFd> = None;
        for name in path.split(|&byte| byte == b'/') {
            let from = current.as_ref().unwrap_or(start);
            let next = match open_step(from, name) {
                Err(Errno::NOENT) if create => match mkdirat(from, name, self.implicit_mode) {
                    Ok(()) | Err(Errno::EXIST) => open_step(from, name),
                    Err(errno) => Err(errno),
                },
                other => other,
            };
            current = Some(next.map_err(|errno| match errno {
                Errno::LOOP | Errno::NOTDIR | Errno::MLINK => Refusal::NotADirectory,
                errno => Refusal::Os(errno),
            })?);
        }
        current.ok_or(Refusal::Os(Errno::NOENT))
    }
}

impl<'a> Place<'a> {
    /// The object `path` in its directory.
    pub fn at(parent: Arc<OwnedFd>, path: &'a [u8]) -> Place<'a> {
        Place { parent, name: split(path).1, path }
    }
}

impl Place<'_> {
    /// What is there, not followed if it is a symbolic link.
    pub fn stat(&self) -> Result<Stat, Errno> {
        statat(&self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens the directory that is there, for its attributes.
    pub fn open_directory(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.parent, self.name, flags, Mode::empty())
    }

    /// Changes the mode of what is there and is no symbolic link.
    pub fn change_mode(&self, mode: Mode) -> Result<(), Errno> {
        attributes::change_mode_at(self.parent.as_fd(), self.name, mode)
    }

    /// Removes what is there: an empty directory or anything else.
    pub fn remove(&self, stat: &Stat) -> Result<(), Errno> {
        let flags = if file_type(stat) == FileType::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        unlinkat(&self.parent, self.name, flags)
    }
}

impl Beneath {
    /// Asks the kernel for what it can do. Old sandboxes answer an unknown call with "not permitted".
    fn available(_root: &OwnedFd) -> Beneath {
        #[cfg(target_os = "linux")]
        if open_beneath(_root, b".").is_ok() {
            return Beneath::Openat2;
        }
        Beneath::Stepwise
    }
}

#[cfg(target_os = "linux")]
fn open_beneath(start: &OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(start, path, STEP, Mode::empty(), resolve)
}

fn open_step(parent: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    // The callers pass neither an empty name nor dots; this keeps it true for every path there will ever be.
    if matches!(name, b"" | b"." | b"..") {
        return Err(Errno::INVAL);
    }
    openat(parent, name, STEP | OFlags::NOFOLLOW, Mode::empty())
}

/// The parent and the last component.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

/// Whether `path` lies strictly below the directory `ancestor`.
pub fn is_below(path: &[u8], ancestor: &[u8]) -> bool {
    path.len() > ancestor.len() && path.starts_with(ancestor) && path[ancestor.len()] == b'/'
}

/// Directories on the way need to be searched only, not read.
#[cfg(target_os = "linux")]
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const STEP: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Directories that are kept open. A depth-first walk needs the current one and its ancestors.
const RECENT_DIRECTORIES: usize = 16;
