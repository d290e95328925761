//! What is told and counted while an archive is made.

use crate::app::App;
use crate::backup::{Observer, Problem, Status};
use crate::output::archive_progress::ArchiveProgress;
use crate::output::archive_stats::ArchiveStats;
use std::cell::RefCell;
use std::time::Duration;

/// Tells a user what happens, and counts it.
pub struct ArchiveReport<'a> {
    app: &'a App,
    list: bool,
    filter: Option<&'a str>,
    stats: RefCell<ArchiveStats>,
    progress: Option<RefCell<ArchiveProgress<'a>>>,
    at_hand: RefCell<AtHand>,
}

/// The file that is read at the moment.
#[derive(Default)]
struct AtHand {
    path: Vec<u8>,
    /// How much of it was stored.
    bytes: u64,
}

impl<'a> ArchiveReport<'a> {
    /// With lines of `--list` for all statuses, or for those in `filter`.
    pub fn new(app: &'a App, list: bool, filter: Option<&'a str>) -> Self {
        let progress = app.common.progress.then(|| RefCell::new(ArchiveProgress::new(&app.log)));
        ArchiveReport { app, list, filter, stats: RefCell::default(), progress, at_hand: RefCell::default() }
    }

    /// Time was spent on reading and cutting.
    pub fn chunked(&self, time: Duration) {
        self.stats.borrow_mut().chunking += time;
    }

    /// Time was spent on a chunk's id.
    pub fn hashed(&self, time: Duration) {
        self.stats.borrow_mut().hashing += time;
    }

    /// A chunk of content was stored, or found to be there.
    pub fn stored(&self, bytes: u64, is_new: bool) {
        self.stats.borrow_mut().sizes.deduplicated += if is_new { bytes } else { 0 };
        let mut at_hand = self.at_hand.borrow_mut();
        at_hand.bytes += bytes;
        self.show(&at_hand.path, at_hand.bytes);
    }

    /// An item with a content of this length was added.
    pub fn file(&self, bytes: u64) {
        let mut stats = self.stats.borrow_mut();
        stats.nfiles += 1;
        stats.sizes.original += bytes;
        self.at_hand.borrow_mut().bytes = 0;
    }

    /// An item was added.
    pub fn progress(&self, path: &[u8]) {
        self.show(path, 0);
    }

    /// Shows what was done, and how much of a file that is not counted yet.
    fn show(&self, path: &[u8], bytes: u64) {
        if let Some(progress) = &self.progress {
            progress.borrow_mut().show(&self.stats.borrow(), bytes, path);
        }
    }

    /// What was counted; there is nothing more to come.
    pub fn finish(&self) -> ArchiveStats {
        if let Some(progress) = &self.progress {
            progress.borrow().finish();
        }
        self.stats.borrow().clone()
    }
}

impl Observer for ArchiveReport<'_> {
    fn status(&self, status: Status, path: &[u8]) {
        let letter = status.letter();
        if self.progress.is_some() {
            let mut at_hand = self.at_hand.borrow_mut();
            at_hand.path.clear();
            at_hand.path.extend_from_slice(path);
            at_hand.bytes = 0;
        }
        if self.list && self.filter.is_none_or(|filter| filter.contains(letter)) {
            self.app.log.file_status(letter, path);
        }
    }

    fn count(&self, status: Status) {
        *self.stats.borrow_mut().files.entry(status.letter()).or_default() += 1;
    }

    fn warn(&self, problem: &Problem) {
        self.app.warn(problem.exit_code(), problem.msgid().unwrap_or("BackupWarning"), &problem.to_string());
    }

    fn note(&self, text: &str) {
        self.app.warning(text);
    }
}
