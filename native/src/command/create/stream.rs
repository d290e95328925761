//! Contents that are not read ahead: large files, pipes, devices, and files of which a map says what to read.

use super::cut::{self, Block};
use super::recorder::MAX_FILE_BYTES;
use super::sink::ArchiveSink;
use super::work::{FilePart, HashJob, Job, SegmentJob};
use crate::backup::{Cause, Fault, Input};
use crate::output::format::digest::{Digest, Hasher};
use crate::repository::lender::Lender;
use portaborg_core::chunk::Candidates;
use portaborg_core::item::ChunkEntry;
use portaborg_core::object::ObjectType;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// How much of a large file one worker reads, in bytes. What is left of it behind the last cut is copied to the next part: a
/// megabyte or two.
const PART_BYTES: usize = 8 << 20;
/// The buffer for a file that seems to be empty, in bytes.
const SMALL_ROOM: usize = 64 << 10;

/// A content on its way.
struct Stream {
    /// The part that was cut last.
    block: Block,
    /// How much is cut, and how much is read or being read, in bytes.
    offset: u64,
    position: u64,
    /// How long buffers are.
    block_bytes: usize,
    /// A file that workers read.
    file: Option<Arc<OwnedFd>>,
    /// How long a file was when it was opened.
    size: Option<u64>,
    /// Parts that are being read.
    reading: VecDeque<u64>,
    candidates: Candidates,
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
        hashers: &mut [(Digest, Hasher)],
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
            reading: VecDeque::new(),
            candidates: Candidates::new(),
            hashing: VecDeque::new(),
            unhashed: 0,
        };
        // What came too late for an input that failed.
        self.hashed.clear();
        self.segments.clear();
        loop {
            self.stay_alive()?;
            if let Some(number) = stream.reading.front()
                && let Some(done) = self.segments.remove(number)
            {
                stream.reading.pop_front();
                self.report.chunked(done.time);
                let block = self.cut_part(&mut stream, done.part?)?;
                self.take_block(&mut stream, block, hashers);
                continue;
            }
            if self.reads_on(&stream) {
                self.read_on(&mut stream, input, hashers)?;
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
            self.give_jobs();
            if stream.block.is_end && stream.hashing.is_empty() {
                return Ok(());
            }
            // Chunks that were there already have made room without anybody's help.
            if !self.reads_on(&stream) {
                self.receive()?;
            }
        }
    }

    /// Whether it is time to read another part.
    fn reads_on(&self, stream: &Stream) -> bool {
        let is_enough = match stream.file {
            // Behind its end there may be more than there was, but only the last part tells.
            Some(_) => {
                let is_behind = stream.size.is_some_and(|size| stream.position > size);
                stream.reading.len() >= if is_behind { 1 } else { self.readers }
            }
            None => false,
        };
        !stream.block.is_end
            && !is_enough
            && stream.unhashed + stream.reading.len() * PART_BYTES < self.window_bytes
            && self.writer.has_room(self.window_bytes)
    }

    /// Reads and cuts the next part, or has it read.
    fn read_on(
        &mut self,
        stream: &mut Stream,
        input: &mut dyn Input,
        hashers: &mut [(Digest, Hasher)],
    ) -> Result<(), Fault> {
        if let Some(file) = &stream.file {
            let (file, start, len) = (Arc::clone(file), stream.position, PART_BYTES);
            let (number, buffer) = (self.next_number(), self.blocks.take());
            let context = self.chunker.scan().map_or(0, |scan| scan.context_bytes());
            let reserve = self.chunker.max_size().max(context);
            stream.reading.push_back(number);
            stream.position += len as u64;
            self.crew.give(Job::Segment(SegmentJob { number, file, start, len, buffer, reserve }));
            return Ok(());
        }
        let carry = Arc::clone(&stream.block.buffer);
        let carry = &carry[stream.block.rest.clone()];
        // Small files have small buffers, in which their end shows.
        let room = match stream.size.map(|size| size.saturating_sub(stream.position)) {
            Some(0) if stream.position == 0 => SMALL_ROOM,
            Some(left) if left > 0 => {
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                left.saturating_add(carry.len() + 1).min(stream.block_bytes)
            }
            _ => stream.block_bytes,
        };
        let began = Instant::now();
        // A pipe may be slow.
        let (app, held) = (self.app, &mut *self.held);
        let mut read = |buffer: &mut [u8]| {
            held.refresh(app)?;
            input.read(buffer)
        };
        let block = cut::block(&mut self.chunker, stream.offset, carry, room, &mut read);
        self.report.chunked(began.elapsed());
        let block = block?;
        stream.position += (block.rest.end - carry.len()) as u64;
        self.take_block(stream, block, hashers);
        Ok(())
    }

    /// Cuts a part that a worker has read.
    fn cut_part(&mut self, stream: &mut Stream, part: FilePart) -> Result<Block, Fault> {
        let FilePart { mut buffer, reserve, len, segment } = part;
        let carry = &stream.block.buffer[stream.block.rest.clone()];
        let start = reserve - carry.len();
        buffer[start..reserve].copy_from_slice(carry);
        let end = reserve + len;
        let is_end = len < PART_BYTES;
        let offset = stream.offset;
        let (chunks, rest) = match (self.chunker.scan(), segment) {
            (Some(scan), Some(segment)) => {
                stream.candidates.add(segment);
                let max_size = self.chunker.max_size();
                cut::all(&buffer, start..end, is_end, max_size, |from, ahead| {
                    Ok(stream.candidates.cut(scan, offset + (from - start) as u64, ahead))
                })
            }
            _ => {
                let chunker = &mut self.chunker;
                cut::all(&buffer, start..end, is_end, chunker.max_size(), |from, ahead| {
                    cut::one(chunker, offset + (from - start) as u64, ahead)
                })
            }
        }?;
        let buffer = Arc::new(buffer);
        self.blocks.keep(&buffer);
        Ok(Block { buffer, start, chunks, rest, is_end })
    }

    /// Has chunks hashed.
    fn take_block(&mut self, stream: &mut Stream, block: Block, hashers: &mut [(Digest, Hasher)]) {
        block.digest(hashers);
        for range in &block.chunks {
            let number = self.next_number();
            let (buffer, range) = (Arc::clone(&block.buffer), range.clone());
            stream.unhashed += range.len();
            stream.hashing.push_back((number, Arc::clone(&buffer), range.clone()));
            self.crew.give(Job::Hash(HashJob { number, buffer, range }));
        }
        stream.offset += block.cut_bytes() as u64;
        stream.block = block;
    }
}
