//! Files that are being made, and all that is told of them, in the archive's order.

use super::Reading;
use crate::app::App;
use crate::output::log::Message;
use crate::output::progress::Percent;
use crate::repository::pipeline::Work;
use crate::restore::{Busy, FilePart, Left, LeftOut, MadeFile, NewFile, OpenFile, Problem, Restorer};
use portaborg_core::bytes::lossy;
use portaborg_core::extract::Plain;
use portaborg_core::item::Item;
use portaborg_core::object::Spare;
use portaborg_core::repo::{EncodedItems, ItemProblem};
use portaborg_core::tuning::Help;
use rustix::io::Errno;
use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

/// What workers do for an extraction.
pub struct Extracting;

/// A file's number in the order of the archive.
type Number = u64;
type Content = Vec<Arc<Plain>>;

/// Work on files.
pub enum FileJob {
    /// Makes small files whole.
    Make(Vec<(Number, NewFile, Content)>),
    /// Writes a part of a large one.
    Write(Number, FilePart),
}

/// What came of it.
pub enum FileDone {
    /// So many bytes of content are dealt with. Content comes back if something is in the file's way.
    Made(u64, Vec<(Number, MadeFile, Content)>),
    /// So many bytes of a large file are dealt with.
    Written(u64, Number, Result<(), Errno>),
}

impl Work for Extracting {
    type Tools = ();
    type Items = Vec<Result<Item, ItemProblem>>;
    type Job = FileJob;
    type Done = FileDone;

    fn tools(&self) {}

    fn decode(&self, (): &mut (), items: EncodedItems) -> Self::Items {
        items.collect()
    }

    fn work(&self, (): &mut (), job: FileJob, _: Help, spare: &mut Spare) -> FileDone {
        match job {
            FileJob::Write(number, part) => {
                let bytes = part.bytes();
                let (written, plain) = part.write();
                recycle(plain, spare);
                FileDone::Written(bytes, number, written)
            }
            FileJob::Make(files) => {
                let bytes = files.iter().map(|(_, _, content)| bytes_of(content)).sum();
                let mut make = |(number, file, content): (Number, NewFile, Content)| {
                    let made = file.make(&content);
                    if matches!(made, MadeFile::Blocked(_)) {
                        return (number, made, content);
                    }
                    content.into_iter().for_each(|plain| recycle(plain, spare));
                    (number, made, Vec::new())
                };
                FileDone::Made(bytes, files.into_iter().map(&mut make).collect())
            }
        }
    }
}

/// What is done and told in the order of the archive, each when all before it is complete.
enum Event {
    Message(Message),
    Warning(u8, &'static str, String),
    Problem(Problem),
    /// A directory gets its attributes.
    Leave(Left),
    Small(Number, About),
    Large(Number, Box<OpenFile>, About),
    Progress(u64, Vec<u8>, bool),
}

/// What has to be known of a file when it is done.
pub struct About {
    /// Its path.
    pub path: Vec<u8>,
    /// Id of its hard links.
    pub hlid: Option<Vec<u8>>,
    /// What it counts for in the progress when it is done, in bytes.
    pub bytes: u64,
    /// Chunks that were replaced by zeros.
    pub damaged: usize,
}

/// Files in flight, and the messages that wait for them.
pub struct Files<'a> {
    /// Where files are made, if they are.
    pub restorer: Option<Restorer>,
    /// What has been done so far.
    pub progress: Option<Percent<'a>>,
    app: &'a App,
    busy: Busy,
    events: VecDeque<Event>,
    batch: Vec<(Number, NewFile, Content)>,
    batch_bytes: u64,
    next_number: Number,
    made: HashMap<Number, (MadeFile, Content)>,
    /// Parts of large files that are not written yet, and what went wrong.
    parts: HashMap<Number, (usize, Option<Errno>)>,
    /// Bytes of content that wait to be written, and small files.
    waiting_bytes: u64,
    waiting_files: usize,
}

impl About {
    fn damage(&self) -> Option<(u8, &'static str, String)> {
        let damaged = Some(self.damaged).filter(|&damaged| damaged > 0)?;
        let path = lossy(&self.path).0;
        let text =
            format!("{path}: {damaged} chunk(s) missing or corrupted in the repository, replaced by all-zero data");
        Some((113, "BackupDamagedChunksError", text))
    }
}

impl<'a> Files<'a> {
    /// With nothing in flight.
    pub fn new(app: &'a App, restorer: Option<Restorer>) -> Self {
        Files {
            restorer,
            progress: None,
            app,
            busy: Busy::default(),
            events: VecDeque::new(),
            batch: Vec::new(),
            batch_bytes: 0,
            next_number: 0,
            made: HashMap::new(),
            parts: HashMap::new(),
            waiting_bytes: 0,
            waiting_files: 0,
        }
    }

    /// Prepares for an item: waits for those that it depends on, and leaves the directories that it does not lie in.
    pub fn approach(&mut self, item: &Item, pipeline: &mut Reading<'_, '_, '_>) {
        if self.busy.blocks(item) {
            self.settle(pipeline);
        }
        let left = self.restorer.as_mut().map(|restorer| restorer.depart(item)).unwrap_or_default();
        for left in left {
            self.busy.add(left.path(), None);
            self.events.push_back(Event::Leave(left));
        }
    }

    /// Has a small file made.
    pub fn make(&mut self, file: NewFile, content: Content, about: About, pipeline: &mut Reading<'_, '_, '_>) {
        let number = self.number();
        self.busy.add(&about.path, None);
        let bytes = bytes_of(&content);
        self.waiting_bytes += bytes;
        self.waiting_files += 1;
        self.batch_bytes += bytes;
        self.batch.push((number, file, content));
        self.events.push_back(Event::Small(number, about));
        if self.batch.len() >= BATCH_FILES || self.batch_bytes >= BATCH_BYTES {
            self.give_batch(pipeline);
        }
        self.make_room(pipeline);
    }

    /// Begins a large file, whose content comes in parts.
    pub fn begin(&mut self, item: &Item) -> Number {
        let number = self.number();
        self.busy.add(&item.path, item.hlid.as_deref());
        self.parts.insert(number, (0, None));
        number
    }

    /// Writes a chunk of a large file. Fails if that is known to be impossible by now.
    pub fn write(
        &mut self,
        number: Number,
        file: &mut OpenFile,
        plain: Arc<Plain>,
        pipeline: &mut Reading<'_, '_, '_>,
    ) -> Result<(), Problem> {
        if let Some(part) = file.part(plain)? {
            self.parts.entry(number).or_default().0 += 1;
            self.waiting_bytes += part.bytes();
            pipeline.give(FileJob::Write(number, part));
            self.make_room(pipeline);
        }
        match self.parts.get(&number) {
            Some((_, Some(errno))) => Err(file.problem(*errno)),
            _ => Ok(()),
        }
    }

    /// All parts of a large file were given: it is complete when they are written.
    pub fn end(&mut self, number: Number, file: Box<OpenFile>, about: About) {
        self.events.push_back(Event::Large(number, file, about));
    }

    /// A large file can't be completed; dropping it removes what there is of it.
    pub fn abandon(&mut self, number: Number, item: &Item, problem: Problem, pipeline: &mut Reading<'_, '_, '_>) {
        while self.parts.get(&number).is_some_and(|(left, _)| *left > 0) {
            self.wait(pipeline);
        }
        self.parts.remove(&number);
        self.busy.remove(&item.path, item.hlid.as_deref());
        self.problem(problem);
    }

    /// Tells something when all before it is told.
    pub fn message(&mut self, message: Message) {
        self.events.push_back(Event::Message(message));
    }

    /// Warns of something when all before it is told.
    pub fn warn(&mut self, code: u8, msgid: &'static str, text: String) {
        self.events.push_back(Event::Warning(code, msgid, text));
    }

    /// Warns of a problem when all before it is told.
    pub fn problem(&mut self, problem: Problem) {
        self.events.push_back(Event::Problem(problem));
    }

    /// Warns of chunks that were replaced when all before it is told.
    pub fn warn_of_damage(&mut self, about: &About) {
        self.events.extend(about.damage().map(|(code, msgid, text)| Event::Warning(code, msgid, text)));
    }

    /// Counts bytes of an item, and the item if it is done.
    pub fn advance(&mut self, bytes: u64, item: &Item, is_done: bool) {
        if self.progress.is_some() {
            self.events.push_back(Event::Progress(bytes, item.path.clone(), is_done));
        }
    }

    /// Does and tells what is ready.
    pub fn go_on(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        self.take_in(pipeline);
        while let Some(event) = self.events.pop_front_if(|event| match event {
            Event::Small(number, _) => self.made.contains_key(number),
            Event::Large(number, ..) => self.parts.get(number).is_none_or(|(left, _)| *left == 0),
            _ => true,
        }) {
            self.perform(event);
        }
    }

    /// Waits until all is done and told.
    pub fn settle(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        self.give_batch(pipeline);
        self.go_on(pipeline);
        while !self.events.is_empty() {
            self.wait(pipeline);
        }
    }

    /// Attributes of the remaining directories come last, since filling a directory changes them.
    pub fn finish(mut self) {
        if let Some(restorer) = self.restorer.take() {
            warn_of_left_out(self.app, restorer.left_out());
            restorer.finish().into_iter().for_each(|problem| warn(self.app, &problem));
        }
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
    }

    fn number(&mut self) -> Number {
        self.next_number += 1;
        self.next_number
    }

    fn give_batch(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        if !self.batch.is_empty() {
            self.batch_bytes = 0;
            pipeline.give(FileJob::Make(mem::take(&mut self.batch)));
        }
    }

    /// Waits while too much waits to be written.
    fn make_room(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        self.take_in(pipeline);
        while self.waiting_bytes > WAITING_BYTES || self.waiting_files > WAITING_FILES {
            self.give_batch(pipeline);
            self.wait(pipeline);
        }
    }

    fn wait(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        pipeline.wait();
        self.go_on(pipeline);
    }

    fn take_in(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        while let Some(done) = pipeline.take_worked() {
            match done {
                FileDone::Made(bytes, files) => {
                    self.waiting_bytes -= bytes;
                    self.waiting_files -= files.len();
                    self.made.extend(files.into_iter().map(|(number, made, content)| (number, (made, content))));
                }
                FileDone::Written(bytes, number, result) => {
                    self.waiting_bytes -= bytes;
                    if let Some((left, problem)) = self.parts.get_mut(&number) {
                        *left -= 1;
                        *problem = problem.or(result.err());
                    }
                }
            }
        }
    }

    fn perform(&mut self, event: Event) {
        match event {
            Event::Message(message) => self.app.log.message(&message),
            Event::Warning(code, msgid, text) => self.app.warn(code, msgid, &text),
            Event::Problem(problem) => warn(self.app, &problem),
            Event::Progress(bytes, path, is_done) => self.count(bytes, &path, is_done),
            Event::Leave(left) => {
                self.busy.remove(left.path(), None);
                if let Some(restorer) = &mut self.restorer {
                    restorer.leave(left);
                    restorer.take_problems().into_iter().for_each(|problem| warn(self.app, &problem));
                }
            }
            Event::Small(number, about) => {
                let made = match (self.made.remove(&number), &mut self.restorer) {
                    (Some((MadeFile::Blocked(file), content)), Some(restorer)) => restorer.replace(*file, &content),
                    (Some((made, _)), _) => made,
                    (None, _) => return,
                };
                self.tell(made, about);
            }
            Event::Large(number, file, about) => {
                let made = match self.parts.remove(&number) {
                    Some((_, Some(errno))) => MadeFile::Failed(file.problem(errno)),
                    _ => MadeFile::Done(file.finish()),
                };
                self.tell(made, about);
            }
        }
    }

    fn tell(&mut self, made: MadeFile, about: About) {
        self.busy.remove(&about.path, about.hlid.as_deref());
        let problems = match made {
            MadeFile::Done(problems) => problems,
            MadeFile::Failed(problem) => return warn(self.app, &problem),
            MadeFile::Unchanged => return self.count(about.bytes, &about.path, true),
            MadeFile::Blocked(_) => unreachable!("what is in the way was removed, or that failed"),
        };
        problems.iter().for_each(|problem| warn(self.app, problem));
        self.count(about.bytes, &about.path, true);
        if let Some((code, msgid, text)) = about.damage() {
            self.app.warn(code, msgid, &text);
        }
    }

    fn count(&mut self, bytes: u64, path: &[u8], is_done: bool) {
        if let Some(progress) = &mut self.progress {
            if bytes > 0 {
                progress.advance(bytes, Some(&lossy(path).0));
            }
            if is_done {
                progress.file_done();
            }
        }
    }
}

/// Keeps the buffer of a chunk that was written, unless it is wanted elsewhere, too.
fn recycle(plain: Arc<Plain>, spare: &mut Spare) {
    if let Some(Plain::Data(buffer)) = Arc::into_inner(plain) {
        spare.give(buffer);
    }
}

fn bytes_of(content: &[Arc<Plain>]) -> u64 {
    content.iter().map(|plain| plain.bytes().len() as u64).sum()
}

fn warn(app: &App, problem: &Problem) {
    let text = format!("{}: {problem}", lossy(&problem.path).0);
    app.warn(problem.exit_code() as u8, problem.msgid().unwrap_or("BackupWarning"), &text);
}

/// That owners and permissions are missing is no more than what a user without privileges gets; anything else counts.
fn warn_of_left_out(app: &App, left_out: &LeftOut) {
    match left_out.is_empty() {
        true => {}
        false if left_out.counts() => app.warn(1, "BackupWarning", &left_out.to_string()),
        false => app.warning(&left_out.to_string()),
    }
}

/// Small files that are made in one job, and their content.
const BATCH_FILES: usize = 32;
const BATCH_BYTES: u64 = 256 << 10;
/// What waits to be written: content, and small files, whose directories are open.
const WAITING_BYTES: u64 = 8 << 20;
const WAITING_FILES: usize = 128;
