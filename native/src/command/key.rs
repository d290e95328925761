//! `key`: lists, exports, imports and changes keys (command line, section 1.2).

mod add;
mod change_location;
mod change_passphrase;
mod export;
mod import;
mod list;
mod paper;
mod qr;
mod remove;
mod selector;

pub use add::AddOptions;
pub use change_location::ChangeLocationOptions;
pub use change_passphrase::ChangePassphraseOptions;
pub use export::ExportOptions;
pub use import::ImportOptions;
pub use list::ListOptions;
pub use remove::RemoveOptions;

use crate::app::App;
use crate::command::help;
use crate::failure::Failure;
use crate::repository::keys::FoundKey;
use crate::repository::session::Session;
use clap::{Args, Subcommand};
use portaborg_core::text::Repr;

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
    /// import the repository key from backup
    Import(ImportOptions),
    /// change the repository passphrase
    ChangePassphrase(ChangePassphraseOptions),
    /// add a borg key (independent passphrase)
    Add(AddOptions),
    /// remove a borg key
    Remove(RemoveOptions),
    /// list the borg keys of the repository
    List(ListOptions),
    /// change the key location
    ChangeLocation(ChangeLocationOptions),
}

/// Runs a command about keys.
pub fn run(app: &App, options: &Options, describe: fn() -> clap::Command) -> Result<(), Failure> {
    match &options.command {
        Some(Command::Export(options)) => export::run(app, options),
        Some(Command::Import(options)) => import::run(app, options),
        Some(Command::ChangePassphrase(_)) => change_passphrase::run(app),
        Some(Command::Add(options)) => add::run(app, options),
        Some(Command::Remove(options)) => remove::run(app, options),
        Some(Command::List(_)) => list::run(app),
        Some(Command::ChangeLocation(options)) => change_location::run(app, options),
        None => help::of_command("key", describe()),
    }
}

/// The key that was unlocked. Secrets that nobody knows can't be stored anew.
fn unlocked(session: &Session) -> Result<&FoundKey, Failure> {
    session.unlocked_key().ok_or_else(|| {
        Failure::error(
            "keys can not be changed with BORG_WORKAROUNDS=authenticated_no_key, which does without the secrets",
        )
    })
}

/// A label as messages show it.
fn shown(label: Option<&str>) -> String {
    label.map_or("None".into(), |label| Repr(label.as_bytes()).to_string())
}
