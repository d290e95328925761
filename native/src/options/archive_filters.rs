//! Choosing archives (command line, section 0.2).

use crate::failure::Failure;
use clap::Args;
use std::fmt::Display;
use std::str::FromStr;

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

impl ArchiveFilters {
    /// Whether any archives are singled out: an order alone singles out none.
    pub fn any_given(&self) -> bool {
        let ArchiveFilters { match_archives, sort_by: _, first, last, oldest, newest, older, newer } = self;
        !match_archives.is_empty()
            || first.is_some()
            || last.is_some()
            || [oldest, newest, older, newer].into_iter().any(Option::is_some)
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a positive number is expected".into()),
        Ok(number) => Ok(number),
    }
}

/// The value of an option, if it was given.
pub fn parsed<T: FromStr<Err: Display>>(text: &Option<String>, option: &str) -> Result<Option<T>, Failure> {
    text.as_ref().map(|text| text.parse().map_err(|error| Failure::argument(option, error))).transpose()
}
