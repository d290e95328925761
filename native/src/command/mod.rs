//! The commands, one file each.

pub mod break_lock;
pub mod check;
pub mod extract;
pub mod help;
pub mod info;
pub mod key;
pub mod list;
pub mod repo_info;
pub mod repo_list;
pub mod version;

use crate::app::App;
use crate::cli::Command;
use crate::failure::Failure;

/// Runs a command.
pub fn run(app: &App, command: &Command) -> Result<(), Failure> {
    match command {
        Command::RepoList(options) => repo_list::run(app, options),
        Command::RepoInfo(options) => repo_info::run(app, options),
        Command::List(options) => list::run(app, options),
        Command::Info(options) => info::run(app, options),
        Command::Extract(options) => extract::run(app, options),
        Command::Check(options) => check::run(app, options),
        Command::Key(options) => key::run(app, options),
        Command::BreakLock(options) => break_lock::run(app, options),
        Command::Version(options) => version::run(app, options),
        Command::Help(options) => help::run(app, options),
    }
}
