//! `list`: the items of an archive (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::options::archive_name::archive_name;
use crate::options::exclusions::Exclusions;
use crate::options::format;
use crate::output::display::mode;
use crate::output::display::terminal::Target;
use crate::output::format::digest::{Digest, Hasher};
use crate::output::format::fingerprint::Conditions;
use crate::output::format::item::{Contents, ItemContext, ItemFormat};
use crate::output::stdout::print_bytes;
use crate::repository::archives::{self, Reader};
use crate::repository::items::report;
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::item::Item;
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::ItemStream;
use portaborg_core::select::Candidate;
use portaborg_core::store::now;
use std::cmp::Ordering;
use std::io;
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
    let mut matcher = options.exclusions.matcher(&options.paths)?;
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
    let mut lines = Lines { app, options, format: &format, context: &context, out: Vec::new() };
    let mut stream = ItemStream::new(&meta.item_ptrs);
    let mut kept = Vec::new();
    while let Some(next) = now(stream.next(&mut reader)) {
        interrupt::check()?;
        held.refresh(app)?;
        let item = match next {
            Ok(item) => item,
            Err(problem) => {
                report(app, &archive, &problem, "listed", &session.location);
                continue;
            }
        };
        if !wanted(&item, &mut matcher, options.depth)? {
            continue;
        }
        match options.sort_by {
            Some(_) => kept.push(item),
            None => lines.write(&item, &mut reader)?,
        }
    }
    if let Some(SortSpec(spec)) = &options.sort_by {
        kept.sort_by(|a, b| compare(a, b, spec));
        for item in &kept {
            interrupt::check()?;
            lines.write(item, &mut reader)?;
        }
    }
    print_bytes(&lines.out)
}

struct Lines<'a> {
    app: &'a App,
    options: &'a Options,
    format: &'a ItemFormat,
    context: &'a ItemContext<'a>,
    out: Vec<u8>,
}

impl Lines<'_> {
    fn write(&mut self, item: &Item, reader: &mut Reader<'_>) -> Result<(), Failure> {
        let wanted = self.format.missing_digests(item);
        let digests = if wanted.is_empty() { Vec::new() } else { digests(self.app, item, &wanted, reader) };
        let contents: Contents<'_> = &digests;
        if self.options.json_lines {
            self.format.render_json(item, self.context, contents, &mut self.out);
        } else {
            self.format.render(item, self.context, contents, &mut self.out).map_err(Failure::render)?;
        }
        if self.out.len() >= OUTPUT_BYTES {
            print_bytes(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }
}

fn wanted(item: &Item, matcher: &mut PatternMatcher, depth: Option<usize>) -> Result<bool, Failure> {
    let shallow = depth.is_none_or(|depth| item.path.iter().filter(|&&byte| byte == b'/').count() <= depth);
    Ok(matcher.match_path(&item.path).map_err(Failure::command)?.included && shallow)
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
