//! `undelete`: brings soft-deleted archives back (command line, section 1.2).

use crate::app::App;
use crate::command::delete::{self, Change};
use crate::failure::Failure;
use clap::Args;

/// This command undeletes archives in the repository.
///
/// That is only possible until "compact" has run: then the space of soft-deleted archives is freed. When in doubt, use
/// --dry-run --list to see what would be undeleted.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Options {
    #[command(flatten)]
    options: delete::Options,
}

/// Brings archives back.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    delete::change(app, &options.options, Change::Undelete)
}
