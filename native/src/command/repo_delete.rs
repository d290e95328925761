//! `repo-delete`: removes a repository, and what this client keeps of it (command line, section 1.2).

use crate::app::App;
use crate::client::dirs;
use crate::command::delete::line;
use crate::failure::Failure;
use crate::output::prompt::Question;
use crate::repository::archives::{self, Archive};
use crate::repository::folder::Folder;
use crate::repository::location::Location;
use crate::repository::permissions::Permissions;
use crate::repository::session::{Held, Lock, Session, open_folder, repository_location};
use clap::Args;
use portaborg_core::repo::{OpenError, Repository};
use portaborg_core::select::Candidate;
use portaborg_core::store::{Ready, now};
use std::fs;
use std::io;
use std::path::Path;

const RULE: &str = "------------------------------------------------------------------------------";
const CONFIRMATION: &str = "BORG_DELETE_I_KNOW_WHAT_I_AM_DOING";

/// This command deletes a repository with all its archives.
///
/// What this client keeps of the repository goes, too: its cache, and the security info by which it is known again. Key files
/// stay: in case of a copy of the repository, they are needed to read it. Use --dry-run --list to see what would be deleted.
///
/// The repository's key and passphrase are needed. With --force, what is left of an interrupted "repo-create" or of a
/// repository without its config is deleted, too, without a key. Files that are no part of a repository are never deleted.
#[derive(Debug, Args)]
pub struct Options {
    /// do not change the repository
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// output a verbose list of archives
    #[arg(long)]
    list: bool,

    /// do not ask for confirmation, just delete the repository, also if it is damaged to a point where its archives can not be
    /// listed anymore
    #[arg(long)]
    force: bool,

    /// delete only the local cache for the given repository
    #[arg(long)]
    cache_only: bool,

    /// keep the local security info when deleting a repository
    #[arg(long)]
    keep_security_info: bool,
}

/// Removes a repository, after the user has confirmed it.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let location = repository_location(app)?;
    if let Err(OpenError::NoConfig) = now(Repository::open(Ready(open_folder(&location)?))) {
        return delete_remains(app, options, &location);
    }
    let session = Session::open(app)?;
    let held = session.lock_to_write(app, Lock::Exclusive)?;
    if session.repository.store.0.permissions() != Permissions::All {
        return Err(Failure::denied("deleting a repository needs all permissions (BORG_REPO_PERMISSIONS)."));
    }
    let id = session.repository.id();
    if !options.cache_only {
        if !options.force {
            confirm(app, options, &session, &held)?;
        }
        if options.dry_run {
            app.info("Would delete repository.");
            app.info(if options.keep_security_info {
                "Would keep security info."
            } else {
                "Would delete security info."
            });
        } else {
            held.assert_held()?;
            destroy(app, &session.repository.store.0, &session.location)?;
            app.info("Repository deleted.");
            if !options.keep_security_info {
                remove(&dirs::security(id))?;
            }
        }
    }
    if options.dry_run {
        app.info("Would delete cache.");
    } else {
        remove(&dirs::cache(id))?;
        app.info("Cache deleted.");
    }
    Ok(())
}

/// Removes what is left of a repository, or was to become one. There is no key to lock it with, nor anything to be locked.
fn delete_remains(app: &App, options: &Options, location: &Location) -> Result<(), Failure> {
    let folder = open_folder(location)?;
    let fail = |why: &str| Err(Failure::error(format_args!("{location} has no repository config{why}")));
    if options.cache_only {
        return fail(", so its cache can not be identified.");
    }
    if !folder.looks_like_repository() {
        return fail(
            " and does not look like a borg store (no packs, archives, index and config folders), so it is not deleted.",
        );
    }
    if !options.force {
        return fail(". Deleting this requires the --force option.");
    }
    if options.dry_run {
        app.info("Would destroy the store (it has no repository config).");
    } else {
        destroy(app, &folder, &location.to_string())?;
        app.info("Store destroyed (it had no repository config).");
    }
    Ok(())
}

fn destroy(app: &App, folder: &Folder, location: &str) -> Result<(), Failure> {
    if !folder.destroy().map_err(|error| Failure::store(error, location))? {
        app.warning(&format!("The folder {location} stays: it has files that are no part of the repository."));
    }
    Ok(())
}

/// Removes a folder of this client, if it is there.
fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::error(format_args!("can not remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Lets the user see what would be deleted, and asks.
fn confirm(app: &App, options: &Options, session: &Session, held: &Held<'_>) -> Result<(), Failure> {
    let mut reader = session.reader(app, held)?;
    let mut all = archives::list(app, session, &mut reader, false)?.archives;
    all.sort_by_key(Candidate::time);
    let text = question(app, options, session, &all);
    let question = Question {
        truish: &["YES"],
        false_text: Some("Aborting."),
        invalid_text: Some("Invalid answer, aborting."),
        ..Question::new(&text, CONFIRMATION)
    };
    let is_confirmed = question.ask(&app.log);
    if is_confirmed { Ok(()) } else { Err(Failure::cancelled()) }
}

fn question(app: &App, options: &Options, session: &Session, archives: &[Archive]) -> String {
    let mut lines = vec![
        format!(
            "You requested to DELETE the following repository completely *including* {} archives it contains:",
            archives.len()
        ),
        RULE.into(),
        format!("Repository ID: {}", session.repository.id()),
        format!("Location: {}", session.location),
    ];
    if options.list {
        lines.extend([String::new(), "Archives:".into()]);
        lines.extend(archives.iter().map(|archive| line(app, archive)));
        if archives.is_empty() {
            lines.push("This repository does not appear to have any archives.".into());
        }
    }
    lines.extend([RULE.into(), "Type 'YES' if you understand this and want to continue: ".into()]);
    lines.join("\n")
}
