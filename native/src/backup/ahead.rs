//! Regular files that are read ahead, by whoever has the time, and come into the archive when it is their turn.
//!
//! Only what goes well is done ahead. Whatever else happens to a file, it is tried again in its turn, as if nobody had
//! looked at it before: so retries, hard links and large files need no other way here than without workers.

use super::collect::Collector;
use super::object::{Object, look};
use super::order::Waiting;
use super::problem::{Cause, Fault, Problem};
use super::sink::{Observer, Sink};
use super::status::Status;
use super::walk::{settle, tell};
use crate::failure::Failure;
use crate::filesystem::stat::{Inode, file_type};
use portaborg_core::item::FileType;
use rustix::fs::Stat;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// A regular file that a directory has an entry of, and that nobody has looked at.
pub struct Task {
    /// The normalised path that was walked. Its end is the name.
    pub path: Vec<u8>,
    /// Where that leads.
    pub place: Place,
}

/// The way to the file of a [`Task`].
pub struct Place {
    /// Where the name begins in the path.
    pub name_at: usize,
    /// The directory, open.
    pub parent: Arc<OwnedFd>,
    /// Its inode number, as the directory has it.
    pub number: u64,
    /// Left out of the item's path.
    pub strip_prefix: Option<Arc<[u8]>>,
}

/// What came of a [`Task`].
pub struct Tried<T> {
    /// The path that was walked.
    pub path: Vec<u8>,
    /// How it ended.
    pub outcome: Outcome,
    /// What happened until then, in order.
    pub events: Vec<Event<T>>,
}

/// How a try ended.
pub enum Outcome {
    /// It is done; there may be a status to be told.
    Done(Option<Status>),
    /// It can't be looked at.
    NotSeen(Cause),
    /// It failed, and may be tried again. This is what it looked like.
    Failed(Place, Cause, Box<Stat>),
    /// It is not for workers.
    Unfit(Place),
    /// The whole command is at its end.
    End(Failure),
}

/// What happens to a file.
pub enum Event<T> {
    /// A line.
    Line(Status),
    /// A number to be counted.
    Count(Status),
    /// A warning that changes nothing.
    Note(String),
    /// A warning.
    Warning(Problem),
    /// Something that the sink makes ready and takes in.
    Trace(T),
}

impl Place {
    fn object<'o>(&'o self, path: &'o [u8], stat: Stat) -> Object<'o> {
        let (parent, strip_prefix) = (self.parent.as_fd(), self.strip_prefix.as_deref());
        Object { path, parent, name: &path[self.name_at..], stat, follow: false, strip_prefix }
    }

    fn look(&self, path: &[u8]) -> Result<Stat, Cause> {
        look(self.parent.as_fd(), &path[self.name_at..], false)
    }
}

impl<S: Sink> Collector<'_, S> {
    /// A worker's try. Its sink records what it is given.
    pub fn try_ahead(&mut self, path: &[u8], place: Place) -> Outcome {
        let stat = match place.look(path) {
            Ok(stat) => stat,
            Err(cause) => return Outcome::NotSeen(cause),
        };
        // What has several names depends on what came before; another inode is something mounted there, or new.
        let is_plain =
            file_type(&stat) == FileType::Regular && stat.st_nlink == 1 && Inode::of(&stat).number == place.number;
        if !is_plain {
            return Outcome::Unfit(place);
        }
        self.directory.enter(&place.parent);
        match self.try_once(&place.object(path, stat), false) {
            Ok(status) => Outcome::Done(status),
            Err(Fault::Object(_)) if self.sink.refuses() => Outcome::Unfit(place),
            Err(Fault::Object(cause)) => Outcome::Failed(place, cause, Box::new(stat)),
            Err(Fault::End(failure)) => Outcome::End(failure),
        }
    }

    /// Takes in a file that workers may read.
    pub(super) fn add_task(&mut self, task: Task) -> Result<(), Failure> {
        if self.tasks.last().is_none_or(|last| !Arc::ptr_eq(&last.place.parent, &task.place.parent)) {
            self.task_parents += 1;
        }
        self.tasks.push(task);
        self.order.push(Waiting::Task);
        if self.tasks.len() >= TASKS || self.task_parents >= PARENTS { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), Failure> {
        self.task_parents = 0;
        if !self.tasks.is_empty() {
            self.sink.begin_ahead(std::mem::take(&mut self.tasks))?;
        }
        while self.order.len() > 0 && (self.tried.len() > 0 || self.sink.is_ahead_due()?) {
            self.step()?;
        }
        Ok(())
    }

    /// Takes in all that waits.
    pub fn catch_up(&mut self) -> Result<(), Failure> {
        if self.order.is_direct() {
            return Ok(());
        }
        self.hand_over()?;
        while self.order.len() > 0 {
            self.step()?;
        }
        Ok(())
    }

    /// Takes in what waits if it is much: a tree without files has no tasks that would be handed over.
    pub(super) fn catch_up_if_long(&mut self) -> Result<(), Failure> {
        if self.order.len() > MAX_WAITING { self.catch_up() } else { Ok(()) }
    }

    fn step(&mut self) -> Result<(), Failure> {
        let Some(waiting) = self.order.begin() else { return Ok(()) };
        let order = self.order;
        let done = match waiting {
            Waiting::Task => self.take_tried(),
            Waiting::Item(item) => self.sink.item(*item, None),
            Waiting::Line(status, path) => {
                order.status(status, &path);
                Ok(())
            }
            Waiting::Count(status) => {
                order.count(status);
                Ok(())
            }
            Waiting::Warning(problem) => {
                order.warn(&problem);
                Ok(())
            }
            Waiting::Note(text) => {
                order.note(&text);
                Ok(())
            }
        };
        order.ended();
        done
    }

    fn take_tried(&mut self) -> Result<(), Failure> {
        let tried = loop {
            match self.tried.next() {
                Some(tried) => break tried,
                None => self.tried = self.sink.end_ahead()?.into_iter(),
            }
        };
        let Tried { path, outcome, events } = tried;
        if !matches!(outcome, Outcome::Unfit(_)) {
            for event in events {
                match event {
                    Event::Line(status) => self.order.status(status, &path),
                    Event::Count(status) => self.order.count(status),
                    Event::Note(text) => self.order.note(&text),
                    Event::Warning(problem) => self.order.warn(&problem),
                    Event::Trace(trace) => self.sink.take_in(&path, trace)?,
                }
            }
        }
        let visited = match outcome {
            Outcome::Done(status) => Ok(status),
            Outcome::NotSeen(cause) => Err(Fault::Object(cause)),
            Outcome::Failed(place, cause, stat) => self.try_often(place.object(&path, *stat), Some(cause)),
            Outcome::Unfit(place) => match place.look(&path) {
                Ok(stat) => self.try_often(place.object(&path, stat), None),
                Err(cause) => Err(Fault::Object(cause)),
            },
            Outcome::End(failure) => return Err(failure),
        };
        let status = settle(self.order, &path, visited)?;
        tell(self.order, &path, status);
        Ok(())
    }
}

/// Files that a worker gets at once.
const TASKS: usize = 64;
/// Directories that they are in at most: each stays open meanwhile.
const PARENTS: usize = 16;
/// What may wait for files that are read.
const MAX_WAITING: usize = 1000;
