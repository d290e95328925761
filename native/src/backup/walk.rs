//! Going through the file system (data layer, section 10.1).

use super::ahead::{Place, Task};
use super::entries::{Entry, entries, tags};
use super::levels::{End, Level, Levels};
use super::object::{Object, look};
use super::path::{join, strip_prefix};
use super::problem::{Cause, Fault, Problem};
use super::sink::Observer;
use super::status::Status;
use crate::failure::Failure;
use crate::filesystem::stat::{Inode, file_type};
use crate::interrupt;
use portaborg_core::item::FileType;
use portaborg_core::pattern::{PatternMatcher, normpath};
use rustix::fs::{CWD, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Which objects are gone to, apart from patterns (command line, section 1.2, `create`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// What is mounted below a root is not entered.
    pub one_file_system: bool,
    /// Directories that a `CACHEDIR.TAG` declares to be caches are left out.
    pub exclude_caches: bool,
    /// Directories with an object of such a name are left out.
    pub exclude_if_present: Vec<Vec<u8>>,
    /// Of directories that are left out because of a tag, the directory itself and its tags are archived.
    pub keep_exclude_tags: bool,
    /// Files whose content is elsewhere are left out (macOS).
    pub exclude_dataless: bool,
}

/// What is done with the objects that are found.
pub trait Visitor {
    /// A directory, which is open, before what is in it. If it turns out to be [excluded](Status::Excluded), it is not entered.
    fn directory(&mut self, object: &Object<'_>, directory: BorrowedFd<'_>) -> Result<Option<Status>, Fault>;

    /// Anything: an object that is no directory, or a directory that is not entered. No status if there is nothing to tell.
    fn object(&mut self, object: &Object<'_>) -> Result<Option<Status>, Fault>;

    /// Whether regular files need not be looked at before they are [shown](Visitor::file).
    fn has_workers(&self) -> bool {
        false
    }

    /// A regular file that is included and was not looked at. The visitor tells its status.
    fn file(&mut self, _task: Task) -> Result<(), Failure> {
        Ok(())
    }
}

/// Goes through the file system and knows where it has been.
pub struct Walk<'a> {
    options: &'a Options,
    observer: &'a dyn Observer,
    matcher: PatternMatcher,
    /// Where not to go (again).
    skipped: HashSet<Inode>,
}

/// One way down from a root.
struct Descent<'w, 'a, V> {
    walk: &'w mut Walk<'a>,
    visitor: &'w mut V,
    strip_prefix: Option<Arc<[u8]>>,
    /// The only file system to stay on.
    device: Option<u64>,
    levels: Levels,
}

/// What came of looking at an object.
enum Step {
    /// It is a directory that was entered; its end is told when it is left.
    Entered,
    /// It is done.
    Done(Option<Status>),
}

impl<'a> Walk<'a> {
    /// Goes where `options` and `matcher` let it.
    pub fn new(options: &'a Options, matcher: PatternMatcher, observer: &'a dyn Observer) -> Self {
        Walk { options, observer, matcher, skipped: HashSet::new() }
    }

    /// Never goes to what is at this path, if there is anything: Borg's cache, a local repository.
    pub fn skip(&mut self, path: &[u8]) {
        if let Ok(stat) = look(CWD, path, true) {
            self.skipped.insert(Inode::of(&stat));
        }
    }

    /// Goes to the object at a path that was given and to everything below it. Unlike all others, it is what a symbolic link
    /// there points to.
    pub fn root(&mut self, given: &[u8], visitor: &mut impl Visitor) -> Result<(), Failure> {
        if given.is_empty() {
            self.warn(given, Cause::EmptyPath);
            return Ok(());
        }
        let path = normpath(given);
        let (stat, follow) = match look_at_root(&path) {
            Ok(found) => found,
            Err(cause) => {
                self.warn(&path, cause);
                return Ok(());
            }
        };
        let inode = Inode::of(&stat);
        let device = self.options.one_file_system.then_some(inode.device);
        let strip_prefix = strip_prefix(given).map(Arc::from);
        let mut descent = Descent { walk: &mut *self, visitor, strip_prefix, device, levels: Levels::default() };
        descent.go_to(&path, CWD, &path, Some((stat, follow)))?;
        descent.run()?;
        self.skipped.insert(inode);
        Ok(())
    }

    /// Goes to the very object at a path that was given, whatever patterns say, and not below it.
    pub fn single(&mut self, given: &[u8], visitor: &mut impl Visitor) -> Result<(), Failure> {
        interrupt::check()?;
        let path = normpath(given);
        let strip_prefix = strip_prefix(given);
        let strip_prefix = strip_prefix.as_deref();
        let visited = look(CWD, &path, false).map_err(Fault::Object).and_then(|stat| {
            visitor.object(&Object { path: &path, parent: CWD, name: &path, stat, follow: false, strip_prefix })
        });
        let status = settle(self.observer, &path, visited)?;
        tell(self.observer, &path, status);
        Ok(())
    }

    fn warn(&self, path: &[u8], cause: Cause) {
        self.observer.warn(&Problem { path: path.into(), cause });
    }
}

/// The status of an object for which there may have been a problem.
pub(super) fn settle(
    observer: &dyn Observer,
    path: &[u8],
    visited: Result<Option<Status>, Fault>,
) -> Result<Option<Status>, Failure> {
    match visited {
        Ok(status) => Ok(status),
        Err(Fault::End(failure)) => Err(failure),
        Err(Fault::Object(cause)) => {
            observer.warn(&Problem { path: path.into(), cause });
            Ok(Some(Status::Error))
        }
    }
}

/// Tells a status, and counts it.
pub(super) fn tell(observer: &dyn Observer, path: &[u8], status: Option<Status>) {
    let Some(status) = status else { return };
    if status == Status::Changed {
        observer.warn(&Problem { path: path.into(), cause: Cause::Changed });
    }
    observer.status(status, path);
    observer.count(status);
}

impl<V: Visitor> Descent<'_, '_, V> {
    fn run(&mut self) -> Result<(), Failure> {
        while let Some(level) = self.levels.last_mut() {
            interrupt::check()?;
            match level.next() {
                Some((directory, Entry { name, file })) => {
                    let path = level.path_of(&name);
                    match file.filter(|&number| self.is_left_to_workers(number)) {
                        Some(number) => self.hand_over(path, &name, directory, number)?,
                        None => self.go_to(&path, directory.as_fd(), &name, None)?,
                    }
                }
                None => self.leave(),
            }
        }
        Ok(())
    }

    /// Whether a regular file need not be looked at here: nothing but patterns can exclude it.
    fn is_left_to_workers(&self, number: u64) -> bool {
        self.visitor.has_workers()
            && !self.walk.options.exclude_dataless
            && !self.walk.skipped.iter().any(|skipped| skipped.number == number)
    }

    fn hand_over(&mut self, path: Vec<u8>, name: &[u8], parent: Arc<OwnedFd>, number: u64) -> Result<(), Failure> {
        if !self.walk.matcher.match_path(&path).map_err(Failure::command)?.included {
            self.walk.observer.status(Status::Excluded, &path);
            return Ok(());
        }
        let name_at = path.len() - name.len();
        let place = Place { name_at, parent, number, strip_prefix: self.strip_prefix.clone() };
        self.visitor.file(Task { path, place })
    }

    /// What is excluded and not entered is not even looked at: that could fail, or wake up something.
    fn go_to(
        &mut self,
        path: &[u8],
        parent: BorrowedFd<'_>,
        name: &[u8],
        seen: Option<(Stat, bool)>,
    ) -> Result<(), Failure> {
        let verdict = self.walk.matcher.match_path(path).map_err(Failure::command)?;
        if !verdict.included {
            self.walk.observer.status(Status::Excluded, path);
            if !verdict.recurse {
                return Ok(());
            }
        }
        let visited = match seen.map_or_else(|| Ok((look(parent, name, false)?, false)), Ok) {
            Ok((stat, follow)) => {
                let strip_prefix = self.strip_prefix.clone();
                let strip_prefix = strip_prefix.as_deref();
                self.visit(Object { path, parent, name, stat, follow, strip_prefix }, verdict.included)
            }
            Err(cause) => Err(Fault::Object(cause)),
        };
        let status = match visited {
            Ok(Step::Entered) => return Ok(()),
            Ok(Step::Done(status)) => status,
            Err(fault) => settle(self.walk.observer, path, Err(fault))?,
        };
        if verdict.included {
            tell(self.walk.observer, path, status);
        }
        Ok(())
    }

    fn visit(&mut self, mut object: Object<'_>, included: bool) -> Result<Step, Fault> {
        let is_directory = object.file_type() == FileType::Directory;
        if (!included && !is_directory) || self.walk.skipped.contains(&Inode::of(&object.stat)) {
            return Ok(Step::Done(None));
        }
        if self.walk.options.exclude_dataless && is_dataless(&object.stat) {
            self.walk.observer.status(Status::Skipped, object.path);
            return Ok(Step::Done(None));
        }
        if !is_directory {
            return self.visitor.object(&object).map(Step::Done);
        }
        let directory = object.open(OFlags::DIRECTORY, "dir_open")?;
        object.stat = object.confirm_open(directory.as_fd())?;
        let inode = Inode::of(&object.stat);
        let enters = self.device.is_none_or(|device| device == inode.device);
        let tags = if enters { tags(directory.as_fd(), self.walk.options) } else { Vec::new() };
        let is_kept = tags.is_empty() || (included && self.walk.options.keep_exclude_tags);
        if !is_kept {
            if included {
                self.walk.observer.status(Status::Excluded, object.path);
            }
            return Ok(Step::Done(None));
        }
        let status = if included { self.visitor.directory(&object, directory.as_fd())? } else { None };
        if !enters || status == Some(Status::Excluded) {
            return Ok(Step::Done(status));
        }
        let (names, end) = if !tags.is_empty() {
            (tags, End::Line(Status::Excluded))
        } else {
            (entries(directory.as_fd())?, if included { End::Status(status) } else { End::Silent })
        };
        self.levels.push(Level::new(Arc::new(directory), inode, object.path.into(), names, end));
        Ok(Step::Entered)
    }

    /// Leaves a directory and goes on in the one above.
    fn leave(&mut self) {
        let Some((left, lost)) = self.levels.pop() else { return };
        match left.end {
            End::Status(status) => tell(self.walk.observer, &left.path, status),
            End::Line(status) => self.walk.observer.status(status, &left.path),
            End::Silent => {}
        }
        if let Some(problem) = lost {
            self.walk.observer.warn(&problem);
        }
    }
}

/// What a root is, and whether that is behind a symbolic link.
fn look_at_root(path: &[u8]) -> Result<(Stat, bool), Cause> {
    let stat = look(CWD, path, false)?;
    if file_type(&stat) != FileType::Symlink {
        return Ok((stat, false));
    }
    match look(CWD, path, true) {
        Err(Cause::Os { errno: Errno::NOENT, .. }) => Err(Cause::BrokenSymlink),
        found => found.map(|stat| (stat, true)),
    }
}

#[cfg(target_os = "macos")]
fn is_dataless(stat: &Stat) -> bool {
    const SF_DATALESS: u32 = 0x4000_0000;
    stat.st_flags & SF_DATALESS != 0
}

#[cfg(not(target_os = "macos"))]
fn is_dataless(_stat: &Stat) -> bool {
    false
}

impl Level {
    /// The path of an entry. Only a tag's name can have more than one component.
    fn path_of(&self, name: &[u8]) -> Vec<u8> {
        let path = join(&self.path, name);
        if name.contains(&b'/') || name == b".." || name == b"." { normpath(&path) } else { path }
    }
}
