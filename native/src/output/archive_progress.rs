//! Progress of making an archive, whose end nobody knows beforehand: what was done so far (command line, sections 3.4 and 4.5).

use crate::output::archive_stats::ArchiveStats;
use crate::output::display::size::SizeFormat;
use crate::output::display::terminal::Target;
use crate::output::json::Object;
use crate::output::log::{Log, now};
use indicatif::{ProgressBar, ProgressStyle};
use portaborg_core::bytes::lossy;
use std::time::Instant;

/// Shows sizes and the path that is at hand, a few times a second.
pub struct ArchiveProgress<'a> {
    log: &'a Log,
    shown_at: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl<'a> ArchiveProgress<'a> {
    /// Shows nothing yet.
    pub fn new(log: &'a Log) -> Self {
        let has_bar = !log.options().json && log.target() == Target::Terminal;
        let style = ProgressStyle::with_template("{wide_msg}").expect("the template is valid");
        let bar = has_bar.then(|| log.bars().add(ProgressBar::new_spinner()).with_style(style));
        ArchiveProgress { log, shown_at: None, bar }
    }

    /// Shows what was done until this path, of which `bytes` are done that are not counted yet.
    pub fn show(&mut self, stats: &ArchiveStats, bytes: u64, path: &[u8]) {
        let options = self.log.options();
        if self.shown_at.is_some_and(|at| at.elapsed() < options.pace) {
            return;
        }
        self.shown_at = Some(Instant::now());
        if options.json {
            let mut stats = stats.clone();
            stats.sizes.original += bytes;
            let mut line = stats.json(Object::new());
            line.set_raw("path", path);
            self.json(line, false);
            return;
        }
        let size = |bytes: u64| {
            let format = SizeFormat { units: options.units, precision: 2, sign: false, fine: true };
            format.display(bytes.into())
        };
        let path = lossy(path).0;
        let sizes = format!("{} O {} U", size(stats.sizes.original + bytes), size(stats.sizes.deduplicated));
        let text = format!("{sizes} {} N {}", stats.nfiles, self.log.target().cow(path));
        match &self.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.tick();
            }
            None => self.log.line(&text),
        }
    }

    /// Says that this was all.
    pub fn finish(&self) {
        match &self.bar {
            Some(bar) => {
                bar.finish_and_clear();
                self.log.bars().remove(bar);
            }
            None if self.log.options().json => self.json(Object::new(), true),
            None => self.log.line(""),
        }
    }

    fn json(&self, line: Object, finished: bool) {
        self.log.line(&line.with("time", now()).with("type", "archive_progress").with("finished", finished).line());
    }
}
