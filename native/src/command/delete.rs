//! `delete`: soft-deletes archives; and `undelete` through it (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::archive_filters::ArchiveFilters;
use crate::output::display::time;
use crate::output::log::{LIST, Level, Message};
use crate::repository::archives::{self, Archive, shown_name};
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::archive::archive_name;
use portaborg_core::repo::{delete_archive, undelete_archive};
use portaborg_core::select::Candidate;
use portaborg_core::store::now;

/// The tag that protects an archive.
pub const PROTECTED: &[u8] = b"@PROT";

/// This command soft-deletes archives from the repository.
///
/// Deleting only marks the archives: no space is freed until "compact" has run, and until then "undelete" brings them back.
/// Archives with the tag @PROT are passed over. When in doubt, use --dry-run --list to see what would be deleted.
#[derive(Debug, Args)]
pub struct Options {
    /// do not change the repository
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// output a verbose list of archives
    #[arg(long = "list")]
    pub output_list: bool,

    #[command(flatten)]
    pub filters: ArchiveFilters,

    /// specify the archive name
    #[arg(value_parser = archive_name)]
    pub name: Option<String>,
}

/// Soft-deletes archives.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    change(app, options, Change::Delete)
}

/// What is done to archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// They are soft-deleted.
    Delete,
    /// They come back.
    Undelete,
}

impl Change {
    fn refusal(self) -> &'static str {
        match self {
            Change::Delete => {
                "Aborting: if you really want to delete all archives, please use -a 'sh:*' or just delete the whole \
                 repository (might be much faster)."
            }
            Change::Undelete => "Aborting: if you really want to undelete all archives, please use -a 'sh:*'.",
        }
    }

    fn line(self, dry_run: bool) -> &'static str {
        match (self, dry_run) {
            (Change::Delete, false) => "Deleted archive",
            (Change::Delete, true) => "Would delete",
            (Change::Undelete, false) => "Undeleted archive",
            (Change::Undelete, true) => "Would undelete",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Change::Delete => "Done. Run \"borg compact\" to free space.",
            Change::Undelete => "Done.",
        }
    }
}

/// Deletes archives, or brings them back.
pub fn change(app: &App, options: &Options, change: Change) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let mut held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut reader = session.reader(app, &held)?;
    let all = archives::list(app, &session, &mut reader, change == Change::Undelete)?.archives;
    let mut chosen = match &options.name {
        Some(name) => vec![archives::one(app, all, name, &options.filters.match_archives)?],
        None => archives::considered(app, all, &options.filters)?,
    };
    if change == Change::Delete {
        chosen.retain(|archive| archive.tags().all(|tag| tag != PROTECTED));
    }
    if chosen.is_empty() {
        return Ok(());
    }
    if options.name.is_none() && !options.filters.any_given() {
        return Err(Failure::command(change.refusal()));
    }
    let count = chosen.len();
    let mut any = false;
    let mut ended = Ok(());
    for (number, archive) in (1..).zip(&chosen) {
        ended = interrupt::check().and_then(|()| held.refresh(app));
        if ended.is_err() {
            break;
        }
        let store = &session.repository.store;
        let done = match change {
            _ if options.dry_run => Ok(()),
            Change::Delete => now(delete_archive(store, archive.id())),
            Change::Undelete => now(undelete_archive(store, archive.id())),
        };
        match done {
            Err(error) if error.is_not_found() => {
                let (name, id) = (shown_name(archive), archive.id());
                app.warn(1, "BorgWarning", &format!("Archive {name} {id} not found ({number}/{count})."));
                continue;
            }
            other => other.map_err(|error| Failure::store(error, &session.location))?,
        }
        any = true;
        if options.output_list {
            let text = format!("{}: {} ({number}/{count})", change.line(options.dry_run), line(app, archive));
            app.log.message(&Message::new(Level::Info, LIST, text));
        }
    }
    if options.dry_run {
        app.info("Finished dry-run.");
        return ended;
    }
    session.sync()?;
    app.warning(if any { change.done() } else { "Aborted." });
    ended
}

/// An archive as lists of changes show it.
pub fn line(app: &App, archive: &Archive) -> String {
    format!("{:<36} {} [{}]", shown_name(archive), time::display(archive.time(), &app.zone), archive.id())
}
