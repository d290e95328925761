//! The npm package as its users have it: built, packed, installed into an empty folder, and run by Node over every fixture.
//!
//! `npm/good/NAME` compares every item, attribute and byte with what the kit knows; `npm/damaged/NAME` wants an error with a
//! code for whatever is wrong, and right contents for all else; `npm/software/NAME` does without Web Crypto; `npm/use/...` tries
//! what no fixture is about.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use portaborg_tests::fixture::{self, Fixture};
use portaborg_tests::harness::{self, Findings, Trial};
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
                installed.run(&format!("{group}.mjs"), &fixture, "", findings);
            }));
        }
        for name in LONG_CHUNKS {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/software/{name}"), move |findings| {
                installed.run("good.mjs", &fixture::named(name), NO_WEB_CRYPTO, findings);
            }));
        }
        for case in CASES {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/use/{case}"), move |findings| {
                installed.run(&format!("{case}.mjs"), &fixture::named(USED), "", findings);
            }));
        }
        trials
    })
}

/// The folder into which the package is installed, made when the first test needs it.
#[derive(Default)]
struct Installed {
    obstacle: OnceLock<Option<String>>,
    folder: OnceLock<Result<Scratch, String>>,
}

impl Installed {
    /// Runs a script on a fixture, with options for Node. What it prints is wrong.
    fn run(&self, script: &str, fixture: &Fixture, options: &str, findings: &mut Findings) {
        if let Some(obstacle) = self.obstacle.get_or_init(web::obstacle) {
            return findings.skip(obstacle);
        }
        let folder = match self.folder.get_or_init(install) {
            Ok(folder) => folder.path(),
            Err(error) => return findings.wrong(error.as_str()),
        };
        let unpacked = fixture.unpack();
        let mut node = Command::new("node");
        node.env("NODE_OPTIONS", options).env("XDG_CACHE_HOME", folder.join("cache"));
        node.arg(script).arg(unpacked.repository());
        node.arg(fixture::folder().join(format!("{}.expected.json", fixture.name)));
        node.args(key(fixture, &unpacked)).current_dir(folder).stdin(Stdio::null());
        let output = match node.output() {
            Ok(output) => output,
            Err(error) => return findings.wrong(format!("node: {error}")),
        };
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        findings.extend(said.iter().flat_map(|text| text.lines()).map(str::to_owned));
        findings.check(output.status.success(), || format!("{script}: {}", output.status));
    }
}

fn install() -> Result<Scratch, String> {
    let package = web::build()?;
    let folder = Scratch::new("npm");
    web::install(&package, folder.path())?;
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("npm");
    let failed = |error: std::io::Error| format!("{}: {error}", scripts.display());
    for entry in fs::read_dir(&scripts).map_err(failed)? {
        let script = entry.map_err(failed)?.path();
        let name = script.file_name().expect("an entry of a folder has a name");
        fs::copy(&script, folder.path().join(name)).map_err(failed)?;
    }
    Ok(folder)
}

/// The file with the key, where it isn't in the repository.
fn key(fixture: &Fixture, unpacked: &fixture::Unpacked) -> Option<PathBuf> {
    if let Some(keys) = unpacked.keys() {
        let mut files: Vec<PathBuf> = fs::read_dir(keys).ok()?.filter_map(|file| Some(file.ok()?.path())).collect();
        files.sort();
        return files.into_iter().next();
    }
    let text = fixture.expected.key_text.as_ref().filter(|_| fixture.name == "keys-exported")?;
    let file = unpacked.scratch().path().join("exported");
    fs::write(&file, text).expect("a new folder can be written");
    Some(file)
}

/// Fixtures whose chunks are long enough for Web Crypto, and what makes Node do without it.
const LONG_CHUNKS: [&str; 2] = ["chunkers-default", "oddtree"];
const NO_WEB_CRYPTO: &str = "--no-experimental-global-webcrypto";
/// Scripts for what no fixture is about, and the fixture that they use.
const CASES: &[&str] = &["cancel", "http", "item-cache", "mistakes", "restore"];
const USED: &str = "mode-aes256-ocb-sha256-repokey";
