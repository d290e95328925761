//! `break-lock`: removes all locks (command line, section 1).

use crate::app::App;
use crate::failure::Failure;
use crate::repository::session::Session;
use clap::Args;
use portaborg_core::repo::break_locks;
use portaborg_core::store::now;

/// Breaks the repository lock (for example, if it was left by a dead Borg process). Use with care and only when no Borg
/// process (on any machine) is trying to access the repository.
#[derive(Debug, Args)]
pub struct Options {}

/// Removes all locks. The key is needed, so that nobody without it can meddle by way of this program.
pub fn run(app: &App, _options: &Options) -> Result<(), Failure> {
    let session = Session::open(app)?;
    session.assert_secure(app)?;
    now(break_locks(&session.repository)).map_err(|error| Failure::store(error, &session.location))
}
