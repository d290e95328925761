//! Extraction: writes the items of an archive into a directory (data layer, section 11).
//!
//! [`Restorer::begin`] is called for the items in the archive's order and makes everything at once but the content of
//! regular files, which is written through an [`OpenFile`]. Most files can be made by another thread instead, see
//! [`Restorer::prepare`]: then [`Busy`] tells what has to wait for them. Nothing outside the target is ever touched: each object is
//! reached from the target's descriptor without following a symbolic link, and is always made new, never written through
//! a name that was there before.
#![forbid(unsafe_code)]

mod attributes;
mod busy;
mod directory;
mod file;
mod hardlink;
mod left_out;
mod problem;
mod special;
mod target;
#[cfg(test)]
mod tests;

pub use busy::Busy;
pub use directory::Left;
pub use file::{FilePart, MadeFile, NewFile, OpenFile};
pub use left_out::LeftOut;
pub use problem::{Cause, Problem};

use crate::filesystem::flags;
use crate::filesystem::names::Names;
use crate::filesystem::stat::{Inode, file_type, mtime};
use crate::system::attributes::EXIST;
use crate::system::stat::has_mode;
use attributes::Attributes;
use directory::Directories;
use hardlink::{HardLinks, Identity};
use portaborg_core::item::{FileType, Item};
use rustix::fs::{Stat, fstat};
use rustix::io::Errno;
use std::borrow::Cow;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use target::{Place, Refusal, Target};

/// What is restored, and how (command line, section 1.2, `extract`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Owners and access control lists by number, not by name.
    pub numeric_ids: bool,
    /// File flags are set.
    pub flags: bool,
    /// Access control lists are set.
    pub acls: bool,
    /// Extended attributes are set.
    pub xattrs: bool,
    /// Chunks of nothing but zeros become holes.
    pub sparse: bool,
    /// Files that are there already, with the right mode, size and modification time, are kept.
    pub continue_extraction: bool,
    /// Bits that parent directories don't get which must be made although the archive has no item for them.
    pub umask: u32,
}

/// An extraction into one directory.
pub struct Restorer {
    target: Target,
    /// What is asked for.
    asked_for: Options,
    /// What of it is possible here.
    options: Options,
    left_out: LeftOut,
    names: Names,
    links: HardLinks,
    directories: Directories,
    guarded: Vec<Guarded>,
    /// Whether new objects may get flags from a directory that was there before.
    flags_inherited: bool,
    problems: Vec<Problem>,
}

/// What [`Restorer::begin`] did with an item.
pub enum Begun {
    /// The object is there. A directory gets its attributes when the items in it are done.
    Done,
    /// It was there already, and the extraction is continued.
    Unchanged,
    /// A regular file that waits for its content.
    File(Box<OpenFile>),
}

/// Flags that forbid changes which are still to come, set when everything is there.
struct Guarded {
    path: Vec<u8>,
    inode: Inode,
    bsdflags: u32,
}

/// What came of making an object.
enum Made<T> {
    New(T),
    Unchanged,
}

impl Default for Options {
    /// Everything is restored; implicit directories are private, by the umask that Borg sets.
    fn default() -> Self {
        Options {
            numeric_ids: false,
            flags: true,
            acls: true,
            xattrs: true,
            sparse: false,
            continue_extraction: false,
            umask: 0o077,
        }
    }
}

impl Options {
    /// Without what there is not on this system.
    fn possible(self) -> Options {
        let Options { flags, acls, xattrs, .. } = self;
        Options { flags: flags && EXIST, acls: acls && EXIST, xattrs: xattrs && EXIST, ..self }
    }
}

impl Restorer {
    /// Extracts into the directory `target`, which must exist.
    pub fn open(target: &Path, options: Options) -> io::Result<Restorer> {
        let target = Target::open(target, options.umask)?;
        let asked_for = options.clone();
        let options = options.possible();
        Ok(Restorer {
            flags_inherited: options.flags && flags::are_inherited(target.root()),
            target,
            asked_for,
            options,
            left_out: LeftOut::default(),
            names: Names::default(),
            links: HardLinks::default(),
            directories: Directories::default(),
            guarded: Vec::new(),
            problems: Vec::new(),
        })
    }

    /// Makes the item's object. Its path must be stripped of leading components before, where that is asked for.
    ///
    /// An error is the end of this item only. Lesser problems, also of directories that are left for it, are given by
    /// [`take_problems`](Self::take_problems).
    pub fn begin(&mut self, item: &Item) -> Result<Begun, Problem> {
        let fail = |cause| Problem { path: item.path.clone(), cause };
        let path = relative(&item.path).map_err(fail)?;
        self.leave_directories(&path);
        let Some(mode) = item.mode else { return Err(fail(Cause::NoMode)) };
        self.note(item);
        match item.file_type() {
            Some(FileType::Directory) => self.begin_directory(item, &path),
            Some(FileType::Regular) if path.is_empty() => Err(self.refused(item, "open", Errno::ISDIR)),
            Some(FileType::Regular) => self.begin_file(item, &path),
            None | Some(FileType::Other(_)) => Err(fail(Cause::UnknownType(mode))),
            Some(_) if path.is_empty() => Err(self.refused(item, "mknod", Errno::EXIST)),
            Some(file_type) if file_type != FileType::Symlink && !EXIST => Ok(Begun::Done),
            Some(file_type) => self.make_special(item, file_type, &path),
        }
    }

    /// Prepares a regular file that depends on nothing but the directory in which it lies, so that any thread can make it.
    /// An error is the end of this item.
    ///
    /// `None` for other items: they need [`begin`](Self::begin).
    pub fn prepare(&mut self, item: &Item) -> Option<Result<NewFile, Problem>> {
        let has_content = item.chunks.is_some() || item.size == Some(0);
        if item.hlid.is_some() || item.file_type() != Some(FileType::Regular) || !has_content {
            return None;
        }
        let path = relative(&item.path).ok().filter(|path| !path.is_empty())?.into_owned();
        self.leave_directories(&path);
        self.note(item);
        let parent = self.place(item, &path).map(|place| place.parent);
        Some(parent.map(|parent| NewFile::new(self, item, path, parent)))
    }

    /// Whether an extraction is continued for which the item need not be read: it is there already.
    pub fn is_there(&mut self, item: &Item) -> bool {
        let Ok(path) = relative(&item.path) else { return false };
        self.options.continue_extraction
            && !path.is_empty()
            && self.target.existing_place(&path).is_ok_and(|place| place.stat().is_ok_and(|stat| is_same(item, &stat)))
    }

    /// The lesser problems since the last call, in order.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// What this system could not restore so far, of any item.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Gives the remaining directories their attributes, deepest first, and returns all problems not taken yet.
    /// All files must be finished before.
    pub fn finish(mut self) -> Vec<Problem> {
        self.leave_all_directories();
        for guarded in std::mem::take(&mut self.guarded) {
            if let Err(errno) = self.guard(&guarded) {
                self.report(&guarded.path, Cause::Flags(errno));
            }
        }
        self.problems
    }

    fn guard(&mut self, guarded: &Guarded) -> Result<(), Errno> {
        use rustix::fs::{Mode, OFlags, openat};
        let file;
        let fd = if guarded.path.is_empty() {
            self.target.root().as_fd()
        } else {
            // What is there now is opened only if it is what was made; what was removed again needs no flags.
            let Ok(place) = self.target.existing_place(&guarded.path) else { return Ok(()) };
            if !place.stat().is_ok_and(|stat| Inode::of(&stat) == guarded.inode) {
                return Ok(());
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            file = openat(&place.parent, place.name, flags, Mode::empty())?;
            file.as_fd()
        };
        if Inode::of(&fstat(fd)?) == guarded.inode { flags::set(fd, guarded.bsdflags) } else { Ok(()) }
    }

    /// Where the item's object belongs.
    fn place<'a>(&mut self, item: &Item, path: &'a [u8]) -> Result<Place<'a>, Problem> {
        self.target.place(path).map_err(|refusal| match refusal {
            Refusal::NotADirectory => Problem { path: item.path.clone(), cause: Cause::SymlinkParent },
            Refusal::Os(errno) => self.refused(item, "makedirs", errno),
        })
    }

    /// Runs `make`, which fails if there is something already; then that is removed, or kept if it is what the item says
    /// and the extraction is continued.
    fn make<T>(
        &mut self,
        item: &Item,
        place: &Place<'_>,
        operation: &'static str,
        make: impl Fn() -> Result<T, Errno>,
    ) -> Result<Made<T>, Problem> {
        let result = match make() {
            Err(Errno::EXIST) => match place.stat() {
                Ok(stat) if self.options.continue_extraction && is_same(item, &stat) => {
                    if item.hlid.is_some()
                        && let Ok(identity) = Identity::at(place)
                    {
                        self.links.remember(item, place.path, identity);
                    }
                    return Ok(Made::Unchanged);
                }
                Ok(stat) => self.clear(place, &stat).and_then(|()| make()),
                Err(_) => make(),
            },
            result => result,
        };
        match result {
            Ok(made) => Ok(Made::New(made)),
            Err(errno) => Err(self.refused(item, operation, errno)),
        }
    }

    /// Removes what is in the way of an item that is no directory.
    fn clear(&mut self, place: &Place<'_>, stat: &Stat) -> Result<(), Errno> {
        let is_directory = file_type(stat) == FileType::Directory;
        place.remove(stat).map_err(|errno| if is_directory { Errno::ISDIR } else { errno })?;
        if is_directory {
            self.target.forget(place.path);
        }
        self.links.forget_inode(Inode::of(stat));
        Ok(())
    }

    fn note(&mut self, item: &Item) {
        if !EXIST {
            self.left_out.note(item, &self.asked_for);
        }
    }

    fn attributes(&mut self, item: &Item) -> Attributes {
        Attributes::new(item, &self.options, self.flags_inherited, &mut self.names)
    }

    fn refused(&self, item: &Item, operation: &'static str, errno: Errno) -> Problem {
        let file = Some(self.target.absolute(&item.path));
        Problem { path: item.path.clone(), cause: Cause::Os { operation, errno, file } }
    }

    fn report(&mut self, path: &[u8], cause: Cause) {
        self.problems.push(Problem { path: path.into(), cause });
    }
}

/// The path below the target in plain components; empty for the target itself.
fn relative(path: &[u8]) -> Result<Cow<'_, [u8]>, Cause> {
    if path.len() > MAX_PATH_BYTES {
        return Err(Cause::Os { operation: "makedirs", errno: Errno::NAMETOOLONG, file: None });
    }
    let components = || path.split(|&byte| byte == b'/');
    if components().any(|component| component == b"..") {
        return Err(Cause::PathTraversal);
    }
    let plain = |component: &&[u8]| !matches!(*component, b"" | b".");
    if components().all(|component| plain(&component)) {
        return Ok(Cow::Borrowed(path));
    }
    Ok(Cow::Owned(components().filter(plain).collect::<Vec<_>>().join(&b'/')))
}

/// Whether what is there was made from this item by an extraction before (data layer, section 11.2). Only regular files
/// are asked about: directories are kept anyway, and the rest is made again.
fn is_same(item: &Item, stat: &Stat) -> bool {
    file_type(stat) == FileType::Regular
        && item.mode.is_some_and(|mode| has_mode(stat, mode))
        && u64::try_from(stat.st_size) == Ok(item.size.unwrap_or_else(|| item.content_size()))
        && mtime(stat) == item.mtime
}

/// Longest path that is extracted, in bytes: four times what Linux takes at once, so that one item can't cost millions of
/// directories.
const MAX_PATH_BYTES: usize = 16 * 1024;
