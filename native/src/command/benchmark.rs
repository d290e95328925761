//! `benchmark`: how fast this machine is (command line, section 6).

mod corpus;
mod cpu;
mod legacy;
mod report;

pub use cpu::CpuOptions;

use crate::app::App;
use crate::command::help;
use crate::failure::Failure;
use clap::{Args, Subcommand};

/// benchmark command
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// benchmarks Borg CPU-bound operations
    Cpu(CpuOptions),
}

/// Runs a benchmark.
pub fn run(app: &App, options: &Options, describe: fn() -> clap::Command) -> Result<(), Failure> {
    match &options.command {
        Some(Command::Cpu(options)) => cpu::run(app, options),
        None => help::of_command("benchmark", describe()),
    }
}
