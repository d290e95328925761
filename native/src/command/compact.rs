//! `compact`: frees the space of what no archive needs (command line, section 1.2; repository layer, section 7.1).

use crate::app::App;
use crate::client::dirs;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::display::time;
use crate::output::progress::{Label, Percent, Unit};
use crate::repository::archives::{self, Archive, Reader, shown_name};
use crate::repository::pipeline::{Decode, with_pipeline};
use crate::repository::session::{Held, Lock, Session};
use crate::repository::writing::pack_limits;
use crate::tuning;
use clap::Args;
use portaborg_core::check::CheckedPacks;
use portaborg_core::compact::{
    ItemReferences, PackFate, PackProblem, Plan, PlanOptions, ReferencesScan, Step, Usage, forget_references,
    load_references, run as compact, store_references,
};
use portaborg_core::crypto::Sealer;
use portaborg_core::files_cache::file_name;
use portaborg_core::id::PackId;
use portaborg_core::item::Item;
use portaborg_core::name::{Entry, Namespace};
use portaborg_core::references::ArchiveReferences;
use portaborg_core::repo::{ArchiveProblem, DEFAULT_PACK_BYTES, EncodedItems, ItemProblem, ReadError, forget_archive};
use portaborg_core::select::Candidate;
use portaborg_core::store::{BlockingStore, now};
use portaborg_core::tuning::Tuning;
use std::collections::BTreeSet;
use std::env;
use std::fs;

/// The exit code of a command that met lost data.
const DATA_IS_MISSING: u8 = 2;

/// This command compacts a repository by freeing the space of objects that no archive needs any more. Run it after "delete"
/// and "prune"; soft-deleted archives are gone for good then.
///
/// A pack is rewritten if the threshold's part of it is not needed, and nothing is done at all if there is little to gain.
/// Statistics are shown together with --info.
#[derive(Debug, Args)]
pub struct Options {
    /// do not change the repository
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// print statistics (might be much slower)
    #[arg(short, long)]
    stats: bool,

    /// set minimum threshold for saved space in PERCENT (default: 10)
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "10", hide_default_value = true)]
    threshold: f64,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    number.ok_or_else(|| format!("{text:?} is not a percentage from 0 to 100"))
}

/// Frees space.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let mut held = session.lock_to_write(app, Lock::Exclusive)?;
    session.assert_secure(app)?;
    if !options.dry_run {
        session.assert_rewritable("compaction")?;
    }
    let tuning = tuning::for_reading()?;
    app.info("Starting compaction / garbage collection...");
    app.info("Getting object IDs from the index...");
    let mut sealer = session.sealer()?;
    let mut reader = if options.dry_run {
        session.reader(app, &held)?
    } else {
        session.reader_to_rewrite(app, &held, &mut sealer)?
    };
    let mut collection = Collection { app, options, session: &session, usage: Usage::new(), tuning };
    app.info("Computing object IDs used by archives...");
    let live = collection.analyse(&mut reader, &mut sealer, &mut held)?;
    collection.soft_deleted(&mut reader, &mut held)?;
    if !options.dry_run {
        remove_leftovers(app, &session)?;
    }
    collection.compact(&mut reader, &mut sealer, &mut held, live.len())?;
    if !options.dry_run {
        interrupt::check()?;
        remove_files_caches(app, &session, &live);
    }
    app.info("Finished compaction / garbage collection...");
    Ok(())
}

struct Collection<'a> {
    app: &'a App,
    options: &'a Options,
    session: &'a Session,
    usage: Usage,
    tuning: Tuning,
}

/// Has workers tell what items refer to.
struct Referring;

impl Decode for Referring {
    type Tools = ();
    type Items = Result<ItemReferences, ItemProblem>;

    fn tools(&self) {}

    fn decode(&self, (): &mut (), items: EncodedItems) -> Self::Items {
        let items = items.collect::<Result<Vec<Item>, ItemProblem>>()?;
        Ok(ItemReferences::of(&items))
    }
}

impl Collection<'_> {
    /// Marks what the archives need, and gives the archives.
    fn analyse(
        &mut self,
        reader: &mut Reader<'_>,
        sealer: &mut Sealer<'_>,
        held: &mut Held<'_>,
    ) -> Result<Vec<Archive>, Failure> {
        let Collection { app, session, .. } = *self;
        let mut live = archives::list(app, session, reader, false)?.archives;
        live.sort_by_key(|archive| (archive.time(), archive.id()));
        if !self.options.dry_run {
            let ids: BTreeSet<_> = live.iter().map(Candidate::id).collect();
            let forgotten = now(forget_references(&session.repository.store, &ids));
            forgotten.map_err(|error| Failure::store(error, &session.location))?;
        }
        let label = Label { before: "Computing used chunks ", width: 3, decimals: 1, after: "" };
        let mut progress = Percent::new(label, "compact.analyze_archives", Unit::Count, live.len() as u64, &app.log);
        for (number, archive) in (1..).zip(&live) {
            interrupt::check()?;
            held.refresh(app)?;
            let time = time::iso(archive.time(), &app.zone).replacen('T', " ", 1);
            let (name, id) = (shown_name(archive), archive.id());
            app.info(&format!("Analyzing archive {name} {time} {id} ({number}/{})", live.len()));
            let references = self.references(archive, reader, sealer)?;
            self.usage.add(&references, &reader.index);
            progress.advance(1, None);
        }
        progress.finish();
        Ok(live)
    }

    fn references(
        &self,
        archive: &Archive,
        reader: &mut Reader<'_>,
        sealer: &mut Sealer<'_>,
    ) -> Result<ArchiveReferences, Failure> {
        let (app, id) = (self.app, archive.id());
        let store_failure = |error| Failure::store(error, &self.session.location);
        match now(load_references(reader, id)).map_err(store_failure)? {
            Ok(Some(references)) => return Ok(references),
            Ok(None) => {}
            Err(Some(_)) => app.warning(&format!("Ignoring corrupted references cache of archive {id}.")),
            Err(None) => app.warning(&format!("Ignoring unreadable references cache of archive {id}.")),
        }
        let references = self.scan(archive, reader)?;
        if !self.options.dry_run {
            now(store_references(reader, sealer, id, &references)).map_err(store_failure)?;
        }
        Ok(references)
    }

    /// Reads what an archive needs. An archive that can't be read keeps anything from being removed.
    fn scan(&self, archive: &Archive, reader: &mut Reader<'_>) -> Result<ArchiveReferences, Failure> {
        let meta = archive.require_meta(&self.session.location)?;
        let scanned = with_pipeline(self.session, reader, &self.tuning, &Referring, |pipeline| {
            let mut scan = ReferencesScan::default();
            pipeline.begin(&meta.item_ptrs);
            while let Some(references) = pipeline.next_items() {
                scan.add(references.flatten()?);
            }
            Ok(scan.finish(archive.id(), meta, pipeline.item_chunks()))
        });
        scanned.map_err(|problem: ItemProblem| {
            Failure::integrity(format_args!(
                "Archive {} {}: {problem}. Nothing is removed; run \"borg check --repair\", or delete the archive.",
                shown_name(archive),
                archive.id()
            ))
        })
    }

    /// Removes soft-deleted archives for good; where data is missing they are kept, since they might be wanted back.
    fn soft_deleted(&mut self, reader: &mut Reader<'_>, held: &mut Held<'_>) -> Result<(), Failure> {
        let Collection { app, session, .. } = *self;
        let missing = self.usage.missing().len();
        if missing == 0 && self.options.dry_run {
            return Ok(());
        }
        if missing > 0 {
            app.fail(&Failure::new(DATA_IS_MISSING, "Error", format!("Repository has {missing} missing objects!")));
            for id in self.usage.missing() {
                app.debug(&format!("Missing object {id}"));
            }
        } else {
            app.info("Cleaning archives directory from soft-deleted archives...");
        }
        for archive in archives::list(app, session, reader, true)?.archives {
            held.refresh(app)?;
            let (name, id) = (shown_name(&archive), archive.id());
            if missing == 0 {
                let forgotten = now(forget_archive(&session.repository.store, id));
                forgotten.map_err(|error| Failure::store(error, &session.location))?;
                continue;
            }
            match self.scan(&archive, reader) {
                Ok(references) => match self.usage.keep(&references, &reader.index) {
                    0 => {}
                    gone => app.warning(&format!(
                        "Soft-deleted archive {name} {id}: {gone} objects missing from the index; \
                         \"borg undelete\" may not fully recover it."
                    )),
                },
                Err(failure) => {
                    let why = match archive.problem() {
                        Some(ArchiveProblem::Read(ReadError::NotIndexed)) => format!("Archive {id} does not exist"),
                        _ => failure.text,
                    };
                    app.warning(&format!("Soft-deleted archive {name} {id} cannot be fully preserved: {why}"));
                }
            }
        }
        // An archive that came back after a power failure must not find its chunks gone.
        session.sync()
    }

    fn compact(
        &mut self,
        reader: &mut Reader<'_>,
        sealer: &mut Sealer<'_>,
        held: &mut Held<'_>,
        archives: usize,
    ) -> Result<(), Failure> {
        let Collection { app, session, .. } = *self;
        let plan = self.plan(reader)?;
        let units = app.units();
        let merged = plan.packs(PackFate::Merge).count();
        if self.options.dry_run {
            let (freed, dropped) = (units.display(plan.freed_bytes()), plan.packs(PackFate::Drop).count());
            let rewritten = plan.packs(PackFate::Rewrite).count();
            app.info(&format!(
                "Would free {freed} by dropping {dropped} packs, rewriting {rewritten} packs and merging {merged} tiny packs."
            ));
        } else if plan.is_empty() {
            app.info("Deleting 0 unused objects...");
        } else {
            let dropped = plan.dropped_chunks(&reader.index, &self.usage);
            app.info(&format!("Deleting {dropped} unused objects, freeing {}...", units.display(plan.freed_bytes())));
        }
        let mut freed = 0;
        if !self.options.dry_run {
            let label = Label { before: "Compacting packs ", width: 3, decimals: 1, after: "" };
            let mut progress = Percent::new(label, "compact.compact_packs", Unit::Count, plan.steps() as u64, &app.log);
            let mut lost_lock = None;
            let mut done_before = 0;
            let mut tell = |step: Step<'_>| {
                match step {
                    Step::Problem(problem) => tell_problem(app, problem),
                    Step::Done { done, .. } => {
                        progress.advance((done - done_before) as u64, None);
                        done_before = done;
                    }
                }
                if lost_lock.is_none() {
                    lost_lock = held.refresh(app).err();
                }
                lost_lock.is_none() && !interrupt::requested()
            };
            let compacted = now(compact(&plan, &self.usage, reader, sealer, &mut tell));
            progress.finish();
            freed = compacted.map_err(|error| Failure::rewrite(error, &session.location))?;
            if let Some(failure) = lost_lock {
                return Err(failure);
            }
        }
        if self.options.stats {
            self.stats(&plan, reader.index.len(), freed, archives);
        }
        Ok(())
    }

    fn plan(&self, reader: &Reader<'_>) -> Result<Plan, Failure> {
        let Collection { app, session, .. } = *self;
        let options = PlanOptions {
            threshold_percent: self.options.threshold,
            pack_bytes: pack_limits()?.size.unwrap_or(DEFAULT_PACK_BYTES) as u64,
            corrupt: corrupt_packs(session)?,
        };
        let plan = Plan::new(&packs(session)?, &reader.index, &self.usage, &options);
        if plan.stale_entries > 0 {
            warn_of_stale_entries(app, plan.stale_entries);
        }
        if plan.stale_used > 0 {
            let text = format!("{} of them are still in use: repository data is missing!", plan.stale_used);
            app.fail(&Failure::new(DATA_IS_MISSING, "Error", text));
        }
        if plan.unindexed_bytes > 0 {
            app.info(&format!(
                "{} in pack files is not covered by the index; redundant copies are reclaimed when a pack is rewritten.",
                app.units().display(plan.unindexed_bytes)
            ));
        }
        for pack in &plan.overdrawn {
            let text = format!("Pack {pack}: index claims more data than the file holds, run \"borg check\".");
            app.fail(&Failure::new(DATA_IS_MISSING, "Error", text));
        }
        if !plan.kept_corrupt.is_empty() {
            warn_of_corrupt_packs(app, &plan.kept_corrupt, "rewritten or merged");
        }
        Ok(plan)
    }

    fn stats(&self, plan: &Plan, objects: usize, freed: u64, archives: usize) {
        let (app, units) = (self.app, self.app.units());
        let (source, unique) = (self.usage.content_size(), self.usage.deduplicated_size());
        let after = plan.total_bytes.saturating_sub(freed);
        let ratio = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
        let whole = |bytes| units.display_whole(bytes);
        app.info(&format!("Overall statistics, considering all {archives} archives in this repository:"));
        app.info(&format!("Source data size was {} in {} files.", whole(source), self.usage.file_count()));
        app.info(&format!("Deduplicated size is {}.", whole(unique)));
        app.info(&format!("Deduplication factor is {:.2}.", ratio(unique, source)));
        app.info(&format!("Repository size is {} in {objects} objects.", whole(after)));
        app.info(&format!("Compression factor is {:.2}.", ratio(after, unique)));
        if !self.options.dry_run {
            app.info(&format!("Compaction saved {}.", whole(freed)));
        }
    }
}

/// The pack files.
pub fn packs(session: &Session) -> Result<Vec<Entry>, Failure> {
    session.repository.store.0.list(Namespace::Packs).map_err(|error| Failure::store(error, &session.location))
}

/// The packs that a check found to be damaged.
pub fn corrupt_packs(session: &Session) -> Result<BTreeSet<PackId>, Failure> {
    let loaded = now(CheckedPacks::load(&session.repository, &mut session.opener()));
    let (records, _) = loaded.map_err(|error| Failure::store(error, &session.location))?;
    Ok(records.corrupt().collect())
}

/// Some of the index points nowhere.
pub fn warn_of_stale_entries(app: &App, count: u64) {
    let text =
        format!("index entries referencing a missing pack file: {count}. Run \"borg check --repair\" to remove them.");
    app.warning(&text);
}

/// Some packs stay as they are, and the exit code tells that.
pub fn warn_of_corrupt_packs(app: &App, packs: &[PackId], what: &str) {
    app.status.warn_generic();
    app.warning(&format!(
        "{} pack(s) recorded corrupt by \"borg check\" are not {what}. Run \"borg check --repair --verify-data\". \
         Damage outside of chunks is not repaired yet, see #10026.",
        packs.len()
    ));
    packs.iter().for_each(|pack| app.debug(&format!("Corrupt pack: {pack}")));
}

/// Something about a pack that does not end the work.
pub fn tell_problem(app: &App, problem: &PackProblem) {
    if let PackProblem::Damaged { .. } = problem {
        app.status.warn_generic();
        app.warning(&format!("{problem}. Run \"borg check --repair --verify-data\"."));
    } else {
        app.warning(&format!("{problem}."));
    }
}

/// Removes what clients left that were killed while they wrote: no listing shows it, and it takes space for ever.
fn remove_leftovers(app: &App, session: &Session) -> Result<(), Failure> {
    let removed = session.repository.store.0.remove_leftovers();
    match removed.map_err(|error| Failure::store(error, &session.location))? {
        (0, _) => {}
        (files, bytes) => {
            let bytes = app.units().display(bytes);
            app.info(&format!("Removed {files} unfinished files of interrupted clients, freeing {bytes}."));
        }
    }
    Ok(())
}

/// Removes files caches of series that are no more.
fn remove_files_caches(app: &App, session: &Session, archives: &[Archive]) {
    app.info("Cleaning up files cache...");
    let folder = dirs::cache(session.repository.id());
    let Ok(files) = fs::read_dir(&folder) else { return };
    let suffix = env::var("BORG_FILES_CACHE_SUFFIX").unwrap_or_default();
    let wanted: BTreeSet<String> = archives.iter().map(|archive| file_name(&shown_name(archive), &suffix)).collect();
    let mut removed = 0;
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with("files.") && !wanted.contains(&name) {
            match fs::remove_file(file.path()) {
                Ok(()) => removed += 1,
                Err(error) => app.warning(&format!("Could not access cache file: {error}")),
            }
        }
    }
    app.info(&format!("Removed {removed} unused files cache files."));
}
