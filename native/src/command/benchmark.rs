//! `benchmark`: how fast this machine is (command line, section 6).

mod corpus;
mod cpu;
mod crud;
mod legacy;
mod report;
mod test_files;
mod thresholds;

use crate::app::App;
use crate::command::help;
use crate::failure::Failure;
use crate::usage;
use clap::{Args, Subcommand};
use cpu::CpuOptions;
use crud::CrudOptions;
use thresholds::ThresholdsOptions;

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
    /// benchmarks Borg CRUD (create, extract, update, delete).
    Crud(CrudOptions),
    /// finds from which sizes on several threads are faster than one, on this machine
    Thresholds(ThresholdsOptions),
}

/// Its help, and that of each benchmark.
pub fn described(benchmark: clap::Command) -> clap::Command {
    usage::described::<Options>(benchmark)
        .mut_subcommand("cpu", usage::described::<CpuOptions>)
        .mut_subcommand("crud", usage::described::<CrudOptions>)
        .mut_subcommand("thresholds", usage::described::<ThresholdsOptions>)
}

/// Runs a benchmark.
pub fn run(app: &App, options: &Options, describe: fn() -> clap::Command) -> Result<(), Failure> {
    match &options.command {
        Some(Command::Cpu(options)) => cpu::run(app, options),
        Some(Command::Crud(options)) => crud::run(app, options),
        Some(Command::Thresholds(options)) => thresholds::run(app, options),
        None => help::of_command("benchmark", describe()),
    }
}
