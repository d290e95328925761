//! The command line, as Borg has it (command line, sections 0 and 1).

use crate::command::{break_lock, check, extract, help, info, key, list, repo_info, repo_list, version};
use clap::{ArgAction, Args, Parser, Subcommand};

/// What `--version` prints: front ends choose their syntax by its first words.
pub const VERSION: &str = concat!("2.0.0b25 (portaborg ", env!("CARGO_PKG_VERSION"), ")");

/// More are no name of an archive, since it must do as the name of a folder.
const MAX_NAME_CHARS: usize = 200;

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

/// Options that stand before or after the command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// show this help message and exit
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,

    /// work on log level CRITICAL
    #[arg(long, global = true, overrides_with_all = ["error", "warning", "info", "debug"])]
    critical: bool,

    /// work on log level ERROR
    #[arg(long, global = true, overrides_with_all = ["critical", "warning", "info", "debug"])]
    error: bool,

    /// work on log level WARNING (default)
    #[arg(long, global = true, overrides_with_all = ["critical", "error", "info", "debug"])]
    warning: bool,

    /// work on log level INFO
    #[arg(long, visible_alias = "verbose", short = 'v', global = true, action = ArgAction::SetTrue)]
    #[arg(overrides_with_all = ["info", "critical", "error", "warning", "debug"])]
    info: bool,

    /// enable debug output, work on log level DEBUG
    #[arg(long, global = true, overrides_with_all = ["critical", "error", "warning", "info"])]
    debug: bool,

    /// enable TOPIC debugging (can be specified multiple times)
    #[arg(long, global = true, value_name = "TOPIC", action = ArgAction::Append)]
    debug_topic: Vec<String>,

    /// show progress information
    #[arg(short, long, global = true, overrides_with = "progress")]
    pub progress: bool,

    /// Output one JSON object per log line instead of formatted text.
    #[arg(long, global = true, overrides_with = "log_json")]
    pub log_json: bool,

    /// wait at most SECONDS for acquiring a repository lock (default: 10)
    #[arg(long, global = true, value_name = "SECONDS", env = "BORG_LOCK_WAIT", default_value_t = 10)]
    #[arg(hide_default_value = true)]
    #[arg(hide_env = true, allow_negative_numbers = true)]
    pub lock_wait: i64,

    /// show/log the borg version
    #[arg(long, global = true)]
    pub show_version: bool,

    /// show/log the return code (rc)
    #[arg(long, global = true)]
    pub show_rc: bool,

    /// set umask to M (local only, default: 0077)
    #[arg(long, global = true, value_name = "M", value_parser = octal, default_value = "0077")]
    #[arg(hide_default_value = true)]
    pub umask: u32,

    /// repository to use
    #[arg(short, long, global = true, value_name = "REPO", env = "BORG_REPO", hide_env_values = true)]
    pub repo: Option<String>,
}

impl Common {
    /// The log level by its name.
    pub fn level(&self) -> crate::log::Level {
        use crate::log::Level;
        let levels = [
            (self.critical, Level::Critical),
            (self.error, Level::Error),
            (self.info, Level::Info),
            (self.debug, Level::Debug),
        ];
        levels.into_iter().find(|(given, _)| *given).map_or(Level::Warning, |(_, level)| level)
    }
}

/// One file each in `command/`.
#[derive(Debug, Subcommand)]
pub enum Command {
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
    /// manage the keyfile or repokey of a repository
    Key(key::Options),
    /// break the repository and cache locks
    BreakLock(break_lock::Options),
    /// display the Borg client and server versions
    Version(version::Options),
    /// extra help
    Help(help::Options),
}

/// Which archives a command means (command line, section 0.2).
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Archive filters")]
pub struct ArchiveFilters {
    /// only consider archives matching all patterns. See "borg help match-archives".
    #[arg(short = 'a', long, value_name = "PATTERN")]
    pub match_archives: Vec<String>,

    /// Comma-separated list of sorting keys; valid keys are: timestamp, archive, name, id, tags, host, user
    /// (default: timestamp)
    #[arg(long, value_name = "KEYS")]
    pub sort_by: Option<String>,

    /// consider the first N archives after other filters are applied
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with = "last")]
    pub first: Option<usize>,

    /// consider the last N archives after other filters are applied
    #[arg(long, value_name = "N", value_parser = positive)]
    pub last: Option<usize>,

    /// consider archives between the oldest archive's timestamp and (oldest + TIMESPAN), e.g., 7d or 12m.
    #[arg(long, value_name = "TIMESPAN", conflicts_with = "newest")]
    pub oldest: Option<String>,

    /// consider archives between the newest archive's timestamp and (newest - TIMESPAN), e.g., 7d or 12m.
    #[arg(long, value_name = "TIMESPAN")]
    pub newest: Option<String>,

    /// consider archives older than (now - TIMESPAN), e.g., 7d or 12m.
    #[arg(long, value_name = "TIMESPAN", conflicts_with = "newer")]
    pub older: Option<String>,

    /// consider archives newer than (now - TIMESPAN), e.g., 7d or 12m.
    #[arg(long, value_name = "TIMESPAN")]
    pub newer: Option<String>,
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| "an octal number is expected".into())
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a positive number is expected".into()),
        Ok(number) => Ok(number),
    }
}

/// An archive's NAME: neither a path nor a repository with an archive, as Borg 1 had them.
pub fn archive_name(text: &str) -> Result<String, String> {
    let why = if text.is_empty() {
        "[length < 1]".into()
    } else if text.chars().count() > MAX_NAME_CHARS {
        format!("[length > {MAX_NAME_CHARS}]")
    } else if text.contains(|c| c < ' ') {
        "[invalid control chars detected]".into()
    } else if text.contains(['/', '\\', '"', '<', '|', '>', '?', '*']) {
        let hint =
            if text.contains("::") { "; give the repository as --repo REPO, and here only the name" } else { "" };
        format!(r#"[invalid chars detected matching "/\"<|>?*"]{hint}"#)
    } else if text.starts_with(' ') || text.ends_with(' ') {
        "[leading or trailing blanks detected]".into()
    } else {
        return Ok(text.into());
    };
    Err(format!("Invalid archive name: \"{text}\" {why}"))
}
