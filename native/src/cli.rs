//! The command line, as Borg has it (command line, sections 0 and 1).

use crate::app::App;
#[cfg(not(target_os = "wasi"))]
use crate::command::web;
use crate::command::{
    benchmark, break_lock, check, compact, create, debug, delete, extract, help, info, key, list, listing, recreate,
    repo_compress, repo_create, repo_delete, repo_info, repo_list, undelete, version,
};
use crate::failure::Failure;
use crate::options::common::Common;
use clap::{ArgAction, Parser, Subcommand};

/// What `--version` prints: front ends choose their syntax by its first words.
pub const VERSION: &str = concat!("2.0.0b25 (portaborg ", env!("CARGO_PKG_VERSION"), ")");

/// Borg 2 backup repositories: list, verify and restore.
#[derive(Debug, Parser)]
#[command(name = "borg", bin_name = "portaborg", version = VERSION, disable_help_subcommand = true)]
#[command(disable_version_flag = true)]
pub struct Cli {
    /// Options that every command takes.
    #[command(flatten)]
    pub common: Common,

    /// show the version and exit
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,

    /// What to do; nothing at all gives help.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands, one file each in `command/`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// create a new, empty repository
    RepoCreate(repo_create::Options),
    /// delete a repository
    RepoDelete(repo_delete::Options),
    /// list repository contents
    RepoList(repo_list::Options),
    /// show repository information
    RepoInfo(repo_info::Options),
    /// list archive contents
    List(list::Options),
    /// show repository or archive information
    Info(info::Options),
    /// extract archive contents
    Extract(extract::Options),
    /// verify the repository
    Check(check::Options),
    /// create a backup
    Create(Box<create::Options>),
    /// delete archives
    Delete(delete::Options),
    /// undelete archives
    Undelete(undelete::Options),
    /// compact the repository
    Compact(compact::Options),
    /// recreate archives
    Recreate(Box<recreate::Options>),
    /// repository (re-)compression
    RepoCompress(repo_compress::Options),
    /// manage the keyfile or repokey of a repository
    Key(key::Options),
    /// break the repository and cache locks
    BreakLock(break_lock::Options),
    /// make a repository readable from any web server
    Listing(listing::Options),
    /// benchmark command
    Benchmark(benchmark::Options),
    /// debugging command (not intended for normal use)
    Debug(debug::Options),
    /// open the repository in a browser
    #[cfg(not(target_os = "wasi"))]
    Web(web::Options),
    /// display the Borg client and server versions
    Version(version::Options),
    /// extra help
    Help(help::Options),
}

impl Command {
    /// Runs the command. `describe` gives the whole command line, for help about it.
    pub fn run(&self, app: &App, describe: fn() -> clap::Command) -> Result<(), Failure> {
        match self {
            Command::RepoCreate(options) => repo_create::run(app, options),
            Command::RepoDelete(options) => repo_delete::run(app, options),
            Command::RepoList(options) => repo_list::run(app, options),
            Command::RepoInfo(options) => repo_info::run(app, options),
            Command::List(options) => list::run(app, options),
            Command::Info(options) => info::run(app, options),
            Command::Extract(options) => extract::run(app, options),
            Command::Check(options) => check::run(app, options),
            Command::Create(options) => create::run(app, options),
            Command::Delete(options) => delete::run(app, options),
            Command::Undelete(options) => undelete::run(app, options),
            Command::Compact(options) => compact::run(app, options),
            Command::Recreate(options) => recreate::run(app, options),
            Command::RepoCompress(options) => repo_compress::run(app, options),
            Command::Key(options) => key::run(app, options, describe),
            Command::BreakLock(options) => break_lock::run(app, options),
            Command::Listing(options) => listing::run(app, options),
            Command::Benchmark(options) => benchmark::run(app, options, describe),
            Command::Debug(options) => debug::run(app, options, describe),
            #[cfg(not(target_os = "wasi"))]
            Command::Web(options) => web::run(app, options),
            Command::Version(options) => version::run(app, options),
            Command::Help(options) => help::run(options, describe()),
        }
    }
}
