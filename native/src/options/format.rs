//! `--format`, `--short` and what stands in for them (command line, section 2.2).

use std::env;

/// The format that is asked for: `given` itself, that of a short listing, the environment's, or the default.
pub fn chosen(given: &Option<String>, short: Option<&str>, variable: &str, default: &str) -> String {
    match (given, short) {
        (Some(format), _) => format.clone(),
        (None, Some(short)) => short.into(),
        (None, None) => env::var(variable).unwrap_or_else(|_| default.into()),
    }
}
