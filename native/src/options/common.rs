//! Options of every command (command line, section 0.1).

use crate::output::log::Level;
use clap::{ArgAction, Args};

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
    #[arg(hide_env = true, hide_default_value = true, allow_negative_numbers = true)]
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
    pub fn level(&self) -> Level {
        let levels = [
            (self.critical, Level::Critical),
            (self.error, Level::Error),
            (self.info, Level::Info),
            (self.debug, Level::Debug),
        ];
        levels.into_iter().find(|(given, _)| *given).map_or(Level::Warning, |(_, level)| level)
    }
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| "an octal number is expected".into())
}
