//! `key export`: a backup of a key, as a file, on paper or as a page to be printed (repository layer, section 3.6).

use super::selector::{not_one, select};
use super::{qr, shown};
use crate::app::App;
use crate::failure::Failure;
use crate::output::stdout::print;
use crate::repository::keys::{FoundKey, find_keys};
use crate::repository::session::open_repository;
use crate::system::fs::OpenOptionsExt;
use clap::Args;
use portaborg_core::key::{blob, paper_text};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// Exports a key as it is: neither the passphrase nor a lock is needed.
pub fn run(app: &App, options: &ExportOptions) -> Result<(), Failure> {
    let (repository, location) = open_repository(app)?;
    let keys = find_keys(app, &repository, &location)?;
    let found = chosen(&keys, options, &location)?;
    let id = repository.id();
    let (text, kind) = if options.paper {
        let blob = blob(&found.source.text).map_err(|problem| {
            let text = format!("Invalid key data for repository {location}: key {} {problem}.", found.short_id());
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
    app.info(&format!("Exported borg key {} (label {}).", found.short_id(), shown(found.label().as_deref())));
    Ok(())
}

/// The key that the options mean; without any, the only one.
fn chosen<'k>(keys: &'k [FoundKey], options: &ExportOptions, location: &str) -> Result<&'k FoundKey, Failure> {
    if keys.is_empty() {
        return Err(Failure::new(44, "RepoKeyNotFoundError", format!("No key found in repository {location}.")));
    }
    let (label, id) = (options.label.as_deref(), options.key.as_deref());
    select(keys, label, id).map_err(|count| {
        if label.is_some() || id.is_some() {
            return Failure::command(not_one(count));
        }
        let labels: Vec<String> = keys.iter().map(|key| shown(key.label().as_deref())).collect();
        Failure::command(format_args!(
            "This repository has multiple borg keys ({}); select which one to export with --label or --key \
             (see 'borg key list').",
            labels.join(", ")
        ))
    })
}

fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
