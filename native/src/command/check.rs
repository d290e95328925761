//! `check`: verifies the repository and its archives (command line, section 1.2).

mod labour;
mod report;

use self::report::{Progress, tell_data, tell_missing, tell_packs, tell_summary, warn_of_too_few};
use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::archive_filters::{ArchiveFilters, parsed};
use crate::options::format;
use crate::output::display::terminal::Target;
use crate::output::format::archive::ArchiveFormat;
use crate::output::progress::{Label, Percent, Unit};
use crate::repository::archives::{self, Archive, Reader, shown_name};
use crate::repository::items;
use crate::repository::pipeline::{Decoding, Pipeline, with_pipeline};
use crate::repository::session::{Held, Lock, Session, fresh_session};
use crate::tuning;
use clap::Args;
use portaborg_core::bytes::lossy;
use portaborg_core::check::{
    ArchiveCheck, ArchiveFinding, CheckedPacks, DataFinding, MissingChunks, PackCheck, PackFinding, PackSummary, Packs,
    RecordsError,
};
use portaborg_core::repo::{ArchiveProblem, DefaultsError, ReadError};
use portaborg_core::select::{Candidate, TimeSpan};
use portaborg_core::store::now;
use portaborg_core::tuning::Tuning;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const FORMAT: &str = "{archive} {time} {id}";

/// The check command verifies the consistency of a repository and its archives. It changes nothing but the record of which
/// packs were checked when.
#[derive(Debug, Args)]
pub struct Options {
    /// only perform repository checks
    #[arg(long, conflicts_with = "archives_only")]
    repository_only: bool,

    /// only perform archive checks
    #[arg(long)]
    archives_only: bool,

    /// perform cryptographic archive data integrity verification (reads all data)
    #[arg(long)]
    verify_data: bool,

    /// reuse results of earlier checks of packs that are younger than TIMESPAN, e.g. 4w or 12m
    #[arg(long, value_name = "TIMESPAN")]
    max_age: Option<String>,

    /// perform only a partial repository check for at most SECONDS seconds (default: unlimited)
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    max_duration: u32,

    /// specify format for archive listing (default: "{archive} {time} {id}")
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    #[command(flatten)]
    filters: ArchiveFilters,
}

/// Checks what is asked for, and tells of everything that is not as it should be.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    options.assert_consistent()?;
    let max_age_secs = options.max_age_secs(app)?;
    let text = format::chosen(&options.format, None, "BORG_CHECK_FORMAT", FORMAT);
    let format = ArchiveFormat::compile(&text).map_err(Failure::command)?;
    let tuning = tuning::for_reading()?;
    let session = Session::open(app)?;
    let mut held = session.lock(app, Lock::Exclusive)?;
    let mut check = Check { app, session: &session, held: &mut held, tuning };
    let mut clean = true;
    let mut index = None;
    if !options.archives_only {
        let ask = PackCheck {
            max_age_secs,
            max_duration_secs: Some(options.max_duration.into()).filter(|&duration| duration > 0),
        };
        let summary = check.packs(ask)?;
        clean &= summary.is_clean();
        index = summary.index;
        interrupt::check()?;
        clean &= check.defaults()?;
    }
    if !options.repository_only {
        clean &= check.archives(options, &format, index)?;
    }
    if !clean {
        app.status.warn_generic();
    }
    Ok(())
}

impl Options {
    fn assert_consistent(&self) -> Result<(), Failure> {
        let filters = &self.filters;
        let chooses = filters.first.is_some() || filters.last.is_some() || !filters.match_archives.is_empty();
        if self.repository_only && (self.verify_data || chooses || self.format.is_some()) {
            return Err(Failure::command(
                "--repository-only contradicts --first, --last, -a / --match-archives, --verify-data and --format \
                 arguments.",
            ));
        }
        if self.archives_only && self.max_age.is_some() {
            return Err(Failure::command("--archives-only does not allow the --max-age option."));
        }
        if self.max_duration > 0 && !self.repository_only {
            return Err(Failure::command("--repository-only is required for --max-duration support."));
        }
        Ok(())
    }

    fn max_age_secs(&self, app: &App) -> Result<Option<i64>, Failure> {
        let now = app.now();
        let span: Option<TimeSpan> = parsed(&self.max_age, "--max-age")?;
        Ok(span.map(|span| now.secs - span.before(now, 0).secs))
    }
}

struct Check<'a, 's> {
    app: &'a App,
    session: &'s Session,
    held: &'a mut Held<'s>,
    tuning: Tuning,
}

impl Check<'_, '_> {
    /// The repository's files.
    fn packs(&mut self, ask: PackCheck) -> Result<PackSummary, Failure> {
        let (app, session) = (self.app, self.session);
        let mode = if ask.max_duration_secs.is_some() { "partial" } else { "full" };
        app.info(&format!("Starting {mode} repository check"));
        let mut opener = session.opener();
        let failed = |error| Failure::store(error, &session.location);
        let (mut records, problem) = now(CheckedPacks::load(&session.repository, &mut opener)).map_err(failed)?;
        match problem {
            Some(RecordsError::Corrupted) => app.warning("Ignoring corrupted checked-packs set."),
            Some(RecordsError::Unreadable) => app.warning("Ignoring unreadable checked-packs set."),
            None => {}
        }
        let count = records.len();
        app.info(&match (count, ask) {
            (0, _) => "Starting from beginning.".into(),
            (_, PackCheck { max_age_secs: Some(_), .. }) => {
                format!("{count} pack check results on record, reusing those younger than --max-age.")
            }
            (_, PackCheck { max_duration_secs: Some(_), .. }) => {
                format!("{count} pack check results on record, verifying the least-recently-checked packs first.")
            }
            _ => format!("{count} pack check results on record, verifying every pack."),
        });
        let mut progress = Progress::new(app);
        let mut lost_lock = None;
        let summary = {
            let mut observe = |finding: PackFinding<'_>| {
                tell_packs(app, &mut progress, finding);
                go_on(app, self.held, &mut lost_lock)
            };
            let clock = || app.now();
            let begun = now(Packs::begin(&session.repository, &mut opener, ask, &records, &clock, &mut observe));
            match begun.map_err(failed)? {
                Ok(packs) => {
                    labour::hash(session, &self.tuning, packs, &mut records, &clock, &mut observe).map_err(failed)?
                }
                Err(summary) => summary,
            }
        };
        progress.end();
        if let Some(failure) = lost_lock {
            return Err(failure);
        }
        if self.held.is_locked() && summary.index_errors == 0 {
            now(records.save(&session.repository, &session.keys, fresh_session()?)).map_err(failed)?;
        }
        tell_summary(app, &summary, mode);
        Ok(summary)
    }

    /// `false` if the defaults can't be used.
    fn defaults(&self) -> Result<bool, Failure> {
        let problem = match now(self.session.repository.defaults(&mut self.session.opener())) {
            Ok(_) => return Ok(true),
            Err(DefaultsError::Missing) => "is missing",
            Err(DefaultsError::Envelope(_)) => "fails the authentication",
            Err(DefaultsError::Malformed(_)) => "is malformed",
            Err(DefaultsError::Store(error)) => return Err(Failure::store(error, &self.session.location)),
        };
        self.app.error(&format!(
            "Repository defaults object config/defaults {problem}. \
             Run \"borg check --repair\" to store empty defaults."
        ));
        Ok(false)
    }

    /// The archives, and with `--verify-data` all data. `false` if anything is wrong.
    fn archives(
        &mut self,
        options: &Options,
        format: &ArchiveFormat,
        index: Option<portaborg_core::index::ChunkIndex>,
    ) -> Result<bool, Failure> {
        let (app, session) = (self.app, self.session);
        app.info("Starting archive consistency check...");
        let mut reader = match index {
            Some(index) => session.reader_with(self.held, index)?,
            None => session.reader(app, self.held)?,
        };
        let mut clean = true;
        if options.verify_data {
            clean &= self.data(&mut reader)?;
        }
        let listing = archives::list(app, session, &mut reader, false)?;
        clean &= listing.makes_sense;
        let considered = archives::considered(app, listing.archives, &options.filters)?;
        warn_of_too_few(app, &options.filters, considered.len());
        let plain = ArchiveFormat::compile(FORMAT).map_err(Failure::command)?;
        let mut missing = MissingChunks::default();
        let total = considered.len();
        let label = Label { before: "Checking archives ", width: 3, decimals: 1, after: "" };
        let mut progress = Percent::new(label, "check.rebuild_archives", Unit::Count, total as u64, &app.log);
        let tuning = self.tuning;
        with_pipeline(session, &mut reader, &tuning, &Decoding, |pipeline| {
            for (number, archive) in considered.iter().enumerate() {
                if interrupt::requested() {
                    break;
                }
                self.held.refresh(app)?;
                progress.advance(1, None);
                let mut line = Vec::new();
                // What a format says of an archive without metadata might not even tell which one it is.
                let format = if archive.meta().is_none() && format.needs_meta() { &plain } else { format };
                format.render(&archive.row(), &app.zone, Target::Pipe, &mut line).map_err(Failure::render)?;
                app.info(&format!("Analyzing archive {} ({}/{total})", String::from_utf8_lossy(&line), number + 1));
                clean &= self.archive(archive, pipeline, &mut missing)?;
            }
            Ok(())
        })?;
        progress.finish();
        tell_missing(app, &missing);
        if interrupt::requested() {
            let found = if clean { "no problems" } else { "problems" };
            app.say(clean, &format!("Archive consistency check interrupted, {found} found so far."));
            interrupt::check()?;
        }
        let found = if clean { "no problems found" } else { "problems found" };
        app.say(clean, &format!("Archive consistency check complete, {found}."));
        Ok(clean)
    }

    /// All data. `false` if anything is wrong.
    fn data(&mut self, reader: &mut Reader<'_>) -> Result<bool, Failure> {
        let (app, session) = (self.app, self.session);
        app.info("Starting cryptographic data integrity verification...");
        reader.assert_ids(true);
        let total = reader.index.len();
        let label = Label { before: "Verifying data ", width: 6, decimals: 2, after: "" };
        let mut progress = Percent::new(label, "check.verify_data", Unit::Count, total as u64, &app.log);
        let mut lost_lock = None;
        let mut observe = |finding: DataFinding<'_>| {
            match finding {
                DataFinding::Defect(id, error) => {
                    app.error(&format!("chunk {id}, integrity error: Data integrity error: Chunk {id}: {error}"));
                }
                DataFinding::PackMissing(pack, count) => {
                    app.error(&format!("pack {pack} is missing, {count} chunks are lost."));
                    progress.advance(count as u64, None);
                }
                DataFinding::Progress(..) => progress.advance(1, None),
            }
            go_on(app, self.held, &mut lost_lock)
        };
        let summary = labour::verify(session, &self.tuning, reader, &mut observe);
        progress.finish();
        if let Some(failure) = lost_lock {
            return Err(failure);
        }
        let summary = summary.map_err(|error| Failure::store(error, &session.location))?;
        tell_data(app, summary, total);
        Ok(summary.errors == 0)
    }

    /// Checks one archive; `true` if all is well.
    fn archive(
        &mut self,
        archive: &Archive,
        pipeline: &mut Pipeline<'_, '_, Reader<'_>, Decoding>,
        missing: &mut MissingChunks,
    ) -> Result<bool, Failure> {
        let (app, id, name) = (self.app, archive.id(), shown_name(archive));
        let Some(meta) = archive.meta() else {
            match archive.problem() {
                Some(ArchiveProblem::Read(ReadError::NotIndexed)) => {
                    app.error(&format!("Archive metadata block {id} is missing!"));
                }
                Some(problem) => app.error(&format!("Archive metadata block {id} is corrupted: {problem}")),
                None => {}
            }
            app.error(&format!("Would delete broken archive {name} {id}."));
            return Ok(false);
        };
        let mut unknown_keys = BTreeSet::new();
        let mut lost_lock = None;
        let mut observe = |finding: ArchiveFinding<'_>| {
            match finding {
                ArchiveFinding::Items(problem) => {
                    app.error(&format!("Archive {name}: {}", items::finding(problem)));
                }
                ArchiveFinding::Missing(chunk, size) => {
                    let size = app.units().display(size);
                    app.error(&format!("Missing chunk detected: {chunk}, {size}."));
                }
                ArchiveFinding::Size { item, stated, chunks } => app.warning(&format!(
                    "{name}: {}: size inconsistency detected: size {stated}, chunks size {chunks}",
                    lossy(&item.path).0
                )),
                ArchiveFinding::UnknownKey(key) => drop(unknown_keys.insert(lossy(key).0.into_owned())),
                ArchiveFinding::Item => {}
            }
            go_on(app, self.held, &mut lost_lock)
        };
        let mut check = ArchiveCheck { archive: &name, missing, clean: true };
        pipeline.begin(&meta.item_ptrs);
        'items: while let Some(next) = pipeline.next_items() {
            for item in next.unwrap_or_else(|problem| vec![Err(problem)]) {
                if check.next(item, &pipeline.source.index, &mut observe).is_break() {
                    break 'items;
                }
            }
        }
        let clean = check.clean;
        if let Some(failure) = lost_lock {
            return Err(failure);
        }
        if !unknown_keys.is_empty() {
            let keys: Vec<String> = unknown_keys.into_iter().collect();
            app.warning(&format!(
                "Archive {name}: items have keys unknown to this borg version (possibly written by a newer borg): {}",
                keys.join(", ")
            ));
        }
        Ok(clean)
    }
}

/// Keeps the lock alive; a check stops when it is lost, or when a signal asks to.
fn go_on(app: &App, held: &mut Held<'_>, lost_lock: &mut Option<Failure>) -> ControlFlow<()> {
    if let Err(failure) = held.refresh(app) {
        *lost_lock = Some(failure);
        return ControlFlow::Break(());
    }
    if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
