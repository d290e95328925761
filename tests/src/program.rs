//! One run of a program: a clean environment, limits, and everything it did.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, setrlimit};

use crate::scratch::Scratch;

/// How long a command on a fixture may take.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How much memory it may hold at its peak, in KiB.
pub const MEMORY_LIMIT_KIB: i64 = 512 * 1024;

/// A program that speaks Borg's command line.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    /// When it is stopped; the real client starts slowly.
    patience: Duration,
}

impl Program {
    /// The program under test: `PORTABORG`, else built from this workspace with the profile of the tests.
    #[must_use]
    pub fn portaborg() -> Self {
        static PATH: OnceLock<PathBuf> = OnceLock::new();
        let path = PATH.get_or_init(|| std::env::var_os("PORTABORG").map_or_else(build, PathBuf::from));
        assert!(path.exists(), "{} is not there", path.display());
        Self { path: path.clone(), patience: 2 * TIME_LIMIT }
    }

    /// The same program, not stopped before a slow machine is done with much work.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { patience: 12 * TIME_LIMIT, ..self }
    }

    /// A real client.
    #[must_use]
    pub fn peer(path: PathBuf) -> Self {
        Self { path, patience: 12 * TIME_LIMIT }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command on a repository.
    #[must_use]
    pub fn on(&self, repository: &Path, passphrase: &str) -> Call {
        let workers = workers();
        Call {
            program: self.clone(),
            args: Vec::new(),
            environment: vec![
                ("BORG_REPO".into(), repository.into()),
                ("BORG_PASSPHRASE".into(), passphrase.into()),
                ("BORG_HOST_ID".into(), "fixture-host@1".into()),
                ("BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK".into(), "yes".into()),
                ("BORG_RELOCATED_REPO_ACCESS_IS_OK".into(), "yes".into()),
                ("BORG_SELFTEST".into(), "disabled".into()),
                ("BORG_EXTRACT_WORKERS".into(), workers.into()),
                ("BORG_CREATE_WORKERS".into(), workers.into()),
                ("LC_ALL".into(), "C.UTF-8".into()),
                ("TZ".into(), "UTC".into()),
                ("RUST_BACKTRACE".into(), "1".into()),
            ],
            base: None,
            folder: None,
        }
    }

    /// It is ours, not a real client put in its place (`PORTABORG`).
    #[must_use]
    pub fn is_ours(&self) -> bool {
        static VERSIONS: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
        let mut known = VERSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(self.path.clone()).or_insert_with(|| {
            self.on(Path::new("/nonexistent"), "").args(["--version"]).run().out().contains("portaborg")
        })
    }

    /// It knows this command.
    #[must_use]
    pub fn knows(&self, command: &str) -> bool {
        self.on(Path::new("/nonexistent"), "").args([command, "--help"]).run().code == Some(0)
    }
}

/// Serial, some and many workers in turns: what comes out must be the same.
fn workers() -> &'static str {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let counts = ["1", "8", "2"];
    counts[CALLS.fetch_add(1, Ordering::Relaxed) % counts.len()]
}

/// Builds `portaborg` beside the running test: same target folder, same profile.
fn build() -> PathBuf {
    let exe = std::env::current_exe().expect("a running program has a path");
    let profile_folder = exe
        .ancestors()
        .find(|folder| folder.join("deps").is_dir())
        .expect("cargo puts a test into target/PROFILE/deps and a program into target/PROFILE");
    let target = profile_folder.parent().expect("target/PROFILE has a parent");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "portaborg", "--manifest-path"]);
    cargo.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).env("CARGO_TARGET_DIR", target);
    if profile_folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo: {error}"));
    assert!(status.success(), "portaborg does not build");
    profile_folder.join("portaborg")
}

/// A command about to be run.
#[derive(Debug)]
pub struct Call {
    program: Program,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    base: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl Call {
    /// Appends arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable, in place of the usual value where there is one.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// The client's key files (`BORG_KEYS_DIR`).
    #[must_use]
    pub fn keys(self, folder: Option<&Path>) -> Self {
        match folder {
            Some(folder) => self.env("BORG_KEYS_DIR", folder),
            None => self,
        }
    }

    /// The client's own files (`BORG_BASE_DIR`) in place of a new folder.
    #[must_use]
    pub fn base(mut self, folder: &Path) -> Self {
        self.base = Some(folder.to_owned());
        self
    }

    /// Runs in this folder.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// The command line, for messages.
    #[must_use]
    pub fn words(&self) -> String {
        self.args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    /// The command without the measuring parent, so that signals reach it: nothing to read, what it prints is kept in
    /// pipes.
    #[must_use]
    pub fn command(self) -> Command {
        let base = self.base.expect("a command that is not waited for has a place for its files");
        let mut command = Command::new(&self.program.path);
        command.args(&self.args).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &base).env("BORG_BASE_DIR", &base).envs(self.environment);
        command.current_dir(self.folder.as_deref().unwrap_or(&base));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end, or until the patience with it ends.
    #[must_use]
    pub fn run(self) -> Outcome {
        let scratch = Scratch::new("run");
        let base = self.base.clone().unwrap_or_else(|| scratch.folder("base"));
        let report = scratch.path().join("report");
        let words = self.words();

        let mut command = Command::new(std::env::current_exe().expect("a running program has a path"));
        command.arg(MEASURE).arg(&report).arg(&self.program.path).args(&self.args);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &base).env("BORG_BASE_DIR", &base).envs(self.environment);
        command.current_dir(self.folder.as_deref().unwrap_or_else(|| scratch.path()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);

        let start = Instant::now();
        let mut child = command.spawn().expect("the test can start itself");
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let mut timed_out = false;
        while child.try_wait().expect("a child can be waited for").is_none() {
            if start.elapsed() > self.program.patience {
                timed_out = true;
                let group = Pid::from_child(&child);
                let _ = kill_process_group(group, Signal::KILL);
            }
            thread::sleep(Duration::from_millis(3));
        }
        let elapsed = start.elapsed();
        let measured = fs::read_to_string(&report).unwrap_or_default();
        let mut numbers = measured.split(' ').map(|number| number.trim().parse::<i64>().ok());
        let code = numbers.next().flatten().and_then(|code| i32::try_from(code).ok());
        let mut number = || numbers.next().flatten().unwrap_or(0);
        Outcome {
            words,
            code,
            peak_kib: number(),
            wall: micros(number()),
            cpu: micros(number()),
            stdout: stdout.join().expect("reading a pipe does not panic"),
            stderr: stderr.join().expect("reading a pipe does not panic"),
            elapsed,
            timed_out,
        }
    }
}

fn micros(number: i64) -> Duration {
    Duration::from_micros(number.unsigned_abs())
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// What a command did.
#[derive(Debug)]
pub struct Outcome {
    /// The command line.
    pub words: String,
    /// Exit code, negative signal number, or nothing if it had to be stopped.
    pub code: Option<i32>,
    /// Most memory held at once, in KiB.
    pub peak_kib: i64,
    /// How long its process took.
    pub wall: Duration,
    /// Processor time of all its threads, the system's part among it.
    pub cpu: Duration,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said.
    pub stderr: Vec<u8>,
    /// From start to end, with what the test did around it.
    pub elapsed: Duration,
    /// It had to be stopped.
    pub timed_out: bool,
}

impl Outcome {
    /// stdout as text.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// stderr as text.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What no input may bring a program to: panic, crash, hang, more memory than allowed.
    #[must_use]
    pub fn misbehaviour(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.timed_out || self.elapsed > TIME_LIMIT {
            found.push(format!("{}: took {:.1} s", self.words, self.elapsed.as_secs_f64()));
        }
        match self.code {
            None if self.timed_out => {}
            None => found.push(format!("{}: no exit code", self.words)),
            Some(code) if code < 0 => found.push(format!("{}: ended by signal {}", self.words, -code)),
            Some(101) if !self.err().contains("never matched") => {
                found.push(format!("{}: exit code 101", self.words));
            }
            Some(_) => {}
        }
        if self.err().contains("panicked at") {
            found.push(format!("{}: {}", self.words, tail(&self.err())));
        }
        if self.peak_kib > MEMORY_LIMIT_KIB {
            found.push(format!("{}: held {} KiB", self.words, self.peak_kib));
        }
        found
    }

    /// Exit code and the last lines of stderr, for messages.
    #[must_use]
    pub fn summary(&self) -> String {
        let code = self.code.map_or("stopped".to_owned(), |code| format!("exit code {code}"));
        format!("{}: {code}; stderr: {}", self.words, tail(&self.err()))
    }
}

/// The last lines of a text, cut where they are very long.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(6)..].join(" | ");
    if last.chars().count() > 800 { last.chars().take(800).chain("...".chars()).collect() } else { last }
}

/// First argument that turns a test program into the measuring parent of one command: `getrusage` tells the peak of
/// children that ended, so each command gets a parent of its own.
pub const MEASURE: &str = "--measure-one-command";

/// For the beginning of a program whose commands are run by [`Call::run`]: whether this process is only a measuring parent,
/// and now done.
#[must_use]
pub fn has_measured() -> bool {
    let mut args = std::env::args_os().skip(1).peekable();
    let measures = args.peek().is_some_and(|first| first == MEASURE);
    if measures {
        measure(args.skip(1));
    }
    measures
}

/// Runs `PROGRAM ARGS...` under an address-space limit and writes exit code, peak memory (KiB), time and processor time (us)
/// to REPORT.
/// Arguments after [`MEASURE`]: `REPORT PROGRAM ARGS...`.
pub fn measure(mut args: impl Iterator<Item = OsString>) {
    let report = args.next().expect("a report file");
    let program = args.next().expect("a program");
    let limit = Rlimit { current: Some(ADDRESS_SPACE_BYTES), maximum: Some(ADDRESS_SPACE_BYTES) };
    setrlimit(Resource::As, limit).expect("a limit can be lowered");
    let start = Instant::now();
    let status = Command::new(&program).args(args).status();
    let wall = start.elapsed().as_micros();
    let code = match status {
        Ok(status) => status.code().unwrap_or_else(|| -status.signal().unwrap_or(0)),
        Err(error) => {
            eprintln!("{}: {error}", program.to_string_lossy());
            127
        }
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system knows what children took");
    let micros = |time: TimeVal| time.num_microseconds();
    let cpu = micros(usage.user_time()) + micros(usage.system_time());
    fs::write(report, format!("{code} {} {wall} {cpu}", usage.max_rss())).expect("the report can be written");
}

/// Keeps a run-away program from taking the machine with it; the real limit is [`MEMORY_LIMIT_KIB`].
const ADDRESS_SPACE_BYTES: u64 = 6 << 30;
