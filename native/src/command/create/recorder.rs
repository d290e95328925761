//! Small files that a worker reads: their items and chunks, ready to be taken in.

use super::sink::{complete, has_digests};
use super::work::{Shared, Tools};
use crate::backup::{Cause, Collector, Event, Fault, Known, Observer, Order, Outcome, Part, Problem, Sink, Status};
use crate::backup::{Task, Tried, read::now};
use crate::failure::Failure;
use crate::repository::files_cache::{Content, Found, KnownFiles, Memory};
use portaborg_core::files_cache::FileState;
use portaborg_core::id::{ChunkId, PathHash};
use portaborg_core::item::{ChunkEntry, Item};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer files are not read ahead, in bytes.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// With so much content a worker comes back, whatever files it still has, in bytes.
const ENOUGH_BYTES: usize = 1 << 20;
/// The most that the content of one job has, in bytes.
pub const MAX_JOB_BYTES: usize = ENOUGH_BYTES + MAX_FILE_BYTES;

/// Files to be read.
pub struct FilesJob {
    /// What puts jobs in order again.
    pub number: u64,
    /// The files, in order.
    pub tasks: Vec<Task>,
    /// A buffer to be used again; whatever is in it.
    pub buffer: Vec<u8>,
}

/// What came of a [`FilesJob`].
pub struct FilesDone {
    /// The job's number.
    pub number: u64,
    /// What happened, file by file.
    pub tried: Vec<Tried<Trace>>,
    /// Files that were too much.
    pub left: Vec<Task>,
    /// What the chunks lie in.
    pub buffer: Arc<Vec<u8>>,
    /// All chunks that were read.
    pub chunks: Vec<(ChunkId, Range<usize>)>,
    /// The encoded items that [`Trace::Item`] points to.
    pub items: Vec<u8>,
    /// The encoded entries of the files cache.
    pub entries: Vec<u8>,
    /// What reading and cutting took.
    pub chunking: Duration,
    /// What hashing took.
    pub hashing: Duration,
}

/// What is to be done when it is a file's turn.
pub enum Trace {
    /// Remember it for the next run, by an entry in [`FilesDone::entries`].
    Memorize(Memory),
    /// Append its item.
    Item {
        /// Where the encoded item lies.
        place: Range<usize>,
        /// Length of its content, in bytes.
        size: u64,
    },
}

impl FilesJob {
    /// Reads the files, as many as are not too much.
    pub fn run(self, shared: &Shared<'_>, tools: &mut Tools<'_>) -> FilesDone {
        let FilesJob { number, tasks, buffer } = self;
        let events = Events::default();
        let order = Order::new(&events);
        let mut names = std::mem::take(&mut tools.names);
        let mut recorder = Recorder {
            shared,
            tools,
            events: &events,
            buffer,
            used: 0,
            chunks: Vec::new(),
            items: Vec::new(),
            entries: Vec::new(),
            path: PathHash([0; 32]),
            is_unfit: false,
            chunking: Duration::ZERO,
            hashing: Duration::ZERO,
        };
        let mut tried = Vec::with_capacity(tasks.len());
        let mut tasks = tasks.into_iter();
        {
            let mut collector = Collector::new(shared.selection, shared.reading, &order, &mut recorder);
            collector.swap_names(&mut names);
            while collector.sink().used < ENOUGH_BYTES
                && let Some(Task { path, place }) = tasks.next()
            {
                let before = collector.sink().mark();
                let outcome = collector.try_ahead(&path, place);
                let mut told = events.0.take();
                if !matches!(outcome, Outcome::Done(_)) {
                    collector.sink().go_back(before);
                    told.retain(|event| !matches!(event, Event::Trace(_)));
                }
                tried.push(Tried { path, outcome, events: told });
            }
            collector.swap_names(&mut names);
        }
        let Recorder { buffer, chunks, items, entries, chunking, hashing, tools, .. } = recorder;
        tools.names = names;
        let (left, buffer) = (tasks.collect(), Arc::new(buffer));
        FilesDone { number, tried, left, buffer, chunks, items, entries, chunking, hashing }
    }
}

/// What happens to one file.
#[derive(Default)]
struct Events(RefCell<Vec<Event<Trace>>>);

impl Events {
    fn push(&self, event: Event<Trace>) {
        self.0.borrow_mut().push(event);
    }
}

impl Observer for Events {
    fn status(&self, status: Status, _path: &[u8]) {
        self.push(Event::Line(status));
    }

    fn count(&self, status: Status) {
        self.push(Event::Count(status));
    }

    fn warn(&self, problem: &Problem) {
        self.push(Event::Warning(problem.clone()));
    }

    fn note(&self, text: &str) {
        self.push(Event::Note(text.into()));
    }
}

/// Takes down what a collector hands over.
struct Recorder<'r, 's, 't> {
    shared: &'r Shared<'s>,
    tools: &'r mut Tools<'t>,
    events: &'r Events,
    /// Only the first `used` bytes mean something.
    buffer: Vec<u8>,
    used: usize,
    chunks: Vec<(ChunkId, Range<usize>)>,
    items: Vec<u8>,
    entries: Vec<u8>,
    /// Stands for the path that was looked up last.
    path: PathHash,
    is_unfit: bool,
    chunking: Duration,
    hashing: Duration,
}

/// How much there was at some time.
struct Mark {
    used: usize,
    chunks: usize,
    items: usize,
}

impl Recorder<'_, '_, '_> {
    fn mark(&self) -> Mark {
        Mark { used: self.used, chunks: self.chunks.len(), items: self.items.len() }
    }

    fn go_back(&mut self, to: Mark) {
        self.used = to.used;
        self.chunks.truncate(to.chunks);
        self.items.truncate(to.items);
    }

    /// Says that the file is for somebody else. What is given as its fault is not looked at.
    fn unfit(&mut self) -> Fault {
        self.is_unfit = true;
        Cause::ChangedWhileRead.into()
    }

    /// Reads a content to its end, if it is not too long.
    fn read(&mut self, part: Part<'_>) -> Result<(), Fault> {
        let Part::Read(mut input) = part else { return Err(self.unfit()) };
        let file = input.file().map(|(_, size)| size);
        let size = file.unwrap_or_default();
        if size > MAX_FILE_BYTES as u64 {
            return Err(self.unfit());
        }
        // With one byte more than it has, a file's end shows in the first read.
        let mut room = size as usize + 1;
        let start = self.used;
        loop {
            if self.buffer.len() < self.used + room {
                self.buffer.resize(self.used + room, 0);
            }
            let count = input.read(&mut self.buffer[self.used..self.used + room])?;
            self.used += count;
            let len = self.used - start;
            if count == 0 || (count < room && file == Some(len as u64)) {
                return Ok(());
            }
            if len > MAX_FILE_BYTES {
                return Err(self.unfit());
            }
            room = (room - count).max(MORE_BYTES);
        }
    }
}

impl Sink for Recorder<'_, '_, '_> {
    type Content = Arc<Content>;
    type Trace = Trace;

    fn content(&mut self, parts: Vec<Part<'_>>) -> Result<Arc<Content>, Fault> {
        let read_at = now();
        let began = Instant::now();
        let start = self.used;
        for part in parts {
            self.read(part)?;
        }
        let mut chunks = Vec::new();
        let mut from = start;
        while from < self.used {
            let cut = self.tools.chunker.cut((from - start) as u64, &self.buffer[from..self.used]);
            let len = cut.map_err(|_| Fault::Object(Cause::os("read")(Errno::IO)))?;
            chunks.push(ChunkEntry { id: ChunkId([0; 32]), size: len as u64 });
            from += len;
        }
        let cut = Instant::now();
        self.chunking += cut - began;
        let help = self.tools.help();
        let mut from = start;
        for chunk in &mut chunks {
            let range = from..from + chunk.size as usize;
            from = range.end;
            chunk.id = self.tools.zeros.chunk_id(&self.shared.session.keys, &self.buffer[range.clone()], help);
            self.chunks.push((chunk.id, range));
        }
        self.hashing += cut.elapsed();
        let digests = self.shared.digests;
        let content = &self.buffer[start..self.used];
        let digest = |digest: &crate::output::format::digest::Digest| {
            let mut hasher = digest.hasher();
            hasher.update(content);
            (digest.name().into(), hasher.finish())
        };
        let digests = (!digests.is_empty()).then(|| digests.iter().map(digest).collect());
        Ok(Arc::new(Content { chunks, digests, read_at }))
    }

    fn has(&self, _id: &ChunkId) -> bool {
        false // files with maps are nobody's but the writer's
    }

    fn known(&mut self, path: &[u8], state: &FileState) -> Known<Arc<Content>> {
        let known = &self.shared.known;
        if !known.is_used() {
            return Known::No;
        }
        self.path = KnownFiles::path_hash(&self.shared.session.keys, path);
        match known.find(&self.path, state) {
            Found::Unknown => Known::No,
            Found::Modified => Known::Modified,
            Found::Unchanged(file) if !has_digests(file.digests(), self.shared.digests) => Known::Modified,
            Found::Unchanged(file) => {
                let content = Arc::new(file.content(now()));
                if file.differs(state) {
                    let memory = Memory::of_unread(self.path, state, &content, &mut self.entries);
                    self.events.push(Event::Trace(Trace::Memorize(memory)));
                }
                Known::Unchanged(content)
            }
        }
    }

    fn memorize(&mut self, _path: &[u8], state: &FileState, content: &Arc<Content>, is_read_only: bool) {
        if self.shared.known.is_used() {
            let memory = Memory::of_read(self.path, state, content, is_read_only, &mut self.entries);
            self.events.push(Event::Trace(Trace::Memorize(memory)));
        }
    }

    fn refuses(&mut self) -> bool {
        std::mem::take(&mut self.is_unfit)
    }

    fn item(&mut self, mut item: Item, content: Option<Arc<Content>>) -> Result<(), Failure> {
        let size = content.map_or(0, |content| complete(&mut item, &content, self.shared.digests));
        let start = self.items.len();
        item.encode_into(&mut self.items);
        self.events.push(Event::Trace(Trace::Item { place: start..self.items.len(), size }));
        Ok(())
    }
}

/// How much is read at once of a file that is longer than it seemed, in bytes.
const MORE_BYTES: usize = 128 << 10;
