//! Reading a content: plainly, over holes, or with patience (data layer, section 4).

use super::map::Mapped;
use super::patient::Patient;
use super::problem::{Cause, Fault};
use super::sparse::Sparse;
use crate::filesystem::stat::{ctime, file_type, mtime};
use portaborg_core::item::FileType;
use portaborg_core::time::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Stat;
use rustix::io::{Errno, read};
use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A content that is read once, from its beginning to its end.
pub trait Input {
    /// Fills in the next bytes and gives their number; it may be less than there is room for, and is 0 at the end only.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault>;

    /// The regular file that is read from its beginning, and its length when it was opened. It may as well be read by others,
    /// at any place.
    fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        None
    }
}

/// How contents are read (command line, section 1.2, `create`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Holes are not read.
    pub sparse: bool,
    /// How it is noticed that a file was written to.
    pub files_changed: FilesChanged,
    /// Named pipes and devices are read as if they were files.
    pub special: bool,
    /// How long to wait for data of a named pipe or a character device; `None` waits forever.
    pub special_timeout: Option<Duration>,
    /// What need not be read of the only file.
    pub mapped: Option<Mapped>,
}

/// How it is noticed that a file was written to while it was read (data layer, section 10.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum FilesChanged {
    /// By the last change of the inode.
    #[default]
    Ctime,
    /// By the last change of the content.
    Mtime,
    /// Not at all.
    Disabled,
}

/// An open file that is read in the way that suits it.
pub enum Reader<'a> {
    /// One read after another. A regular file had this length.
    Plain(BorrowedFd<'a>, Option<u64>),
    /// Each time there is something: signals are seen meanwhile.
    Pipe(BorrowedFd<'a>),
    /// Without reading the holes.
    Sparse(Sparse<'a>),
    /// With a limit to how long nothing comes.
    Patient(Patient<'a>),
}

impl Default for Options {
    fn default() -> Self {
        let special_timeout = Some(DEFAULT_SPECIAL_TIMEOUT);
        Options { sparse: false, files_changed: FilesChanged::default(), special: false, special_timeout, mapped: None }
    }
}

impl Options {
    /// The limit for an object of this type, if it may have to be waited for. It must then be opened so that reads don't
    /// block.
    pub fn timeout(&self, file_type: FileType) -> Option<Duration> {
        let is_slow = matches!(file_type, FileType::Fifo | FileType::CharDevice);
        is_slow.then_some(self.special_timeout.unwrap_or(Duration::MAX))
    }
}

impl<'a> Reader<'a> {
    /// Reads `file` from where it is.
    pub fn new(file: BorrowedFd<'a>, stat: &Stat, options: &Options) -> Self {
        if let Some(timeout) = options.timeout(file_type(stat)) {
            let is_pipe = file_type(stat) == FileType::Fifo;
            return Reader::Patient(Patient::new(file, is_pipe, timeout));
        }
        match options.sparse.then(|| Sparse::new(file)).flatten() {
            Some(sparse) => Reader::Sparse(sparse),
            None => {
                let is_regular = file_type(stat) == FileType::Regular;
                Reader::Plain(file, u64::try_from(stat.st_size).ok().filter(|_| is_regular))
            }
        }
    }
}

impl<I: Input + ?Sized> Input for &mut I {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        (**self).read(buffer)
    }

    fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        (**self).file()
    }
}

impl Input for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        match self {
            Reader::Plain(file, _) => read_on(|| read(*file, &mut *buffer)),
            Reader::Pipe(pipe) => {
                while !wait_for_data(*pipe)? {
                    crate::interrupt::check()?;
                }
                read_on(|| read(*pipe, &mut *buffer))
            }
            Reader::Sparse(sparse) => sparse.read(buffer),
            Reader::Patient(patient) => patient.read(buffer),
        }
    }

    fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        match self {
            Reader::Plain(file, Some(size)) => Some((*file, *size)),
            _ => None,
        }
    }
}

impl FilesChanged {
    /// Whether the file changed, by what was said of it before and after it was read from `start` to `end`.
    ///
    /// A change in that time counts also if the system's clock is too coarse to tell two changes apart.
    pub fn noticed(self, before: &Stat, after: &Stat, start: Timestamp, end: Timestamp) -> bool {
        let time = match self {
            FilesChanged::Disabled => return false,
            FilesChanged::Ctime => ctime,
            FilesChanged::Mtime => mtime,
        };
        let last = time(after).as_nanos();
        let reading = start.as_nanos() - CLOCK_NANOS + 1..end.as_nanos() + CLOCK_NANOS;
        time(before) != time(after) || reading.contains(&last)
    }
}

/// The time, by the clock that the file system uses.
pub fn now() -> Timestamp {
    let nanos = |time: Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
    Timestamp::from_nanos(match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => -nanos(before.duration()),
    })
}

/// Waits a moment until a read would not have to wait, and says whether it would not.
///
/// Reads go on after a signal as if there had been none, and may never end.
pub fn wait_for_data(file: BorrowedFd<'_>) -> Result<bool, Fault> {
    let moment = Timespec { tv_sec: 0, tv_nsec: GLANCE.subsec_nanos() as _ };
    match poll(&mut [PollFd::from_borrowed_fd(file, PollFlags::IN)], Some(&moment)) {
        Err(Errno::INTR) => Ok(false),
        ready => Ok(ready.map_err(Cause::os("read"))? > 0),
    }
}

/// Reads again after a signal.
pub fn read_on(mut read: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Fault> {
    loop {
        match read() {
            Err(Errno::INTR) => crate::interrupt::check()?,
            result => return Ok(result.map_err(Cause::os("read"))?),
        }
    }
}

/// The time between two looks whether a signal came, or somebody began to write to a pipe; less than a second.
pub const GLANCE: Duration = Duration::from_millis(100);
/// How far the file system's clock may be from ours.
const CLOCK_NANOS: i128 = 20_000_000;
/// Unless `--read-special-timeout` says otherwise.
const DEFAULT_SPECIAL_TIMEOUT: Duration = Duration::from_secs(1800);
