//! `extract`: restores items (command line, section 1.2).

mod files;
mod queue;

use self::files::{About, Extracting, Files};
use self::queue::{Queue, Queued};
use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::exclusions::{Exclusions, shown_path};
use crate::options::item_cache::ItemCacheOptions;
use crate::output::log::{LIST, Level, Message};
use crate::output::progress::{Label, Percent, Unit};
use crate::output::stdout::write_content;
use crate::repository::ahead::Next;
use crate::repository::archives::{self, Archive, Reader};
use crate::repository::item_cache::ItemCache;
use crate::repository::items::report;
use crate::repository::pipeline::{Pipeline, with_pipeline};
use crate::repository::session::{Held, Lock, Session};
use crate::restore::{self, Begun, NewFile, OpenFile, Restorer};
use crate::tuning;
use clap::Args;
use portaborg_core::archive::{ArchiveMeta, archive_name};
use portaborg_core::bytes::lossy;
use portaborg_core::extract::{Plain, Want};
use portaborg_core::item::{ChunkEntry, FileType, Item};
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::ReadError;
use portaborg_core::select::Candidate;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The logger of what is wrong with chunks.
const CHUNK_LOGGER: &str = "borg.archive";

/// This command extracts the contents of an archive into the current directory, which must be empty unless --continue is
/// given.
///
/// By default, the entire archive is extracted, but a subset of files and directories can be selected by passing a list of
/// PATH arguments.
#[derive(Debug, Args)]
pub struct Options {
    /// output a verbose list of items (files, dirs, ...)
    #[arg(long = "list")]
    output_list: bool,

    /// print statistics of what was read from the repository
    #[arg(short, long)]
    stats: bool,

    /// do not actually change any files
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// only use numeric user and group identifiers
    #[arg(long)]
    numeric_ids: bool,

    /// do not extract/set flags (e.g. NODUMP, IMMUTABLE)
    #[arg(long)]
    noflags: bool,

    /// do not extract/set ACLs
    #[arg(long)]
    noacls: bool,

    /// do not extract/set xattrs
    #[arg(long)]
    noxattrs: bool,

    /// write all extracted data to stdout
    #[arg(long)]
    stdout: bool,

    /// create holes in the output sparse file from all-zero chunks
    #[arg(long)]
    sparse: bool,

    /// extract into a non-empty directory; items that are there already and unchanged are left as they are
    #[arg(long = "continue")]
    continue_extraction: bool,

    /// extract into DIR instead of the current directory; it is made if it does not exist (portaborg only)
    #[arg(long, value_name = "DIR")]
    destination: Option<PathBuf>,

    /// remove the specified number of leading path elements
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    strip_components: usize,

    #[command(flatten)]
    exclusions: Exclusions,

    #[command(flatten)]
    item_cache: ItemCacheOptions,

    /// specify the archive name
    #[arg(value_parser = archive_name)]
    name: String,

    /// paths to extract; patterns are supported
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Restores an archive, or the part of it that is asked for.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    if app.common.progress && options.output_list && !app.common.log_json {
        return Err(Failure::new(2, "Error", "error: Options --progress and --list do not play nicely together."));
    }
    let mut matcher = options.exclusions.matcher(&options.paths)?;
    let tuning = tuning::for_reading()?;
    let name = app.replace_placeholders(&options.name)?;
    let session = Session::open(app)?;
    let mut held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut reader = session.reader(app, &held)?;
    let archive = archives::find_one(app, &session, &mut reader, name)?;
    let meta = archive.require_meta(&session.location)?;
    let sink = open_sink(options, app.common.umask)?;
    let cache = options.item_cache.cache(&session, reader.asserts_ids());
    with_pipeline(&session, &mut reader, &tuning, &Extracting, |pipeline| {
        let (sink, restorer) = match sink {
            Sink::Files(restorer) => (Sink::Nowhere, Some(*restorer)),
            other => (other, None),
        };
        let files = Files::new(app, restorer);
        let (archive, location) = (&archive, session.location.as_str());
        let mut extraction = Extraction { app, options, archive, location, cache, sink, files };
        if app.common.progress {
            extraction.begin_progress(meta, &mut matcher, pipeline)?;
        }
        extraction.items(meta, &mut matcher, pipeline, &mut held)?;
        extraction.files.finish();
        Ok(())
    })?;
    for pattern in matcher.unmatched_include_paths() {
        let text = format!("Include pattern '{}' never matched.", shown_path(pattern));
        app.warn(101, "IncludePatternNeverMatchedWarning", &text);
    }
    if options.stats {
        session.show_stats(app);
    }
    Ok(())
}

/// Where content goes.
enum Sink {
    Nowhere,
    Stdout,
    Files(Box<Restorer>),
}

/// The archive as it is read ahead.
type Reading<'p, 'c, 'r> = Pipeline<'p, 'c, Reader<'r>, Extracting>;

struct Extraction<'a> {
    app: &'a App,
    options: &'a Options,
    archive: &'a Archive,
    location: &'a str,
    cache: Option<ItemCache<'a>>,
    sink: Sink,
    files: Files<'a>,
}

impl Extraction<'_> {
    fn items(
        &mut self,
        meta: &ArchiveMeta,
        matcher: &mut PatternMatcher,
        pipeline: &mut Reading<'_, '_, '_>,
        held: &mut Held<'_>,
    ) -> Result<(), Failure> {
        self.begin(meta, pipeline);
        let mut queue = Queue::new(matcher, self.options.strip_components, self.options.output_list);
        while let Some(next) = queue.next(pipeline, self.files.restorer.as_mut()) {
            interrupt::check()?;
            held.refresh(self.app)?;
            match next {
                Next::Item(mut item) => self.item(&mut item, &mut queue, pipeline)?,
                Next::Problem(problem) => {
                    self.files.settle(pipeline);
                    report(self.app, self.archive, &problem, "extracted", self.location);
                }
                Next::Failure(failure) => {
                    self.files.settle(pipeline);
                    return Err(failure);
                }
            }
            self.files.go_on(pipeline);
        }
        self.files.settle(pipeline);
        Ok(())
    }

    /// Begins with the items, which may be in the item cache already; extraction alone does not put them there.
    fn begin(&self, meta: &ArchiveMeta, pipeline: &mut Reading<'_, '_, '_>) {
        let cached = self.cache.as_ref().map(|cache| cache.reading(self.archive.id())).unwrap_or_default();
        pipeline.begin_with(&meta.item_ptrs, cached);
    }

    fn item(
        &mut self,
        queued: &mut Queued,
        queue: &mut Queue<'_>,
        pipeline: &mut Reading<'_, '_, '_>,
    ) -> Result<(), Failure> {
        if self.options.output_list {
            let prefix = if queued.is_match { '+' } else { '-' };
            let text = format!("{prefix} {}", lossy(&queued.item.path).0);
            self.files.message(Message::new(Level::Info, LIST, text));
        }
        if !queued.is_match {
            return Ok(());
        }
        let mut content = Content { queued, queue, taken: 0, damaged: 0 };
        if self.files.restorer.is_some() {
            self.restore(&mut content, pipeline)?;
        } else {
            self.stream(&mut content, pipeline)?;
        }
        content.drop_rest(pipeline);
        Ok(())
    }

    /// Makes an item's object.
    fn restore(&mut self, content: &mut Content<'_, '_>, pipeline: &mut Reading<'_, '_, '_>) -> Result<(), Failure> {
        self.files.approach(&content.queued.item, pipeline);
        let Some(restorer) = &mut self.files.restorer else { return Ok(()) };
        if content.is_small()
            && let Some(prepared) = restorer.prepare(&content.queued.item)
        {
            match prepared {
                Ok(file) => self.small(file, content, pipeline)?,
                Err(problem) => self.files.problem(problem),
            }
            return Ok(());
        }
        let begun = restorer.begin(&content.queued.item);
        restorer.take_problems().into_iter().for_each(|problem| self.files.problem(problem));
        match begun {
            Ok(Begun::File(file)) => self.large(file, content, pipeline)?,
            Ok(Begun::Done | Begun::Unchanged) => {
                let item = &content.queued.item;
                self.files.advance(item.content_size(), item, is_regular(item));
            }
            Err(problem) => self.files.problem(problem),
        }
        Ok(())
    }

    fn small(
        &mut self,
        file: NewFile,
        content: &mut Content<'_, '_>,
        pipeline: &mut Reading<'_, '_, '_>,
    ) -> Result<(), Failure> {
        let mut chunks = Vec::new();
        while let Some(chunk) = content.next(pipeline, &mut self.files)? {
            chunks.push(chunk);
        }
        let about = content.about(content.queued.item.content_size());
        self.files.make(file, chunks, about, pipeline);
        Ok(())
    }

    fn large(
        &mut self,
        mut file: Box<OpenFile>,
        content: &mut Content<'_, '_>,
        pipeline: &mut Reading<'_, '_, '_>,
    ) -> Result<(), Failure> {
        let number = self.files.begin(&content.queued.item);
        while let Some(chunk) = content.next(pipeline, &mut self.files)? {
            let bytes = chunk.len();
            if let Err(problem) = self.files.write(number, &mut file, chunk, pipeline) {
                self.files.abandon(number, &content.queued.item, problem, pipeline);
                return Ok(()); // dropping the file removes what there is of it
            }
            self.files.advance(bytes, &content.queued.item, false);
            self.files.go_on(pipeline);
        }
        self.files.end(number, file, content.about(0));
        Ok(())
    }

    /// Reads content that goes to stdout, or nowhere.
    fn stream(&mut self, content: &mut Content<'_, '_>, pipeline: &mut Reading<'_, '_, '_>) -> Result<(), Failure> {
        while let Some(chunk) = content.next(pipeline, &mut self.files)? {
            if let Sink::Stdout = self.sink {
                chunk.content().pieces().try_for_each(write_content)?;
            }
            self.files.advance(chunk.len(), &content.queued.item, false);
            self.files.go_on(pipeline);
        }
        let item = &content.queued.item;
        if let Some(stated) = item.size.filter(|&size| item.chunks.is_some() && size != item.content_size()) {
            let chunks = item.content_size();
            let text =
                format!("{}: Size inconsistency detected: size {stated}, chunks size {chunks}", lossy(&item.path).0);
            self.files.warn(102, "BackupError", text);
        }
        self.files.advance(0, item, is_regular(item));
        let about = content.about(0);
        self.files.warn_of_damage(&about);
        Ok(())
    }

    /// Adds up what will be extracted, in a pass of its own.
    fn begin_progress(
        &mut self,
        meta: &ArchiveMeta,
        matcher: &mut PatternMatcher,
        pipeline: &mut Reading<'_, '_, '_>,
    ) -> Result<(), Failure> {
        let label = Label::tenths(" Extracting: ");
        let mut progress = Percent::new(label, "extract", Unit::Bytes, 0, &self.app.log);
        progress.say(
            "Calculating total archive size for the progress indicator (might take a long time for large archives)",
        );
        let mut total = 0u64;
        self.begin(meta, pipeline);
        while let Some(next) = pipeline.next_items() {
            interrupt::check()?;
            for mut item in next.into_iter().flatten().flatten() {
                if is_match(&item, matcher)? && strip(&mut item, self.options.strip_components) {
                    total = total.saturating_add(item.content_size());
                }
            }
        }
        progress.set_total(total);
        self.files.progress = Some(progress);
        Ok(())
    }
}

/// The content of an item, chunk by chunk.
struct Content<'c, 'q> {
    queued: &'c mut Queued,
    queue: &'c mut Queue<'q>,
    taken: usize,
    damaged: usize,
}

impl Content<'_, '_> {
    /// Whether it is made whole by one worker.
    fn is_small(&self) -> bool {
        let chunks = self.queued.item.chunks.as_deref().unwrap_or_default();
        chunks.len() <= SMALL_FILE_CHUNKS && self.queued.item.content_size() <= SMALL_FILE_BYTES
    }

    /// The next chunk. One that can't be had becomes zeros.
    fn next(
        &mut self,
        pipeline: &mut Reading<'_, '_, '_>,
        files: &mut Files<'_>,
    ) -> Result<Option<Arc<Plain>>, Failure> {
        interrupt::check()?;
        let Some(&chunk) = self.queued.item.chunks.as_deref().and_then(|chunks| chunks.get(self.taken)) else {
            return Ok(None);
        };
        let read = if self.queued.is_fetched {
            self.queue.want_after(self.queued, &mut pipeline.content);
            pipeline.next_content()
        } else {
            pipeline.read(Want { id: chunk.id, size: Some(chunk.size) })
        };
        self.taken += 1;
        Ok(Some(read.unwrap_or_else(|error| {
            self.damaged += 1;
            // No chunk has more; a claim of terabytes must not fill the disk.
            let zeros = usize::try_from(chunk.size).ok().filter(|&size| size <= MAX_DATA_SIZE).unwrap_or(0);
            files.message(Message::new(Level::Error, CHUNK_LOGGER, damage(&chunk, &error, zeros)));
            Arc::new(Plain::Zeros(zeros))
        })))
    }

    /// Passes over what was fetched and is not needed.
    fn drop_rest(&mut self, pipeline: &mut Reading<'_, '_, '_>) {
        for _ in self.taken..self.queued.wanted {
            pipeline.content.skip();
        }
    }

    fn about(&self, bytes: u64) -> About {
        let item = &self.queued.item;
        About { path: item.path.clone(), hlid: item.hlid.clone(), bytes, damaged: self.damaged }
    }
}

/// What is said of a chunk for which zeros stand in.
fn damage(chunk: &ChunkEntry, error: &ReadError, zeros: usize) -> String {
    let id = chunk.id;
    let what = match error {
        ReadError::NotIndexed => "missing".into(),
        ReadError::PackMissing { pack } => format!("missing (pack {pack} is missing)"),
        ReadError::Changed => format!("missing ({error})"),
        other => format!("corrupted (Data integrity error: Chunk {id}: {other})"),
    };
    format!("repository object {id} {what}, returning {zeros} zero bytes.")
}

fn is_regular(item: &Item) -> bool {
    item.file_type() == Some(FileType::Regular)
}

/// Files up to so many bytes, in so many chunks, are made by one worker each.
const SMALL_FILE_BYTES: u64 = 1 << 20;
const SMALL_FILE_CHUNKS: usize = 64;

fn open_sink(options: &Options, umask: u32) -> Result<Sink, Failure> {
    if options.dry_run {
        return Ok(Sink::Nowhere);
    }
    if options.stdout {
        return Ok(Sink::Stdout);
    }
    let target = match &options.destination {
        Some(destination) => destination.clone(),
        None => env::current_dir().map_err(|error| Failure::error(format_args!("no current directory: {error}")))?,
    };
    let shown = target.display();
    if options.destination.is_some() {
        fs::create_dir_all(&target)
            .map_err(|error| Failure::error(format_args!("can not create the destination {shown}: {error}")))?;
    }
    if !options.continue_extraction && !is_empty(&target)? {
        return Err(Failure::new(
            33,
            "Archive.ExtractionDirNotEmpty",
            format!(
                "Extraction directory {shown} is not empty. Use --continue to extract into a non-empty directory: \
                 existing files that differ from the archived files will be replaced and the result will be a mix of \
                 existing and extracted files."
            ),
        ));
    }
    let restore_options = restore::Options {
        numeric_ids: options.numeric_ids,
        flags: !options.noflags,
        acls: !options.noacls,
        xattrs: !options.noxattrs,
        sparse: options.sparse,
        continue_extraction: options.continue_extraction,
        umask,
    };
    match Restorer::open(&target, restore_options) {
        Ok(restorer) => Ok(Sink::Files(Box::new(restorer))),
        Err(error) => Err(Failure::error(format_args!("can not extract into {shown}: {error}"))),
    }
}

fn is_empty(folder: &Path) -> Result<bool, Failure> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) => Err(Failure::error(format_args!(
            "Cannot check whether the extraction directory {} is empty: {error}",
            folder.display()
        ))),
    }
}

fn is_match(item: &Item, matcher: &mut PatternMatcher) -> Result<bool, Failure> {
    Ok(matcher.match_path(&item.path).map_err(Failure::command)?.included)
}

/// Removes leading components of the path; `false` if nothing is left of it.
fn strip(item: &mut Item, components: usize) -> bool {
    for _ in 0..components {
        let Some(slash) = item.path.iter().position(|&byte| byte == b'/') else { return false };
        item.path.drain(..=slash);
    }
    true
}
