//! `key`: lists and exports keys (command line, section 1.2).

mod qr;

use crate::app::App;
use crate::command::help;
use crate::failure::Failure;
use crate::output::stdout::print;
use crate::repository::keys::{FoundKey, find_keys};
use crate::repository::session::{Lock, Session, open_repository};
use clap::{Args, Subcommand};
use portaborg_core::key::{LockedKey, blob, paper_text};
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How many digits of a key's id are shown.
const SHOWN_DIGITS: usize = 12;

/// Manage the keyfile or repokey of a repository
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// export the repository key for backup
    Export(ExportOptions),
    /// list the borg keys of the repository
    List(ListOptions),
}

/// This command backs up the borg key. If a repository is encrypted, it is inaccessible without its key and the passphrase
/// that protects the key: keep a backup of both, apart from the repository.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// Create an export suitable for printing and later type-in
    #[arg(long, conflicts_with = "qr_html")]
    paper: bool,

    /// Create an html file suitable for printing and later type-in or qr scan
    #[arg(long)]
    qr_html: bool,

    /// export the borg key with this label
    #[arg(long, value_name = "LABEL", conflicts_with = "key")]
    label: Option<String>,

    /// export the borg key with this id (or a prefix of it)
    #[arg(long, value_name = "ID")]
    key: Option<String>,

    /// where to store the backup; standard output if it is - or not given
    path: Option<PathBuf>,
}

/// This command lists the borg keys of the repository; the one that was unlocked is marked by an asterisk.
#[derive(Debug, Args)]
pub struct ListOptions {}

/// Runs a command about keys.
pub fn run(app: &App, options: &Options, describe: fn() -> clap::Command) -> Result<(), Failure> {
    match &options.command {
        Some(Command::Export(options)) => export(app, options),
        Some(Command::List(_)) => list(app),
        None => help::of_command("key", describe()),
    }
}

/// Exports a key as it is: neither the passphrase nor a lock is needed.
fn export(app: &App, options: &ExportOptions) -> Result<(), Failure> {
    let (repository, location) = open_repository(app)?;
    let keys = find_keys(app, &repository, &location)?;
    let Candidate { found, label } = chosen(&keys, options, &location)?;
    let id = repository.id();
    let (text, kind) = if options.paper {
        let blob = blob(&found.source.text).map_err(|problem| {
            let text = format!("Invalid key data for repository {location}: key {} {problem}.", short_id(found));
            Failure::new(40, "KeyfileInvalidError", text)
        })?;
        (paper_text(id, &blob), "paper key")
    } else {
        let mut text = String::from_utf8_lossy(&found.source.text).trim_end().to_string();
        text.push('\n');
        if options.qr_html { (qr::page(id, &text)?, "key page") } else { (text, "key") }
    };
    match options.path.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => write_secret(path, &text).map_err(|error| match error.kind() {
            std::io::ErrorKind::IsADirectory => {
                Failure::command(format_args!("'{}' must be a file, not a directory", path.display()))
            }
            _ => Failure::error(format_args!("can not write the {kind} to {}: {error}", path.display())),
        })?,
        None => print(&text)?,
    }
    app.info(&format!("Exported borg key {} (label {}).", short_id(found), shown(label.as_deref())));
    Ok(())
}

fn list(app: &App) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let _held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut text = format!("{:1} {:12} {:8} {:24} ALGORITHM\n", "", "KEY ID", "MODE", "LABEL");
    for (number, found) in session.key_sources.iter().enumerate() {
        let locked = LockedKey::parse(&found.source.text).ok();
        let marker = if session.key.is_some_and(|key| key.number == number) { "*" } else { "" };
        let label = locked.as_ref().and_then(|locked| locked.label.as_deref()).unwrap_or("-");
        let algorithm = locked.as_ref().map_or("-", |locked| &locked.algorithm);
        let mode = found.source.location.name();
        text.push_str(&format!("{marker:1} {:12} {mode:8} {label:24} {algorithm}\n", short_id(found)));
    }
    print(&text)
}

/// A key, with its label if that can be read: also a damaged key can be exported.
struct Candidate<'k> {
    found: &'k FoundKey,
    label: Option<String>,
}

/// The key that the options mean; without any, the only one.
fn chosen<'k>(keys: &'k [FoundKey], options: &ExportOptions, location: &str) -> Result<Candidate<'k>, Failure> {
    if keys.is_empty() {
        return Err(Failure::new(44, "RepoKeyNotFoundError", format!("No key found in repository {location}.")));
    }
    let is_meant = |candidate: &Candidate<'_>| match (&options.label, &options.key) {
        (Some(_), _) => options.label == candidate.label,
        (None, Some(prefix)) => candidate.found.source.name.to_string().starts_with(prefix),
        (None, None) => true,
    };
    let mut candidates: Vec<Candidate<'k>> = keys
        .iter()
        .map(|found| Candidate { found, label: LockedKey::parse(&found.source.text).ok().and_then(|key| key.label) })
        .filter(is_meant)
        .collect();
    match (candidates.len(), options.label.is_some() || options.key.is_some()) {
        (1, _) => Ok(candidates.remove(0)),
        (count, true) => Err(Failure::command(format_args!(
            "The selector needs to match precisely 1 key, but it matched {count} keys."
        ))),
        (_, false) => {
            let labels: Vec<String> = candidates.iter().map(|candidate| shown(candidate.label.as_deref())).collect();
            Err(Failure::command(format_args!(
                "This repository has multiple borg keys ({}); select which one to export with --label or --key \
                 (see 'borg key list').",
                labels.join(", ")
            )))
        }
    }
}

fn shown(label: Option<&str>) -> String {
    label.map_or("None".into(), |label| format!("'{label}'"))
}

fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

fn short_id(found: &FoundKey) -> String {
    found.source.name.to_string()[..SHOWN_DIGITS].into()
}
