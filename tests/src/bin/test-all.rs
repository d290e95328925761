//! `cargo test-all`: brings what the tests need, and runs every one of them.
//!
//! On Debian and Ubuntu it installs what is missing (and says so); elsewhere it says what to install. Where the real client or
//! the browser can't be installed, the tests that need them are skipped by name, and so are those of what is compiled to WebAssembly
//! where something for it is missing; with `CI=true` that is a failure.
//! The exit code tells, and the last line counts.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use portaborg_tests::{bare, chromium, peers, trace, wasi, web};

fn main() -> ExitCode {
    let mut all = All { tally: Tally::default(), minutes: Vec::new() };
    all.part("tools", |_| tools());
    all.part("the real client", |all| all.real_client());
    all.part("format", |all| all.check("format", cargo().args(["fmt", "--all", "--check"])));
    all.part("clippy", |all| {
        all.check("clippy", cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]));
    });
    all.part("core without std", |all| {
        for (name, mut command) in bare::checks(&root()) {
            all.check(&name, &mut command);
        }
    });
    all.part("tests", |all| all.tests());
    all.part("documentation", |all| {
        let mut doc = cargo();
        doc.args(["doc", "--workspace", "--no-deps", "--document-private-items"]).env("RUSTDOCFLAGS", DOC_FLAGS);
        all.check("documentation", &mut doc);
    });
    all.finish()
}

/// Links to private items are fine in a page that shows them.
const DOC_FLAGS: &str = "-D warnings -A rustdoc::private-intra-doc-links";

/// What must not be missing where nobody looks at what is skipped.
const REQUIRED: [&str; 4] = [peers::MISSING, chromium::MISSING, wasi::MISSING, web::MISSING];

struct All {
    tally: Tally,
    minutes: Vec<(&'static str, f64)>,
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl All {
    fn part(&mut self, name: &'static str, run: impl FnOnce(&mut Self)) {
        println!("\n== {name}");
        let start = Instant::now();
        run(self);
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        println!("== {name}: {minutes:.1} minutes");
        self.minutes.push((name, minutes));
    }

    /// One command that is one test.
    fn check(&mut self, name: &str, command: &mut Command) {
        let done = command.current_dir(root()).stdin(Stdio::null()).status();
        if done.as_ref().is_ok_and(std::process::ExitStatus::success) {
            self.tally.passed += 1;
            println!("{name}: ok");
        } else {
            self.tally.failed.push(name.to_owned());
            println!("{name}: FAILED{}", done.err().map(|error| format!(" ({error})")).unwrap_or_default());
        }
    }

    /// Installs the real client, where that can be done and was not yet.
    fn real_client(&mut self) {
        if let Some(client) = peers::borg2() {
            return println!("installed: {}", client.path().display());
        }
        if cfg!(target_os = "macos") {
            return println!(
                "To compare with the real client, install it where {} looks for it:\n  brew install python openssl@3 xxhash \
                 lz4 zstd\n  python3 -m venv ~/.cache/borg-peers/venv2\n  ~/.cache/borg-peers/venv2/bin/pip install \
                 borgbackup==2.0.0b25\n  ln -s venv2/bin/borg ~/.cache/borg-peers/borg2",
                peers::folder().display()
            );
        }
        if !Path::new("/etc/debian_version").exists() {
            return println!("not on Debian or Ubuntu: see tests/peers/install.sh for what the real client needs");
        }
        println!("installing Borg 2.0.0b25 into {} (takes a few minutes)", peers::folder().display());
        let mut install = Command::new("bash");
        install.arg(root().join("tests/peers/install.sh")).arg(peers::folder()).stdin(Stdio::null());
        if !install.status().is_ok_and(|status| status.success()) || peers::borg2().is_none() {
            println!("it could not be installed; the tests that compare with it are skipped");
        }
    }

    /// `cargo test`, with its output read: what passed is only counted.
    fn tests(&mut self) {
        let mut command = cargo();
        command.args(["test", "--workspace", "--no-fail-fast", "--", "--show-output"]).current_dir(root());
        let mut child = match command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => return self.tally.failed.push(format!("cargo test ({error})")),
        };
        let mut seen = Seen::default();
        for line in BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok) {
            if seen.take(&line) {
                println!("{line}");
            }
        }
        let good = child.wait().is_ok_and(|status| status.success());
        if !good && seen.failed.is_empty() {
            seen.failed.push("cargo test".to_owned());
        }
        seen.count(&mut self.tally);
    }

    fn finish(self) -> ExitCode {
        let Tally { passed, mut failed, mut skipped } = self.tally;
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            let (missing, others): (Vec<String>, Vec<String>) =
                skipped.into_iter().partition(|line| REQUIRED.iter().any(|missing| line.contains(missing)));
            skipped = others;
            failed.extend(missing);
        }
        println!("\n== minutes");
        for (name, minutes) in &self.minutes {
            println!("{minutes:6.1} {name}");
        }
        println!("{:6.1} all", self.minutes.iter().map(|(_, minutes)| minutes).sum::<f64>());
        if !skipped.is_empty() {
            println!("\n== skipped");
            skipped.iter().for_each(|line| println!("{line}"));
        }
        if !failed.is_empty() {
            println!("\n== failed");
            failed.iter().for_each(|line| println!("{line}"));
        }
        println!("\n{passed} passed, {} failed, {} skipped", failed.len(), skipped.len());
        if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// What the lines of `cargo test` told. A test of the usual harness that can't run here says `SKIPPED name: reason` and
/// counts as passed there, so it is taken out of those; the harness of the fixtures says it and counts it as ignored.
#[derive(Default)]
struct Seen {
    passed: usize,
    failed: Vec<String>,
    ignored: BTreeSet<String>,
    skipped: BTreeSet<(String, String)>,
}

impl Seen {
    /// Reads a line; false if it need not be shown.
    fn take(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("test ") {
            if let Some((name, outcome)) = rest.rsplit_once(" ... ") {
                match outcome.trim() {
                    "ok" => {
                        self.passed += 1;
                        return false;
                    }
                    "FAILED" => self.failed.push(name.to_owned()),
                    outcome if outcome.starts_with("ignored") => drop(self.ignored.insert(name.to_owned())),
                    _ => {}
                }
            }
        } else if let Some((name, reason)) = line.strip_prefix("SKIPPED ").and_then(|rest| rest.split_once(": ")) {
            self.skipped.insert((name.to_owned(), reason.to_owned()));
        }
        !line.trim().is_empty()
    }

    fn count(self, tally: &mut Tally) {
        let said: BTreeSet<&String> = self.skipped.iter().map(|(name, _)| name).collect();
        let counted_as_passed = said.iter().filter(|name| !self.ignored.contains(**name)).count();
        tally.passed += self.passed.saturating_sub(counted_as_passed);
        tally.failed.extend(self.failed);
        let silent = self.ignored.iter().filter(|name| !said.contains(name)).map(|name| format!("{name}: ignored"));
        tally.skipped.extend(silent);
        tally.skipped.extend(self.skipped.iter().map(|(name, reason)| format!("{name}: {reason}")));
    }
}

/// Installs what shows a program's system calls, and a browser, where that can be done and was not yet.
fn tools() {
    tool("strace", trace::is_possible, trace::MISSING);
    tool(chromium::PACKAGE, chromium::is_there, chromium::MISSING);
}

/// Installs a package of Debian's, unless it is there already.
fn tool(package: &str, is_there: fn() -> bool, missing: &str) {
    if is_there() {
        return println!("installed: {package}");
    }
    if !cfg!(target_os = "linux") || !Path::new("/etc/debian_version").exists() {
        return println!("not on Debian or Ubuntu: {package} is not installed");
    }
    let mut install = Command::new("bash");
    install.arg(root().join("tests/peers/packages.sh")).arg(package).stdin(Stdio::null());
    if !install.status().is_ok_and(|status| status.success()) || !is_there() {
        println!("{missing}");
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_counted_once() {
        let mut seen = Seen::default();
        for line in [
            "test good/series ... ok",
            "test peer/series ... ignored",
            "SKIPPED peer/series: no client",
            "test says_so_itself ... ok",
            "SKIPPED says_so_itself: no device",
            "test slow ... ignored",
            "test broken ... FAILED",
        ] {
            seen.take(line);
        }
        let mut tally = Tally::default();
        seen.count(&mut tally);
        assert_eq!((tally.passed, tally.failed.len(), tally.skipped.len()), (1, 1, 3));
    }
}
