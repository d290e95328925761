//! The npm package as its users have it: built, packed, installed into an empty folder, and run by Node over every fixture.
//!
//! `npm/good/NAME` compares every item, attribute and byte with what the kit knows; `npm/damaged/NAME` wants an error with a
//! code for whatever is wrong, and right contents for all else; `npm/software/NAME` does without Web Crypto; `npm/use/...` tries
//! what no fixture is about; `npm/workers/...` and `npm/shared/...` compare several workers with one; `npm/types/...` compiles its
//! types; `npm/write/SUITE` has Node write a repository, and both programs read it; `npm/made/...` use repositories that are made for
//! them, the real client's word against ours.

mod made;
mod write;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use portaborg_tests::client::PASSPHRASE;
use portaborg_tests::fixture::{self, Fixture};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::web;

fn main() -> ExitCode {
    harness::main(|| {
        let installed = Arc::new(Installed::default());
        let mut trials = Vec::new();
        for fixture in fixture::all() {
            let installed = Arc::clone(&installed);
            let group = if fixture.expected.is_negative() { "damaged" } else { "good" };
            trials.push(Trial::new(format!("npm/{group}/{}", fixture.name), move |findings| {
                installed.run(&["node.mjs", &format!("{group}.mjs")], &fixture, "", findings);
            }));
        }
        for name in LONG_CHUNKS {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/software/{name}"), move |findings| {
                installed.run(&["node.mjs", "good.mjs"], &fixture::named(name), NO_WEB_CRYPTO, findings);
            }));
        }
        for case in CASES {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/use/{case}"), move |findings| {
                installed.run(&[&format!("{case}.mjs")], &fixture::named(USED), "", findings);
            }));
        }
        for (encryption, threads) in ENCRYPTIONS.into_iter().flat_map(|one| THREADS.map(|threads| (one, threads))) {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/{threads}/{encryption}"), move |findings| {
                let made = web::long_contents(encryption);
                let args = [&made.path().join("repo"), &made.path().join("expected.json")];
                let add = |node: &mut Command| {
                    node.args(args).env("THREADS", threads);
                };
                installed.node(&["node.mjs", "workers.mjs"], add, findings);
            }));
        }
        for (name, options) in RESOLUTIONS {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/types/{name}"), move |findings| installed.compile(options, findings)));
        }
        for suite in write::SUITES {
            let installed = Arc::clone(&installed);
            let name = format!("npm/write/{}", suite.name());
            trials.push(Trial::new(name, move |findings| write::write(&installed, suite, findings)));
        }
        for (name, make) in made::MADE {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/made/{name}"), move |findings| {
                installed.run_made(&format!("{name}.mjs"), make, findings);
            }));
        }
        trials
    })
}

/// The folder into which the package is installed, made when the first test needs it.
#[derive(Default)]
pub struct Installed {
    obstacle: OnceLock<Option<String>>,
    folder: OnceLock<Result<Scratch, String>>,
}

impl Installed {
    /// Runs a script on a fixture, with options for Node. What it prints is wrong.
    fn run(&self, script: &[&str], fixture: &Fixture, options: &str, findings: &mut Findings) {
        let unpacked = fixture.unpack();
        let change = |node: &mut Command| {
            node.env("NODE_OPTIONS", options).arg(unpacked.repository());
            node.arg(fixture::folder().join(format!("{}.expected.json", fixture.name)));
            node.args(web::key_file(fixture, &unpacked));
            let borgstore = peers::folder().join("venv2/bin/borgstore-server-rest");
            if borgstore.exists() {
                node.env("BORGSTORE", borgstore);
            }
        };
        self.node(script, change, findings);
    }

    /// Runs a script on a repository that is made for it.
    fn run_made(&self, script: &str, make: made::Make, findings: &mut Findings) {
        if self.folder(findings).is_none() {
            return;
        }
        let scratch = Scratch::new("npm-made");
        match make(&scratch) {
            Ok(made) => {
                let change = |node: &mut Command| {
                    node.args(made.args).env("BORG_PASSPHRASE", PASSPHRASE).envs(made.environment);
                };
                self.node(&[script], change, findings);
            }
            Err(obstacle) => findings.skip(obstacle),
        }
    }

    /// Runs a script, with what is added to its call.
    fn node(&self, script: &[&str], add: impl FnOnce(&mut Command), findings: &mut Findings) {
        let Some(folder) = self.folder(findings) else { return };
        let mut node = Command::new("node");
        node.args(script).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
        add(&mut node);
        says_nothing(&mut node, findings);
    }

    /// Compiles every call of the package, as strictly as can be.
    fn compile(&self, options: [&str; 4], findings: &mut Findings) {
        let Some(folder) = self.folder(findings) else { return };
        let compiler = match web::packages(&[TYPESCRIPT]) {
            Ok(packages) => packages.join("node_modules/typescript/bin/tsc"),
            Err(error) => return findings.wrong(error),
        };
        let mut node = Command::new("node");
        node.arg(compiler).args(["--strict", "--noEmit", "--target", "es2022", "--lib"]);
        node.arg("es2022,dom,dom.iterable,dom.asynciterable").args(options).arg("usage.ts").current_dir(folder);
        says_nothing(&mut node, findings);
    }

    /// Where the package is installed.
    pub fn folder(&self, findings: &mut Findings) -> Option<&Path> {
        if let Some(obstacle) = self.obstacle.get_or_init(web::obstacle) {
            findings.skip(obstacle);
            return None;
        }
        match self.folder.get_or_init(web::installed) {
            Ok(folder) => Some(folder.path()),
            Err(error) => {
                findings.wrong(error.as_str());
                None
            }
        }
    }
}

/// Runs a program; what it prints is wrong.
fn says_nothing(program: &mut Command, findings: &mut Findings) {
    match program.stdin(Stdio::null()).output() {
        Ok(output) => {
            let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            findings.extend(said.iter().flat_map(|text| text.lines()).map(str::to_owned));
            findings.check(output.status.success(), || format!("{program:?}: {}", output.status));
        }
        Err(error) => findings.wrong(format!("{program:?}: {error}")),
    }
}

/// Repositories that several workers read: Web Crypto decrypts the one, and software the other.
const ENCRYPTIONS: [&str; 2] = ["aes256-ocb", "chacha20-poly1305"];

/// What they are: with a module each, or threads of one.
const THREADS: [&str; 2] = ["workers", "shared"];

/// What compiles TypeScript.
const TYPESCRIPT: &str = "typescript@5.9.3";
/// How it finds packages: as Node does, and as bundlers do.
const RESOLUTIONS: [(&str, [&str; 4]); 2] = [
    ("node", ["--module", "nodenext", "--moduleResolution", "nodenext"]),
    ("bundler", ["--module", "esnext", "--moduleResolution", "bundler"]),
];

/// Fixtures whose chunks are long enough for Web Crypto, and what makes Node do without it.
const LONG_CHUNKS: [&str; 2] = ["chunkers-default", "oddtree"];
const NO_WEB_CRYPTO: &str = "--no-experimental-global-webcrypto";
/// Scripts for what no fixture is about, and the fixture that they use.
const CASES: &[&str] = &["cancel", "close", "http", "item-cache", "mistakes", "restore", "writing"];
const USED: &str = "mode-aes256-ocb-sha256-repokey";
