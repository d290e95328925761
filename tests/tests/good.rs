//! The repositories in which nothing is wrong: what is listed and extracted is exactly what was backed up.
//!
//! `good/NAME` compares with what the kit knows, `peer/NAME` with the real client on the same copy, `keys/...` tries
//! the ways into a repository.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use portaborg_tests::expected::{Archive, to_hex};
use portaborg_tests::fixture::{self, Fixture, Unpacked};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::program::{Call, Outcome, Program};
use portaborg_tests::{items, machine, peers, tree};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn main() -> ExitCode {
    harness::main(|| {
        let program = Program::portaborg();
        let mut trials = Vec::new();
        for fixture in fixture::all().into_iter().filter(|fixture| !fixture.expected.is_negative()) {
            let fixture = Arc::new(fixture);
            let (ours, kit) = (program.clone(), Arc::clone(&fixture));
            trials.push(Trial::new(format!("good/{}", fixture.name), move |f| as_the_kit_says(&ours, &kit, f)));
            let ours = program.clone();
            trials.push(Trial::new(format!("peer/{}", fixture.name), move |f| as_the_client_does(&ours, &fixture, f)));
        }
        trials.extend(keys(&program));
        trials
    })
}

/// One repository of a fixture with all that opens it.
struct Opened<'a> {
    program: &'a Program,
    repository: &'a Path,
    passphrase: &'a str,
    keys: Option<&'a Path>,
}

impl Opened<'_> {
    fn call(&self, args: &[&str]) -> Call {
        self.program.on(self.repository, self.passphrase).keys(self.keys).args(args)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.call(args).run()
    }
}

fn as_the_kit_says(program: &Program, fixture: &Fixture, findings: &mut Findings) {
    let unpacked = fixture.unpack();
    let before = unpacked.files();
    let keys = unpacked.keys();
    let mut keys = keys.as_deref();
    if fixture.name == "keys-exported" {
        // Its key was exported and removed: the export is a key file.
        let folder = unpacked.scratch().folder("keys");
        let key = fixture.expected.key_text.as_ref().expect("the kit has the exported key");
        std::fs::write(folder.join("exported"), key).expect("a new folder can be written");
        return exported_key(program, fixture, &unpacked, &folder, findings);
    }
    let repository = unpacked.repository();
    let passphrase = &fixture.expected.passphrase;
    let opened = Opened { program, repository: &repository, passphrase, keys };
    everything(&opened, &unpacked, &fixture.expected.archives, findings);
    let allowed = |name: &str| {
        ["cache/", "locks/"].iter().any(|part| name.starts_with(part))
            // An index that must be rebuilt may be stored.
            || fixture.name.starts_with("state-index-") && name.starts_with("index/")
    };
    unchanged(&before, &unpacked, allowed, findings);
    if let Some(second) = &fixture.expected.repo2 {
        let repository = unpacked.second_repository();
        keys = None;
        let opened = Opened { program, repository: &repository, passphrase: &second.passphrase, keys };
        everything(&opened, &unpacked, &second.archives, findings);
    }
    for missing in machine::here().missing() {
        findings.note(format!("not compared here: {missing}"));
    }
}

/// `key import` is no reading command, so the exported text serves as a key file.
fn exported_key(program: &Program, fixture: &Fixture, unpacked: &Unpacked, keys: &Path, findings: &mut Findings) {
    let repository = unpacked.repository();
    let passphrase = &fixture.expected.passphrase;
    let without = Opened { program, repository: &repository, passphrase, keys: None }.run(&["repo-list"]);
    findings.check(without.code == Some(44), || format!("without its key: {}", without.summary()));
    let opened = Opened { program, repository: &repository, passphrase, keys: Some(keys) };
    everything(&opened, unpacked, &fixture.expected.archives, findings);
}

/// Lists, extracts and verifies all archives.
fn everything(opened: &Opened<'_>, unpacked: &Unpacked, archives: &[Archive], findings: &mut Findings) {
    repo_list(opened, archives, findings);
    for archive in archives.iter().filter(|archive| !archive.soft_deleted) {
        list(opened, archive, findings);
        extract(opened, unpacked, archive, findings);
    }
    let check = opened.run(&["check", "--verify-data"]);
    quiet_success(&check, findings);
}

fn quiet_success(outcome: &Outcome, findings: &mut Findings) {
    findings.extend(outcome.misbehaviour());
    findings.check(outcome.code == Some(0), || outcome.summary());
    // Borg says that it rebuilds an index, and which unencrypted repository it is allowed to read.
    let said = outcome.err();
    let known = |line: &str| {
        [
            "chunk index is invalid",
            "Cannot cross-check packs",
            "Ignoring corrupted checked-packs",
            "empty passphrase",
            "previously unknown unencrypted",
            "authenticat",
            "yes (from BORG_",
            "anyone",
            "yN",
        ]
        .iter()
        .any(|text| line.contains(text))
    };
    let unknown: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty() && !known(line)).collect();
    findings.check(unknown.is_empty(), || format!("{}: said {unknown:?}", outcome.words));
}

fn repo_list(opened: &Opened<'_>, archives: &[Archive], findings: &mut Findings) {
    for (args, deleted) in [(&["repo-list", "--json"][..], false), (&["repo-list", "--deleted", "--json"], true)] {
        let outcome = opened.run(args);
        quiet_success(&outcome, findings);
        let Ok(json) = serde_json::from_slice::<Value>(&outcome.stdout) else {
            findings.wrong(format!("{}: no JSON", outcome.words));
            continue;
        };
        let listed = json["archives"].as_array().cloned().unwrap_or_default();
        let wanted: Vec<&Archive> = archives.iter().filter(|archive| archive.soft_deleted == deleted).collect();
        let ids = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
        let listed_ids = ids(listed.iter().filter_map(|entry| entry["id"].as_str()).collect());
        let wanted_ids = ids(wanted.iter().map(|archive| archive.id.as_str()).collect());
        findings
            .check(listed_ids == wanted_ids, || format!("{}: lists {listed_ids:?}, not {wanted_ids:?}", outcome.words));
        let times: Vec<&str> = listed.iter().filter_map(|entry| entry["time"].as_str()).collect();
        findings.check(times.is_sorted(), || format!("{}: not in the order of time: {times:?}", outcome.words));
        for entry in &listed {
            let Some(archive) = wanted.iter().find(|archive| entry["id"] == *archive.id) else { continue };
            let metadata = &archive.metadata;
            let mut facts = vec![
                ("name", metadata.name.clone()),
                ("archive", metadata.name.clone()),
                ("comment", metadata.comment.clone()),
                ("username", metadata.username.clone()),
                ("hostname", metadata.hostname.clone()),
                ("tags", sorted(&metadata.tags).join(",")),
            ];
            if metadata.time.ends_with("+00:00") {
                facts.push(("time", metadata.time.clone()));
            }
            for (key, wanted) in facts {
                findings.check(entry[key] == *wanted, || {
                    format!("{}, {}: {key} is {}, not {wanted:?}", outcome.words, archive.id, entry[key])
                });
            }
        }
    }
}

fn sorted(tags: &[String]) -> Vec<String> {
    let mut tags = tags.to_vec();
    tags.sort();
    tags
}

fn list(opened: &Opened<'_>, archive: &Archive, findings: &mut Findings) {
    let outcome = opened.run(&["list", "--json-lines", &format!("aid:{}", archive.id)]);
    quiet_success(&outcome, findings);
    let text = outcome.out();
    let lines: Vec<&str> = text.lines().collect();
    findings.check(lines.len() == archive.item_count, || {
        format!("{}: {} lines, not {}", outcome.words, lines.len(), archive.item_count)
    });
    let all = archive.items.as_ref();
    let first = all.unwrap_or(&archive.first_items);
    let last = if all.is_some() { &[][..] } else { &archive.last_items };
    let ends = first.iter().zip(&lines).chain(last.iter().rev().zip(lines.iter().rev()));
    findings.extend(ends.filter_map(|(item, line)| items::differs_from_line(item, line)));
    if let Some(wanted) = &archive.sha256_of_paths_joined_by_newline {
        let mut paths = Sha256::new();
        for line in &lines {
            let entry: Value = serde_json::from_str(line).unwrap_or_default();
            paths.update(entry["path"].as_str().unwrap_or_default());
            paths.update(b"\n");
        }
        let found = to_hex(&paths.finalize());
        findings.check(found == *wanted, || format!("{}: the paths' SHA-256 is {found}", outcome.words));
    }
}

fn extract(opened: &Opened<'_>, unpacked: &Unpacked, archive: &Archive, findings: &mut Findings) {
    let folder = unpacked.scratch().folder(&format!("extracted-{}/target", archive.id));
    let beside = folder.parent().expect("it was made in a folder");
    let outcome = opened.call(&["extract", &format!("aid:{}", archive.id)]).within(&folder).run();
    quiet_success(&outcome, findings);
    let tree = tree::read(&folder);
    match &archive.items {
        Some(items) => {
            let differences = items::differ_from_tree(items, &tree).into_iter();
            // The real client sets the target folder's own time too early.
            findings
                .extend(differences.filter(|text| opened.program.is_ours() || !text.starts_with("extract, .: mtime")));
        }
        None => findings.check(tree.len() == archive.item_count, || {
            format!("{}: {} items, not {}", outcome.words, tree.len(), archive.item_count)
        }),
    }
    let outside = std::fs::read_dir(beside).map_or(0, Iterator::count);
    findings.check(outside == 1, || format!("{}: wrote outside the target", outcome.words));
}

fn unchanged(
    before: &std::collections::BTreeMap<String, String>,
    unpacked: &Unpacked,
    allowed: impl Fn(&str) -> bool,
    findings: &mut Findings,
) {
    let after = unpacked.files();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names.into_iter().filter(|name| before.get(*name) != after.get(*name) && !allowed(name)) {
        findings.wrong(format!("reading changed {name} in the repository"));
    }
}

/// Ours, then the real client on the same copy: the same text, the same files.
fn as_the_client_does(program: &Program, fixture: &Fixture, findings: &mut Findings) {
    let Some(peer) = peers::borg2() else { return findings.skip(peers::MISSING) };
    if fixture.name == "keys-exported" {
        return as_to_the_missing_key(program, &peer, fixture, findings);
    }
    let unpacked = fixture.unpack();
    let (repository, keys) = (unpacked.repository(), unpacked.keys());
    let base = unpacked.scratch().folder("base");
    let passphrase = &fixture.expected.passphrase;
    let opened = |program| Opened { program, repository: &repository, passphrase, keys: keys.as_deref() };
    let archives: Vec<&Archive> = fixture.expected.archives.iter().filter(|archive| !archive.soft_deleted).collect();
    let names: Vec<String> = archives.iter().map(|archive| format!("aid:{}", archive.id)).collect();

    let mut texts: Vec<Vec<&str>> = vec![
        vec!["repo-list"],
        vec!["repo-list", "--json"],
        vec!["repo-list", "--short", "--deleted"],
        vec!["repo-info"],
        vec!["repo-info", "--json"],
        vec!["info", "--json"],
        vec!["key", "list"],
    ];
    texts.extend(names.iter().map(|archive| vec!["list", "--json-lines", archive]));
    // The text forms take their time at the real client's start-up, so a few archives must do.
    texts.extend(names.iter().take(2).map(|archive| vec!["list", archive]));
    texts.extend(names.iter().take(2).map(|archive| vec!["info", archive]));
    let mut ours = Vec::new();
    for args in &texts {
        ours.push(opened(program).call(args).base(&base).run());
    }
    let mut our_trees = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let folder = unpacked.scratch().folder(&format!("ours-{number}"));
        let outcome = opened(program).call(&["extract", name]).within(&folder).base(&base).run();
        quiet_success(&outcome, findings);
        our_trees.push(tree::read(&folder));
    }

    portaborg_tests::scratch::remove_all(&base);
    std::fs::create_dir_all(&base).expect("a removed folder can be made again");
    for (args, ours) in texts.iter().zip(&ours) {
        let theirs = opened(&peer).call(args).base(&base).run();
        findings.check(ours.code == theirs.code, || {
            format!("{}, the real client: exit code {:?}", ours.summary(), theirs.code)
        });
        let theirs = if args[0] == "repo-info" { with_our_default(&theirs.out()) } else { theirs.out() };
        if ours.out() != theirs {
            findings.wrong(first_difference(&ours.words, &ours.out(), &theirs));
        }
    }
    for (number, (archive, our_tree)) in archives.iter().zip(our_trees).enumerate() {
        let folder = unpacked.scratch().folder(&format!("theirs-{number}"));
        let theirs = opened(&peer).call(&["extract", &names[number]]).within(&folder).base(&base).run();
        findings.check(theirs.code == Some(0), || format!("the real client: {}", theirs.summary()));
        let mut their_tree = tree::read(&folder);
        let mut our_tree = our_tree;
        if let Some(items) = &archive.items {
            items::without_times_of_parents(items, &mut our_tree);
            items::without_times_of_parents(items, &mut their_tree);
        }
        let differences = tree::differences(&our_tree, &their_tree);
        let archive = &archive.metadata.name;
        findings.extend(differences.into_iter().map(|difference| format!("extract {archive}: {difference}")));
    }
}

/// What the real client says of a repository, with our compression where the repository has no default: another one than
/// Borg's, on purpose.
fn with_our_default(repo_info: &str) -> String {
    repo_info
        .replace("Default compression: lz4 (built-in)", "Default compression: zstd,-4 (built-in)")
        .replace("\"compression\": \"lz4\"", "\"compression\": \"zstd,-4\"")
}

fn as_to_the_missing_key(program: &Program, peer: &Program, fixture: &Fixture, findings: &mut Findings) {
    let unpacked = fixture.unpack();
    let repository = unpacked.repository();
    let run = |program: &Program| program.on(&repository, &fixture.expected.passphrase).args(["repo-list"]).run();
    let (ours, theirs) = (run(program), run(peer));
    findings.check(ours.code == theirs.code, || format!("{}, not {:?}", ours.summary(), theirs.code));
}

fn first_difference(words: &str, ours: &str, theirs: &str) -> String {
    let pairs = ours
        .lines()
        .map(Some)
        .chain(std::iter::repeat(None))
        .zip(theirs.lines().map(Some).chain(std::iter::repeat(None)));
    let different = pairs.enumerate().take(100_000).find(|(_, (our, their))| our != their);
    let (line, (our, their)) = different.unwrap_or((0, (Some("(line ends)"), Some("(line ends)"))));
    format!(
        "{words}: line {}: {:?} instead of {:?}",
        line + 1,
        our.unwrap_or("(nothing)"),
        their.unwrap_or("(nothing)")
    )
}

/// The ways into a repository: each key's passphrase, and those that must not open it.
fn keys(program: &Program) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut opens = |fixture: &'static str, label: &str, passphrase: &str, code: i32| {
        let (program, passphrase) = (program.clone(), passphrase.to_owned());
        trials.push(Trial::new(format!("keys/{fixture}/{label}"), move |findings| {
            let unpacked = fixture::named(fixture).unpack();
            let keys = unpacked.keys();
            let outcome = program
                .on(&unpacked.repository(), &passphrase)
                .keys(keys.as_deref())
                .args(["repo-list", "--short"])
                .run();
            findings.extend(outcome.misbehaviour());
            findings.check(outcome.code == Some(code), || format!("{}, not {code}", outcome.summary()));
            let opened = !outcome.stdout.is_empty();
            findings.check(opened == (code == 0), || format!("{}; printed {}", outcome.summary(), outcome.out()));
        }));
    };
    for name in ["keys-several", "keys-both-places"] {
        for (label, passphrase) in &fixture::named(name).expected.passphrases {
            match passphrase {
                Value::Array(wrong) => {
                    for (number, passphrase) in wrong.iter().enumerate() {
                        let label = format!("{label} {number}").replace(' ', "-");
                        opens(name, &label, passphrase.as_str().unwrap_or_default(), WRONG_PASSPHRASE);
                    }
                }
                right => opens(name, &label.replace(' ', "-"), right.as_str().unwrap_or_default(), 0),
            }
        }
    }
    let composed = fixture::named("keys-passphrase-nfc").expected.passphrase;
    let decomposed = fixture::named("keys-passphrase-nfd").expected.passphrase;
    assert_ne!(composed, decomposed, "the two normal forms differ in bytes");
    opens("keys-passphrase-nfc", "the-other-normal-form", &decomposed, WRONG_PASSPHRASE);
    opens("keys-passphrase-nfd", "the-other-normal-form", &composed, WRONG_PASSPHRASE);
    opens("keys-empty-passphrase", "not-empty", "x", WRONG_PASSPHRASE);
    for name in ["mode-aes256-ocb-sha256-repokey", "mode-chacha20-poly1305-blake3-keyfile"] {
        opens(name, "wrong-passphrase", "not this one", WRONG_PASSPHRASE);
    }
    trials
}

/// Exit code of `PassphraseWrong` (command line, section 3.2).
const WRONG_PASSPHRASE: i32 = 52;
