//! Where `create` puts what the walk finds: chunks and items of the new archive.

use crate::app::App;
use crate::backup::{Cause, Fault, Input, Known, Part, Sink};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::archive_report::ArchiveReport;
use crate::output::format::digest::{Digest, Hasher};
use crate::repository::files_cache::{Content, FilesCache, Found};
use crate::repository::session::{Held, Session};
use crate::repository::writing::Writer;
use portaborg_core::chunk::Chunker;
use portaborg_core::files_cache::FileState;
use portaborg_core::id::ChunkId;
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::object::ObjectType;
use portaborg_core::repo::ArchiveWriter;
use portaborg_core::store::now;
use portaborg_core::time::Timestamp;
use rustix::io::Errno;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How much is read at once, in bytes.
const READ_BYTES: usize = 1 << 20;
/// How often the index of what was added is stored, so that a run that dies need not be repeated from the beginning.
const INDEX_INTERVAL: Duration = Duration::from_secs(600);
/// How many lengths of zeros are remembered by their ids.
const KNOWN_ZEROS: usize = 16;

/// Makes one archive.
pub struct ArchiveSink<'a, 's> {
    /// Adds chunks.
    pub writer: Writer<'s>,
    /// Takes the items.
    pub archive: ArchiveWriter,
    /// What need not be read again.
    pub files: FilesCache,
    app: &'a App,
    session: &'s Session,
    held: &'a mut Held<'s>,
    report: &'a ArchiveReport<'a>,
    chunker: Chunker,
    digests: &'a [Digest],
    ahead: Ahead,
    zeros: Vec<(usize, ChunkId)>,
    index_saved: Instant,
}

/// What was read and is not cut yet.
#[derive(Default)]
struct Ahead {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// What a sink is made of.
pub struct Parts<'a, 's> {
    /// Messages go there.
    pub app: &'a App,
    /// The repository.
    pub session: &'s Session,
    /// Its lock.
    pub held: &'a mut Held<'s>,
    /// Adds chunks.
    pub writer: Writer<'s>,
    /// What need not be read again.
    pub files: FilesCache,
    /// Hears of what is stored.
    pub report: &'a ArchiveReport<'a>,
    /// Cuts contents.
    pub chunker: Chunker,
    /// Digests that are made of whole contents.
    pub digests: &'a [Digest],
}

impl<'a, 's> ArchiveSink<'a, 's> {
    /// Without an item yet.
    pub fn new(parts: Parts<'a, 's>) -> Self {
        let Parts { app, session, held, writer, files, report, chunker, digests } = parts;
        let archive = ArchiveWriter::new(&session.keys);
        ArchiveSink {
            writer,
            archive,
            files,
            app,
            session,
            held,
            report,
            chunker,
            digests,
            ahead: Ahead::default(),
            zeros: Vec::new(),
            index_saved: Instant::now(),
        }
    }

    /// Keeps the lock alive, and what was added from being lost.
    fn stay_alive(&mut self) -> Result<(), Failure> {
        interrupt::check()?;
        self.held.refresh(self.app)?;
        if self.index_saved.elapsed() >= INDEX_INTERVAL {
            now(self.writer.save_index()).map_err(|error| Failure::store(error, &self.session.location))?;
            self.index_saved = Instant::now();
        }
        Ok(())
    }

    /// Cuts all of an input into chunks.
    fn cut(
        &mut self,
        input: &mut dyn Input,
        hashers: &mut [(Digest, Hasher)],
        chunks: &mut Vec<ChunkEntry>,
    ) -> Result<(), Fault> {
        let mut offset = 0;
        self.ahead.clear();
        loop {
            let began = Instant::now();
            self.ahead.fill(self.chunker.max_size(), input)?;
            if self.ahead.bytes().is_empty() {
                return Ok(());
            }
            let len = self.chunker.cut(offset, self.ahead.bytes());
            self.report.chunked(began.elapsed());
            // Only the chunker for tests of failures has any.
            let len = len.map_err(|_| Fault::Object(Cause::os("read")(Errno::IO)))?;
            for (_, hasher) in &mut *hashers {
                hasher.update(&self.ahead.bytes()[..len]);
            }
            chunks.push(self.add(len)?);
            self.ahead.start += len;
            offset += len as u64;
            self.stay_alive()?;
        }
    }

    /// Adds the next chunk of a content, which lies at the front of what was read.
    fn add(&mut self, len: usize) -> Result<ChunkEntry, Failure> {
        let chunk = &self.ahead.buffer[self.ahead.start..self.ahead.start + len];
        let began = Instant::now();
        let id = match is_zero(chunk) {
            true => zero_id(&mut self.zeros, chunk, &self.writer),
            false => self.writer.chunk_id(chunk),
        };
        self.report.hashed(began.elapsed());
        let added = now(self.writer.add(id, ObjectType::Content, chunk));
        let is_new = added.map_err(|error| Failure::write(error, &self.session.location))?;
        self.report.stored(len as u64, is_new);
        Ok(ChunkEntry { id, size: len as u64 })
    }
}

impl Sink for ArchiveSink<'_, '_> {
    type Content = Rc<Content>;

    fn content(&mut self, parts: Vec<Part<'_>>) -> Result<Rc<Content>, Fault> {
        let read_at = crate::backup::read::now();
        // What is not read can't be digested.
        let has_digests = !self.digests.is_empty() && parts.iter().all(|part| matches!(part, Part::Read(_)));
        let digests = if has_digests { self.digests } else { &[] };
        let mut hashers: Vec<_> = digests.iter().map(|digest| (*digest, digest.hasher())).collect();
        let mut chunks = Vec::new();
        for part in parts {
            match part {
                Part::Known(known) => chunks.extend_from_slice(known),
                Part::Read(mut input) => self.cut(&mut *input, &mut hashers, &mut chunks)?,
            }
        }
        let digests = hashers.into_iter().map(|(digest, hasher)| (digest.name().into(), hasher.finish()));
        Ok(Rc::new(Content { chunks, digests: has_digests.then(|| digests.collect()), read_at }))
    }

    fn has(&self, id: &ChunkId) -> bool {
        self.writer.has(id)
    }

    fn known(&mut self, path: &[u8], state: &FileState) -> Known<Rc<Content>> {
        let now: Timestamp = crate::backup::read::now();
        match self.files.find(&self.session.keys, path, state, &self.writer.reader.index, now) {
            Found::Unknown => Known::No,
            Found::Modified => Known::Modified,
            // Digests that are asked for, but were not made then, need the content.
            Found::Unchanged(content) if !has_digests(&content, self.digests) => Known::Modified,
            Found::Unchanged(content) => Known::Unchanged(content),
        }
    }

    fn memorize(&mut self, path: &[u8], state: &FileState, content: &Rc<Content>, is_read_only: bool) {
        self.files.remember(&self.session.keys, path, state, content, is_read_only);
    }

    fn item(&mut self, mut item: Item, content: Option<Rc<Content>>) -> Result<(), Failure> {
        self.stay_alive()?;
        if let Some(content) = content {
            item.digests = content.digests.clone().filter(|_| !self.digests.is_empty());
            item.chunks = Some(content.chunks.clone());
            let size = item.content_size();
            item.size = Some(size);
            self.report.file(size);
        }
        self.report.progress(&item.path);
        now(self.archive.add(&item, &mut self.writer)).map_err(|error| Failure::write(error, &self.session.location))
    }
}

impl Ahead {
    fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads until `wanted` bytes are there, or to the input's end.
    fn fill(&mut self, wanted: usize, input: &mut dyn Input) -> Result<(), Fault> {
        while self.end - self.start < wanted {
            if self.end == self.buffer.len() {
                self.make_room(wanted);
            }
            // Small reads for small files: a buffer that is not touched costs nothing.
            let room = self.buffer.len().min(self.end + READ_BYTES);
            let count = input.read(&mut self.buffer[self.end..room])?;
            if count == 0 {
                break;
            }
            self.end += count;
        }
        Ok(())
    }

    /// Moves what is there to the front, or takes a longer buffer. With room for two longest chunks, each byte is moved once
    /// at most.
    fn make_room(&mut self, wanted: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let full = 2 * wanted;
        if self.end == self.buffer.len() {
            let len = (2 * self.buffer.len()).clamp(READ_BYTES, full.max(READ_BYTES));
            self.buffer.resize(len, 0);
        }
    }
}

fn has_digests(content: &Content, wanted: &[Digest]) -> bool {
    let known = content.digests.as_deref().unwrap_or_default();
    wanted.iter().all(|digest| known.iter().any(|(name, _)| name == digest.name().as_bytes()))
}

fn is_zero(chunk: &[u8]) -> bool {
    chunk.iter().all(|&byte| byte == 0)
}

/// The id of zeros, which is computed once for each length.
fn zero_id(known: &mut Vec<(usize, ChunkId)>, zeros: &[u8], writer: &Writer<'_>) -> ChunkId {
    if let Some((_, id)) = known.iter().find(|(len, _)| *len == zeros.len()) {
        return *id;
    }
    let id = writer.chunk_id(zeros);
    known.truncate(KNOWN_ZEROS - 1);
    known.insert(0, (zeros.len(), id));
    id
}
