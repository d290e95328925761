//! How many workers make an archive changes nothing of it: not its items, not the chunks, not what is told.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode};

use portaborg_tests::client::{Client, Pair};
use portaborg_tests::dice::Dice;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::source;

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Trial::new("workers_create/archives", archives_are_the_same),
            Trial::new("workers_create/lines", lines_are_in_order),
            Trial::new("workers_create/full-packs", packs_are_the_same),
        ]
    })
}

const WORKERS: [&str; 3] = ["1", "2", "8"];
const CHUNKERS: [&str; 4] = ["fastcdc,10,16,13,2", "fastcdc,19,23,21,2", "buzhash,10,16,13,4095", "fixed,65536,512"];

/// Small files, several names of one, links, and files that are too long for one worker.
fn fill(folder: &Path) {
    source::make(folder);
    let mut dice = Dice::new(5);
    for number in 0..700 {
        let sub = folder.join(format!("small/{}", number % 23));
        fs::create_dir_all(&sub).expect("a scratch folder can be written");
        let len = number * 61 % 9000;
        fs::write(sub.join(format!("{number}")), dice.bytes(len)).expect("a scratch folder can be written");
    }
    fs::write(folder.join("small/3/long"), dice.bytes(21_000_000)).expect("a scratch folder can be written");
    fs::write(folder.join("small/3/middle"), dice.bytes(3_000_000)).expect("a scratch folder can be written");
    fs::write(folder.join("small/4/zeros"), vec![0; 9_000_000]).expect("a scratch folder can be written");
    fs::hard_link(folder.join("small/3/middle"), folder.join("small/20/other")).expect("file systems have hard links");
    symlink("3", folder.join("small/to")).expect("file systems have symlinks");
}

fn with_workers(client: &Client, workers: &str) -> Client {
    client.clone().env("BORG_CREATE_WORKERS", workers)
}

fn archives_are_the_same(findings: &mut Findings) {
    let scratch = Scratch::new("workers_create");
    let Some(Pair { ours, peer }) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        return findings.skip(peers::MISSING);
    };
    fill(&scratch.folder("source"));
    ours.ok(&["repo-create", "--encryption", "aes256-ocb"]);
    for chunker in CHUNKERS {
        let options = ["--chunker-params", chunker, "--files-cache", "disabled", "--compression", "lz4"];
        let by_peer = peer.create(&options, scratch.path(), "source");
        let expected = listing(&peer, &by_peer);
        for workers in WORKERS {
            let id = with_workers(&ours, workers).create(&options, scratch.path(), "source");
            let found = listing(&peer, &id);
            findings.check(found == expected, || format!("{chunker} with {workers} workers differs"));
        }
    }
    peer.verify();
}

/// The fingerprint is made of all chunk ids.
fn listing(client: &Client, id: &str) -> String {
    client.ok(&["list", "--format", "{type} {path} {size} {num_chunks} {fingerprint}{NL}", &format!("aid:{id}")]).out()
}

fn lines_are_in_order(findings: &mut Findings) {
    let scratch = Scratch::new("workers-lines");
    let ours = Client::ours(&scratch, &scratch.path().join("repository"));
    let folder = scratch.folder("source");
    fill(&folder);
    ours.ok(&["repo-create", "--encryption", "authenticated-blake3"]);
    let told = |workers: &str, series: &str| {
        let args = ["create", "--list", "--exclude", "source/small/7", series, "source"];
        ours.succeeds(with_workers(&ours, workers).call(args).within(scratch.path())).err()
    };
    let first = told("1", "a");
    findings.check(first.lines().count() > 900, || format!("{} lines", first.lines().count()));
    for workers in &WORKERS[1..] {
        let again = told(workers, &format!("b{workers}"));
        findings.check(again == first, || format!("with {workers} workers other lines are told"));
    }
    let unchanged = told("1", "a");
    findings.check(unchanged.contains("U source/small/3/long"), || "nothing was remembered".into());
    let again = told("8", "b8");
    findings.check(again == unchanged, || "with 8 workers other files are unchanged".into());
}

/// With many small packs it would show if objects or packs overtook one another.
fn packs_are_the_same(findings: &mut Findings) {
    let scratch = Scratch::new("workers-packs");
    fill(&scratch.folder("source"));
    let original = Client::ours(&scratch, &scratch.path().join("repository"));
    original.ok(&["repo-create", "--encryption", "authenticated-sha256"]);
    let mut all = BTreeSet::new();
    for workers in WORKERS {
        // Another repository has other secrets, and is cut elsewhere.
        let copy = scratch.path().join(format!("copy-{workers}"));
        let copied = Command::new("cp").arg("-r").arg(original.repository()).arg(&copy).status();
        assert!(copied.is_ok_and(|status| status.success()), "a folder can be copied");
        let base = scratch.folder(&format!("base-{workers}"));
        let client = Client::new(Program::portaborg().patient(), &copy, &base).env("BORG_PACK_MAX_SIZE", "300000");
        let client = with_workers(&client, workers);
        client.create(&["--compression", "none", "--files-cache", "disabled"], scratch.path(), "source");
        client.verify();
        let mut lengths = Vec::new();
        collect(&copy.join("packs"), &mut lengths);
        lengths.sort_unstable();
        findings.check(lengths.len() > 10, || format!("{} packs", lengths.len()));
        all.insert(lengths);
    }
    findings.check(all.len() == 1, || format!("packs have other lengths: {all:?}"));
}

fn collect(folder: &Path, lengths: &mut Vec<u64>) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let entry = entry.expect("it can be read");
        let metadata = entry.metadata().expect("it can be read");
        if metadata.is_dir() {
            collect(&entry.path(), lengths);
        } else {
            lengths.push(metadata.len());
        }
    }
}
