//! `repo-compress`: compresses what is stored anew (command line, section 1.2; repository layer, section 7.3).

use crate::app::App;
use crate::command::compact::{corrupt_packs, packs, tell_problem, warn_of_corrupt_packs, warn_of_stale_entries};
use crate::crew::{Crew, with_crew};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::log::{Level, Message, STATS};
use crate::output::progress::{Label, Percent, Unit};
use crate::repository::session::{Lock, Session};
use crate::tuning;
use clap::Args;
use portaborg_core::codec::Compression;
use portaborg_core::compact::{RecompressJob, Recompressed, Recompression, Recompressors, Step, recompress};
use portaborg_core::id::PackId;
use portaborg_core::index::ChunkIndex;
use portaborg_core::name::Entry;
use portaborg_core::object::{ObjectWriter, Opener};
use portaborg_core::store::now;
use portaborg_core::tuning::{Help, Tuning};
use std::collections::BTreeSet;

/// Repository (re-)compression (and/or re-obfuscation).
///
/// Reads all objects and compresses those anew that are not compressed as --compression says; without it, as the repository's
/// default says (see "repo-create"), else as zstd,-4. Pack by pack: one that has nothing to gain is not touched. Ctrl-C stops
/// between packs; running it again goes on with the rest.
#[derive(Debug, Args)]
pub struct Options {
    /// select compression algorithm, see the output of the "borg help compression" command for details
    #[arg(short = 'C', long, value_name = "COMPRESSION")]
    compression: Option<Compression>,

    /// print statistics
    #[arg(short, long)]
    stats: bool,
}

/// Compresses what is stored anew.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let mut held = session.lock_to_write(app, Lock::Exclusive)?;
    session.assert_secure(app)?;
    session.assert_rewritable("recompression")?;
    let compression = session.compression(options.compression)?;
    let tuning = tuning::for_writing(&compression)?;
    app.info(&format!("Recompressing repository to {}...", Compression { auto: false, ..compression }));
    let mut sealer = session.sealer()?;
    let mut reader = session.reader_to_rewrite(app, &held, &mut sealer)?;
    let before = packs(&session)?;
    let corrupt = warned_of(app, &session, &before, &reader.index)?;
    let label = Label { before: "Recompressing ", width: 3, decimals: 1, after: "" };
    let mut progress = Percent::new(label, "repo_compress.recompress", Unit::Count, before.len() as u64, &app.log);
    let mut lost_lock = None;
    let mut tell = |step: Step<'_>| {
        match step {
            Step::Problem(problem) => tell_problem(app, problem),
            Step::Done { .. } => progress.advance(1, None),
        }
        if lost_lock.is_none() {
            lost_lock = held.refresh(app).err();
        }
        lost_lock.is_none() && !interrupt::requested()
    };
    let tools = || (session.opener(), ObjectWriter::new(&session.keys, &session.engine));
    let work = |(opener, writer): &mut (Opener<'_>, ObjectWriter<'_>), job: RecompressJob, idle| {
        let help = Help { tuning, idle };
        opener.set_help(help);
        writer.set_help(help);
        job.run(opener, writer)
    };
    let done = with_crew(tuning.create_threads(), tools, work, |crew| {
        let mut workers = Workers { crew, tuning };
        now(recompress(&before, &corrupt, &compression, &mut workers, &mut reader, &mut sealer, &mut tell))
    });
    progress.finish();
    let done = done.map_err(|error| Failure::rewrite(error, &session.location))?;
    if let Some(failure) = lost_lock {
        return Err(failure);
    }
    interrupt::check()?;
    if options.stats {
        stats(app, done, &before, &packs(&session)?, corrupt.len());
    }
    Ok(())
}

/// The crew that does the jobs.
struct Workers<'w, 'c> {
    crew: &'w mut Crew<'c, RecompressJob, Recompressed>,
    tuning: Tuning,
}

impl Recompressors for Workers<'_, '_> {
    fn look_ahead(&self) -> usize {
        self.tuning.look_ahead(self.crew.width())
    }

    fn help(&self) -> Help {
        // All are idle then but this thread, which is none of the crew.
        Help { tuning: self.tuning, idle: self.crew.idle().saturating_sub(1) }
    }

    fn give(&mut self, job: RecompressJob) {
        self.crew.give(job);
    }

    fn next(&mut self) -> Recompressed {
        self.crew.next().expect("somebody waits for a job that was given")
    }
}

/// The packs that are not to be touched; a user hears of them, and of an index that points nowhere.
fn warned_of(app: &App, session: &Session, packs: &[Entry], index: &ChunkIndex) -> Result<BTreeSet<PackId>, Failure> {
    let present: BTreeSet<PackId> = packs.iter().filter_map(|entry| entry.name.parse().ok()).collect();
    let stale = index.iter().filter(|(_, location)| !present.contains(&location.pack)).count();
    if stale > 0 {
        warn_of_stale_entries(app, stale as u64);
    }
    let corrupt: BTreeSet<PackId> = corrupt_packs(session)?.intersection(&present).copied().collect();
    if !corrupt.is_empty() {
        warn_of_corrupt_packs(app, &corrupt.iter().copied().collect::<Vec<_>>(), "rewritten");
    }
    Ok(corrupt)
}

fn stats(app: &App, done: Recompression, before: &[Entry], after: &[Entry], corrupt: usize) {
    let say = |text: String| app.log.message(&Message::new(Level::Info, STATS, text));
    let units = app.units();
    let size = |packs: &[Entry]| packs.iter().map(|pack| pack.size).sum::<u64>();
    let (size_before, size_after) = (size(before), size(after));
    let change = if size_before >= size_after { "shrunk" } else { "grew" };
    let skipped = if corrupt == 0 { String::new() } else { format!(", {corrupt} skipped (recorded corrupt)") };
    say("Recompression stats:".into());
    say(format!("Packs: {} total, {} rewritten{skipped}.", before.len(), done.rewritten_packs));
    say(format!(
        "Objects: {} total, {} recompressed, {} already had the desired compression, \
         {} kept as-is (recompression brings no gain).",
        done.objects, done.recompressed, done.already, done.kept
    ));
    say(format!(
        "Repository size: {} before, {} after, {change} by {}.",
        units.display(size_before),
        units.display(size_after),
        units.display(size_before.abs_diff(size_after))
    ));
}
