//! `benchmark`, which is left out where nothing runs at once and no processor time is told.

use crate::app::App;
use crate::failure::Failure;
use crate::usage;
use clap::Args;
use std::ffi::OsString;

/// The WASI program has no benchmarks.
#[derive(Debug, Args)]
pub struct Options {
    /// whatever the native program takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// Its help.
pub fn described(benchmark: clap::Command) -> clap::Command {
    usage::described::<Options>(benchmark)
}

/// Says that there is none.
pub fn run(_app: &App, options: &Options, _describe: fn() -> clap::Command) -> Result<(), Failure> {
    let words: Vec<_> = options.words.iter().map(|word| format!(" {}", word.to_string_lossy())).collect();
    let text =
        format!("error: benchmark{}: the native program has benchmarks, the WASI program has not.", words.concat());
    Err(Failure::new(2, "Error", text))
}
