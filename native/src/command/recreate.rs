//! `recreate`: writes archives anew, with less in them or cut otherwise (command line, section 1.2; data layer, section 18).

mod making;
mod queue;
mod rechunking;
mod tagged;
mod work;

use crate::app::App;
use crate::client::{command_line, host};
use crate::command::delete::PROTECTED;
use crate::failure::Failure;
use crate::options::archive_filters::ArchiveFilters;
use crate::options::chunker_params::ChosenChunkerParams;
use crate::options::exclusions::Exclusions;
use crate::options::tag_files::TagFiles;
use crate::options::timestamp::{self, Nominal};
use crate::output::archive_report::ArchiveReport;
use crate::output::archive_stats::{self, ArchiveStats};
use crate::output::log::{Level, Message, STATS};
use crate::output::stdout::print;
use crate::repository::archives::{self, Archive, shown_name};
use crate::repository::pipeline::with_pipeline;
use crate::repository::session::{Held, Lock, Session, asserts_ids};
use crate::repository::writing::Writer;
use crate::system::ffi::OsStringExt;
use crate::tuning;
use clap::Args;
use jiff::tz::TimeZone;
use making::Making;
use portaborg_core::archive::{ArchiveMeta, Stamp, archive_name, comment};
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::codec::Compression;
use portaborg_core::repo::{ArchiveWriter, SizeRule, delete_archive};
use portaborg_core::select::Candidate;
use portaborg_core::store::now;
use portaborg_core::time::Timestamp;
use portaborg_core::tuning::Tuning;
use rechunking::Rechunking;
use std::env;
use std::path::PathBuf;
use tagged::TaggedDirs;
use work::Recreating;

/// What the names of archives in the making ended with in old versions.
const TEMPORARY_SUFFIX: &[u8] = b".recreate";

/// Recreate the contents of existing archives.
///
/// This can lose data if it is used wrongly: when in doubt, use --dry-run --verbose --list to see what would stay. With PATHs
/// and exclude options, only what they leave is in the new archives; they are as in "create", but paths in archives have no
/// leading slash. --chunker-params cuts all contents anew. The old archive is soft-deleted once the new one is there, unless
/// --target gives that another name. No space is freed until "compact" has run. Archives with the tag @PROT are passed over.
#[derive(Debug, Args)]
pub struct Options {
    /// output verbose list of items (files, dirs, ...)
    #[arg(long = "list")]
    output_list: bool,

    /// only display items with the given status characters (listed in borg create --help)
    #[arg(long, value_name = "STATUSCHARS")]
    filter: Option<String>,

    /// do not change anything
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// print statistics at end
    #[arg(short, long)]
    stats: bool,

    #[command(flatten)]
    exclusions: Exclusions,

    #[command(flatten)]
    tag_files: TagFiles,

    #[command(flatten)]
    filters: ArchiveFilters,

    /// create a new archive with the name TARGET, do not replace existing archive
    #[arg(long, value_name = "TARGET", help_heading = "Archive options")]
    target: Option<String>,

    /// add a comment text to the archive
    #[arg(long = "comment", value_name = "COMMENT", help_heading = "Archive options")]
    comment_text: Option<String>,

    /// manually specify the archive creation date/time (yyyy-mm-ddThh:mm:ss[(+|-)HH:MM] format, (+|-)HH:MM is the UTC offset,
    /// default: local time zone). Alternatively, give a reference file/directory.
    #[arg(long, value_name = "TIMESTAMP", help_heading = "Archive options")]
    timestamp: Option<String>,

    /// select compression algorithm, see the output of the "borg help compression" command for details. Only for what is newly
    /// written; use repo-compress for what is there.
    #[arg(short = 'C', long, value_name = "COMPRESSION", help_heading = "Archive options")]
    compression: Option<Compression>,

    /// cut contents anew with these chunker parameters, or with "default" for the repository's default. default: leave them
    #[arg(long, value_name = "PARAMS", help_heading = "Archive options")]
    chunker_params: Option<ChosenChunkerParams>,

    /// paths to recreate; patterns are supported
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Writes archives anew.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    if app.common.progress && options.output_list && !app.common.log_json {
        let text = "error: Options --progress and --list do not play nicely together.";
        return Err(Failure::new(2, "Error", text));
    }
    options.exclusions.matcher(&options.paths)?;
    let time = options.timestamp.as_deref().map(|text| timestamp::parse(text, &app.zone)).transpose()?;
    let at = time.as_ref().map_or_else(|| app.now(), |nominal| nominal.time);
    let text = |text: &Option<String>| text.as_ref().map(|text| app.replace_placeholders_at(text, at)).transpose();
    let target = text(&options.target)?.map(|name| archive_name(&name)).transpose();
    let target = target.map_err(|error| Failure::argument("--target", error))?;
    let new_comment = text(&options.comment_text)?.map(|text| comment(&text)).transpose();
    let new_comment = new_comment.map_err(|error| Failure::argument("--comment", error))?;
    let session = Session::open(app)?;
    let mut held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let chosen = options.chunker_params.as_ref();
    let params = chosen.map(|chosen| session.chunker_params(chosen.given())).transpose()?;
    let compression = session.compression(options.compression)?;
    let tuning = tuning::for_writing(&compression)?;
    let mut writer = session.writer(app, &held, compression)?;
    writer.reader.assert_ids(asserts_ids(if params.is_some() { "rechunk" } else { "read" })?);
    let all = archives::list(app, &session, &mut writer.reader, false)?.archives;
    let chosen = archives::considered(app, all, &options.filters)?;
    let recreation = Recreation { app, options, session: &session, target, new_comment, time, params, tuning };
    let result = recreation.archives(&chosen, &mut writer, &mut held);
    // What was added until a failure is found by the next run, if the repository is still ours to write to.
    let saved = held
        .assert_held()
        .and_then(|()| now(writer.save_index()).map_err(|error| Failure::store(error, &session.location)));
    result?;
    saved?;
    if let Err(error) = now(writer.consolidate()) {
        app.warning(&format!("consolidating the chunk index fragments failed (will retry next time): {error}"));
    }
    Ok(())
}

struct Recreation<'a> {
    app: &'a App,
    options: &'a Options,
    session: &'a Session,
    target: Option<String>,
    new_comment: Option<String>,
    time: Option<Nominal>,
    /// How contents are to be cut; none leaves them as they are.
    params: Option<ChunkerParams>,
    tuning: Tuning,
}

impl<'a> Recreation<'a> {
    fn archives(&self, chosen: &[Archive], writer: &mut Writer<'a>, held: &mut Held<'_>) -> Result<(), Failure> {
        for archive in chosen {
            if archive.tags().any(|tag| tag == PROTECTED) || archive.name().ends_with(TEMPORARY_SUFFIX) {
                continue;
            }
            let (name, id) = (shown_name(archive), archive.id());
            print(&format!("Processing {name} {id}\n"))?;
            if !self.archive(archive, writer, held)? {
                self.app.info(&format!("Skipped archive {name} {id}: Nothing to do."));
            }
        }
        Ok(())
    }

    /// Writes one archive anew; `false` if it would come out as it is.
    fn archive(&self, archive: &Archive, writer: &mut Writer<'a>, held: &mut Held<'_>) -> Result<bool, Failure> {
        let Recreation { app, options, session, .. } = *self;
        let started = app.now();
        let meta = archive.require_meta(&session.location)?;
        let mut matcher = options.exclusions.matcher(&options.paths)?;
        let before = meta.chunker_params.as_deref().and_then(|stored| ChunkerParams::try_from(stored).ok());
        let params = self.params.clone().filter(|params| before.as_ref() != Some(params));
        let is_changed = !matcher.is_empty() || params.is_some() || self.new_comment.is_some() || self.time.is_some();
        let report = ArchiveReport::new(app, options.output_list, options.filter.as_deref());
        let made = with_pipeline(session, writer, &self.tuning, &Recreating { session }, |pipeline| {
            let tagged = TaggedDirs::find(app, &options.tag_files, meta, &mut matcher, pipeline, archive)?;
            if !is_changed && tagged.is_empty() {
                return Ok(None);
            }
            let rechunking = params.as_ref().map(|params| Rechunking::new(Chunker::new(params, &session.keys)));
            let mut making = Making::new(self, archive, &report, rechunking, pipeline, held);
            let made = making.items(meta, &mut matcher, &tagged);
            making.finish(made).map(Some)
        });
        let Some((items, sizes)) = made? else { return Ok(false) };
        let mut stats = report.finish();
        stats.sizes = sizes;
        if !options.dry_run {
            let meta = self.meta(meta, params.as_ref(), &stats, started);
            self.commit(archive, items, meta, stats, writer, held)?;
        }
        Ok(true)
    }

    fn commit(
        &self,
        archive: &Archive,
        items: ArchiveWriter,
        meta: ArchiveMeta,
        mut stats: ArchiveStats,
        writer: &mut Writer<'_>,
        held: &Held<'_>,
    ) -> Result<(), Failure> {
        let Recreation { app, session, .. } = *self;
        let store = &session.repository.store;
        let store_failure = |error| Failure::store(error, &session.location);
        let prepared = now(items.prepare(meta, SizeRule::WithItems, writer));
        let prepared = prepared.map_err(|error| Failure::write(error, &session.location))?;
        held.assert_held()?;
        now(prepared.commit(store)).map_err(store_failure)?;
        if self.target.is_none() && prepared.id != archive.id() {
            now(delete_archive(store, archive.id())).map_err(store_failure)?;
            session.sync()?;
        }
        stats.sizes += prepared.metadata;
        if self.options.stats {
            let heading = archive_stats::heading(app, &session.location, prepared.id, &prepared.meta);
            for line in heading.into_iter().chain(stats.lines(app.units())) {
                app.log.message(&Message::new(Level::Info, STATS, line));
            }
        }
        Ok(())
    }

    /// What the new archive says of itself: what the old one said, but for what was asked for and how it was made.
    fn meta(
        &self,
        old: &ArchiveMeta,
        params: Option<&ChunkerParams>,
        stats: &ArchiveStats,
        started: Timestamp,
    ) -> ArchiveMeta {
        let time = self.time.as_ref().map(|given| Stamp::new(given.time, &given.zone));
        ArchiveMeta {
            name: self.target.clone().map_or_else(|| old.name.clone(), String::into_bytes),
            comment: self.new_comment.clone().map_or_else(|| old.comment.clone(), String::into_bytes),
            time: time.unwrap_or_else(|| old.time.clone()),
            start: Stamp::new(started, &TimeZone::UTC),
            end: Stamp::new(self.app.now(), &TimeZone::UTC),
            hostname: host::hostname().into_bytes(),
            username: host::username().into_bytes(),
            cwd: env::current_dir().ok().map(|cwd| cwd.into_os_string().into_vec()),
            recreate_command_line: Some(command_line::quoted(env::args_os())),
            chunker_params: params.map_or_else(|| old.chunker_params.clone(), |params| Some(params.into())),
            size: stats.sizes.original,
            nfiles: stats.nfiles,
            ..old.clone()
        }
    }
}
