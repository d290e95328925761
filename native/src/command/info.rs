//! `info`: what is known of archives (command line, section 1.2).

use crate::app::App;
use crate::client::dirs;
use crate::failure::Failure;
use crate::options::archive_filters::ArchiveFilters;
use crate::output::display::size::Units;
use crate::output::display::terminal::Target;
use crate::output::display::{duration, time};
use crate::output::json::{Json, Object};
use crate::output::stdout::print;
use crate::repository::archives::{self, Archive};
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::archive::{ArchiveMeta, ChunkerParam, archive_name};
use portaborg_core::bytes::lossy;
use portaborg_core::id::ArchiveId;
use portaborg_core::select::Candidate;
use std::io;
use std::time::Duration;

/// This command displays detailed information about the specified archive, or about all archives that the filters leave.
///
/// The original size is the total size of the archive's source data (uncompressed, counting duplicate content per
/// occurrence).
#[derive(Debug, Args)]
pub struct Options {
    /// format output as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filters: ArchiveFilters,

    /// specify the archive name
    #[arg(value_parser = archive_name)]
    name: Option<String>,
}

/// Prints what is said of archives.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut reader = session.reader(app, &held)?;
    let all = archives::list(app, &session, &mut reader, false)?.archives;
    let considered = match &options.name {
        Some(name) => vec![archives::one(app, all, name, &options.filters.match_archives)?],
        None => archives::considered(app, all, &options.filters)?,
    };
    let mut documents: Vec<Json> = Vec::new();
    let units = app.units();
    for (number, archive) in considered.iter().enumerate() {
        let Some(meta) = described(app, archive, &session, options)? else { continue };
        if options.json {
            documents.push(json(app, archive.id(), meta).into());
        } else {
            let separator = if number == 0 { "" } else { "\n" };
            print(&format!("{separator}{}", text(app, archive.id(), meta, units)))?;
        }
    }
    if options.json {
        let cache = Object::new().with("path", dirs::cache(session.repository.id()).display().to_string());
        app.print_json(session.json().with("cache", cache).with("archives", documents))?;
    }
    Ok(())
}

/// What is said of an archive. One of several that is damaged does not keep the others from being shown.
fn described<'a>(
    app: &App,
    archive: &'a Archive,
    session: &Session,
    options: &Options,
) -> Result<Option<&'a ArchiveMeta>, Failure> {
    match archive.require_meta(&session.location) {
        Ok(meta) => Ok(Some(meta)),
        Err(failure) if options.name.is_none() => {
            app.fail(&failure);
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

fn text(app: &App, id: ArchiveId, meta: &ArchiveMeta, units: Units) -> String {
    let target = Target::of(&io::stdout());
    let shown = |raw: &[u8]| target.cow(lossy(raw).0).into_owned();
    let at = |stamp: &portaborg_core::archive::Stamp| time::display(stamp.time, &app.zone);
    let cwd = meta.cwd.as_deref().map_or_else(|| "None".into(), shown);
    format!(
        "Archive name: {}\n\
         Archive fingerprint: {id}\n\
         Comment: {}\n\
         Hostname: {}\n\
         Username: {}\n\
         Tags: {}\n\
         Time (nominal): {}\n\
         Time (start): {}\n\
         Time (end): {}\n\
         Duration: {}\n\
         Command line: {}\n\
         Working Directory: {cwd}\n\
         Number of files: {}\n\
         Original size: {}\n",
        shown(&meta.name),
        shown(&meta.comment),
        shown(&meta.hostname),
        shown(&meta.username),
        shown(&meta.tags.join(&b',')),
        at(&meta.time),
        at(&meta.start),
        at(&meta.end),
        duration::display(Duration::from_nanos(duration_nanos(meta).max(0) as u64)),
        shown(&meta.command_line),
        meta.nfiles,
        units.display(meta.size),
    )
}

fn json(app: &App, id: ArchiveId, meta: &ArchiveMeta) -> Object {
    let at = |stamp: &portaborg_core::archive::Stamp| time::iso(stamp.time, &app.zone);
    let params = meta.chunker_params.iter().flatten().map(|param| match param {
        ChunkerParam::Text(text) => Json::from(text.as_str()),
        ChunkerParam::Int(number) => Json::from(*number),
    });
    let stats = Object::new()
        .with("original_size", meta.size)
        .with("nfiles", meta.nfiles)
        .with("hashing_time", 0.0)
        .with("chunking_time", 0.0)
        .with("files_stats", Object::new())
        .with("store_stats", Object::new());
    let mut object = Object::new()
        .with("id", id.to_string())
        .with("time", at(&meta.time))
        .with("start", at(&meta.start))
        .with("end", at(&meta.end))
        .with("duration", duration_nanos(meta) as f64 / 1e9)
        .with("chunker_params", params.collect::<Vec<_>>())
        .with("tags", meta.tags.iter().map(|tag| Json::from(lossy(tag).0.into_owned())).collect::<Vec<_>>())
        .with("stats", stats);
    for (key, raw) in [
        ("name", &meta.name),
        ("comment", &meta.comment),
        ("hostname", &meta.hostname),
        ("username", &meta.username),
        ("command_line", &meta.command_line),
    ] {
        object.set_raw(key, raw);
    }
    match &meta.cwd {
        Some(cwd) => object.set_raw("cwd", cwd),
        None => object.set("cwd", Json::Null),
    }
    object
}

fn duration_nanos(meta: &ArchiveMeta) -> i128 {
    meta.end.time.as_nanos() - meta.start.time.as_nanos()
}
