//! A file of which a map says what need not be read (data layer, section 4).

use super::problem::{Cause, Fault};
use super::read::{Input, read_on};
use super::sink::Part;
use crate::failure::Failure;
use crate::filesystem::stat::file_type;
use portaborg_core::id::ChunkId;
use portaborg_core::input_map::{Extent, InputMap, PlannedPart};
use portaborg_core::item::{ChunkEntry, FileType};
use rustix::fs::{SeekFrom, Stat, seek};
use rustix::io::pread;
use std::os::fd::BorrowedFd;

/// A map, and the content that it compares with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// Says of each part of the file whether it has to be read.
    pub map: InputMap,
    /// The chunks of the file as it was; none if the map does not compare.
    pub reference: Vec<ChunkEntry>,
}

impl Mapped {
    /// The parts of an open file's content. `has` tells which chunks there still are.
    pub fn parts<'a>(
        &'a self,
        file: BorrowedFd<'a>,
        stat: &Stat,
        has: impl Fn(&ChunkId) -> bool,
    ) -> Result<Vec<Part<'a>>, Fault> {
        let size = match file_type(stat) {
            FileType::Regular => u64::try_from(stat.st_size).unwrap_or(0),
            _ => seek(file, SeekFrom::End(0)).map_err(Cause::os("seek"))?,
        };
        if size != self.map.size() {
            let text = format!("input map covers {} bytes, but the input has {size} bytes", self.map.size());
            return Err(Failure::error(text).into());
        }
        let part = |part| match part {
            PlannedPart::Reuse(chunks) => Part::Known(chunks),
            PlannedPart::Read(extents) => Part::Read(Box::new(Extents { file, left: extents.into_iter(), now: None })),
        };
        Ok(self.map.plan(&self.reference, has).into_iter().map(part).collect())
    }
}

/// Some extents of a file, one after the other.
struct Extents<'a> {
    file: BorrowedFd<'a>,
    left: std::vec::IntoIter<Extent>,
    /// What is not read yet of the extent that is at hand.
    now: Option<Extent>,
}

impl Input for Extents<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        let Some(extent) = self.now.take().or_else(|| self.left.next()) else { return Ok(0) };
        let room = usize::try_from(extent.end - extent.start).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = &mut buffer[..room];
        let len = if extent.is_zero {
            buffer.fill(0);
            room
        } else {
            match read_on(|| pread(self.file, &mut *buffer, extent.start))? {
                0 => return Err(Cause::ChangedWhileRead.into()), // it is shorter than it was
                len => len,
            }
        };
        let start = extent.start + len as u64;
        self.now = (start < extent.end).then_some(Extent { start, ..extent });
        Ok(len)
    }
}
