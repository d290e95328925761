//! Named pipes and character devices, which may keep a reader waiting (command line, section 1.2, `--read-special-timeout`).

use super::problem::{Cause, Fault};
use super::read::{GLANCE, Input, wait_for_data};
use crate::interrupt;
use rustix::io::{Errno, read};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// A special file that was opened so that reads don't block. Each read waits for data so long at most.
///
/// A pipe that nobody writes to reads as if it were at its end; so it has an end only after the first data.
pub struct Patient<'a> {
    file: BorrowedFd<'a>,
    timeout: Duration,
    /// Whether a read of nothing is the end.
    may_end: bool,
}

impl<'a> Patient<'a> {
    /// Reads from `file`, which is a pipe or not, and gives up if nothing comes for `timeout`.
    pub fn new(file: BorrowedFd<'a>, is_pipe: bool, timeout: Duration) -> Self {
        Patient { file, timeout, may_end: !is_pipe }
    }
}

impl Input for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        let start = Instant::now();
        loop {
            interrupt::check()?;
            let has_writer = match read(self.file, &mut *buffer) {
                Ok(0) if self.may_end || buffer.is_empty() => return Ok(0),
                Ok(0) => false,
                Ok(len) => {
                    self.may_end = true;
                    return Ok(len);
                }
                Err(Errno::AGAIN) => true,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(Cause::os("read")(errno).into()),
            };
            let left = self.timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(Cause::Timeout(self.timeout).into());
            }
            self.wait(left.min(GLANCE), has_writer)?;
        }
    }
}

impl Patient<'_> {
    /// Nothing tells when somebody begins to write to a pipe, so that is only waited for.
    fn wait(&self, time: Duration, has_writer: bool) -> Result<(), Fault> {
        if !has_writer {
            return Ok(interrupt::sleep(time)?);
        }
        wait_for_data(self.file).map(drop)
    }
}
