//! `list`: the items of an archive (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::exclusions::Exclusions;
use crate::options::format;
use crate::options::item_cache::ItemCacheOptions;
use crate::output::display::mode;
use crate::output::display::terminal::Target;
use crate::output::format::digest::{Digest, Hasher};
use crate::output::format::fingerprint::Conditions;
use crate::output::format::item::{Contents, ItemContext, ItemFormat};
use crate::output::stdout::print_bytes;
use crate::repository::archives::{self, Reader};
use crate::repository::items::report;
use crate::repository::pipeline::{Decode, with_pipeline};
use crate::repository::session::{Lock, Session};
use crate::tuning;
use clap::Args;
use portaborg_core::archive::archive_name;
use portaborg_core::item::Item;
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::{EncodedItems, ItemProblem};
use portaborg_core::select::Candidate;
use portaborg_core::store::now;
use std::cmp::Ordering;
use std::io;
use std::mem;
use std::path::PathBuf;

const FORMAT: &str = "{mode} {user:6} {group:6} {size:8} {mtime} {path}{extra}{NL}";
/// Output is handed over in pieces of about this size.
const OUTPUT_BYTES: usize = 64 * 1024;

/// This command lists the contents of an archive.
#[derive(Debug, Args)]
pub struct Options {
    /// only print file/directory names, nothing else
    #[arg(long)]
    short: bool,

    /// specify format for file listing (default: "{mode} {user:6} {group:6} {size:8} {mtime} {path}{extra}{NL}")
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Format output as JSON Lines. The form of --format is ignored, but keys used in it are added to the JSON output.
    #[arg(long)]
    json_lines: bool,

    /// only list files up to the specified directory depth
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// sort items by comma-separated fields; prefix a field with ">" for descending or "<" for ascending order
    #[arg(long, value_name = "SPEC", value_parser = sort_spec)]
    sort_by: Option<SortSpec>,

    #[command(flatten)]
    exclusions: Exclusions,

    #[command(flatten)]
    item_cache: ItemCacheOptions,

    /// specify the archive name
    #[arg(value_parser = archive_name)]
    name: String,

    /// paths to list; patterns are supported
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
struct SortSpec(Vec<(Field, bool)>);

/// What items can be sorted by, as it is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Path,
    Type,
    Mode,
    User,
    Uid,
    Group,
    Gid,
    Size,
    Mtime,
    Ctime,
    Atime,
}

const FIELDS: [(&str, Field); 11] = [
    ("path", Field::Path),
    ("type", Field::Type),
    ("mode", Field::Mode),
    ("user", Field::User),
    ("uid", Field::Uid),
    ("group", Field::Group),
    ("gid", Field::Gid),
    ("size", Field::Size),
    ("mtime", Field::Mtime),
    ("ctime", Field::Ctime),
    ("atime", Field::Atime),
];

/// Lists the items that the options leave.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let short = options.short.then_some("{path}{NL}");
    let text = format::chosen(&options.format, short, "BORG_LIST_FORMAT", FORMAT);
    let format = ItemFormat::compile(&text).map_err(Failure::command)?;
    let matcher = options.exclusions.matcher(&options.paths)?;
    let tuning = tuning::for_reading()?;
    let name = app.replace_placeholders(&options.name)?;
    let session = Session::open(app)?;
    let mut held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut reader = session.reader(app, &held)?;
    let archive = archives::find_one(app, &session, &mut reader, name)?;
    let meta = archive.require_meta(&session.location)?;
    let conditions = Conditions::new(
        session.keys.suite().type_byte(),
        session.keys.id_key(),
        session.keys.chunk_seed().into(),
        meta.chunker_params.as_deref(),
    );
    let context = ItemContext {
        archive_name: archive.name(),
        archive_id: archive.id(),
        conditions,
        zone: &app.zone,
        target: Target::of(&io::stdout()),
    };
    let cache = options.item_cache.cache(&session, reader.asserts_ids());
    let cache_use = cache.map(|cache| cache.reading_or_recording(archive.id())).unwrap_or_default();
    let work = Listing { options, format: &format, context: &context, matcher, depth: options.depth };
    let mut out = Output(Vec::new());
    let mut kept = Vec::new();
    with_pipeline(&session, &mut reader, &tuning, &work, |pipeline| {
        pipeline.begin_with(&meta.item_ptrs, cache_use);
        while let Some(next) = pipeline.next_items() {
            interrupt::check()?;
            held.refresh(app)?;
            let listed = next.unwrap_or_else(|problem| vec![Listed::Problem(problem)]);
            for listed in listed {
                match listed {
                    Listed::Lines(lines) => out.add(&lines)?,
                    Listed::Item(item) if options.sort_by.is_some() => kept.push(*item),
                    Listed::Item(item) => work.line(app, &item, pipeline.source, &mut out)?,
                    Listed::Problem(problem) => report(app, &archive, &problem, "listed", &session.location),
                    Listed::Failure(failure) => return Err(failure),
                }
            }
        }
        Ok(())
    })?;
    if let Some(SortSpec(spec)) = &options.sort_by {
        kept.sort_by(|a, b| compare(a, b, spec));
        for item in &kept {
            interrupt::check()?;
            work.line(app, item, &mut reader, &mut out)?;
        }
    }
    print_bytes(&out.0)
}

/// How items become lines, in workers.
struct Listing<'a> {
    options: &'a Options,
    format: &'a ItemFormat,
    context: &'a ItemContext<'a>,
    matcher: PatternMatcher,
    depth: Option<usize>,
}

/// What becomes of items.
enum Listed {
    /// Lines of one or more.
    Lines(Vec<u8>),
    /// One whose line can't be made yet.
    Item(Box<Item>),
    /// Something that is no item.
    Problem(ItemProblem),
    /// The listing ends here.
    Failure(Failure),
}

impl Decode for Listing<'_> {
    type Tools = PatternMatcher;
    type Items = Vec<Listed>;

    fn tools(&self) -> PatternMatcher {
        self.matcher.clone()
    }

    fn decode(&self, matcher: &mut PatternMatcher, mut items: EncodedItems) -> Vec<Listed> {
        let mut listed = Vec::new();
        let mut lines = Vec::new();
        while let Some(item) = items.next_wanted(|path| wanted(path, matcher, self.depth)) {
            let other = match item {
                Ok(Ok(item)) => match self.list(item, &mut lines) {
                    Ok(None) => continue,
                    Ok(Some(item)) => Listed::Item(Box::new(item)),
                    Err(failure) => Listed::Failure(failure),
                },
                Ok(Err(problem)) => Listed::Problem(problem),
                Err(failure) => Listed::Failure(failure),
            };
            listed.push(Listed::Lines(mem::take(&mut lines)));
            listed.push(other);
        }
        listed.push(Listed::Lines(lines));
        listed
    }
}

impl Listing<'_> {
    /// Appends an item's line, or gives it back if that has to wait.
    fn list(&self, item: Item, lines: &mut Vec<u8>) -> Result<Option<Item>, Failure> {
        if self.options.sort_by.is_some() || !self.format.missing_digests(&item).is_empty() {
            return Ok(Some(item));
        }
        self.render(&item, &[], lines).map(|()| None)
    }

    /// Prints an item's line, for which its content may have to be read.
    fn line(&self, app: &App, item: &Item, reader: &mut Reader<'_>, out: &mut Output) -> Result<(), Failure> {
        let wanted = self.format.missing_digests(item);
        let digests = if wanted.is_empty() { Vec::new() } else { digests(app, item, &wanted, reader) };
        let mut line = Vec::new();
        self.render(item, &digests, &mut line)?;
        out.add(&line)
    }

    fn render(&self, item: &Item, contents: Contents<'_>, lines: &mut Vec<u8>) -> Result<(), Failure> {
        if self.options.json_lines {
            self.format.render_json(item, self.context, contents, lines);
            return Ok(());
        }
        self.format.render(item, self.context, contents, lines).map_err(Failure::render)
    }
}

/// What is not printed yet.
struct Output(Vec<u8>);

impl Output {
    fn add(&mut self, lines: &[u8]) -> Result<(), Failure> {
        self.0.extend_from_slice(lines);
        if self.0.len() >= OUTPUT_BYTES {
            print_bytes(&self.0)?;
            self.0.clear();
        }
        Ok(())
    }
}

fn wanted(path: &[u8], matcher: &mut PatternMatcher, depth: Option<usize>) -> Result<bool, Failure> {
    let shallow = depth.is_none_or(|depth| path.iter().filter(|&&byte| byte == b'/').count() <= depth);
    Ok(matcher.match_path(path).map_err(Failure::command)?.included && shallow)
}

/// Digests of the whole content; none if a part of it can't be had, since that of a part would be wrong.
fn digests(app: &App, item: &Item, wanted: &[Digest], reader: &mut Reader<'_>) -> Vec<(Digest, Vec<u8>)> {
    let mut hashers: Vec<(Digest, Hasher)> = wanted.iter().map(|digest| (*digest, digest.hasher())).collect();
    for chunk in item.chunks.iter().flatten() {
        match now(reader.read_content(chunk.id, chunk.size)) {
            Ok(content) => {
                for piece in content.pieces() {
                    hashers.iter_mut().for_each(|(_, hasher)| hasher.update(piece));
                }
            }
            Err(error) => {
                let path = portaborg_core::bytes::lossy(&item.path).0;
                app.fail(&Failure::integrity(format_args!("{path}: Chunk {}: {error}", chunk.id)));
                return Vec::new();
            }
        }
    }
    hashers.into_iter().map(|(digest, hasher)| (digest, hasher.finish())).collect()
}

fn compare(a: &Item, b: &Item, spec: &[(Field, bool)]) -> Ordering {
    spec.iter().fold(Ordering::Equal, |order, (field, descending)| {
        order.then_with(|| {
            let order = field.compare(a, b);
            if *descending { order.reverse() } else { order }
        })
    })
}

impl Field {
    fn compare(self, a: &Item, b: &Item) -> Ordering {
        let name = |name: &Option<Vec<u8>>, number: Option<i64>| {
            name.clone().unwrap_or_else(|| number.map_or("None".into(), |number| number.to_string()).into_bytes())
        };
        let shown_mode = |item: &Item| mode::display(item.mode.unwrap_or(0));
        match self {
            Field::Path => a.path.cmp(&b.path),
            Field::Type => shown_mode(a)[0].cmp(&shown_mode(b)[0]),
            Field::Mode => shown_mode(a).cmp(&shown_mode(b)),
            Field::User => name(&a.user, a.uid).cmp(&name(&b.user, b.uid)),
            Field::Group => name(&a.group, a.gid).cmp(&name(&b.group, b.gid)),
            Field::Uid => a.uid.unwrap_or(-1).cmp(&b.uid.unwrap_or(-1)),
            Field::Gid => a.gid.unwrap_or(-1).cmp(&b.gid.unwrap_or(-1)),
            Field::Size => crate::output::format::item::size(a).cmp(&crate::output::format::item::size(b)),
            Field::Mtime => a.mtime.cmp(&b.mtime),
            Field::Ctime => a.ctime.unwrap_or(a.mtime).cmp(&b.ctime.unwrap_or(b.mtime)),
            Field::Atime => a.atime.unwrap_or(a.mtime).cmp(&b.atime.unwrap_or(b.mtime)),
        }
    }
}

fn sort_spec(text: &str) -> Result<SortSpec, String> {
    let field = |part: &str| {
        let (descending, name) = match part.strip_prefix('>') {
            Some(name) => (true, name),
            None => (false, part.strip_prefix('<').unwrap_or(part)),
        };
        let known = FIELDS.iter().find(|(field, _)| *field == name);
        known.map(|(_, field)| (*field, descending)).ok_or_else(|| {
            let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
            format!("unknown sort field '{name}', valid ones are: {}", names.join(", "))
        })
    };
    text.split(',').map(field).collect::<Result<_, _>>().map(SortSpec)
}
