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
}

impl<'a> ArchiveReport<'a> {
    /// With lines of `--list` for all statuses, or for those in `filter`.
    pub fn new(app: &'a App, list: bool, filter: Option<&'a str>) -> Self {
        let progress = app.common.progress.then(|| RefCell::new(ArchiveProgress::new(&app.log)));
        ArchiveReport { app, list, filter, stats: RefCell::default(), progress }
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
    }

    /// An item with a content of this length was added.
    pub fn file(&self, bytes: u64) {
        let mut stats = self.stats.borrow_mut();
        stats.nfiles += 1;
        stats.sizes.original += bytes;
    }

    /// An item was added.
    pub fn progress(&self, path: &[u8]) {
        if let Some(progress) = &self.progress {
            progress.borrow_mut().show(&self.stats.borrow(), path);
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
