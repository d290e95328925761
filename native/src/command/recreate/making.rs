//! One archive in the making: items are taken over in order, contents cut anew, and what comes of them added.

use super::Recreation;
use super::queue::{Queue, Queued};
use super::rechunking::{Part, Rechunking};
use super::tagged::TaggedDirs;
use super::work::{Done, Job, Reading};
use crate::backup::{Observer, Status};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::archive_report::ArchiveReport;
use crate::repository::ahead::{Ahead, Next};
use crate::repository::archives::{Archive, shown_name};
use crate::repository::lender::Lender;
use crate::repository::session::Held;
use crate::repository::writing::Writer;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::bytes::lossy;
use portaborg_core::item::{FileType, Item};
use portaborg_core::object::ObjectType;
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::{ArchiveWriter, Tally, WriteError, WriteJob};
use portaborg_core::select::Candidate;
use portaborg_core::store::now;

/// Takes items over. Everything that must be in order is done here, on the caller's thread; the writer is lent until
/// [`finish`](Making::finish).
pub struct Making<'m, 'a, 'p, 'c, 'h> {
    recreation: &'m Recreation<'a>,
    archive: &'m Archive,
    report: &'m ArchiveReport<'a>,
    /// Cuts contents anew; none leaves them as they are.
    rechunking: Option<Rechunking>,
    pipeline: &'m mut Reading<'p, 'c, 'a>,
    held: &'m mut Held<'h>,
    items: ArchiveWriter,
    sizes: Tally,
    window_bytes: usize,
}

impl<'m, 'a, 'p, 'c, 'h> Making<'m, 'a, 'p, 'c, 'h> {
    /// Without an item yet.
    pub fn new(
        recreation: &'m Recreation<'a>,
        archive: &'m Archive,
        report: &'m ArchiveReport<'a>,
        rechunking: Option<Rechunking>,
        pipeline: &'m mut Reading<'p, 'c, 'a>,
        held: &'m mut Held<'h>,
    ) -> Self {
        pipeline.source.lend(true);
        let items = ArchiveWriter::new(&recreation.session.keys);
        let window_bytes = recreation.tuning.create_bytes;
        let sizes = Tally::default();
        Making { recreation, archive, report, rechunking, pipeline, held, items, sizes, window_bytes }
    }

    /// Takes over the items that stay. One that can't be read ends the work: it would be missing from then on.
    pub fn items(
        &mut self,
        meta: &ArchiveMeta,
        matcher: &mut PatternMatcher,
        tagged: &TaggedDirs,
    ) -> Result<(), Failure> {
        let is_dry_run = self.recreation.options.dry_run;
        let reads = self.rechunking.is_some() && !is_dry_run;
        let mut queue = Queue { matcher, tagged, reads, ahead: Ahead::default() };
        self.pipeline.begin(&meta.item_ptrs);
        while let Some(next) = queue.next(self.pipeline) {
            interrupt::check()?;
            self.held.refresh(self.recreation.app)?;
            match next {
                Next::Item(queued) if !queued.is_included => {
                    self.report.status(Status::Excluded, &queued.item.path);
                }
                Next::Item(queued) if is_dry_run => self.report.status(Status::Included, &queued.item.path),
                Next::Item(queued) => self.item(*queued, &mut queue)?,
                Next::Problem(problem) => {
                    let (name, id) = (shown_name(self.archive), self.archive.id());
                    let text = format!("Archive {name} {id}: {problem}. It is left as it is.");
                    return Err(Failure::integrity(text));
                }
                Next::Failure(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Ends the items, or after a failure only what was begun, and has everything stored that was added.
    pub fn finish(mut self, made: Result<(), Failure>) -> Result<(ArchiveWriter, Tally), Failure> {
        let added = self.add_rest();
        let ended = made.and(added).and_then(|()| {
            let ended = now(self.items.end_items(self.pipeline.source));
            ended.map_err(|error| self.failure(error))
        });
        let settled = self.take_back();
        ended.and(settled)?;
        Ok((self.items, self.sizes))
    }

    fn item(&mut self, queued: Queued, queue: &mut Queue<'_>) -> Result<(), Failure> {
        if let Some(status) = status(&queued.item) {
            self.report.status(status, &queued.item.path);
        }
        if self.rechunking.is_some() {
            return self.rechunk(queued, queue);
        }
        let item = queued.item;
        if item.chunks.is_some() {
            self.sizes.original = self.sizes.original.saturating_add(item.content_size());
            self.report.file(item.content_size());
        }
        self.add(&item)?;
        self.take_in()?;
        self.make_room()
    }

    /// Has an item's content cut anew.
    fn rechunk(&mut self, mut queued: Queued, queue: &mut Queue<'_>) -> Result<(), Failure> {
        let mut taken = 0;
        while let Some(rechunking) = &mut self.rechunking {
            let next = queued.item.chunks.as_deref().and_then(|chunks| chunks.get(taken));
            if let Some(source) = next.filter(|_| rechunking.needs_more()) {
                let id = source.id;
                interrupt::check()?;
                self.held.refresh(self.recreation.app)?;
                queue.ahead.want_after(&mut queued, &mut self.pipeline.content);
                let content = self.pipeline.next_content().map_err(|error| {
                    let failure = Failure::read(error, id, &self.recreation.session.location);
                    let path = lossy(&queued.item.path).0;
                    Failure { text: format!("{path}: {} The archive is left as it is.", failure.text), ..failure }
                })?;
                taken += 1;
                rechunking.push(content.content());
                self.take_in()?;
            } else if rechunking.cut().map_err(Failure::error)? {
                self.have_hashed()?;
            } else {
                rechunking.end(queued.item);
                return self.have_hashed();
            }
        }
        Ok(())
    }

    /// Hands what is cut to workers if it is enough, when there is room for more.
    fn have_hashed(&mut self) -> Result<(), Failure> {
        let Some(rechunking) = self.rechunking.as_mut().filter(|rechunking| rechunking.is_full()) else {
            return Ok(());
        };
        rechunking.take_buffer();
        self.go_on()?;
        self.make_room()
    }

    /// Waits until more may be added.
    fn make_room(&mut self) -> Result<(), Failure> {
        loop {
            let unhashed = self.rechunking.as_ref().map_or(0, Rechunking::unhashed);
            if self.pipeline.source.has_room(self.window_bytes.saturating_sub(unhashed)) {
                return Ok(());
            }
            self.receive()?;
        }
    }

    /// Has everything added that is cut.
    fn add_rest(&mut self) -> Result<(), Failure> {
        if let Some(rechunking) = &mut self.rechunking {
            rechunking.take_buffer();
        }
        self.go_on()?;
        while self.rechunking.as_ref().is_some_and(|rechunking| !rechunking.is_empty()) {
            self.receive()?;
        }
        Ok(())
    }

    /// Hands out jobs, and adds chunks whose ids are known, and items whose chunks are added.
    fn go_on(&mut self) -> Result<(), Failure> {
        while let Some(job) = self.rechunking.as_mut().and_then(Rechunking::next_job) {
            self.pipeline.give(Job::Hash(job));
        }
        while let Some(hashed) = self.rechunking.as_mut().and_then(Rechunking::next_hashed) {
            let mut items = Vec::new();
            for part in hashed.parts {
                match part {
                    Part::Chunk(id, place) => {
                        let size = place.len() as u64;
                        let is_new = self.pipeline.source.put(id, ObjectType::Content, place);
                        self.sizes.add(size, is_new);
                    }
                    Part::Item(item) => items.push(item),
                }
            }
            self.pipeline.source.submit(&hashed.buffer);
            for item in items {
                if item.chunks.is_some() {
                    self.report.file(item.content_size());
                }
                self.add(&item)?;
            }
            self.give_jobs();
        }
        Ok(())
    }

    fn add(&mut self, item: &Item) -> Result<(), Failure> {
        self.report.progress(&item.path);
        let added = now(self.items.add(item, self.pipeline.source));
        added.map_err(|error| self.failure(error))?;
        self.give_jobs();
        Ok(())
    }

    /// Takes in what workers have done.
    fn take_in(&mut self) -> Result<(), Failure> {
        let mut is_hashed = false;
        while let Some(done) = self.pipeline.take_worked() {
            match done {
                Done::Write(done) => self.written(done)?,
                Done::Hash(done) => {
                    is_hashed = true;
                    if let Some(rechunking) = &mut self.rechunking {
                        rechunking.hashed(done);
                    }
                }
            }
        }
        if is_hashed { self.go_on() } else { Ok(()) }
    }

    fn failure(&self, error: WriteError) -> Failure {
        Failure::write(error, &self.recreation.session.location)
    }
}

impl<'a> Lender<'a> for Making<'_, 'a, '_, '_, '_> {
    fn writer(&mut self) -> &mut Writer<'a> {
        self.pipeline.source
    }

    fn location(&self) -> &'a str {
        &self.recreation.session.location
    }

    fn give(&mut self, job: WriteJob) {
        self.pipeline.give(Job::Write(job));
    }

    fn receive(&mut self) -> Result<(), Failure> {
        self.pipeline.wait();
        self.take_in()
    }

    fn drain(&mut self) {
        self.pipeline.drain();
    }
}

/// What an item that stays is shown as.
fn status(item: &Item) -> Option<Status> {
    Some(match item.file_type()? {
        FileType::Regular => Status::Added,
        FileType::Directory => Status::Directory,
        FileType::Symlink => Status::Symlink,
        FileType::Fifo => Status::Fifo,
        FileType::CharDevice => Status::CharDevice,
        FileType::BlockDevice => Status::BlockDevice,
        FileType::Other(_) => return None,
    })
}
