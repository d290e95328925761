//! How many workers write archives and packs anew changes nothing of what comes of it, nor of what is told.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use portaborg_tests::client::Client;
use portaborg_tests::dice::Dice;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::program::{Outcome, Program};
use portaborg_tests::scratch::Scratch;
use portaborg_tests::source;
use portaborg_tests::tree::{self, Tree};

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Trial::new("workers_rewrite/recreate-cut-anew", cut_anew),
            Trial::new("workers_rewrite/recreate-as-they-are", left_as_they_are),
            Trial::new("workers_rewrite/recreate-damaged", damage_is_told),
            Trial::new("workers_rewrite/repo-compress", compressed_anew),
        ]
    })
}

const WORKERS: [&str; 5] = ["0", "1", "2", "8", "8"];
/// The archive's metadata has times in it, and another length each time; it has a pack of its own.
const METADATA_BYTES: u64 = 3000;

fn cut_anew(findings: &mut Findings) {
    for chunker in ["fastcdc,10,16,13,2", "buzhash,19,23,21,4095", "fixed,70000,512"] {
        let mut trial = World::new("workers-cut");
        let options = ["--compression", "lz4", "--chunker-params", chunker];
        let all = trial.with_all_workers(&[&["recreate", "--list"], &options[..]].concat(), true);
        let (first, lines) = (&all[0], all[0].told.lines().count());
        findings.check(first.code == Some(0) && lines > 900, || format!("{chunker}: {:?}, {lines} lines", first.code));
        findings.check(first.packs.len() >= 10, || format!("{chunker}: {} packs", first.packs.len()));
        let contents = contents(&tree::read(&trial.scratch.path().join("source")));
        findings.check(first.contents == contents, || format!("{chunker}: other contents come out"));
        all_equal(&all, findings);
    }
}

fn left_as_they_are(findings: &mut Findings) {
    let mut world = World::new("workers-left");
    let args = ["recreate", "--list", "--exclude", "source/small/7", "--exclude-if-present", "5"];
    let all = world.with_all_workers(&args, true);
    let excluded = all[0].told.lines().filter(|line| line.starts_with("- ")).count();
    findings.check(all[0].code == Some(0) && excluded > 50, || format!("{excluded} are excluded"));
    all_equal(&all, findings);
}

/// What came before the damage is told and stored, and the archive stays.
fn damage_is_told(findings: &mut Findings) {
    let mut world = World::new("workers-damaged");
    world.damage(&world.original);
    let args = ["recreate", "--list", "--compression", "none", "--chunker-params", "fastcdc,10,16,13,2"];
    let all = world.with_all_workers(&args, false);
    let told = &all[0].told;
    findings.check(all[0].code == Some(90) && told.contains("The archive is left as it is."), || told.clone());
    all_equal(&all, findings);
}

fn compressed_anew(findings: &mut Findings) {
    for compression in ["zlib,1", "auto,lz4", "none"] {
        let mut world = World::new("workers-compress");
        let all = world.with_all_workers(&["repo-compress", "--stats", "--compression", compression], true);
        findings.check(all[0].code == Some(0) && all[0].told.contains(" rewritten."), || all[0].told.clone());
        let contents = contents(&tree::read(&world.scratch.path().join("source")));
        findings.check(all[0].contents == contents, || format!("{compression}: other contents come out"));
        all_equal(&all, findings);
    }
}

fn all_equal(all: &[Result], findings: &mut Findings) {
    for (other, workers) in all.iter().zip(WORKERS).skip(1) {
        let first = &all[0];
        let parts = [
            ("told", first.told == other.told && first.code == other.code),
            ("listed", first.listing == other.listing),
            ("extracted", first.contents == other.contents),
            ("stored", first.packs == other.packs),
        ];
        for (what, _) in parts.into_iter().filter(|(_, is_equal)| !is_equal) {
            findings.wrong(format!("with {workers} workers something else is {what}"));
        }
    }
}

/// A repository of which each number of workers gets a copy.
struct World {
    scratch: Scratch,
    original: PathBuf,
    runs: usize,
}

/// What came of a command.
struct Result {
    code: Option<i32>,
    told: String,
    listing: String,
    contents: BTreeSet<(Vec<u8>, Option<String>)>,
    packs: Vec<u64>,
}

impl World {
    /// With an archive `one` of files of all sizes, in many packs.
    fn new(name: &str) -> World {
        let scratch = Scratch::new(name);
        fill(&scratch.folder("source"));
        let original = scratch.path().join("repository");
        let ours = Client::ours(&scratch, &original).env("BORG_PACK_MAX_SIZE", "3000000");
        ours.ok(&["repo-create", "--encryption", "authenticated-sha256"]);
        let args = ["create", "--compression", "lz4", "--chunker-params", "fastcdc,12,18,15,2", "one", "source"];
        ours.succeeds(ours.call(args).within(scratch.path()));
        World { scratch, original, runs: 0 }
    }

    fn with_all_workers(&mut self, args: &[&str], extracts: bool) -> Vec<Result> {
        WORKERS.iter().map(|workers| self.with_workers(workers, args, extracts)).collect()
    }

    fn with_workers(&mut self, workers: &str, args: &[&str], extracts: bool) -> Result {
        self.runs += 1;
        let copy = self.scratch.path().join(format!("copy-{}", self.runs));
        let copied = Command::new("cp").arg("-r").arg(&self.original).arg(&copy).status();
        assert!(copied.is_ok_and(|status| status.success()), "a folder can be copied");
        let base = self.scratch.folder(&format!("base-{}", self.runs));
        let client = Client::new(Program::portaborg().patient(), &copy, &base)
            .env("BORG_PACK_MAX_SIZE", "300000")
            .env("BORG_EXTRACT_WORKERS", workers)
            .env("BORG_CREATE_WORKERS", workers);
        let Outcome { code, stderr, .. } = client.call(args).run();
        let told = String::from_utf8_lossy(&stderr).replace(&*copy.to_string_lossy(), "REPOSITORY");
        let listing = client.ok(&["list", "--format", "{path} {size} {num_chunks} {fingerprint}{NL}", "one"]).out();
        let contents = if extracts { self.extracted(&client) } else { BTreeSet::new() };
        let packs = packs(&copy).into_iter().map(|(len, _)| len).filter(|len| *len > METADATA_BYTES).collect();
        if extracts {
            client.verify();
        }
        fs::remove_dir_all(copy).expect("a copy can be removed");
        Result { code, told, listing, contents, packs }
    }

    fn extracted(&self, client: &Client) -> BTreeSet<(Vec<u8>, Option<String>)> {
        let folder = self.scratch.folder(&format!("out-{}", self.runs));
        client.succeeds(client.call(["extract", "one"]).within(&folder));
        contents(&tree::read(&folder.join("source")))
    }

    /// Changes bytes in the middle of a pack of contents.
    fn damage(&self, repository: &Path) {
        let (len, path) = packs(repository).pop().expect("there are packs");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let file = File::options().write(true).open(path).expect("it can be written");
        file.write_all_at(&[0x5a; 64], len / 2).expect("it can be written");
    }
}

/// Files that are shorter than a chunk, some that have many, and one that is longer than all buffers.
fn fill(folder: &Path) {
    source::make(folder);
    let mut dice = Dice::new(9);
    for number in 0..700 {
        let sub = folder.join(format!("small/{}", number % 23));
        fs::create_dir_all(&sub).expect("a scratch folder can be written");
        let len = number * 61 % 9000;
        fs::write(sub.join(format!("{number}")), dice.bytes(len)).expect("a scratch folder can be written");
    }
    for (name, len) in [("long", 21_000_000), ("middle", 3_000_000), ("short", 200_000)] {
        fs::write(folder.join("small/3").join(name), dice.bytes(len)).expect("a scratch folder can be written");
    }
    fs::write(folder.join("small/4/zeros"), vec![0; 9_000_000]).expect("a scratch folder can be written");
}

fn contents(tree: &Tree) -> BTreeSet<(Vec<u8>, Option<String>)> {
    tree.iter().map(|(path, node)| (path.clone(), node.sha256.clone())).collect()
}

/// All packs, in the order of their lengths.
fn packs(repository: &Path) -> Vec<(u64, PathBuf)> {
    let (mut packs, mut folders) = (Vec::new(), vec![repository.join("packs")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is there") {
            let entry = entry.expect("it can be read");
            let metadata = entry.metadata().expect("it can be read");
            if metadata.is_dir() { folders.push(entry.path()) } else { packs.push((metadata.len(), entry.path())) }
        }
    }
    packs.sort();
    packs
}
