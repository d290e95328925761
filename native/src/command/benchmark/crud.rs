//! `benchmark crud`: what it takes to archive made-up files, read them, archive them again and delete the archive (command
//! line, section 6.2).

use super::test_files::TestFiles;
use crate::app::App;
use crate::cli;
use crate::failure::Failure;
use crate::output::json::{Indent, Json, Object};
use crate::output::log::{Level, Log, LogOptions};
use crate::output::stdout::print;
use crate::repository::session::open_repository;
use crate::status::Status;
use crate::usage;
use clap::Args;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// This command benchmarks CRUD (create, read, update, delete) operations.
///
/// It makes files below the given PATH and backs them up into the repository, which must exist: it can be a fresh one, or have
/// archives. Some archives named borg-benchmark-crud* are created, read and deleted there. About 1 GB of free space is needed
/// in both places. The files are either all zero or all random, so what is measured need not be true for real data; as there is
/// nothing to compress, compression is off.
///
/// C- is create, without the files cache: Z- finds what it has, so it measures reading, chunking and hashing; R- is all new.
/// R- is extract --dry-run: everything but writing the files.
/// U- is create again with nothing changed: it measures the files cache, the rate is nominal.
/// D- is delete, which frees no space: compact would.
#[derive(Debug, Args)]
pub struct CrudOptions {
    /// Format output as JSON Lines.
    #[arg(long)]
    json_lines: bool,

    /// path where to create benchmark input data
    path: PathBuf,
}

/// Measures each sample, and prints its rows.
pub fn run(app: &App, options: &CrudOptions) -> Result<(), Failure> {
    // It should fail before a gigabyte is written.
    let (_, location) = open_repository(app)?;
    let is_test = env::var_os("_BORG_BENCHMARK_CRUD_TEST").is_some();
    for sample in if is_test { &TEST_SAMPLES[..] } else { &SAMPLES } {
        let files = TestFiles::create(&options.path, sample.count, sample.bytes, sample.is_random)?;
        let seconds = Runs { app, location: &location, path: files.path() }.measure()?;
        files.remove()?;
        for (operation, seconds) in OPERATIONS.iter().zip(seconds) {
            let row = Row { sample, operation, seconds };
            let line = if options.json_lines { row.json() } else { row.text(app) };
            print(&format!("{line}\n"))?;
        }
    }
    Ok(())
}

/// Files that are alike.
struct Sample {
    name: &'static str,
    count: u64,
    bytes: u64,
    is_random: bool,
}

const fn sample(name: &'static str, count: u64, bytes: u64) -> Sample {
    Sample { name, count, bytes, is_random: name.as_bytes()[0] == b'R' }
}

const SAMPLES: [Sample; 6] = [
    sample("Z-BIG", 10, 100_000_000),
    sample("R-BIG", 10, 100_000_000),
    sample("Z-MEDIUM", 1000, 1_000_000),
    sample("R-MEDIUM", 1000, 1_000_000),
    sample("Z-SMALL", 10_000, 10_000),
    sample("R-SMALL", 10_000, 10_000),
];

/// For tests.
const TEST_SAMPLES: [Sample; 2] = [sample("Z-TEST", 1, 1), sample("R-TEST", 1, 1)];

/// A row's letter and the name in JSON, in the order of the rows.
const OPERATIONS: [(char, &str); 4] = [('C', "create1"), ('R', "extract"), ('U', "create2"), ('D', "delete")];

/// The commands that are run, in this process.
struct Runs<'a> {
    app: &'a App,
    location: &'a str,
    path: &'a Path,
}

impl Runs<'_> {
    /// The seconds of each of [`OPERATIONS`].
    fn measure(&self) -> Result<[f64; 4], Failure> {
        // Without the files cache everything is read.
        let create = self.create("borg-benchmark-crud1", Some("--files-cache=disabled"))?;
        // This one only fills it.
        self.create("borg-benchmark-crud2", None)?;
        self.delete("borg-benchmark-crud2")?;
        let update = self.create("borg-benchmark-crud3", None)?;
        self.delete("borg-benchmark-crud3")?;
        let extract = self.time(Level::Warning, ["extract", "borg-benchmark-crud1", "--dry-run"])?;
        let delete = self.delete("borg-benchmark-crud1")?;
        Ok([create, extract, update, delete])
    }

    fn create(&self, name: &str, option: Option<&str>) -> Result<f64, Failure> {
        let words = ["create", "--compression=none"].into_iter().chain(option).chain([name, "--"]);
        self.time(Level::Warning, words.map(OsStr::new).chain([self.path.as_os_str()]))
    }

    fn delete(&self, name: &str) -> Result<f64, Failure> {
        // It would warn that no space is freed.
        self.time(Level::Error, ["delete", "-a", name])
    }

    /// Runs a command, which must end well, and tells how many seconds it took.
    fn time(&self, level: Level, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<f64, Failure> {
        let repo = format!("--repo={}", self.location);
        let lock_wait = format!("--lock-wait={}", self.app.common.lock_wait);
        let mut line: Vec<OsString> = ["borg", &repo, &lock_wait].map(OsString::from).into();
        line.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
        let name = line[3].to_string_lossy().into_owned();
        let failed = |why: &dyn std::fmt::Display| Failure::error(format_args!("{name} {why}"));
        let (common, command) = usage::parse_line(&line).map_err(|error| failed(&error))?;
        let command: cli::Command = command.ok_or_else(|| failed(&"is no command"))?;
        let log = Log::stderr(LogOptions { level, progress: false, ..*self.app.log.options() });
        let app = App { common, log, status: Status::default(), zone: self.app.zone.clone() };
        let began = Instant::now();
        command.run(&app, usage::command)?;
        let seconds = began.elapsed().as_secs_f64();
        match app.status.exit_code(&Ok(())) {
            0 => Ok(seconds),
            code => Err(failed(&format_args!("ended with exit code {code}"))),
        }
    }
}

struct Row<'r> {
    sample: &'r Sample,
    operation: &'r (char, &'static str),
    seconds: f64,
}

impl Row<'_> {
    fn text(&self, app: &App) -> String {
        let Row { sample: &Sample { name, count, bytes, is_random }, operation: (letter, _), seconds } = *self;
        let rate = (count * bytes) as f64 / 1e6 / seconds;
        let (size, content) = (app.units().display(bytes), if is_random { "random" } else { "all-zero" });
        format!("{letter}-{name:<10} {rate:9.2} MB/s ({count} * {size} {content} files: {seconds:.2}s)")
    }

    fn json(&self) -> String {
        let Row { sample: &Sample { name, count, bytes, is_random }, operation: &(letter, command), seconds } = *self;
        let object = Object::new()
            .with("id", format!("{letter}-{name}"))
            .with("command", command)
            .with("sample", name)
            .with("sample_count", count)
            .with("sample_size", bytes)
            .with("sample_random", is_random)
            .with("time", seconds)
            .with("io", ((count * bytes) as f64 / seconds) as u64);
        Json::Object(object).document(&Indent::OneLine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    #[test]
    fn rows_look_as_in_borg() {
        let matches = usage::command().try_get_matches_from(["borg", "version"]).unwrap();
        let app = App::new(cli::Cli::from_arg_matches(&matches).unwrap().common);
        let row = Row { sample: &SAMPLES[0], operation: &OPERATIONS[0], seconds: 8.6162 };
        assert_eq!(row.text(&app), "C-Z-BIG         116.06 MB/s (10 * 100.00 MB all-zero files: 8.62s)");
        let row = Row { sample: &TEST_SAMPLES[1], operation: &OPERATIONS[2], seconds: 0.38226105099965935 };
        assert_eq!(row.text(&app), "U-R-TEST          0.00 MB/s (1 * 1 B random files: 0.38s)");
        assert_eq!(
            row.json(),
            "{\"command\": \"create2\", \"id\": \"U-R-TEST\", \"io\": 2, \"sample\": \"R-TEST\", \"sample_count\": 1, \
             \"sample_random\": true, \"sample_size\": 1, \"time\": 0.38226105099965935}"
        );
    }
}
