//! The npm package as its users have it: built, packed, installed into an empty folder, and run by Node over every fixture.
//!
//! `npm/good/NAME` compares every item, attribute and byte with what the kit knows; `npm/damaged/NAME` wants an error with a
//! code for whatever is wrong, and right contents for all else; `npm/software/NAME` does without Web Crypto; `npm/use/...` tries
//! what no fixture is about; `npm/workers/...` compares several workers with one; `npm/types/...` compiles its types;
//! `npm/write/SUITE` has Node write a repository, and both programs read it.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use portaborg_tests::client::{Client, PASSPHRASE};
use portaborg_tests::dice::Dice;
use portaborg_tests::fixture::{self, Fixture};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::tree;
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
        for encryption in ENCRYPTIONS {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/workers/{encryption}"), move |findings| {
                let made = web::long_contents(encryption);
                let args = [&made.path().join("repo"), &made.path().join("expected.json")];
                let add = |node: &mut Command| {
                    node.args(args);
                };
                installed.node(&["node.mjs", "workers.mjs"], add, findings);
            }));
        }
        for (name, options) in RESOLUTIONS {
            let installed = Arc::clone(&installed);
            trials.push(Trial::new(format!("npm/types/{name}"), move |findings| installed.compile(options, findings)));
        }
        for suite in SUITES {
            let installed = Arc::clone(&installed);
            let name = format!("npm/write/{}-{}", suite.encryption, suite.id_hash);
            trials.push(Trial::new(name, move |findings| write(&installed, suite, findings)));
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
    fn run(&self, script: &[&str], fixture: &Fixture, options: &str, findings: &mut Findings) {
        let unpacked = fixture.unpack();
        let change = |node: &mut Command| {
            node.env("NODE_OPTIONS", options).arg(unpacked.repository());
            node.arg(fixture::folder().join(format!("{}.expected.json", fixture.name)));
            node.args(web::key_file(fixture, &unpacked));
        };
        self.node(script, change, findings);
    }

    /// Runs a script, with what is added to its call.
    fn node(&self, script: &[&str], add: impl FnOnce(&mut Command), findings: &mut Findings) {
        let Some(folder) = self.folder(findings) else { return };
        let mut node = Command::new("node");
        add(node.args(script).current_dir(folder));
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
    fn folder(&self, findings: &mut Findings) -> Option<&Path> {
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

/// A repository that Node writes, with archives of one tree by several compressions.
struct Suite {
    encryption: &'static str,
    id_hash: &'static str,
    compressions: &'static str,
    chunker_params: &'static str,
}

/// Node makes a repository and archives of a tree; both programs verify it, list it, and extract what was archived; what they
/// make of the same tree are the same chunks; and Node removes that again.
fn write(installed: &Installed, suite: &Suite, findings: &mut Findings) {
    let Some(folder) = installed.folder(findings) else { return };
    let scratch = Scratch::new("npm-write");
    let sources = scratch.folder("sources");
    make_tree(&sources.join("src"));
    let repository = scratch.path().join("repository");
    let Suite { encryption, id_hash, compressions, chunker_params } = suite;
    let wishes = format!(
        r#"{{ "passphrase": "{PASSPHRASE}", "encryption": "{encryption}", "idHash": "{id_hash}",
        "compressions": {compressions}, "chunkerParams": "{chunker_params}" }}"#
    );
    let script = |what: &str| {
        let mut node = Command::new("node");
        node.args(["write.mjs", what]).arg(&repository).arg(&wishes).arg(&sources).current_dir(folder);
        let output = node.stdin(Stdio::null()).output().expect("Node is there");
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(output.status.success(), "write.mjs {what}: {}\n{}", output.status, said[1]);
        said[0].clone()
    };
    let made: serde_json::Value = serde_json::from_str(&script("make")).unwrap_or_default();
    let ids: Vec<String> =
        made.as_array().into_iter().flatten().filter_map(|made| made["id"].as_str()).map(Into::into).collect();
    if ids.is_empty() {
        return findings.wrong("no archive was made");
    }
    let wanted = facts(&tree::read(&sources.join("src")));
    let ours = Client::ours(&scratch, &repository).env("BORG_TESTONLY_WEAKEN_KDF", "0");
    let peer = peers::borg2().map(|peer| Client::new(peer, &repository, &scratch.folder("base-of-peer")));
    let peer = peer.map(|peer| peer.env("BORG_TESTONLY_WEAKEN_KDF", "0"));
    for client in [Some(&ours), peer.as_ref()].into_iter().flatten() {
        client.verify();
        for id in &ids {
            let into = scratch.path().join(format!("by-{}-{id}", client.name().replace(' ', "-")));
            findings.check(facts(&client.extract(id, &into, "src")) == wanted, || {
                format!("{}: other files", client.name())
            });
            findings.check(client.list(id).lines().count() == wanted.len(), || "other items".into());
        }
        let _ = client.create(&["--chunker-params", chunker_params], &sources, "src");
    }
    findings.extend(script("compare").lines().map(str::to_owned));
    findings.extend(script("remove").lines().map(str::to_owned));
    for client in [Some(&ours), peer.as_ref()].into_iter().flatten() {
        client.verify();
        findings.check(client.archives().into_iter().eq([ids[0].clone()]), || "other archives are left".into());
    }
}

/// What an entry of the script has: path, mode, owner, digest of the content, time of change, and target.
type Facts = (Vec<u8>, u32, u32, Option<String>, i128, Option<Vec<u8>>);

fn facts(tree: &tree::Tree) -> Vec<Facts> {
    let fact = |(path, node): (&Vec<u8>, &tree::Node)| {
        (path.clone(), node.mode, node.uid, node.sha256.clone(), node.mtime_ns, node.target.clone())
    };
    tree.iter().map(fact).collect()
}

/// Files of every length that matters to a chunker, links and folders.
fn make_tree(folder: &Path) {
    let mut dice = Dice::new(5);
    let text: Vec<u8> = (0..200_000).flat_map(|line| format!("{line} {}\n", line * line % 997).into_bytes()).collect();
    fs::create_dir_all(folder.join("deep/er")).expect("a new folder can be made");
    let noise = dice.bytes(5_000_000);
    for (name, content) in [
        ("empty", &b""[..]),
        ("small", b"x"),
        ("text", &text),
        ("deep/noise", &noise),
        ("deep/er/both", &[&text[..400_001], &noise[..900_000], &vec![0; 3_000_000]].concat()),
    ] {
        fs::write(folder.join(name), content).expect("a new folder can be written");
    }
    std::os::unix::fs::symlink("small", folder.join("link")).expect("a link can be made");
}

/// Repositories that several workers read: Web Crypto decrypts the one, and software the other.
const ENCRYPTIONS: [&str; 2] = ["aes256-ocb", "chacha20-poly1305"];

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
const CASES: &[&str] = &["cancel", "close", "http", "mistakes", "restore", "writing"];
const USED: &str = "mode-aes256-ocb-sha256-repokey";

/// What repositories Node writes.
const SUITES: &[Suite] = &[
    Suite {
        encryption: "aes256-ocb",
        id_hash: "sha256",
        compressions: r#"[null, "lz4", "zstd,-4"]"#,
        chunker_params: "fastcdc,19,23,21,2",
    },
    Suite {
        encryption: "chacha20-poly1305",
        id_hash: "blake3",
        compressions: r#"["auto,zstd,4", "zlib,1"]"#,
        chunker_params: "buzhash,10,17,15,4095",
    },
    Suite {
        encryption: "authenticated-blake3",
        id_hash: "blake3",
        compressions: r#"["obfuscate,110,none"]"#,
        chunker_params: "fixed,1048576",
    },
];
