//! `extract`: restores items (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::archive_name::archive_name;
use crate::options::exclusions::{Exclusions, shown_path};
use crate::output::log::{LIST, Level, Message};
use crate::output::progress::{Label, Percent, Unit};
use crate::output::stdout::write_content;
use crate::repository::archives::{self, Archive, Reader};
use crate::repository::items::report;
use crate::repository::session::{Held, Lock, Session};
use crate::restore::{self, Begun, OpenFile, Problem, Restorer};
use clap::Args;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::bytes::lossy;
use portaborg_core::item::{ChunkEntry, FileType, Item};
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::{Content, ItemStream, ReadError};
use portaborg_core::store::now;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

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
    let name = app.replace_placeholders(&options.name)?;
    let session = Session::open(app)?;
    let mut held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut reader = session.reader(app, &held)?;
    let archive = archives::find_one(app, &session, &mut reader, name)?;
    let meta = archive.require_meta(&session.location)?;
    let sink = open_sink(options, app.common.umask)?;
    let mut extraction =
        Extraction { app, options, archive: &archive, location: &session.location, sink, progress: None };
    if app.common.progress {
        extraction.begin_progress(meta, &mut matcher, &mut reader)?;
    }
    extraction.items(meta, &mut matcher, &mut reader, &mut held)?;
    extraction.finish();
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

struct Extraction<'a> {
    app: &'a App,
    options: &'a Options,
    archive: &'a Archive,
    location: &'a str,
    sink: Sink,
    progress: Option<Percent<'a>>,
}

impl<'a> Extraction<'a> {
    fn items(
        &mut self,
        meta: &ArchiveMeta,
        matcher: &mut PatternMatcher,
        reader: &mut Reader<'_>,
        held: &mut Held<'_>,
    ) -> Result<(), Failure> {
        let mut stream = ItemStream::new(&meta.item_ptrs);
        while let Some(next) = now(stream.next(reader)) {
            interrupt::check()?;
            held.refresh(self.app)?;
            let mut item = match next {
                Ok(item) => item,
                Err(problem) => {
                    report(self.app, self.archive, &problem, "extracted", self.location);
                    continue;
                }
            };
            let matched = is_match(&item, matcher)?;
            if !strip(&mut item, self.options.strip_components) {
                continue;
            }
            if self.options.output_list {
                let prefix = if matched { '+' } else { '-' };
                let text = format!("{prefix} {}", lossy(&item.path).0);
                self.app.log.message(&Message::new(Level::Info, LIST, text));
            }
            if matched {
                self.item(&item, reader)?;
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, reader: &mut Reader<'_>) -> Result<(), Failure> {
        let Sink::Files(restorer) = &mut self.sink else {
            return self.content(item, None, reader);
        };
        let begun = restorer.begin(item);
        let problems = restorer.take_problems();
        self.warn_all(problems);
        match begun {
            Ok(Begun::File(file)) => self.content(item, Some(file), reader),
            Ok(Begun::Done | Begun::Unchanged) => {
                self.advance(item.content_size(), item);
                self.file_done(item);
                Ok(())
            }
            Err(problem) => {
                self.warn(&problem);
                Ok(())
            }
        }
    }

    /// Reads a file's content and writes it where it belongs. A chunk that can't be had becomes zeros, and the file is
    /// finished all the same.
    fn content(&mut self, item: &Item, file: Option<Box<OpenFile>>, reader: &mut Reader<'_>) -> Result<(), Failure> {
        let mut file = file;
        let mut damaged = 0usize;
        for chunk in item.chunks.iter().flatten() {
            interrupt::check()?;
            let content = match now(reader.read_content(chunk.id, chunk.size)) {
                Ok(content) => content,
                Err(error) => {
                    damaged += 1;
                    self.tell_damage(chunk, &error)
                }
            };
            if let Err(problem) = write(&mut file, &self.sink, content)? {
                self.warn(&problem);
                return Ok(()); // dropping the file removes what there is of it
            }
            self.advance(chunk.size, item);
        }
        if let Some(file) = file {
            let problems = file.finish();
            self.warn_all(problems);
        } else if let Some(stated) = item.size.filter(|&size| item.chunks.is_some() && size != item.content_size()) {
            let chunks = item.content_size();
            let text =
                format!("{}: Size inconsistency detected: size {stated}, chunks size {chunks}", lossy(&item.path).0);
            self.app.warn(102, "BackupError", &text);
        }
        self.file_done(item);
        if damaged > 0 {
            let path = lossy(&item.path).0;
            let text =
                format!("{path}: {damaged} chunk(s) missing or corrupted in the repository, replaced by all-zero data");
            self.app.warn(113, "BackupDamagedChunksError", &text);
        }
        Ok(())
    }

    /// Tells what is wrong with a chunk, and gives what stands in for it.
    fn tell_damage(&self, chunk: &ChunkEntry, error: &ReadError) -> Content<'static> {
        let id = chunk.id;
        // No chunk has more; a claim of terabytes must not fill the disk.
        let zeros = usize::try_from(chunk.size).ok().filter(|&size| size <= MAX_DATA_SIZE).unwrap_or(0);
        let what = match error {
            ReadError::NotIndexed => "missing".into(),
            ReadError::PackMissing { pack } => format!("missing (pack {pack} is missing)"),
            ReadError::Changed => format!("missing ({error})"),
            other => format!("corrupted (Data integrity error: Chunk {id}: {other})"),
        };
        let text = format!("repository object {id} {what}, returning {zeros} zero bytes.");
        self.app.log.message(&Message::new(Level::Error, CHUNK_LOGGER, text));
        Content::Zeros(zeros)
    }

    /// Attributes of directories come last, since filling a directory changes them.
    fn finish(&mut self) {
        if let Sink::Files(restorer) = std::mem::replace(&mut self.sink, Sink::Nowhere) {
            let problems = restorer.finish();
            self.warn_all(problems);
        }
        if let Some(progress) = self.progress.take() {
            progress.finish();
        }
    }

    /// Adds up what will be extracted, in a pass of its own.
    fn begin_progress(
        &mut self,
        meta: &ArchiveMeta,
        matcher: &mut PatternMatcher,
        reader: &mut Reader<'_>,
    ) -> Result<(), Failure> {
        let label = Label::tenths(" Extracting: ");
        let mut progress = Percent::new(label, "extract", Unit::Bytes, 0, &self.app.log);
        progress.say(
            "Calculating total archive size for the progress indicator (might take a long time for large archives)",
        );
        let mut total = 0u64;
        let mut stream = ItemStream::new(&meta.item_ptrs);
        while let Some(next) = now(stream.next(reader)) {
            interrupt::check()?;
            if let Ok(mut item) = next
                && is_match(&item, matcher)?
                && strip(&mut item, self.options.strip_components)
            {
                total = total.saturating_add(item.content_size());
            }
        }
        progress.set_total(total);
        self.progress = Some(progress);
        Ok(())
    }

    fn advance(&mut self, bytes: u64, item: &Item) {
        if let Some(progress) = &mut self.progress {
            progress.advance(bytes, Some(&lossy(&item.path).0));
        }
    }

    fn file_done(&mut self, item: &Item) {
        if let Some(progress) = &mut self.progress
            && item.file_type() == Some(FileType::Regular)
        {
            progress.file_done();
        }
    }

    fn warn_all(&self, problems: Vec<Problem>) {
        problems.iter().for_each(|problem| self.warn(problem));
    }

    fn warn(&self, problem: &Problem) {
        let text = format!("{}: {problem}", lossy(&problem.path).0);
        self.app.warn(problem.exit_code() as u8, problem.msgid().unwrap_or("BackupWarning"), &text);
    }
}

fn write(file: &mut Option<Box<OpenFile>>, sink: &Sink, content: Content<'_>) -> Result<Result<(), Problem>, Failure> {
    match (file, content) {
        (Some(file), Content::Data(bytes)) => Ok(file.write(bytes)),
        (Some(file), Content::Zeros(len)) => Ok(file.zeros(len as u64)),
        (None, content) => {
            if let Sink::Stdout = sink {
                content.pieces().try_for_each(write_content)?;
            }
            Ok(Ok(()))
        }
    }
}

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
