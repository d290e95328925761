//! What workers do while an archive is made.

use super::recorder::{FilesDone, FilesJob};
use crate::backup::{Fault, Selection, read};
use crate::filesystem::names::Names;
use crate::output::format::digest::Digest;
use crate::repository::files_cache::KnownFiles;
use crate::repository::session::Session;
use crate::repository::zeros::Zeros;
use portaborg_core::chunk::{Chunker, ChunkerParams, Segment};
use portaborg_core::id::ChunkId;
use portaborg_core::object::ObjectWriter;
use portaborg_core::repo::{WriteDone, WriteJob};
use portaborg_core::store::now;
use portaborg_core::tuning::{Help, Tuning};
use rustix::io::pread;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What all workers look at.
pub struct Shared<'a> {
    /// The repository.
    pub session: &'a Session,
    /// What need not be read.
    pub known: Arc<KnownFiles>,
    /// Which attributes are stored.
    pub selection: &'a Selection,
    /// How contents are read.
    pub reading: &'a read::Options,
    /// How they are cut.
    pub params: &'a ChunkerParams,
    /// Digests that are made of whole contents.
    pub digests: &'a [Digest],
    /// When several threads work on one chunk or pack.
    pub tuning: Tuning,
}

/// What each worker has for itself.
pub struct Tools<'a> {
    /// Cuts contents.
    pub chunker: Chunker,
    /// Ids of zeros.
    pub zeros: Zeros,
    /// Users and groups.
    pub names: Names,
    objects: ObjectWriter<'a>,
}

/// Something to be done.
pub enum Job {
    /// Reads small files.
    Files(FilesJob),
    /// Reads a part of a large file.
    Segment(SegmentJob),
    /// Finds the id of a chunk.
    Hash(HashJob),
    /// Compresses, seals or stores.
    Write(WriteJob),
}

/// What came of a [`Job`].
pub enum Done {
    /// Of small files.
    Files(FilesDone),
    /// A part of a large file.
    Segment(SegmentDone),
    /// The id of a chunk.
    Hash(HashDone),
    /// What the writer takes back.
    Write(WriteDone),
}

/// A part of a large file. Parts are read in any order, and at once.
pub struct SegmentJob {
    /// What puts parts in order again.
    pub number: u64,
    /// The file.
    pub file: Arc<OwnedFd>,
    /// Where the part begins, in bytes.
    pub start: u64,
    /// How long it is; the file may end before.
    pub len: usize,
    /// A buffer to be used again; whatever is in it.
    pub buffer: Vec<u8>,
    /// So much of the buffer stays free before the part, for what is left of the one before: as much as the longest chunk
    /// has, and as is needed to search the part.
    pub reserve: usize,
}

/// What came of a [`SegmentJob`].
pub struct SegmentDone {
    /// The job's number.
    pub number: u64,
    /// The part, if it could be read.
    pub part: Result<FilePart, Fault>,
    /// What it took.
    pub time: Duration,
}

/// A part of a file.
pub struct FilePart {
    /// It lies here behind the reserve.
    pub buffer: Vec<u8>,
    /// How much of the buffer is free before it.
    pub reserve: usize,
    /// How long it is, in bytes.
    pub len: usize,
    /// Where it may be cut, if the chunker can tell for a part.
    pub segment: Option<Segment>,
}

/// A chunk of a large content.
pub struct HashJob {
    /// What puts chunks in order again.
    pub number: u64,
    /// The buffer that it lies in.
    pub buffer: Arc<Vec<u8>>,
    /// Its place there.
    pub range: Range<usize>,
}

/// What came of a [`HashJob`].
pub struct HashDone {
    /// The job's number.
    pub number: u64,
    /// The chunk's id.
    pub id: ChunkId,
    /// What it took.
    pub time: Duration,
}

impl<'a> Shared<'a> {
    /// For one more worker.
    pub fn tools(&self) -> Tools<'a> {
        let keys = &self.session.keys;
        Tools {
            chunker: Chunker::new(self.params, keys),
            zeros: Zeros::default(),
            names: Names::default(),
            objects: ObjectWriter::new(keys, &self.session.engine),
        }
    }

    /// Does it, while so many workers are idle.
    pub fn run(&self, tools: &mut Tools<'_>, job: Job, idle: usize) -> Done {
        tools.objects.set_help(Help { tuning: self.tuning, idle });
        match job {
            Job::Files(job) => Done::Files(job.run(self, tools)),
            Job::Segment(job) => Done::Segment(job.run(tools)),
            Job::Hash(job) => Done::Hash(job.run(self, tools)),
            Job::Write(job) => Done::Write(now(job.run(&mut tools.objects, &self.session.repository.store))),
        }
    }
}

impl Tools<'_> {
    /// What other threads may do.
    pub fn help(&self) -> Help {
        self.objects.help()
    }
}

impl SegmentJob {
    fn run(self, tools: &Tools<'_>) -> SegmentDone {
        let (began, number) = (Instant::now(), self.number);
        let part = self.read(tools);
        SegmentDone { number, part, time: began.elapsed() }
    }

    fn read(self, tools: &Tools<'_>) -> Result<FilePart, Fault> {
        let SegmentJob { file, start, len, mut buffer, reserve, .. } = self;
        if buffer.len() != reserve + len {
            // New memory is zero, and the reserve is seldom touched.
            buffer = vec![0; reserve + len];
        }
        let scan = tools.chunker.scan();
        // A part is searched with what comes before it.
        let context = scan.map_or(0, |scan| scan.context_bytes());
        let context = usize::try_from(start).map_or(context, |start| start.min(context));
        let begin = reserve - context;
        let mut end = begin;
        while end < buffer.len() {
            let position = start - context as u64 + (end - begin) as u64;
            match read::read_on(|| pread(file.as_fd(), &mut buffer[end..], position))? {
                0 => break,
                count => end += count,
            }
        }
        let segment = scan.filter(|_| end >= reserve).map(|scan| scan.segment(start, &buffer[begin..end]));
        Ok(FilePart { buffer, reserve, len: end.saturating_sub(reserve), segment })
    }
}

impl HashJob {
    fn run(self, shared: &Shared<'_>, tools: &mut Tools<'_>) -> HashDone {
        let began = Instant::now();
        let help = tools.help();
        let id = tools.zeros.chunk_id(&shared.session.keys, &self.buffer[self.range], help);
        HashDone { number: self.number, id, time: began.elapsed() }
    }
}
