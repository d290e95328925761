//! `repo-list`: the archives of a repository (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::options::archive_filters::ArchiveFilters;
use crate::options::format;
use crate::output::display::terminal::Target;
use crate::output::format::archive::ArchiveFormat;
use crate::output::json::{Json, Object};
use crate::output::stdout::print_bytes;
use crate::repository::archives::{self, Archive};
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::bytes::lossy;
use portaborg_core::select::Candidate;
use portaborg_core::text::Repr;
use std::io;

const FORMAT: &str = "{id:.8}  {time}  {archive:<15}  {tags:<10}  {username:<10}  {hostname:<10}  {comment:.40}{NL}";
/// What archives can be grouped by.
const GROUP_KEYS: [&str; 4] = ["name", "host", "user", "tags"];

/// This command lists the archives contained in a repository.
#[derive(Debug, Args)]
pub struct Options {
    /// only print the archive IDs, nothing else
    #[arg(long)]
    short: bool,

    /// specify format for archive listing
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Format output as JSON. The form of --format is ignored, but keys used in it are added to the JSON output.
    #[arg(long)]
    json: bool,

    /// list the archives grouped by KEYS (comma-separated: name,host,user,tags)
    #[arg(long, value_name = "KEYS", value_parser = group_keys)]
    group_by: Option<GroupBy>,

    /// consider only soft-deleted archives
    #[arg(long)]
    deleted: bool,

    #[command(flatten)]
    filters: ArchiveFilters,
}

#[derive(Debug, Clone)]
struct GroupBy(Vec<&'static str>);

/// Lists archives, or writes them as JSON.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let short = options.short.then_some("{id}{NL}");
    let text = format::chosen(&options.format, short, "BORG_REPO_LIST_FORMAT", FORMAT);
    let format = ArchiveFormat::compile(&text).map_err(Failure::command)?;
    let session = Session::open(app)?;
    let held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut reader = session.reader(app, &held)?;
    let listing = archives::list(app, &session, &mut reader, options.deleted)?;
    if !listing.makes_sense {
        app.status.warn_generic();
    }
    let considered = archives::considered(app, listing.archives, &options.filters)?;
    let group_by = options.group_by.as_ref().map_or(&[][..], |keys| &keys.0);
    let groups = grouped(considered, group_by);
    if options.json {
        return print_json(app, &session, &format, &groups, group_by);
    }
    let target = Target::of(&io::stdout());
    let mut out = Vec::new();
    for (number, (key, archives)) in groups.iter().enumerate() {
        if !group_by.is_empty() {
            let separator = if number == 0 { "" } else { "\n" };
            let members: Vec<String> =
                group_by.iter().zip(key).map(|(name, value)| format!("{name}={}", Repr(value.as_bytes()))).collect();
            out.extend(format!("{separator}Group ({}):\n", members.join(", ")).bytes());
        }
        for archive in archives {
            format.render(&archive.row(), &app.zone, target, &mut out).map_err(Failure::render)?;
        }
    }
    print_bytes(&out)
}

fn print_json(
    app: &App,
    session: &Session,
    format: &ArchiveFormat,
    groups: &[(Vec<String>, Vec<Archive>)],
    group_by: &[&str],
) -> Result<(), Failure> {
    let mut rows: Vec<Json> = Vec::new();
    for (key, archives) in groups {
        for archive in archives {
            let mut row = format.json(&archive.row(), &app.zone);
            if !group_by.is_empty() {
                let group = group_by
                    .iter()
                    .zip(key)
                    .fold(Object::new(), |group, (name, value)| group.with(name, value.as_str()));
                row.set("group", group);
            }
            rows.push(row.into());
        }
    }
    app.print_json(session.json().with("archives", rows))
}

/// The archives by the values of these keys, in the order in which each group's first archive comes.
fn grouped(archives: Vec<Archive>, keys: &[&str]) -> Vec<(Vec<String>, Vec<Archive>)> {
    let mut groups: Vec<(Vec<String>, Vec<Archive>)> = Vec::new();
    for archive in archives {
        let key: Vec<String> = keys.iter().map(|key| value(&archive, key)).collect();
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(archive),
            None => groups.push((key, vec![archive])),
        }
    }
    groups
}

fn value(archive: &Archive, key: &str) -> String {
    let raw = match key {
        "name" => archive.name().to_vec(),
        "host" => archive.host().to_vec(),
        "user" => archive.user().to_vec(),
        _ => archive.tags().collect::<Vec<_>>().join(&b','),
    };
    lossy(&raw).0.into_owned()
}

fn group_keys(text: &str) -> Result<GroupBy, String> {
    let mut keys = Vec::new();
    for name in text.split(',').filter(|_| !matches!(text, "" | "none")) {
        let Some(key) = GROUP_KEYS.iter().find(|key| **key == name).copied() else {
            return Err(format!("Invalid group-by key: {name} (valid keys: {})", GROUP_KEYS.join(", ")));
        };
        if keys.contains(&key) {
            return Err(format!("Duplicate group-by key: {name}"));
        }
        keys.push(key);
    }
    Ok(GroupBy(keys))
}
