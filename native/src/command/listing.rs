//! `listing`: makes a repository readable from a web server that just hands out files. Borg has no such command.

use crate::app::App;
use crate::failure::Failure;
use crate::repository::permissions::Permissions;
use crate::repository::session::{location_of, open_repository, open_repository_at};
use clap::Args;
use portaborg_core::listing::LISTING_NAME;
use portaborg_core::repo::list_files;
use portaborg_core::store::now;

/// Writes portaborg-listing.json, a list of the repository's files, beside them, so that the repository can be read from any
/// web server that hands out files.
///
/// The npm package portaborg reads repositories over HTTP, in browsers and in Node. A web server that just serves a folder does
/// not tell what is in it, and the names of packs are hashes, which can't be guessed: hence this list. It tells no more than the
/// names and lengths of files, all of which whoever can read the folder sees anyway; no key or passphrase is needed.
///
/// Run it again after every command that changes the repository (create, delete, compact, key ...): until then, readers see what
/// was there before, and when something of that is gone, they say so. Borg and portaborg take no notice of the file.
#[derive(Debug, Args)]
pub struct Options {
    /// the repository, if it is not given by --repo or BORG_REPO
    #[arg(value_name = "REPO")]
    repository: Option<String>,
}

/// Writes the list in place of the one that may be there.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let (repository, location) = match &options.repository {
        Some(text) => {
            let location = location_of(app, text)?;
            (open_repository_at(&location)?, location.to_string())
        }
        None => open_repository(app)?,
    };
    let folder = &repository.store.0;
    if folder.permissions() != Permissions::All {
        return Err(Failure::denied("writing a listing needs all permissions (BORG_REPO_PERMISSIONS)."));
    }
    let listing = now(list_files(&repository.store)).map_err(|error| Failure::store(error, &location))?;
    let listing = listing.ok_or_else(|| {
        Failure::error(format_args!("{location} goes on changing while it is listed; try again when that is done."))
    })?;
    folder.write_listing(&listing).map_err(|error| Failure::store(error, &location))?;
    app.info(&format!("{LISTING_NAME}: {} files", listing.len()));
    Ok(())
}
