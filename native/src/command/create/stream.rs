//! Contents that are not read ahead: large files, pipes, devices, and files of which a map says what to read.

use super::cut::{self, Block};
use super::recorder::MAX_FILE_BYTES;
use super::sink::ArchiveSink;
use super::work::{CutJob, HashJob, Job};
use crate::backup::{Cause, Fault, Input};
use crate::failure::Failure;
use crate::output::format::digest::{Digest, Hasher};
use portaborg_core::item::ChunkEntry;
use portaborg_core::object::ObjectType;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// A content on its way.
struct Stream {
    /// The part that was cut last.
    block: Block,
    /// How much is cut, and how much is read, in bytes.
    offset: u64,
    position: u64,
    /// How long buffers are.
    block_bytes: usize,
    /// A file that workers read.
    file: Option<Arc<OwnedFd>>,
    /// How much is left of a file, by what it was like when it was opened.
    size: Option<u64>,
    /// Whether a worker is cutting.
    is_cutting: bool,
    /// Chunks that are being hashed.
    hashing: VecDeque<(u64, Arc<Vec<u8>>, Range<usize>)>,
    /// Bytes in them.
    unhashed: usize,
}

impl ArchiveSink<'_, '_, '_> {
    /// Cuts all of an input into chunks and adds them.
    pub(super) fn stream(
        &mut self,
        input: &mut dyn Input,
        hashers: &mut Vec<(Digest, Hasher)>,
        chunks: &mut Vec<ChunkEntry>,
    ) -> Result<(), Fault> {
        let size = input.file().map(|(_, size)| size);
        let is_shared = self.chunker.is_pure() && size.is_some_and(|size| size > MAX_FILE_BYTES as u64);
        let file = match input.file().filter(|_| is_shared) {
            Some((file, _)) => Some(Arc::new(
                file.try_clone_to_owned()
                    .map_err(|error| Cause::os("read")(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?,
            )),
            None => None,
        };
        let block_bytes = cut::block_bytes(&self.chunker);
        let mut stream = Stream {
            block: Block::empty(),
            offset: 0,
            position: 0,
            block_bytes,
            file,
            size,
            is_cutting: false,
            hashing: VecDeque::new(),
            unhashed: 0,
        };
        loop {
            self.stay_alive()?;
            if !stream.block.is_end && !stream.is_cutting && self.has_room_for(&stream) {
                self.cut_on(&mut stream, input, hashers)?;
                continue;
            }
            if let Some(done) = self.cut_done.take() {
                stream.is_cutting = false;
                self.report.chunked(done.time);
                *hashers = done.hashers;
                self.take_block(&mut stream, done.block?);
                continue;
            }
            while let Some((number, ..)) = stream.hashing.front()
                && let Some(done) = self.hashed.remove(number)
            {
                let (_, buffer, range) = stream.hashing.pop_front().expect("it was just looked at");
                self.report.hashed(done.time);
                stream.unhashed -= range.len();
                let size = range.len() as u64;
                let is_new = self.writer.put(done.id, ObjectType::Content, range);
                self.writer.submit(&buffer);
                self.report.stored(size, is_new);
                chunks.push(ChunkEntry { id: done.id, size });
            }
            self.give_writers_jobs();
            if stream.block.is_end && stream.hashing.is_empty() {
                return Ok(());
            }
            // Chunks that were there already have made room without anybody's help.
            if stream.block.is_end || stream.is_cutting || !self.has_room_for(&stream) {
                self.receive()?;
            }
        }
    }

    fn has_room_for(&self, stream: &Stream) -> bool {
        stream.unhashed <= stream.block_bytes / 2 && self.writer.has_room(2 * stream.block_bytes)
    }

    /// Cuts the next part, or has it cut.
    fn cut_on(
        &mut self,
        stream: &mut Stream,
        input: &mut dyn Input,
        hashers: &mut Vec<(Digest, Hasher)>,
    ) -> Result<(), Fault> {
        let rest = stream.block.rest.clone();
        let carry = (Arc::clone(&stream.block.buffer), rest);
        // Small files have small buffers, in which their end shows.
        let left = stream.size.map(|size| size.saturating_sub(stream.position));
        let room = match left {
            Some(0) if stream.position == 0 => SMALL_ROOM,
            Some(left) if left > 0 => {
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                left.saturating_add(carry.1.len() + 1).min(stream.block_bytes)
            }
            _ => stream.block_bytes,
        };
        if let Some(file) = &stream.file {
            let file = Arc::clone(file);
            let hashers = std::mem::take(hashers);
            let (position, offset) = (stream.position, stream.offset);
            stream.is_cutting = true;
            self.crew.give(Job::Cut(CutJob { file, position, offset, carry, room, hashers }));
            return Ok(());
        }
        let began = Instant::now();
        let (carried, rest) = carry;
        // A pipe may be slow.
        let (app, held) = (self.app, &mut *self.held);
        let mut read = |buffer: &mut [u8]| {
            held.refresh(app)?;
            input.read(buffer)
        };
        let block = cut::block(&mut self.chunker, stream.offset, &carried[rest], room, &mut read);
        self.report.chunked(began.elapsed());
        let block = block?;
        block.digest(hashers);
        self.take_block(stream, block);
        Ok(())
    }

    /// Has chunks hashed.
    fn take_block(&mut self, stream: &mut Stream, block: Block) {
        for range in &block.chunks {
            let number = self.next_number();
            let (buffer, range) = (Arc::clone(&block.buffer), range.clone());
            stream.unhashed += range.len();
            stream.hashing.push_back((number, Arc::clone(&buffer), range.clone()));
            self.crew.give(Job::Hash(HashJob { number, buffer, range }));
        }
        stream.position += block.read as u64;
        stream.offset += block.cut_bytes() as u64;
        stream.block = block;
    }

    /// Takes in one result of a worker.
    pub(super) fn receive(&mut self) -> Result<(), Failure> {
        let done = self.crew.next().expect("somebody waits for what is in flight");
        self.received(done)
    }
}

/// The buffer for a file that seems to be empty, in bytes.
const SMALL_ROOM: usize = 64 << 10;
