//! The npm package in a real browser: Chromium without a window, one for all tests.
//!
//! `browser/good/NAME` and `browser/damaged/NAME` run the scripts that Node runs, in a page: every fixture, in turn from the origin's
//! private file system, from chosen files and over HTTP, with one worker and with several, and in pages that are isolated from other
//! origins and in ones that aren't. `browser/workers/...` and `browser/shared/...` compare several workers with one, and
//! `browser/bundled` opens a page that Vite made of the package.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use portaborg_tests::chromium::{self, Chromium};
use portaborg_tests::fixture::{self, Fixture};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::scratch::Scratch;
use portaborg_tests::web;
use serde_json::json;

fn main() -> ExitCode {
    harness::main(|| {
        let browser = Arc::new(Browser::default());
        let mut trials = Vec::new();
        for (number, fixture) in fixture::all().into_iter().enumerate() {
            let group = if fixture.expected.is_negative() { "damaged" } else { "good" };
            let browser = Arc::clone(&browser);
            trials.push(Trial::new(format!("browser/{group}/{}", fixture.name), move |findings| {
                browser.read(&format!("{group}.mjs"), &fixture, number, findings);
            }));
        }
        for (source, threads) in [("handle", "workers"), ("http", "shared")] {
            let browser = Arc::clone(&browser);
            trials.push(Trial::new(format!("browser/{threads}/{source}"), move |findings| {
                browser.workers(source, threads, findings);
            }));
        }
        trials.push(Trial::new("browser/bundled", move |findings| browser.bundled(findings)));
        trials
    })
}

/// The browser, and the folder with the package, made when the first test needs them.
#[derive(Default)]
struct Browser {
    obstacle: OnceLock<Option<String>>,
    started: OnceLock<Result<(Chromium, Scratch), String>>,
}

/// How a fixture is read; the numbers of ways have no common divisor with each other.
const SOURCES: [&str; 3] = ["handle", "files", "http"];
const WORKERS: [usize; 2] = [1, 2];
const ISOLATED: [bool; 5] = [true, false, true, false, false];

impl Browser {
    /// Runs a script on a fixture, in one of all ways.
    fn read(&self, script: &str, fixture: &Fixture, way: usize, findings: &mut Findings) {
        let Some((chromium, _)) = self.started(findings) else { return };
        let unpacked = fixture.unpack();
        let key = web::key_file(fixture, &unpacked).map(|file| fs::read_to_string(file).expect("a key is a text"));
        let isolated = ISOLATED[way % ISOLATED.len()];
        findings.extend(chromium.run(json!({
            "script": script,
            "source": SOURCES[way % SOURCES.len()],
            "workers": WORKERS[way % WORKERS.len()],
            "threads": if isolated { "shared" } else { "workers" },
            "isolated": isolated,
            "root": text(&unpacked.repository()),
            "expected": text(&fixture::folder().join(format!("{}.expected.json", fixture.name))),
            "key": key,
        })));
    }

    /// Compares several workers with one.
    fn workers(&self, source: &str, threads: &str, findings: &mut Findings) {
        let Some((chromium, _)) = self.started(findings) else { return };
        let made = web::long_contents("aes256-ocb");
        let (root, expected) = (made.path().join("repo"), made.path().join("expected.json"));
        let job = json!({
            "script": "workers.mjs",
            "source": source,
            "threads": threads,
            "isolated": true,
            "root": text(&root),
            "expected": text(&expected),
        });
        findings.extend(chromium.run(job));
    }

    /// Bundles a page that uses the package, and opens it.
    fn bundled(&self, findings: &mut Findings) {
        let Some((chromium, folder)) = self.started(findings) else { return };
        let (page, made) = (folder.path().join("vite"), folder.path().join("bundled"));
        let vite = match web::packages(&[VITE]) {
            Ok(packages) => packages.join("node_modules/vite/bin/vite.js"),
            Err(error) => return findings.wrong(error),
        };
        let mut node = Command::new("node");
        node.arg(vite).args(["build", "--logLevel", "warn", "--base", "./", "--outDir"]).arg(&made).current_dir(page);
        match node.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => return findings.wrong(String::from_utf8_lossy(&output.stderr)),
            Err(error) => return findings.wrong(format!("node: {error}")),
        }
        let (fixture, unpacked) = (fixture::named(BUNDLED), Scratch::new("bundled"));
        fixture.unpack_into(unpacked.path());
        fs::rename(unpacked.path().join("repo"), made.join("repository")).expect("both are folders of this test");
        let expected = fixture::folder().join(format!("{BUNDLED}.expected.json"));
        fs::copy(expected, made.join("expected.json")).expect("a new folder can be written");
        findings.extend(chromium.run(json!({ "root": text(&made), "page": "index.html" })));
    }

    /// The browser, and the folder with the package.
    fn started(&self, findings: &mut Findings) -> Option<&(Chromium, Scratch)> {
        let obstacle = || web::obstacle().or_else(|| (!chromium::is_there()).then(|| chromium::MISSING.to_owned()));
        if let Some(obstacle) = self.obstacle.get_or_init(obstacle) {
            findings.skip(obstacle);
            return None;
        }
        let start = || {
            let folder = web::installed()?;
            Ok((Chromium::start(folder.path())?, folder))
        };
        match self.started.get_or_init(start) {
            Ok(started) => Some(started),
            Err(error) => {
                findings.wrong(error.as_str());
                None
            }
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What bundles the page.
const VITE: &str = "vite@7.3.8";
/// The fixture that it reads.
const BUNDLED: &str = "mode-aes256-ocb-blake3-repokey";
