//! Where `create` puts what the walk finds: chunks and items of the new archive.

use super::recorder::{FilesDone, FilesJob, MAX_JOB_BYTES, Trace};
use super::work::{Done, HashDone, Job, SegmentDone};
use crate::app::App;
use crate::backup::{Fault, Known, Part, Sink, Task, Tried};
use crate::crew::Crew;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::archive_report::ArchiveReport;
use crate::output::format::digest::Digest;
use crate::repository::files_cache::{Content, FilesCache, Found, KnownFiles, Memory};
use crate::repository::lender::{Buffers, Lender};
use crate::repository::session::{Held, Session};
use crate::repository::writing::Writer;
use portaborg_core::chunk::Chunker;
use portaborg_core::files_cache::FileState;
use portaborg_core::id::ChunkId;
use portaborg_core::item::{Item, Pairs};
use portaborg_core::object::ObjectType;
use portaborg_core::repo::{ArchiveWriter, WriteError, WriteJob};
use portaborg_core::store::now;
use portaborg_core::tuning::Tuning;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the index of what was added is stored, so that a run that dies need not be repeated from the beginning.
const INDEX_INTERVAL: Duration = Duration::from_secs(600);
/// So many buffers are kept to be used again.
const SPARE_BUFFERS: usize = 8;
/// And so many for parts of large files.
const SPARE_BLOCKS: usize = 4;

/// Makes one archive, with a crew that reads, hashes, compresses, seals and stores. Everything that must be in order is done
/// here, on the caller's thread.
pub struct ArchiveSink<'a, 's, 'c> {
    pub(super) writer: &'a mut Writer<'s>,
    pub(super) crew: &'a mut Crew<'c, Job, Done>,
    pub(super) report: &'a ArchiveReport<'s>,
    pub(super) chunker: Chunker,
    /// What workers found, until it is its turn.
    pub(super) hashed: HashMap<u64, HashDone>,
    pub(super) segments: HashMap<u64, SegmentDone>,
    archive: &'a mut ArchiveWriter,
    files: &'a mut FilesCache,
    pub(super) app: &'a App,
    session: &'s Session,
    pub(super) held: &'a mut Held<'s>,
    digests: &'a [Digest],
    /// The jobs of small files that were begun, in order.
    begun: VecDeque<u64>,
    files_done: HashMap<u64, FilesDone>,
    /// The items of the files whose turn it is.
    items: Vec<u8>,
    /// Under which number the files cache has their entries.
    entries: usize,
    buffers: Buffers,
    /// For parts of large files.
    pub(super) blocks: Buffers,
    numbers: u64,
    /// How many read at once.
    pub(super) readers: usize,
    pub(super) window_bytes: usize,
    max_begun: usize,
    index_saved: Instant,
}

/// What a sink is made of.
pub struct Parts<'a, 's, 'c> {
    /// Messages go there.
    pub app: &'a App,
    /// The repository.
    pub session: &'s Session,
    /// Its lock.
    pub held: &'a mut Held<'s>,
    /// Adds chunks.
    pub writer: &'a mut Writer<'s>,
    /// Takes the items.
    pub archive: &'a mut ArchiveWriter,
    /// What need not be read again.
    pub files: &'a mut FilesCache,
    /// Hears of what is stored.
    pub report: &'a ArchiveReport<'s>,
    /// Cuts what is not left to workers.
    pub chunker: Chunker,
    /// Digests that are made of whole contents.
    pub digests: &'a [Digest],
    /// Does the work.
    pub crew: &'a mut Crew<'c, Job, Done>,
    /// How much may be in flight.
    pub tuning: &'a Tuning,
    /// How many may read at once; as many as there are workers, if nothing is said.
    pub readers: Option<usize>,
}

impl<'a, 's, 'c> ArchiveSink<'a, 's, 'c> {
    /// Without an item yet. The writer is lent until [`finish`](ArchiveSink::finish).
    pub fn new(parts: Parts<'a, 's, 'c>) -> Self {
        let Parts { app, session, held, writer, archive, files, report, chunker, digests, crew, tuning, readers } =
            parts;
        writer.lend(true);
        // A job that is begun need not be the one that is worked on, but who wants one reader wants no other.
        let max_begun = tuning.create_jobs(crew.width(), MAX_JOB_BYTES).min(readers.unwrap_or(usize::MAX));
        let readers = readers.unwrap_or(usize::MAX).min(crew.width());
        ArchiveSink {
            writer,
            crew,
            report,
            chunker,
            hashed: HashMap::new(),
            segments: HashMap::new(),
            blocks: Buffers::new(SPARE_BLOCKS),
            readers,
            archive,
            files,
            app,
            session,
            held,
            digests,
            begun: VecDeque::new(),
            files_done: HashMap::new(),
            items: Vec::new(),
            entries: 0,
            buffers: Buffers::new(SPARE_BUFFERS),
            numbers: 0,
            window_bytes: tuning.create_bytes,
            max_begun,
            index_saved: Instant::now(),
        }
    }

    /// Ends the items, or after a failure only what was begun, and has everything stored that was added.
    pub fn finish(mut self, archived: Result<(), Failure>) -> Result<(), Failure> {
        let ended = archived.and_then(|()| {
            let ended = now(self.archive.end_items(self.writer));
            ended.map_err(|error| self.failure(error))
        });
        let settled = self.take_back();
        ended.and(settled)
    }

    /// Keeps the lock alive, and what was added from being lost.
    pub(super) fn stay_alive(&mut self) -> Result<(), Failure> {
        interrupt::check()?;
        self.held.refresh(self.app)?;
        if self.index_saved.elapsed() >= INDEX_INTERVAL {
            self.settle()?;
            self.writer.lend(false);
            let saved = now(self.writer.save_index());
            self.writer.lend(true);
            saved.map_err(|error| Failure::store(error, &self.session.location))?;
            self.index_saved = Instant::now();
        }
        Ok(())
    }

    /// A number that no other job has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Takes in a result.
    fn received(&mut self, done: Done) -> Result<(), Failure> {
        match done {
            Done::Files(done) => drop(self.files_done.insert(done.number, done)),
            Done::Segment(done) => drop(self.segments.insert(done.number, done)),
            Done::Hash(done) => drop(self.hashed.insert(done.number, done)),
            Done::Write(done) => self.written(done)?,
        }
        Ok(())
    }

    fn failure(&self, error: WriteError) -> Failure {
        Failure::write(error, &self.session.location)
    }

    /// Hands files to a worker; they are the first or the last ones that are waited for.
    fn give_files(&mut self, tasks: Vec<Task>) -> u64 {
        let number = self.next_number();
        let buffer = self.buffers.take();
        self.crew.give(Job::Files(FilesJob { number, tasks, buffer }));
        number
    }

    /// Adds the chunks of files that a worker has read.
    fn add_chunks(&mut self, buffer: Arc<Vec<u8>>, chunks: Vec<(ChunkId, Range<usize>)>) {
        for (id, range) in chunks {
            let size = range.len() as u64;
            let is_new = self.writer.put(id, ObjectType::Content, range);
            self.report.stored(size, is_new);
        }
        self.writer.submit(&buffer);
        self.buffers.keep(&buffer);
        self.give_jobs();
    }

    fn remember(&mut self, entry: Vec<u8>, memory: Memory) {
        let number = self.files.take_encoded(entry);
        self.files.remember(number, memory);
    }

    fn add_item(&mut self, place: Range<usize>) -> Result<(), Failure> {
        now(self.archive.add_encoded(&self.items[place], self.writer)).map_err(|error| self.failure(error))
    }
}

impl<'s> Lender<'s> for ArchiveSink<'_, 's, '_> {
    fn writer(&mut self) -> &mut Writer<'s> {
        self.writer
    }

    fn location(&self) -> &'s str {
        &self.session.location
    }

    fn give(&mut self, job: WriteJob) {
        self.crew.give(Job::Write(job));
    }

    fn receive(&mut self) -> Result<(), Failure> {
        let done = self.crew.next().expect("somebody waits for what is in flight");
        self.received(done)
    }

    fn drain(&mut self) {
        while self.crew.next().is_some() {}
    }
}

impl Sink for ArchiveSink<'_, '_, '_> {
    type Content = Arc<Content>;
    type Trace = Trace;

    fn content(&mut self, parts: Vec<Part<'_>>) -> Result<Arc<Content>, Fault> {
        let read_at = crate::backup::read::now();
        // What is not read can't be digested.
        let has_digests = !self.digests.is_empty() && parts.iter().all(|part| matches!(part, Part::Read(_)));
        let digests = if has_digests { self.digests } else { &[] };
        let mut hashers: Vec<_> = digests.iter().map(|digest| (*digest, digest.hasher())).collect();
        let mut chunks = Vec::new();
        for part in parts {
            match part {
                Part::Known(known) => chunks.extend_from_slice(known),
                Part::Read(mut input) => self.stream(&mut *input, &mut hashers, &mut chunks)?,
            }
        }
        let digests = hashers.into_iter().map(|(digest, hasher)| (digest.name().into(), hasher.finish()));
        Ok(Arc::new(Content { chunks, digests: has_digests.then(|| digests.collect()), read_at }))
    }

    fn has(&self, id: &ChunkId) -> bool {
        self.writer.has(id)
    }

    fn known(&mut self, path: &[u8], state: &FileState) -> Known<Arc<Content>> {
        if !self.files.known().is_used() {
            return Known::No;
        }
        let now = crate::backup::read::now();
        let path = KnownFiles::path_hash(&self.session.keys, path);
        let (content, differs) = match self.files.known().find(&path, state) {
            Found::Unknown => return Known::No,
            Found::Modified => return Known::Modified,
            // Digests that are asked for, but were not made then, need the content.
            Found::Unchanged(file) if !has_digests(file.digests(), self.digests) => return Known::Modified,
            Found::Unchanged(file) => (Arc::new(file.content(now)), file.differs(state)),
        };
        if differs {
            let mut entry = Vec::new();
            let memory = Memory::of_unread(path, state, &content, &mut entry);
            self.remember(entry, memory);
        }
        Known::Unchanged(content)
    }

    fn memorize(&mut self, path: &[u8], state: &FileState, content: &Arc<Content>, is_read_only: bool) {
        let mut entry = Vec::new();
        let path = KnownFiles::path_hash(&self.session.keys, path);
        let memory = Memory::of_read(path, state, content, is_read_only, &mut entry);
        self.remember(entry, memory);
    }

    fn item(&mut self, mut item: Item, content: Option<Arc<Content>>) -> Result<(), Failure> {
        self.stay_alive()?;
        if let Some(content) = content {
            self.report.file(complete(&mut item, &content, self.digests));
        }
        self.report.progress(&item.path);
        now(self.archive.add(&item, self.writer)).map_err(|error| self.failure(error))?;
        self.give_jobs();
        Ok(())
    }

    fn has_workers(&self) -> bool {
        self.chunker.is_pure()
    }

    fn begin_ahead(&mut self, tasks: Vec<Task>) -> Result<(), Failure> {
        let number = self.give_files(tasks);
        self.begun.push_back(number);
        Ok(())
    }

    fn is_ahead_due(&mut self) -> Result<bool, Failure> {
        while let Some(done) = self.crew.try_next() {
            self.received(done)?;
        }
        let is_done = self.begun.front().is_some_and(|first| self.files_done.contains_key(first));
        Ok(is_done || self.begun.len() >= self.max_begun)
    }

    fn end_ahead(&mut self) -> Result<Vec<Tried<Trace>>, Failure> {
        self.stay_alive()?;
        // What was read before is sealed first.
        while !self.writer.has_room(self.window_bytes) {
            self.receive()?;
        }
        let number = self.begun.pop_front().expect("somebody waits for tasks that were begun");
        let done = loop {
            match self.files_done.remove(&number) {
                Some(done) => break done,
                None => self.receive()?,
            }
        };
        let FilesDone { tried, left, buffer, chunks, items, entries, chunking, hashing, .. } = done;
        if !left.is_empty() {
            let number = self.give_files(left);
            self.begun.push_front(number);
        }
        self.report.chunked(chunking);
        self.report.hashed(hashing);
        self.items = items;
        self.entries = self.files.take_encoded(entries);
        self.add_chunks(buffer, chunks);
        Ok(tried)
    }

    fn take_in(&mut self, path: &[u8], trace: Trace) -> Result<(), Failure> {
        match trace {
            Trace::Memorize(memory) => self.files.remember(self.entries, memory),
            Trace::Item { place, size } => {
                self.report.file(size);
                self.report.progress(path);
                self.add_item(place)?;
            }
        }
        Ok(())
    }
}

/// Completes an item by what is known of its content, and gives the content's length in bytes.
pub fn complete(item: &mut Item, content: &Content, digests: &[Digest]) -> u64 {
    item.digests = content.digests.clone().filter(|_| !digests.is_empty());
    item.chunks = Some(content.chunks.clone());
    let size = item.content_size();
    item.size = Some(size);
    size
}

/// Whether all digests that are wanted were made.
pub fn has_digests(made: Option<&Pairs>, wanted: &[Digest]) -> bool {
    let made = made.map_or(&[][..], |made| made);
    wanted.iter().all(|digest| made.iter().any(|(name, _)| name == digest.name().as_bytes()))
}
