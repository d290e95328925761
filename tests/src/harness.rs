//! Runs tests by name on all processors, counts them, and ends as `cargo test` does.
//!
//! Arguments: parts of names (any of them selects a test), `--exact`, `--list`, `--test-threads N`; other options of
//! the usual harness are accepted and ignored. A skipped test prints `SKIPPED name: reason`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::program::{MEASURE, measure};

/// One test.
pub struct Trial {
    name: String,
    run: Box<dyn Fn(&mut Findings) + Send + Sync>,
}

impl Trial {
    /// A test by name; it reports what it finds.
    pub fn new(name: impl Into<String>, run: impl Fn(&mut Findings) + Send + Sync + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }
}

/// What a test found wrong. It may go on after a finding, so that one run tells all.
#[derive(Debug, Default)]
pub struct Findings {
    wrong: Vec<String>,
    skipped: Option<String>,
    notes: Vec<String>,
}

impl Findings {
    /// Something is wrong.
    pub fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.push(what.into());
    }

    /// Something is wrong unless `good`.
    pub fn check(&mut self, good: bool, what: impl FnOnce() -> String) {
        if !good {
            self.wrong.push(what());
        }
    }

    /// Adds a list of wrong things.
    pub fn extend(&mut self, what: impl IntoIterator<Item = String>) {
        self.wrong.extend(what);
    }

    /// The test can't run here.
    pub fn skip(&mut self, reason: impl Into<String>) {
        self.skipped = Some(reason.into());
    }

    /// The test ran, but a part of it can't be tried here.
    pub fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }

    /// Everything that is wrong.
    #[must_use]
    pub fn into_wrong(self) -> Vec<String> {
        self.wrong
    }

    /// Nothing is wrong up to here.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.wrong.is_empty()
    }
}

/// The whole of a test program's `main`.
#[must_use]
pub fn main(trials: impl FnOnce() -> Vec<Trial>) -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.peek().is_some_and(|first| first == MEASURE) {
        measure(args.skip(1));
        return ExitCode::SUCCESS;
    }
    let options = Options::parse(args.map(|arg| arg.to_string_lossy().into_owned()));
    let all = trials();
    let total = all.len();
    let chosen: Vec<Trial> = all.into_iter().filter(|trial| options.selects(&trial.name)).collect();
    if options.list {
        chosen.iter().for_each(|trial| println!("{}: test", trial.name));
        return ExitCode::SUCCESS;
    }

    println!("\nrunning {} tests", chosen.len());
    let start = Instant::now();
    let failures = run(&chosen, options.threads);
    if !failures.wrong.is_empty() {
        println!("\nfailures:\n");
        for (name, findings) in &failures.wrong {
            println!("---- {name} ----");
            findings.iter().take(SHOWN).for_each(|finding| println!("{finding}"));
            if findings.len() > SHOWN {
                println!("... and {} more", findings.len() - SHOWN);
            }
            println!();
        }
    }
    let failed = failures.wrong.len();
    println!(
        "\ntest result: {}. {} passed; {failed} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        chosen.len() - failed - failures.skipped,
        failures.skipped,
        total - chosen.len(),
        start.elapsed().as_secs_f64(),
    );
    ExitCode::from(if failed == 0 { 0 } else { 101 })
}

/// How many findings of one test are shown.
const SHOWN: usize = 30;

#[derive(Default)]
struct Tally {
    wrong: BTreeMap<String, Vec<String>>,
    skipped: usize,
}

fn run(trials: &[Trial], threads: usize) -> Tally {
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(trials.len()) {
            scope.spawn(|| {
                while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let findings = run_one(trial);
                    let mut tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    findings.notes.iter().for_each(|note| println!("note: {}: {note}", trial.name));
                    if !findings.wrong.is_empty() {
                        println!("test {} ... FAILED", trial.name);
                        tally.wrong.insert(trial.name.clone(), findings.wrong);
                    } else if let Some(reason) = findings.skipped {
                        println!("test {} ... ignored", trial.name);
                        println!("SKIPPED {}: {reason}", trial.name);
                        tally.skipped += 1;
                    } else {
                        println!("test {} ... ok", trial.name);
                    }
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run_one(trial: &Trial) -> Findings {
    let mut findings = Findings::default();
    let panicked = catch_unwind(AssertUnwindSafe(|| (trial.run)(&mut findings)));
    if let Err(payload) = panicked {
        let text = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "the test itself panicked".to_owned());
        findings.wrong(text);
    }
    findings
}

struct Options {
    names: Vec<String>,
    exact: bool,
    list: bool,
    threads: usize,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = Self { names: Vec::new(), exact: false, list: false, threads: cpus };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--exact" => options.exact = true,
                "--list" => options.list = true,
                "--test-threads" => options.threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(cpus),
                "--format" | "--color" | "--logfile" | "--skip" | "-Z" => drop(args.next()),
                _ if arg.starts_with("--test-threads=") => {
                    options.threads = arg["--test-threads=".len()..].parse().unwrap_or(cpus);
                }
                _ if arg.starts_with('-') => {}
                _ => options.names.push(arg),
            }
        }
        options.threads = options.threads.max(1);
        options
    }

    fn selects(&self, name: &str) -> bool {
        self.names.is_empty()
            || self.names.iter().any(|part| if self.exact { name == part } else { name.contains(part) })
    }
}
