//! `benchmark thresholds`: from which sizes on several threads beat one, on this machine (command line, section 6.3).

mod advice;
mod plot;
mod report;
mod rule;
mod stopwatch;
mod sweep;

use crate::app::App;
use crate::failure::Failure;
use crate::output::stdout::print;
use crate::tuning;
use advice::Advice;
use clap::Args;
use report::Machine;
use std::fs;
use std::path::{Path, PathBuf};
use stopwatch::Effort;
use sweep::{Grid, Sweeper};

/// This command finds from which sizes on several threads are faster than one, on this machine.
///
/// It hashes with BLAKE3 and compresses with zstd by one thread and by several, size after size, and recommends
/// BORG_BLAKE3_MT_THRESHOLD and BORG_ZSTD_MT_WORKERS: see "help environment". A threshold is the smallest size from which on
/// every size that was measured was faster by several threads. Speed does not grow evenly with size: it is best at powers of
/// two, and just below them and above them are the worst cases, so these are looked for; and what speaks against a lower
/// threshold is measured again with more care.
///
/// One and several threads take turns, so whatever else the machine does should slow down both; all the same, figures are good
/// for nothing but this load: let the machine be idle.
#[derive(Debug, Args)]
pub struct ThresholdsOptions {
    /// few sizes
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,

    /// many sizes
    #[arg(long)]
    thorough: bool,

    /// measure each size N times and take the median (default: 5)
    #[arg(long, value_name = "N", default_value_t = 5, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,

    /// hash N MiB each time, and compress an eighth of that (default: 96)
    #[arg(long, value_name = "N", default_value_t = 96, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    mib_per_run: u32,

    /// how much faster several threads must be: 1.2 is for a fifth (default: 1.0)
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, hide_default_value = true, value_parser = margin)]
    margin: f64,

    /// write the results as JSON to PATH, or print them in place of the text
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    json: Option<Option<PathBuf>>,

    /// plot the results to an SVG file
    #[arg(long, value_name = "PATH")]
    svg: Option<PathBuf>,
}

/// Measures, tells what it means, and writes it where that is asked for.
pub fn run(app: &App, options: &ThresholdsOptions) -> Result<(), Failure> {
    let tuning = tuning::for_writing(&sweep::zstd(3))?;
    let machine = Machine::this(tuning.threads);
    let is_text = !matches!(options.json, Some(None));
    let tell = |text: &str| if is_text { print(text) } else { Ok(()) };
    tell(&machine.text())?;
    if tuning.threads < 2 {
        return Err(Failure::command("there is only one processor: nothing can be faster with several threads."));
    }
    let effort = Effort { runs: options.runs.into(), bytes_per_run: (options.mib_per_run as usize) << 20 };
    let grid = match (options.quick, options.thorough) {
        (true, _) => Grid::Quick,
        (_, true) => Grid::Thorough,
        _ => Grid::Balanced,
    };
    let mut sweeper = Sweeper::new(tuning, grid, effort, options.margin)?;
    let mut sweeps = Vec::new();
    for subject in sweeper.subjects() {
        let sweep = sweeper.sweep(subject)?;
        tell(&report::table(&sweep, options.margin))?;
        sweeps.push(sweep);
    }
    let advice = Advice::of(&sweeps, &tuning, options.margin);
    tell(&report::advice(&advice))?;
    if let Some(path) = &options.svg {
        save(path, &plot::svg(&advice, options.margin)?)?;
    }
    match &options.json {
        Some(None) => app.print_json(report::json(&machine, &sweeps, &advice, options.margin)),
        Some(Some(path)) => save(path, &report::document(report::json(&machine, &sweeps, &advice, options.margin))),
        None => Ok(()),
    }
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::error(format_args!("can not write {}: {error}", path.display())))
}

fn margin(text: &str) -> Result<f64, String> {
    let margin = text.parse::<f64>().ok().filter(|margin| (0.1..=100.0).contains(margin));
    margin.ok_or_else(|| "a number from 0.1 to 100 is expected".into())
}
