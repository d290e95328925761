//! From objects to items (data layer, sections 8 and 10).

use super::ahead::{Task, Tried};
use super::attributes::{Attributes, Selection, is_excluded};
use super::hardlinks::{HardLinks, Name};
use super::object::{Object, ReadOnly};
use super::order::{Order, Waiting};
use super::path::item_path;
use super::problem::{Cause, Fault, Problem};
use super::read::{self, Reader, now};
use super::sink::{Known, Observer, Part, Sink};
use super::status::Status;
use super::walk::Visitor;
use crate::failure::Failure;
use crate::filesystem::names::Names;
use crate::filesystem::stat::{Inode, ctime, file_type, mtime};
use crate::interrupt;
use crate::system::stat::device;
use crate::system::xattr::Node;
use portaborg_core::bytes::lossy;
use portaborg_core::files_cache::FileState;
use portaborg_core::item::{FileType, Item};
use rustix::fs::{OFlags, Stat, fstat};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;
use std::vec;

/// Makes items of objects and hands them to a sink.
pub struct Collector<'a, S: Sink> {
    pub(super) sink: &'a mut S,
    pub(super) attributes: Attributes<'a>,
    pub(super) order: &'a Order<'a>,
    reading: &'a read::Options,
    links: HardLinks<S::Content>,
    pub(super) directory: ReadOnly,
    /// Files for workers that were not handed over, and in how many directories they are.
    pub(super) tasks: Vec<Task>,
    pub(super) task_parents: usize,
    /// What came of files, and was not taken in.
    pub(super) tried: vec::IntoIter<Tried<S::Trace>>,
}

/// An item that has a path, and which of its object's names that is.
type Begun<C> = (Item, Name<C>);

impl<'a, S: Sink> Collector<'a, S> {
    /// Hands everything to `sink`.
    pub fn new(selection: &'a Selection, reading: &'a read::Options, order: &'a Order<'a>, sink: &'a mut S) -> Self {
        Collector {
            sink,
            attributes: Attributes::new(selection, order),
            order,
            reading,
            links: HardLinks::new(),
            directory: ReadOnly::default(),
            tasks: Vec::new(),
            task_parents: 0,
            tried: Vec::new().into_iter(),
        }
    }

    /// Exchanges what is known of users and groups, which is to outlive the collector.
    pub fn swap_names(&mut self, names: &mut Names) {
        std::mem::swap(self.attributes.names(), names);
    }

    /// Where it hands everything.
    pub fn sink(&mut self) -> &mut S {
        self.sink
    }

    /// One try. `is_last` says that there is no other.
    pub(super) fn try_once(&mut self, object: &Object<'_>, is_last: bool) -> Result<Option<Status>, Fault> {
        match object.file_type() {
            FileType::Regular => self.file(object, is_last),
            FileType::Directory => {
                let directory = object.open(OFlags::DIRECTORY, "dir_open")?;
                let stat = object.confirm_open(directory.as_fd())?;
                self.directory(&Object { stat, ..*object }, directory.as_fd())
            }
            FileType::Symlink => match self.special_target(object) {
                Some(target) => self.file(&target, is_last),
                None => self.symlink(object),
            },
            FileType::Fifo | FileType::CharDevice | FileType::BlockDevice if self.reading.special => {
                self.file(object, is_last)
            }
            FileType::Fifo => self.fifo(object),
            FileType::CharDevice => self.device(object, Status::CharDevice),
            FileType::BlockDevice => self.device(object, Status::BlockDevice),
            FileType::Other(SOCKET) => Ok(None),
            // Doors and event ports of Solaris, which are ignored like sockets, have no name here.
            FileType::Other(_) => Ok(self.unknown(object)),
        }
    }

    /// The named pipe or device that a symbolic link points to, if those are read.
    fn special_target<'o>(&self, object: &Object<'o>) -> Option<Object<'o>> {
        let stat = object.look(true).ok().filter(|_| self.reading.special)?;
        is_special(&stat).then_some(Object { stat, follow: true, ..*object })
    }

    fn file(&mut self, object: &Object<'_>, is_last: bool) -> Result<Option<Status>, Fault> {
        // Contents are taken in at once.
        self.catch_up()?;
        let Some((mut item, name)) = self.begin(object)? else { return Ok(Some(Status::Skipped)) };
        let is_special = is_special(&object.stat);
        // Opening a regular file never blocks, but something else may have taken its place.
        let is_device = object.file_type() == FileType::BlockDevice;
        let flags = if is_device { OFlags::empty() } else { OFlags::NONBLOCK };
        let file = object.open(flags, "open")?;
        let stat = object.confirm_open(file.as_fd())?;
        self.attributes.set(&mut item, &stat, &Node::Open(file.as_fd()))?;
        if is_excluded(&item) {
            return Ok(Some(Status::Excluded));
        }
        if is_special {
            item.mode = item.mode.map(|mode| 0o100_000 | mode & 0o7777);
        }
        if let Name::Later(_, Some(content)) = &name {
            let content = content.clone();
            self.sink.item(item, Some(content))?;
            return Ok(Some(Status::HardLink));
        }
        let state = file_state(&stat);
        // What a map says is not known to be true.
        let is_forgotten = is_special || self.reading.mapped.is_some();
        let known = if is_forgotten { Known::No } else { self.sink.known(&item.path, &state) };
        let (mut status, known) = match known {
            Known::No => (Status::Added, None),
            Known::Modified => (Status::Modified, None),
            Known::Unchanged(content) => (Status::Unchanged, Some(content)),
        };
        self.order.status(status, object.path);
        let content = match known {
            Some(content) => content,
            None => {
                let (content, changed) = self.read(file.as_fd(), &stat)?;
                if changed && !is_last {
                    return Err(Cause::ChangedWhileRead.into());
                }
                if changed {
                    status = Status::Changed;
                } else if !is_forgotten {
                    let is_read_only = self.directory.has(object, &stat);
                    self.sink.memorize(&item.path, &state, &content, is_read_only);
                }
                content
            }
        };
        self.finish(item, name, Some(content))?;
        if status == Status::Changed {
            return Ok(Some(status)); // to be told once more, with a warning
        }
        self.order.count(status);
        Ok(None)
    }

    /// Reads a content, and says whether it changed meanwhile.
    fn read(&mut self, file: BorrowedFd<'_>, stat: &Stat) -> Result<(S::Content, bool), Fault> {
        let start = now();
        let parts = match &self.reading.mapped {
            Some(mapped) => mapped.parts(file, stat, |id| self.sink.has(id))?,
            None => vec![Part::Read(Box::new(Reader::new(file, stat, self.reading)))],
        };
        let content = self.sink.content(parts)?;
        let end = now();
        let after = fstat(file).map_err(Cause::os("fstat2"))?;
        Ok((content, !is_special(stat) && self.reading.files_changed.noticed(stat, &after, start, end)))
    }

    fn symlink(&mut self, object: &Object<'_>) -> Result<Option<Status>, Fault> {
        let Some((mut item, name)) = self.begin(object)? else { return Ok(Some(Status::Skipped)) };
        let handle = hold(object)?;
        let (stat, target) = match &handle {
            Some(handle) => {
                let target = rustix::fs::readlinkat(handle, "", Vec::new());
                (object.confirm_open(handle.as_fd())?, target)
            }
            None => (object.stat, rustix::fs::readlinkat(object.parent, object.name, Vec::new())),
        };
        item.target = Some(target.map_err(Cause::os_on("readlink", object.name))?.into_bytes());
        let node = Node::Named { handle: handle.as_ref().map(AsFd::as_fd), path: object.path };
        self.attributes.set(&mut item, &stat, &node)?;
        self.finish_without_content(item, name, Status::Symlink)
    }

    fn fifo(&mut self, object: &Object<'_>) -> Result<Option<Status>, Fault> {
        let Some((mut item, name)) = self.begin(object)? else { return Ok(Some(Status::Skipped)) };
        let fifo = object.open(OFlags::NONBLOCK, "open")?;
        let stat = object.confirm_open(fifo.as_fd())?;
        self.attributes.set(&mut item, &stat, &Node::Open(fifo.as_fd()))?;
        self.finish_without_content(item, name, Status::Fifo)
    }

    /// Devices are never opened: that could do anything.
    fn device(&mut self, object: &Object<'_>, status: Status) -> Result<Option<Status>, Fault> {
        let Some((mut item, name)) = self.begin(object)? else { return Ok(Some(Status::Skipped)) };
        let handle = hold(object)?;
        let stat = match &handle {
            Some(handle) => object.confirm_open(handle.as_fd())?,
            None => object.confirm(object.look(object.follow)?)?,
        };
        let Some(device) = device(&stat) else { return Ok(self.unknown(object)) };
        item.rdev = Some(device);
        let node = Node::Named { handle: handle.as_ref().map(AsFd::as_fd), path: object.path };
        self.attributes.set(&mut item, &stat, &node)?;
        self.finish_without_content(item, name, status)
    }

    /// What can't be archived, for there are no words for it.
    fn unknown(&self, object: &Object<'_>) -> Option<Status> {
        self.order.warn(&Problem { path: object.path.into(), cause: Cause::UnknownType });
        None
    }

    /// The item with its path and its `hlid`; `None` for a level that is stripped from paths.
    fn begin(&mut self, object: &Object<'_>) -> Result<Option<Begun<S::Content>>, Fault> {
        let Some(path) = item_path(object.path, object.strip_prefix)? else { return Ok(None) };
        if object.stat.st_nlink > 1 && object.file_type() != FileType::Directory {
            self.catch_up()?; // which of its names it is depends on what comes before
        }
        let name = self.links.name(&object.stat);
        Ok(Some((Item { path, hlid: name.hlid(), ..Item::default() }, name)))
    }

    fn finish_without_content(
        &mut self,
        item: Item,
        name: Name<S::Content>,
        status: Status,
    ) -> Result<Option<Status>, Fault> {
        if is_excluded(&item) {
            return Ok(Some(Status::Excluded));
        }
        let status = if item.hlid.is_some() { Status::HardLink } else { status };
        self.finish(item, name, None)?;
        Ok(Some(status))
    }

    fn finish(&mut self, item: Item, name: Name<S::Content>, content: Option<S::Content>) -> Result<(), Fault> {
        if self.order.is_direct() {
            self.sink.item(item, content.clone())?;
        } else {
            self.order.push(Waiting::Item(Box::new(item)));
        }
        if let Name::First(inode) = name {
            self.links.remember(inode, content);
        }
        Ok(())
    }
}

impl<S: Sink> Visitor for Collector<'_, S> {
    fn directory(&mut self, object: &Object<'_>, directory: BorrowedFd<'_>) -> Result<Option<Status>, Fault> {
        self.catch_up_if_long()?;
        let Some((mut item, name)) = self.begin(object)? else { return Ok(Some(Status::Skipped)) };
        self.attributes.set(&mut item, &object.stat, &Node::Open(directory))?;
        self.finish_without_content(item, name, Status::Directory)
    }

    fn object(&mut self, object: &Object<'_>) -> Result<Option<Status>, Fault> {
        self.catch_up_if_long()?;
        self.try_often(*object, None)
    }

    fn has_workers(&self) -> bool {
        self.sink.has_workers() && self.reading.mapped.is_none()
    }

    fn file(&mut self, task: Task) -> Result<(), Failure> {
        self.add_task(task)
    }
}

impl<S: Sink> Collector<'_, S> {
    /// Tries an object until it is done, or there is no hope. `first` is why the first try failed, if there was one.
    pub(super) fn try_often(
        &mut self,
        mut object: Object<'_>,
        mut first: Option<Cause>,
    ) -> Result<Option<Status>, Fault> {
        let mut retry = 0;
        loop {
            let tried = match first.take() {
                Some(cause) => Err(cause.into()),
                None => self.try_once(&object, retry + 1 == MAX_TRIES),
            };
            match tried {
                Err(Fault::Object(cause)) if cause.is_temporary() && retry + 1 < MAX_TRIES => {
                    let pause = Duration::from_secs_f64(FIRST_PAUSE_SECS * 10f64.powf(f64::from(retry) / 2.0));
                    interrupt::sleep(pause)?;
                    retry += 1;
                    self.order.note(&format!(
                        "{}: {cause}, slept {:.3}s, next: retry: {retry} of {}...",
                        lossy(object.path).0,
                        pause.as_secs_f64(),
                        MAX_TRIES - 1
                    ));
                    object.stat = object.look(object.follow)?;
                }
                result => return result,
            }
        }
    }
}

/// Names an object without opening it, where the system can do that.
#[cfg(target_os = "linux")]
fn hold(object: &Object<'_>) -> Result<Option<std::os::fd::OwnedFd>, Cause> {
    object.open(OFlags::PATH, "stat").map(Some)
}

/// Names an object without opening it, where the system can do that.
#[cfg(not(target_os = "linux"))]
fn hold(_object: &Object<'_>) -> Result<Option<std::os::fd::OwnedFd>, Cause> {
    Ok(None)
}

/// What the files cache compares of a file.
fn file_state(stat: &Stat) -> FileState {
    FileState {
        inode: Inode::of(stat).number,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        ctime: ctime(stat).storable(),
        mtime: mtime(stat).storable(),
    }
}

/// Whether it is read as a file only if that is asked for.
pub fn is_special(stat: &Stat) -> bool {
    matches!(file_type(stat), FileType::Fifo | FileType::CharDevice | FileType::BlockDevice)
}

/// The type bits of a socket.
const SOCKET: u32 = 0o140_000;
/// How often an object is tried.
const MAX_TRIES: u32 = 10;
/// The pause before the second try; each is the square root of ten times as long as the last one.
const FIRST_PAUSE_SECS: f64 = 0.001;
