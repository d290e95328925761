//! Files with holes: the holes are known to be zeros without reading them (data layer, section 4).

use super::problem::{Cause, Fault};
use super::read::{Input, read_on};
use crate::system::stat::{next_data, next_hole};
use rustix::fs::fstat;
use rustix::io::{Errno, pread};
use std::os::fd::BorrowedFd;

/// An open file whose holes the system can tell.
pub struct Sparse<'a> {
    file: BorrowedFd<'a>,
    position: u64,
    /// Where the range ends that `position` is in.
    end: u64,
    is_hole: bool,
}

impl<'a> Sparse<'a> {
    /// `None` if the file can't be asked for its holes; it is read plainly then.
    pub fn new(file: BorrowedFd<'a>) -> Option<Self> {
        let mut sparse = Sparse { file, position: 0, end: 0, is_hole: false };
        sparse.enter_range().ok().map(|()| sparse)
    }

    /// Finds out what is at the position.
    fn enter_range(&mut self) -> Result<(), Errno> {
        let here = self.position;
        match next_data(self.file, here) {
            Ok(data) if data > here => (self.end, self.is_hole) = (data, true),
            Ok(_) => (self.end, self.is_hole) = (next_hole(self.file, here)?, false),
            // There is no more data: a hole up to the end, or nothing at all.
            Err(Errno::NXIO) => {
                let size = u64::try_from(fstat(self.file)?.st_size).unwrap_or(0);
                (self.end, self.is_hole) = (size.max(here), true);
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }
}

impl Input for Sparse<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        if self.position >= self.end {
            self.enter_range().map_err(Cause::os("read"))?;
        }
        let left = usize::try_from(self.end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let room = left.min(buffer.len());
        let buffer = &mut buffer[..room];
        let len = if self.is_hole {
            buffer.fill(0);
            room
        } else {
            read_on(|| pread(self.file, &mut *buffer, self.position))?
        };
        self.position += len as u64;
        Ok(len)
    }
}
