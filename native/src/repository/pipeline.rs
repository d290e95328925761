//! Reading an archive with all hands: workers fetch chunks, open them and decode items ahead of the one thread that takes
//! everything in, in order.

use crate::crew::{Crew, with_crew};
use crate::repository::archives::Reader;
use crate::repository::folder::LocalRepository;
use crate::repository::item_cache::{CacheUse, CachedItems, Recording};
use crate::repository::session::Session;
use crate::repository::writing::Writer;
use portaborg_core::extract::{Fetch, Plain, Purpose, ReadAhead, Unpacked, Want, Window};
use portaborg_core::id::ChunkId;
use portaborg_core::index::ChunkIndex;
use portaborg_core::item::Item;
use portaborg_core::object::{ObjectType, Opener, Spare};
use portaborg_core::repo::{Content, EncodedItems, ItemProblem, ItemStep, ItemStream, ReadError};
use portaborg_core::store::{Piece, now};
use portaborg_core::tuning::{Help, Tuning};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

/// What a command has its workers do beside reading.
pub trait Work: Sync {
    /// What each worker has for itself.
    type Tools;
    /// What items become in a worker.
    type Items: Send;
    /// Other work.
    type Job: Send;
    /// What comes of it.
    type Done: Send;

    /// How many workers there are.
    fn threads(tuning: &Tuning) -> usize {
        tuning.extract_threads()
    }
    /// For a new worker.
    fn tools(&self) -> Self::Tools;
    /// Decodes items that follow each other.
    fn decode(&self, tools: &mut Self::Tools, items: EncodedItems) -> Self::Items;
    /// Does other work, with help if there is any. Long buffers that are of no more use may be kept.
    fn work(&self, tools: &mut Self::Tools, job: Self::Job, help: Help, spare: &mut Spare) -> Self::Done;
}

/// No work but to read and to decode.
pub trait Decode: Sync {
    /// What each worker has for itself.
    type Tools;
    /// What items become in a worker.
    type Items: Send;

    /// For a new worker.
    fn tools(&self) -> Self::Tools;
    /// Decodes items that follow each other.
    fn decode(&self, tools: &mut Self::Tools, items: EncodedItems) -> Self::Items;
}

impl<D: Decode> Work for D {
    type Tools = D::Tools;
    type Items = D::Items;
    type Job = Infallible;
    type Done = Infallible;

    fn tools(&self) -> D::Tools {
        Decode::tools(self)
    }

    fn decode(&self, tools: &mut D::Tools, items: EncodedItems) -> D::Items {
        Decode::decode(self, tools, items)
    }

    fn work(&self, _: &mut D::Tools, job: Infallible, _: Help, _: &mut Spare) -> Infallible {
        job
    }
}

/// Items as they are.
pub struct Decoding;

impl Decode for Decoding {
    type Tools = ();
    type Items = Vec<Result<Item, ItemProblem>>;

    fn tools(&self) {}

    fn decode(&self, (): &mut (), items: EncodedItems) -> Self::Items {
        items.collect()
    }
}

/// Where chunks are looked up; and it is asked for those that are not where they should be.
pub trait Source {
    /// Where chunks lie.
    fn index(&self) -> &ChunkIndex;
    /// Whether each chunk's id is verified.
    fn asserts_ids(&self) -> bool;
    /// A chunk of a type.
    fn read(&mut self, id: ChunkId, wanted: ObjectType) -> Result<&[u8], ReadError>;
    /// A chunk of a file.
    fn read_content(&mut self, id: ChunkId, size: u64) -> Result<Content<'_>, ReadError>;
}

impl Source for Reader<'_> {
    fn index(&self) -> &ChunkIndex {
        &self.index
    }

    fn asserts_ids(&self) -> bool {
        Reader::asserts_ids(self)
    }

    fn read(&mut self, id: ChunkId, wanted: ObjectType) -> Result<&[u8], ReadError> {
        now(Reader::read(self, id, wanted))
    }

    fn read_content(&mut self, id: ChunkId, size: u64) -> Result<Content<'_>, ReadError> {
        now(Reader::read_content(self, id, size))
    }
}

impl Source for Writer<'_> {
    fn index(&self) -> &ChunkIndex {
        &self.reader.index
    }

    fn asserts_ids(&self) -> bool {
        self.reader.asserts_ids()
    }

    fn read(&mut self, id: ChunkId, wanted: ObjectType) -> Result<&[u8], ReadError> {
        now(self.reader.read(id, wanted))
    }

    fn read_content(&mut self, id: ChunkId, size: u64) -> Result<Content<'_>, ReadError> {
        now(self.reader.read_content(id, size))
    }
}

/// Items and chunks that are read ahead.
pub struct Pipeline<'p, 'c, S, W: Work> {
    /// Where they are.
    pub source: &'p mut S,
    /// Chunks of files: what is wanted here is given by [`Pipeline::next_content`].
    pub content: Window,
    crew: &'p mut Crew<'c, Job<W>, Done<W>>,
    items: Items<W::Items>,
    worked: VecDeque<W::Done>,
    look_ahead: usize,
}

/// The items of an archive, up to where they are decoded.
struct Items<I> {
    stream: ItemStream,
    window: Window,
    /// How many of the stream's chunks the window has got.
    wanted: usize,
    /// What the stream has asked for and does not have yet.
    asked: Option<ChunkId>,
    /// Gives items in place of the stream.
    cached: Option<CachedItems>,
    /// How many items it has given. When it fails, the stream's first ones are passed over.
    given: usize,
    /// Takes items as they are taken out.
    recording: Option<Recording>,
    /// In order; `None` is with a worker.
    decoded: VecDeque<Option<Decoded<I>>>,
    /// How many of `decoded` were taken out, ever.
    taken: u64,
    at_end: bool,
}

/// What became of items, and their block for the item cache if they are recorded.
type Decoded<I> = (Result<I, ItemProblem>, Option<Vec<u8>>);

enum Job<W: Work> {
    Fetch(Line, Fetch),
    /// `true` if they are recorded.
    Decode(u64, EncodedItems, bool),
    Work(W::Job),
}

enum Done<W: Work> {
    Fetched(Line, Unpacked),
    Decoded(u64, W::Items, Option<Vec<u8>>),
    Worked(W::Done),
}

/// Which window.
#[derive(Debug, Clone, Copy)]
enum Line {
    Items,
    Content,
}

/// Runs `drive` with a pipeline, on threads that do `work`.
pub fn with_pipeline<S: Source, W: Work, R>(
    session: &Session,
    source: &mut S,
    tuning: &Tuning,
    work: &W,
    drive: impl FnOnce(&mut Pipeline<'_, '_, S, W>) -> R,
) -> R {
    let width = W::threads(tuning);
    let tools = || (session.opener(), work.tools());
    let labour = |(opener, tools): &mut (Opener<'_>, W::Tools), job, idle| {
        let help = Help { tuning: *tuning, idle };
        match job {
            Job::Fetch(line, job) => {
                opener.set_help(help);
                Done::Fetched(line, fetch(&session.repository, opener, job))
            }
            Job::Decode(number, mut items, is_recorded) => {
                let block = if is_recorded { items.to_block() } else { None };
                Done::Decoded(number, work.decode(tools, items), block)
            }
            Job::Work(job) => Done::Worked(work.work(tools, job, help, &mut opener.spare)),
        }
    };
    with_crew(width, tools, labour, |crew: &mut Crew<'_, Job<W>, Done<W>>| {
        let held_bytes = (tuning.look_ahead(width).saturating_mul(CHUNK_BYTES)).min(tuning.window_bytes) as u64;
        let ahead = ReadAhead { held_bytes, read_bytes: READ_BYTES };
        drive(&mut Pipeline {
            content: Window::new(Purpose::Content, source.asserts_ids(), ahead),
            items: Items::new(&[], source.asserts_ids()),
            source,
            crew,
            worked: VecDeque::new(),
            look_ahead: tuning.look_ahead(width),
        })
    })
}

/// Reads, opens and unpacks chunks.
pub fn fetch(repository: &LocalRepository, opener: &mut Opener<'_>, job: Fetch) -> Unpacked {
    let folder = &repository.store.0;
    let mut read = |piece: &Piece| folder.read_into(opener.spare.take(piece.len), &piece.key, piece.offset, piece.len);
    let pieces = job.pieces.iter().map(&mut read).collect();
    job.fetched(pieces).open(opener).unpack(opener)
}

impl<S: Source, W: Work> Pipeline<'_, '_, S, W> {
    /// Begins with the items of an archive that has these item pointers.
    pub fn begin(&mut self, item_ptrs: &[ChunkId]) {
        self.begin_with(item_ptrs, CacheUse::default());
    }

    /// The same with the item cache.
    pub fn begin_with(&mut self, item_ptrs: &[ChunkId], cache: CacheUse) {
        let taken = self.items.taken + self.items.decoded.len() as u64;
        let CacheUse { cached, recording } = cache;
        self.items = Items { taken, cached, recording, ..Items::new(item_ptrs, self.source.asserts_ids()) };
    }

    /// The next items, or what is wrong with their stream; `None` at the end.
    pub fn next_items(&mut self) -> Option<Result<W::Items, ItemProblem>> {
        loop {
            self.read_on();
            if let Some(items) = self.ready_items() {
                return Some(items);
            }
            if self.items.decoded.is_empty() && self.items.at_end {
                self.items.finish_recording();
                return None;
            }
            self.wait();
        }
    }

    /// The next items, if they are here already.
    pub fn ready_items(&mut self) -> Option<Result<W::Items, ItemProblem>> {
        let items = &mut self.items;
        let (ready, block) = items.decoded.pop_front_if(|next| next.is_some()).flatten()?;
        items.taken += 1;
        items.record(block);
        Some(ready)
    }

    /// The chunks of the item stream that was read.
    pub fn item_chunks(&self) -> &[ChunkId] {
        self.items.stream.chunks()
    }

    /// The next chunk of what is wanted of [`Pipeline::content`].
    ///
    /// # Panics
    ///
    /// If nothing is.
    pub fn next_content(&mut self) -> Result<Arc<Plain>, ReadError> {
        loop {
            self.hand_out();
            match self.content.next_ready() {
                Some((want, Err(error))) if error.may_have_moved() => return self.read(want),
                Some((_, result)) => return result,
                None => self.wait(),
            }
        }
    }

    /// A chunk of a file that was not read ahead.
    pub fn read(&mut self, Want { id, size }: Want) -> Result<Arc<Plain>, ReadError> {
        Ok(Arc::new(self.source.read_content(id, size.unwrap_or_default())?.into()))
    }

    /// Has other work done.
    pub fn give(&mut self, job: W::Job) {
        self.crew.give(Job::Work(job));
    }

    /// Other work that is done, in no order.
    pub fn take_worked(&mut self) -> Option<W::Done> {
        while let Some(done) = self.crew.try_next() {
            self.take_in(done);
        }
        self.worked.pop_front()
    }

    /// Waits until a job of any kind is done.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn wait(&mut self) {
        self.hand_out();
        let done = self.crew.next().expect("only what is in flight is waited for");
        self.take_in(done);
    }

    /// Waits for all that is in flight, and drops what comes of it: nobody asks for anything any more.
    pub fn drain(&mut self) {
        while self.crew.next().is_some() {}
    }

    /// Keeps the workers busy.
    pub fn hand_out(&mut self) {
        while self.crew.in_flight() < self.look_ahead {
            let Items { window, .. } = &mut self.items;
            let index = self.source.index();
            let job = match window.next_fetch(index) {
                Some(fetch) => Some(Job::Fetch(Line::Items, fetch)),
                None => self.content.next_fetch(index).map(|fetch| Job::Fetch(Line::Content, fetch)),
            };
            let Some(job) = job else { break };
            self.crew.give(job);
        }
    }

    fn take_in(&mut self, done: Done<W>) {
        match done {
            Done::Fetched(Line::Items, unpacked) => self.items.window.finish(unpacked),
            Done::Fetched(Line::Content, unpacked) => self.content.finish(unpacked),
            Done::Decoded(number, decoded, block) => self.items.finish(number, (Ok(decoded), block)),
            Done::Worked(done) => self.worked.push_back(done),
        }
    }

    /// Goes on with the stream of items as far as may be.
    pub fn read_on(&mut self) {
        while self.items.decoded.len() < ITEMS_AHEAD * self.look_ahead && !self.items.at_end {
            let step = match self.items.asked.take() {
                Some(id) => ItemStep::Read(id, ObjectType::Items),
                None => self.items.step(),
            };
            let fed = match step {
                ItemStep::Items(items) => {
                    self.crew.give(Job::Decode(self.items.next_number(), items, self.items.recording.is_some()));
                    self.items.decoded.push_back(None);
                    Ok(())
                }
                ItemStep::Problem(problem) => Err(problem),
                ItemStep::Read(id, ObjectType::Items) => {
                    self.items.want_pieces();
                    self.hand_out();
                    match self.items.window.next_ready() {
                        None => {
                            self.items.asked = Some(id);
                            return;
                        }
                        Some((_, Err(error))) if error.may_have_moved() => {
                            self.items.stream.feed(self.source.read(id, ObjectType::Items))
                        }
                        Some((_, Ok(plain))) => self.items.stream.feed(Ok(plain.bytes())),
                        Some((_, Err(error))) => self.items.stream.feed(Err(error)),
                    }
                }
                ItemStep::Read(id, wanted) => self.items.stream.feed(self.source.read(id, wanted)),
                ItemStep::End => {
                    self.items.at_end = true;
                    Ok(())
                }
            };
            if let Err(problem) = fed {
                self.items.decoded.push_back(Some((Err(problem), None)));
            }
        }
    }
}

impl<I> Items<I> {
    fn new(item_ptrs: &[ChunkId], assert_ids: bool) -> Self {
        Items {
            stream: ItemStream::new(item_ptrs),
            window: Window::new(Purpose::Items, assert_ids, ITEM_READ_AHEAD),
            wanted: 0,
            asked: None,
            cached: None,
            given: 0,
            recording: None,
            decoded: VecDeque::new(),
            taken: 0,
            at_end: false,
        }
    }

    /// What comes next, from the item cache as long as it has something to give.
    fn step(&mut self) -> ItemStep {
        if let Some(cached) = &mut self.cached {
            match cached.next() {
                Ok(Some(items)) => {
                    self.given += items.len();
                    return ItemStep::Items(items);
                }
                Ok(None) => return ItemStep::End,
                Err(_) => self.cached = None, // as if it had never been there
            }
        }
        match self.stream.step() {
            ItemStep::Items(mut items) => {
                self.given -= items.pass_over(self.given);
                ItemStep::Items(items)
            }
            ItemStep::Problem(problem) => {
                self.given = 0; // rather an item twice than one that is passed over
                ItemStep::Problem(problem)
            }
            step => step,
        }
    }

    /// Puts what was taken out into the item cache. What has no block ends that.
    fn record(&mut self, block: Option<Vec<u8>>) {
        self.recording = self.recording.take().zip(block).and_then(|(recording, block)| recording.with(&block));
    }

    fn finish_recording(&mut self) {
        if let Some(recording) = self.recording.take() {
            let _ = recording.finish(); // then the items are read again next time
        }
    }

    fn next_number(&self) -> u64 {
        self.taken + self.decoded.len() as u64
    }

    fn want_pieces(&mut self) {
        let known = self.stream.chunks();
        while self.wanted < known.len() && self.window.len() < ITEM_CHUNKS_AHEAD {
            self.window.want(Want { id: known[self.wanted], size: None });
            self.wanted += 1;
        }
    }

    fn finish(&mut self, number: u64, decoded: Decoded<I>) {
        let place = number.checked_sub(self.taken).and_then(|place| self.decoded.get_mut(place as usize));
        if let Some(place) = place {
            *place = Some(decoded);
        }
    }
}

/// What a chunk in flight is expected to have, so that no more of them wait than can be worked on soon.
const CHUNK_BYTES: usize = 4 << 20;
/// How much is read for one job if chunks are short, so that what is done with it stays in a processor's cache.
const READ_BYTES: usize = 256 << 10;
/// How many times as many runs of items are decoded ahead as there are jobs in flight: they are short ones.
const ITEMS_AHEAD: usize = 2;
/// How many chunks of an item stream are known to be wanted; most have 100 KB.
const ITEM_CHUNKS_AHEAD: usize = 64;
/// Item streams are short, so that even small reads must be spread over the workers.
const ITEM_READ_AHEAD: ReadAhead = ReadAhead { held_bytes: 8 << 20, read_bytes: 128 << 10 };
