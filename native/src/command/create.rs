//! `create`: a new archive (command line, section 1.2; data layer, section 10).

mod cut;
mod inputs;
mod mapped;
mod recorder;
mod sink;
mod stream;
mod work;

use crate::app::App;
use crate::backup::{Collector, DryRun, Observer, Order, Walk};
use crate::client::{command_line, dirs, host};
use crate::crew::with_crew;
use crate::failure::Failure;
use crate::options::chunker_params::ChosenChunkerParams;
use crate::options::exclusions::Exclusions;
use crate::options::source::Source;
use crate::options::timestamp::{self, Nominal};
use crate::output::archive_report::ArchiveReport;
use crate::output::archive_stats::{self, ArchiveStats};
use crate::output::display::size::Units;
use crate::output::format::digest::Digest;
use crate::output::json::Object;
use crate::output::log::{Level, Message, STATS};
use crate::output::steps::Steps;
use crate::repository::files_cache::{FilesCache, GroupKey, Series};
use crate::repository::session::{Held, Lock, Session};
use crate::system::attributes;
use crate::system::ffi::{OsStrExt, OsStringExt};
use crate::tuning;
use clap::Args;
use inputs::Inputs;
use jiff::tz::TimeZone;
use mapped::Plan;
use portaborg_core::archive::{ArchiveMeta, Stamp, archive_name, comment, tag};
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::codec::Compression;
use portaborg_core::item::{UnsafePath, make_path_safe};
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::{ArchiveWriter, SizeRule};
use portaborg_core::store::now;
use portaborg_core::text::Repr;
use portaborg_core::time::Timestamp;
use sink::{ArchiveSink, Parts};
use std::env;
use std::ffi::OsString;
use std::sync::Arc;
use work::{Shared, Tools};

/// This command creates a backup archive of all files that are found below the given paths.
///
/// Paths are archived as they are given: for relative ones, run the command where they begin. Of /this/./that only "that" is
/// kept. A path that is a symbolic link is followed; links that are met on the way are archived as links. "-" stands for
/// standard input, which becomes a file named "stdin". Files that were archived before and have not changed since are not
/// read again (see --files-cache).
///
/// Status letters of --list: A added, M modified, U unchanged, C changed while it was read, E error (all of them regular
/// files); d directory, s symlink, h hard link, f fifo, c and b devices, i standard input; in a dry run + included and
/// - excluded.
#[derive(Debug, Args)]
pub struct Options {
    /// do not create a backup archive
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// print statistics for the created archive
    #[arg(short, long)]
    stats: bool,

    /// output a verbose list of items (files, dirs, ...)
    #[arg(long = "list")]
    output_list: bool,

    /// only display items with the given status characters (see above)
    #[arg(long, value_name = "STATUSCHARS")]
    filter: Option<String>,

    /// output stats as JSON. Implies --stats.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    inputs: inputs::Options,

    #[command(flatten)]
    exclusions: Exclusions,

    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    mapped: mapped::Options,

    /// compute these digests of the whole content of each file (such as blake3,sha256) and store them, so that "list --format"
    /// need not read it. default: none
    #[arg(long, value_name = "ALGOS", value_parser = digests, help_heading = "Filesystem options")]
    digests: Option<Digests>,

    /// archive attributes that a lost files cache is rebuilt by, from the newest archive that has them in common with the new
    /// one (name, host, user). default: name,host
    #[arg(long, value_name = "KEYS", value_parser = group_keys, default_value = "name,host", hide_default_value = true)]
    #[arg(help_heading = "Filesystem options")]
    group_by: GroupKeys,

    /// add a comment text to the archive
    #[arg(long = "comment", value_name = "COMMENT", default_value = "", hide_default_value = true)]
    #[arg(help_heading = "Archive options")]
    comment_text: String,

    /// manually specify the archive creation date/time (yyyy-mm-ddThh:mm:ss[(+|-)HH:MM] format, (+|-)HH:MM is the UTC offset,
    /// default: local time zone). Alternatively, give a reference file/directory.
    #[arg(long, value_name = "TIMESTAMP", help_heading = "Archive options")]
    timestamp: Option<String>,

    /// specify the chunker parameters (ALGO, CHUNK_MIN_EXP, CHUNK_MAX_EXP, HASH_MASK_BITS, ...). default: the repository
    /// default (see repo-create), else fastcdc,19,23,21,2
    #[arg(long, value_name = "PARAMS", help_heading = "Archive options")]
    chunker_params: Option<ChosenChunkerParams>,

    /// select compression algorithm, see the output of the "borg help compression" command for details. default: the
    /// repository default (see repo-create), else zstd,-4
    #[arg(short = 'C', long, value_name = "COMPRESSION", help_heading = "Archive options")]
    compression: Option<Compression>,

    /// add a tag to the archive (can be given multiple times)
    #[arg(long, value_name = "TAG", value_parser = tag, help_heading = "Archive options")]
    tag: Vec<String>,

    /// specify the archive name
    name: String,

    /// paths to archive, or the words of a command
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
}

/// Digests to be made, in order of their names.
#[derive(Debug, Clone)]
struct Digests(Vec<Digest>);

/// What the archives of a series have in common.
#[derive(Debug, Clone)]
struct GroupKeys(Vec<GroupKey>);

fn group_keys(text: &str) -> Result<GroupKeys, String> {
    const VALID: &str = "valid keys: name, host, user";
    if matches!(text, "" | "none") {
        return Err(format!("At least one group-by key is required ({VALID})"));
    }
    let mut keys = Vec::new();
    for name in text.split(',') {
        let key = match name {
            "name" => GroupKey::Name,
            "host" => GroupKey::Host,
            "user" => GroupKey::User,
            _ => return Err(format!("Invalid group-by key: {name} ({VALID})")),
        };
        if keys.contains(&key) {
            return Err(format!("Duplicate group-by key: {name}"));
        }
        keys.push(key);
    }
    Ok(GroupKeys(keys))
}

fn digests(text: &str) -> Result<Digests, String> {
    if text == "none" {
        return Ok(Digests(Vec::new()));
    }
    let mut digests: Vec<Digest> = Vec::new();
    for name in text.trim().split(',') {
        let Some(digest) = Digest::from_name(name) else {
            let mut known: Vec<&str> = Digest::ALL.iter().map(|digest| digest.name()).collect();
            known.sort_unstable();
            return Err(format!("digests must be \"none\" or a comma-separated list of: {}", known.join(",")));
        };
        digests.push(digest);
    }
    digests.sort_by_key(|digest| digest.name());
    digests.dedup();
    Ok(Digests(digests))
}

/// Creates an archive.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let (matcher, roots) = options.exclusions.walk_matcher()?;
    let inputs = options.inputs.inputs(&options.paths, roots)?;
    if app.common.progress && options.output_list && !app.common.log_json {
        return Err(usage("Options --progress and --list do not play nicely together."));
    }
    if options.source.read_special_timeout.is_some() && !options.source.read_special {
        return Err(Failure::command("--read-special-timeout requires --read-special."));
    }
    let plan = options.mapped.plan(app, &inputs, options.source.read_special)?;
    let texts = Texts::of(app, options)?;
    let session = Session::open(app)?;
    let mut held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let started = app.now();
    app.info(&format!("Creating archive \"{}\" in repository {}", texts.name, session.location));
    let creation = Creation { app, options, session: &session, inputs: &inputs, texts, started };
    if options.dry_run { creation.dry_run(matcher, plan, &held) } else { creation.create(matcher, plan, &mut held) }
}

/// A command line that the parser can't see to be wrong.
fn usage(text: &str) -> Failure {
    Failure::new(2, "Error", format!("error: {text}"))
}

/// What is stored with the archive, placeholders replaced.
struct Texts {
    name: String,
    comment: String,
    time: Option<Nominal>,
}

impl Texts {
    fn of(app: &App, options: &Options) -> Result<Texts, Failure> {
        let time = options.timestamp.as_deref().map(|text| timestamp::parse(text, &app.zone)).transpose()?;
        let at = time.as_ref().map_or_else(|| app.now(), |nominal| nominal.time);
        let name = app.replace_placeholders_at(&options.name, at)?;
        let name = archive_name(&name).map_err(|error| Failure::argument("NAME", error))?;
        let text = app.replace_placeholders_at(&options.comment_text, at)?;
        let comment = comment(&text).map_err(|error| Failure::argument("--comment", error))?;
        Ok(Texts { name, comment, time })
    }
}

struct Creation<'a> {
    app: &'a App,
    options: &'a Options,
    session: &'a Session,
    inputs: &'a Inputs,
    texts: Texts,
    started: Timestamp,
}

impl<'a> Creation<'a> {
    fn report(&self) -> ArchiveReport<'a> {
        ArchiveReport::new(self.app, self.options.output_list, self.options.filter.as_deref())
    }

    /// Goes everywhere, but for the own cache and the repository.
    fn walk<'w>(
        &self,
        options: &'w crate::backup::walk::Options,
        matcher: PatternMatcher,
        observer: &'w dyn Observer,
    ) -> Walk<'w> {
        let mut walk = Walk::new(options, matcher, observer);
        if let Some(caches) = dirs::cache(self.session.repository.id()).parent() {
            walk.skip(caches.as_os_str().as_bytes());
        }
        walk.skip(self.session.repository.store.0.root().as_os_str().as_bytes());
        walk
    }

    fn dry_run(&self, matcher: PatternMatcher, plan: Option<Plan<'_>>, held: &Held<'_>) -> Result<(), Failure> {
        if let Some(plan) = plan {
            plan.resolve(self.app, self.session, &mut self.session.reader(self.app, held)?)?;
        }
        let report = self.report();
        let walk_options = self.options.source.walk();
        let mut walk = self.walk(&walk_options, matcher, &report);
        let mut dry_run = DryRun { read_special: self.options.source.read_special, ..DryRun::default() };
        self.inputs.show(&mut walk, &mut dry_run, &report)?;
        let stats = self.options.stats || self.options.json;
        if self.options.json {
            let counts = Object::new().with("nfiles", dry_run.files).with("original_size", dry_run.size);
            self.app.print_json(self.session.json().with("dry_run", true).with("stats", counts))
        } else {
            if stats {
                let size = self.app.units().display(dry_run.size);
                self.tell_stats([format!("Number of files: {}", dry_run.files), format!("Original size: {size}")]);
            }
            Ok(())
        }
    }

    fn create(&self, matcher: PatternMatcher, plan: Option<Plan<'_>>, held: &mut Held<'a>) -> Result<(), Failure> {
        let Creation { app, options, session, .. } = *self;
        let compression = session.compression(options.compression)?;
        let tuning = tuning::for_writing(&compression)?;
        let asked_for = options.chunker_params.as_ref().and_then(ChosenChunkerParams::given);
        let params = session.chunker_params(asked_for)?;
        let mut writer = session.writer(app, held, compression)?;
        let mut reading = options.source.reading();
        reading.mapped = plan.map(|plan| plan.resolve(app, session, &mut writer.reader)).transpose()?;
        let (hostname, username) = (host::hostname(), host::username());
        let series = Series { name: &self.texts.name, host: &hostname, user: &username, group_by: &options.group_by.0 };
        let mut files = FilesCache::load(app, session, &mut writer.reader, options.source.files_cache_mode, &series)?;
        if !attributes::EXIST {
            app.warning(
                "not stored, since they can not be seen here: owners, permissions, extended attributes, ACLs and flags. \
                 Files get the mode 644, directories 755.",
            );
        }
        let report = self.report();
        let digests = options.digests.as_ref().map_or(&[][..], |digests| &digests.0);
        let selection = options.source.selection();
        let known = Arc::clone(files.known());
        let shared =
            Shared { session, known, selection: &selection, reading: &reading, params: &params, digests, tuning };
        let mut archive = ArchiveWriter::new(&session.keys);
        let work = |tools: &mut Tools<'_>, job, idle| shared.run(tools, job, idle);
        let archived = with_crew(
            tuning.create_threads(),
            || shared.tools(),
            work,
            |crew| {
                let mut sink = ArchiveSink::new(Parts {
                    app,
                    session,
                    held: &mut *held,
                    writer: &mut writer,
                    archive: &mut archive,
                    files: &mut files,
                    report: &report,
                    chunker: Chunker::new(&params, &session.keys),
                    digests,
                    crew,
                    tuning: &tuning,
                    readers: options.source.readers.map(|readers| readers.get().into()),
                });
                let archived = self.archive(matcher, &shared, &mut sink, &report);
                sink.finish(archived)
            },
        );
        let mut stats = report.finish();
        if let Err(failure) = archived {
            // Without the lock, what was added may be gone already.
            if held.assert_held().is_ok() {
                self.close(files, false, || {
                    if let Err(error) = now(writer.save_index()) {
                        app.debug(&format!("the chunk index can not be stored: {error}"));
                    }
                });
            }
            return Err(failure);
        }
        let meta = self.meta(&params, &stats, hostname, username);
        let prepared = now(archive.prepare(meta, SizeRule::WithoutLastItems, &mut writer));
        let prepared = prepared.map_err(|error| Failure::write(error, &session.location))?;
        held.assert_held()?;
        let committed = now(prepared.commit(&session.repository.store));
        committed.map_err(|error| Failure::store(error, &session.location))?;
        stats.sizes += prepared.metadata;
        self.close(files, true, || {
            if let Err(error) = now(writer.consolidate()) {
                app.warning(&format!("consolidating the chunk index fragments failed (will retry next time): {error}"));
            }
        });
        self.tell(prepared.id, &prepared.meta, &stats)
    }

    /// Stores what makes the next run quick. Nothing is lost if that fails, so it is only told.
    fn close(&self, mut files: FilesCache, is_done: bool, save_index: impl FnOnce()) {
        let steps = Steps::new("cache.close", &self.app.log);
        steps.say("Saving files cache");
        let saved = files.save(is_done);
        steps.say("Saving index");
        save_index();
        steps.say("Saving cache config");
        if let Err(error) = saved.and_then(|()| files.save_config()) {
            self.app.warning(&format!("The files cache can not be stored: {error}"));
        }
        steps.finish();
    }

    fn archive(
        &self,
        matcher: PatternMatcher,
        shared: &Shared<'_>,
        sink: &mut ArchiveSink<'_, '_, '_>,
        report: &ArchiveReport<'_>,
    ) -> Result<(), Failure> {
        let walk_options = self.options.source.walk();
        let order = Order::new(report);
        let mut walk = self.walk(&walk_options, matcher, &order);
        let mut collector = Collector::new(shared.selection, shared.reading, &order, sink);
        self.inputs.archive(&mut walk, &mut collector, report)?;
        collector.catch_up()
    }

    fn meta(&self, params: &ChunkerParams, stats: &ArchiveStats, hostname: String, username: String) -> ArchiveMeta {
        let start = Stamp::new(self.started, &TimeZone::UTC);
        let mut tags: Vec<Vec<u8>> = self.options.tag.iter().map(|tag| tag.clone().into_bytes()).collect();
        tags.sort_unstable();
        tags.dedup();
        ArchiveMeta {
            name: self.texts.name.clone().into_bytes(),
            comment: self.texts.comment.clone().into_bytes(),
            tags,
            item_ptrs: Vec::new(),
            command_line: command_line::quoted(env::args_os()),
            cwd: env::current_dir().ok().map(|cwd| cwd.into_os_string().into_vec()),
            hostname: hostname.into_bytes(),
            username: username.into_bytes(),
            time: self.texts.time.as_ref().map_or_else(|| start.clone(), |given| Stamp::new(given.time, &given.zone)),
            start,
            end: Stamp::new(self.app.now(), &TimeZone::UTC),
            chunker_params: Some(params.into()),
            size: stats.sizes.original,
            nfiles: stats.nfiles,
            recreate_command_line: None,
            unknown: Vec::new(),
        }
    }

    fn tell(&self, id: portaborg_core::id::ArchiveId, meta: &ArchiveMeta, stats: &ArchiveStats) -> Result<(), Failure> {
        let Creation { app, session, .. } = *self;
        let store = session.repository.store.0.stats();
        if self.options.json {
            let archive = archive_stats::json(app, id, meta, stats.json(store.json()));
            let cache = Object::new().with("path", dirs::cache(session.repository.id()).display().to_string());
            return app.print_json(session.json().with("cache", cache).with("archive", archive));
        }
        if self.options.stats {
            let units: Units = app.units();
            self.tell_stats(archive_stats::heading(app, &session.location, id, meta));
            self.tell_stats(stats.lines(units));
            self.tell_stats(store.lines(units));
        }
        Ok(())
    }

    fn tell_stats(&self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            self.app.log.message(&Message::new(Level::Info, STATS, line));
        }
    }
}

/// The item path of what comes from standard input or a command.
fn pipe_name(text: &OsString) -> Result<Vec<u8>, Failure> {
    let shown = Repr(text.as_bytes());
    match make_path_safe(text.as_bytes()) {
        Ok(name) if name == b"." => {
            Err(Failure::argument("--stdin-name", format_args!("{shown} is not a valid file name")))
        }
        Ok(name) => Ok(name),
        Err(UnsafePath) => {
            Err(Failure::argument("--stdin-name", format_args!("unexpected '..' element in path {shown}")))
        }
    }
}
