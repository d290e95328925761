//! `key`: lists and exports keys (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::output::stdout::print;
use crate::repository::keys::{FoundKey, find_keys};
use crate::repository::session::{Lock, Session, open_repository};
use clap::{Args, Subcommand};
use portaborg_core::key::{LockedKey, paper_text};
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
    command: Command,
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
struct ExportOptions {
    /// Create an export suitable for printing and later type-in
    #[arg(long)]
    paper: bool,

    /// export the borg key with this label
    #[arg(long, value_name = "LABEL", conflicts_with = "key")]
    label: Option<String>,

    /// export the borg key with this id (or a prefix of it)
    #[arg(long, value_name = "ID")]
    key: Option<String>,

    /// where to store the backup; standard output if not given
    path: Option<PathBuf>,
}

/// This command lists the borg keys of the repository; the one that was unlocked is marked by an asterisk.
#[derive(Debug, Args)]
struct ListOptions {}

/// Runs a command about keys.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    match &options.command {
        Command::Export(options) => export(app, options),
        Command::List(_) => list(app),
    }
}

/// Exports a key as it is: neither the passphrase nor a lock is needed.
fn export(app: &App, options: &ExportOptions) -> Result<(), Failure> {
    let (repository, location) = open_repository(app)?;
    let keys = find_keys(app, &repository, &location)?;
    let (found, locked) = chosen(&keys, options, &location)?;
    let id = repository.id();
    let (text, mode) =
        if options.paper { (paper_text(id, locked.blob()), "paper key") } else { (locked.text(id), "key") };
    match &options.path {
        Some(path) => write_secret(path, &text).map_err(|error| match error.kind() {
            std::io::ErrorKind::IsADirectory => {
                Failure::command(format_args!("'{}' must be a file, not a directory", path.display()))
            }
            _ => Failure::error(format_args!("can not write the {mode} to {}: {error}", path.display())),
        })?,
        None => print(&text)?,
    }
    let label = locked.label.as_deref().unwrap_or_default();
    app.info(&format!("Exported borg key {} (label '{label}').", short_id(found)));
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

/// The key that the options mean; without any, the only one.
fn chosen<'k>(
    keys: &'k [FoundKey],
    options: &ExportOptions,
    location: &str,
) -> Result<(&'k FoundKey, LockedKey), Failure> {
    let mut matching = Vec::new();
    let mut damaged = None;
    for found in keys {
        let locked = match LockedKey::parse(&found.source.text) {
            Ok(locked) => locked,
            Err(problem) => {
                damaged = Some(format!("key {} {problem}", short_id(found)));
                continue;
            }
        };
        let by_label = options.label.is_none() || options.label == locked.label;
        let by_id = options.key.as_ref().is_none_or(|prefix| found.source.name.to_string().starts_with(prefix));
        if by_label && by_id {
            matching.push((found, locked));
        }
    }
    if keys.is_empty() {
        return Err(Failure::new(44, "RepoKeyNotFoundError", format!("No key found in repository {location}.")));
    }
    match (matching.len(), options.label.is_some() || options.key.is_some()) {
        (1, _) => Ok(matching.remove(0)),
        (0, false) => Err(Failure::new(
            40,
            "KeyfileInvalidError",
            format!("No usable key in repository {location}: {}.", damaged.unwrap_or_default()),
        )),
        (_, false) => {
            let label = |(_, locked): &(_, LockedKey)| format!("'{}'", locked.label.as_deref().unwrap_or_default());
            let labels: Vec<String> = matching.iter().map(label).collect();
            Err(Failure::command(format_args!(
                "This repository has multiple borg keys ({}); select which one to export with --label or --key \
                 (see 'borg key list').",
                labels.join(", ")
            )))
        }
        (count, true) => Err(Failure::command(format_args!(
            "The selector needs to match precisely 1 key, but it matched {count} keys."
        ))),
    }
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
