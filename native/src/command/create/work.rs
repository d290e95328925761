//! What workers do while an archive is made.

use super::cut::{self, Block};
use super::recorder::{FilesDone, FilesJob};
use super::zeros::Zeros;
use crate::backup::{Fault, Selection, read};
use crate::filesystem::names::Names;
use crate::output::format::digest::{Digest, Hasher};
use crate::repository::files_cache::KnownFiles;
use crate::repository::session::Session;
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::id::ChunkId;
use portaborg_core::object::ObjectWriter;
use portaborg_core::repo::{WriteDone, WriteJob};
use portaborg_core::store::now;
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
    /// Reads and cuts a part of a large file.
    Cut(CutJob),
    /// Finds the id of a chunk.
    Hash(HashJob),
    /// Compresses, seals or stores.
    Write(WriteJob),
}

/// What came of a [`Job`].
pub enum Done {
    /// Of small files.
    Files(FilesDone),
    /// Of a part of a large file.
    Cut(CutDone),
    /// The id of a chunk.
    Hash(HashDone),
    /// What the writer takes back.
    Write(WriteDone),
}

/// The next part of a large file. Parts are cut one after another, since where one ends is known when it is cut.
pub struct CutJob {
    /// The file.
    pub file: Arc<OwnedFd>,
    /// Where to read on, in bytes from the beginning.
    pub position: u64,
    /// How much of it is cut already.
    pub offset: u64,
    /// What was read and not cut.
    pub carry: (Arc<Vec<u8>>, Range<usize>),
    /// How long the buffer is to be.
    pub room: usize,
    /// Digests so far.
    pub hashers: Vec<(Digest, Hasher)>,
}

/// What came of a [`CutJob`].
pub struct CutDone {
    /// The chunks.
    pub block: Result<Block, Fault>,
    /// Digests so far.
    pub hashers: Vec<(Digest, Hasher)>,
    /// What it took.
    pub time: Duration,
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

    /// Does it.
    pub fn run(&self, tools: &mut Tools<'_>, job: Job) -> Done {
        match job {
            Job::Files(job) => Done::Files(job.run(self, tools)),
            Job::Cut(job) => Done::Cut(job.run(tools)),
            Job::Hash(job) => Done::Hash(job.run(self, tools)),
            Job::Write(job) => Done::Write(now(job.run(&mut tools.objects, &self.session.repository.store))),
        }
    }
}

impl CutJob {
    fn run(self, tools: &mut Tools<'_>) -> CutDone {
        let CutJob { file, mut position, offset, carry: (carried, rest), room, mut hashers } = self;
        let began = Instant::now();
        let mut read = |buffer: &mut [u8]| {
            let count = read::read_on(|| pread(file.as_fd(), &mut *buffer, position))?;
            position += count as u64;
            Ok(count)
        };
        let block = cut::block(&mut tools.chunker, offset, &carried[rest], room, &mut read);
        if let Ok(block) = &block {
            block.digest(&mut hashers);
        }
        CutDone { block, hashers, time: began.elapsed() }
    }
}

impl HashJob {
    fn run(self, shared: &Shared<'_>, tools: &mut Tools<'_>) -> HashDone {
        let began = Instant::now();
        let id = tools.zeros.chunk_id(&shared.session.keys, &self.buffer[self.range]);
        HashDone { number: self.number, id, time: began.elapsed() }
    }
}
