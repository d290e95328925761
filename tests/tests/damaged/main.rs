//! The damaged and forged repositories, by rule:
//!
//! - no panic, no crash, no hang, no more than 512 MiB;
//! - exit codes as the real client's, except where [`rules`] says why not;
//! - never exit code 0 over wrong or missing content, and what the damage does not touch comes out;
//! - the message names the object;
//! - nothing is written outside the target, and reading changes nothing in the repository.

mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use portaborg_tests::expected::{Extracted, IntactArchive, Reaction, to_hex};
use portaborg_tests::fixture::{self, Fixture, Unpacked};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::program::{Outcome, Program};
use portaborg_tests::tree::{self, Node, Tree};
use rules::Content;
use sha2::{Digest, Sha256};

fn main() -> ExitCode {
    let code = harness::main(|| {
        let program = Program::portaborg();
        let mut trials = Vec::new();
        for fixture in fixture::all().into_iter().filter(|fixture| fixture.expected.is_negative()) {
            let fixture = Arc::new(fixture);
            let program = program.clone();
            trials.push(Trial::new(format!("damaged/{}", fixture.name), move |f| every_command(&program, &fixture, f)));
        }
        let ours = program.clone();
        trials.push(Trial::new("assert-id/id-mismatch", move |f| asserted(&ours, "id-mismatch", "one", "b.txt", f)));
        let ours = program.clone();
        trials.push(Trial::new("assert-id/meta-odd", move |f| asserted(&ours, "meta-odd", "extra", "f", f)));
        let ours = program.clone();
        trials.push(Trial::new("broken-lock/opens-again", move |f| opens_after_break_lock(&ours, f)));
        trials.push(Trial::new("terminal/names-are-escaped", move |f| names_on_a_terminal(&program, f)));
        trials
    });
    outside::forget();
    code
}

/// All commands whose reaction is known, each on a copy of its own.
fn every_command(program: &Program, fixture: &Fixture, findings: &mut Findings) {
    for reaction in &fixture.expected.reactions {
        let args = reaction.args();
        let command = args.join(" ");
        let sensible = reaction.is_sensible();
        let (codes, content, why) = match (rules::deviation(&fixture.name, &command), sensible) {
            (Some(deviation), _) => (deviation.codes.to_vec(), Some(deviation.content), deviation.why),
            (None, true) => (reaction.code().into_iter().collect(), None, "as the real client"),
            (None, false) => {
                findings.wrong(format!("{command}: the real client misbehaves, and no rule says what is right"));
                continue;
            }
        };
        if args[0] == "create" && !program.knows("create") {
            findings.note(format!("not tried yet: {command}"));
            continue;
        }
        let tried = Tried::run(program, fixture, &args);
        tried.behaved(&codes, why, findings);
        tried.names_the_object(reaction, findings);
        tried.lists(reaction, content.is_none(), findings);
        if tried.is_extract() {
            let wanted = content.or(match &reaction.extracted {
                Some(Extracted::All(_)) => Some(Content::All),
                _ => None,
            });
            match (wanted, &reaction.extracted) {
                (Some(content), _) => tried.extracted(content, findings),
                (None, Some(Extracted::Paths(paths))) => tried.extracted_as_the_client(paths, findings),
                (None, _) => {}
            }
        }
    }
    for (_, command, codes) in rules::FURTHER.iter().filter(|(name, ..)| *name == fixture.name) {
        let args: Vec<&str> = command.split(' ').collect();
        let tried = Tried::run(program, fixture, &args);
        tried.behaved(codes, "the damage does not touch it", findings);
        if tried.is_extract() {
            tried.extracted(Content::All, findings);
        }
    }
}

/// One command that was run on a fresh copy, with a target three folders deep and other people's files around it.
struct Tried<'a> {
    fixture: &'a Fixture,
    outcome: Outcome,
    command: Vec<String>,
    tree: Tree,
    outside: Vec<String>,
    changed: Vec<String>,
}

impl<'a> Tried<'a> {
    fn run(program: &Program, fixture: &'a Fixture, args: &[&str]) -> Self {
        Self::run_with(program, fixture, args, &[])
    }

    fn run_with(program: &Program, fixture: &'a Fixture, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let unpacked = fixture.unpack();
        let target = unpacked.scratch().folder("out/in/er");
        let guard = outside::Guard::new(&unpacked);
        let before = unpacked.files();
        let keys = unpacked.keys();
        let source = unpacked.scratch().path().join("new.txt");
        fs::write(&source, "new").expect("a new folder can be written");
        let named = |arg: &&str| {
            if *arg == "/fixture/src/hello.txt" { source.to_string_lossy().into() } else { (*arg).to_owned() }
        };
        let command: Vec<String> = args.iter().map(named).collect();
        let mut call = program.on(&unpacked.repository(), &fixture.expected.passphrase).keys(keys.as_deref());
        for (name, value) in variables {
            call = call.env(name, value);
        }
        let outcome = call.args(&command).within(&target).run();
        let after = unpacked.files();
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect();
        Self { fixture, outcome, command, tree: tree::read(&target), outside: guard.changes(), changed }
    }

    fn is_extract(&self) -> bool {
        self.command[0] == "extract"
    }

    /// What holds for every command.
    fn behaved(&self, codes: &[i32], why: &str, findings: &mut Findings) {
        let outcome = &self.outcome;
        findings.extend(outcome.misbehaviour());
        findings.check(outcome.code.is_some_and(|code| codes.contains(&code)), || {
            format!("{}, not {codes:?} ({why})", outcome.summary())
        });
        for path in &self.outside {
            findings.wrong(format!("{}: changed {path}, which is outside the target", outcome.words));
        }
        if self.command[0] != "create" {
            let local = |name: &&String| !name.starts_with("cache/") && !name.starts_with("locks/");
            for name in self.changed.iter().filter(local) {
                findings.wrong(format!("{}: changed {name} in the repository", outcome.words));
            }
        }
    }

    /// A message that says no must say which object is the matter.
    fn names_the_object(&self, reaction: &Reaction, findings: &mut Findings) {
        let said = self.outcome.err();
        let mut must = |good: bool, what: &str| {
            findings.check(good, || format!("{}; it does not name {what}", self.outcome.summary()));
        };
        let known = ids_in(&reaction.messages.join(" "));
        let said_ids = ids_in(&said);
        let lower = said.to_lowercase();
        let paths: Vec<&str> = reaction
            .messages
            .iter()
            .filter_map(|message| message.strip_prefix("WARNING ")?.split_once(": ").map(|(path, _)| path))
            .filter(|path| path.len() < 200 && !path.starts_with("Repository"))
            .collect();
        match self.outcome.code {
            Some(94) => must(said.contains("index/") && !said_ids.is_empty(), "the index object"),
            Some(113) => {
                must(!said_ids.is_empty(), "the chunk");
                must(known.iter().all(|id| said_ids.contains(id)), "each chunk that the real client names");
                let path = self.fixture.expected.damaged_path.as_deref();
                must(path.is_none_or(|path| said.contains(path)), "the file");
                must(paths.iter().all(|path| said.contains(path)), "each file that the real client names");
            }
            Some(100..=112) => must(paths.iter().all(|path| said.contains(path)), "the file"),
            Some(17 | 23 | 90) => {
                must(!said_ids.is_empty() || said.contains("config/"), "the object");
                must(known.iter().all(|id| said_ids.contains(id)), "each object that the real client names");
            }
            Some(4) => must(said.contains(self.command[self.command.len() - 1].as_str()), "the archive"),
            Some(73) => must(lower.contains("lock"), "the lock"),
            Some(52) => must(
                self.key_names().iter().any(|name| name.get(..8).is_some_and(|start| said.contains(start))),
                "the key object",
            ),
            Some(40..=49) => must(lower.contains("key"), "the key"),
            Some(15 | 16 | 54) => must(lower.contains("config"), "the config object"),
            Some(29) => must(lower.contains("borg 1"), "what it is"),
            Some(34) => must(said.contains("config/defaults"), "the object"),
            Some(1) if known.is_empty() => {
                let names = ["config/defaults", "packs/", "archives/"];
                let archive = self.crafted_archives().iter().any(|name| said.contains(name.as_str()));
                let object = !said_ids.is_empty() || names.iter().any(|name| said.contains(name));
                must(object || archive, "any object");
            }
            Some(1) => must(known.iter().any(|id| said_ids.contains(id)), "any object that the real client names"),
            Some(code) if code != 0 => must(!said.trim().is_empty(), "anything"),
            _ => {}
        }
    }

    fn key_names(&self) -> Vec<String> {
        self.fixture.files_below("keys")
    }

    fn crafted_archives(&self) -> BTreeSet<String> {
        let listed = self.fixture.expected.reactions.iter().map(Reaction::args);
        listed.filter(|args| args[0] == "list").map(|args| args[1].to_owned()).collect()
    }

    /// `list` prints as many lines as the archive has items; `repo-list` shows what is intact.
    fn lists(&self, reaction: &Reaction, as_the_client: bool, findings: &mut Findings) {
        let text = self.outcome.out();
        if self.outcome.code == Some(0) && self.command[0] == "list" {
            let intact = self.fixture.expected.intact_archives.get(&self.command[1]).map(|archive| archive.items.len());
            let wanted = intact.or(reaction.stdout_lines.filter(|_| as_the_client));
            let lines = text.lines().count();
            findings.check(wanted.is_none_or(|wanted| wanted == lines), || {
                format!("{}: {lines} lines, not {wanted:?}", self.outcome.words)
            });
        }
        if matches!(self.outcome.code, Some(0 | 1)) && self.command[0] == "repo-list" {
            for (name, archive) in &self.fixture.expected.intact_archives {
                findings.check(text.contains(&archive.id[..8]), || format!("repo-list: {name} is not listed"));
            }
        }
    }

    fn extracted(&self, content: Content, findings: &mut Findings) {
        let words = &self.outcome.words;
        match content {
            Content::All => {
                let name = &self.command[1];
                let Some(archive) = self.fixture.expected.intact_archives.get(name) else {
                    return findings.wrong(format!("{words}: the kit does not know what {name} held"));
                };
                self.extracted_whole(archive, findings);
            }
            Content::Paths(paths) => self.intact(paths, findings),
            Content::Zeros(path, bytes, intact) => {
                let found = self.tree.get(path.as_bytes()).map(describe);
                let wanted = describe_zeros(bytes);
                findings.check(found.as_ref() == Some(&wanted), || {
                    format!("{words}: {path} is {found:?}, not {bytes} zeros ({wanted})")
                });
                self.intact(intact, findings);
            }
        }
    }

    fn extracted_whole(&self, archive: &IntactArchive, findings: &mut Findings) {
        for item in &archive.items {
            let path = item.path.bytes();
            let name = String::from_utf8_lossy(&path).into_owned();
            let Some(node) = self.tree.get(&path) else {
                findings.wrong(format!("{}: {name} is missing", self.outcome.words));
                continue;
            };
            let same = node.mode == item.mode()
                && (item.sha256.is_none() || node.sha256 == item.sha256 && node.size == item.size);
            findings.check(same, || format!("{}: {name} is {}", self.outcome.words, describe(node)));
        }
    }

    /// Each file that came out has the content that was backed up.
    fn nothing_wrong(&self, archive: &IntactArchive, findings: &mut Findings) {
        for (path, node) in self.tree.iter().filter(|(_, node)| node.size.is_some()) {
            let item = archive.items.iter().find(|item| item.path.bytes() == *path);
            findings.check(item.is_some_and(|item| item.sha256 == node.sha256), || {
                format!("{}: {} is {}", self.outcome.words, String::from_utf8_lossy(path), describe(node))
            });
        }
    }

    /// These paths came out as they do from an archive without damage.
    fn intact(&self, paths: &[&str], findings: &mut Findings) {
        let good = self.fixture.expected.reactions.iter().filter(|reaction| reaction.is_sensible());
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        for reaction in good {
            if let Some(Extracted::Paths(extracted)) = &reaction.extracted {
                known.extend(extracted.iter().map(|(path, what)| (path.as_str(), what.as_str())));
            }
        }
        for path in paths {
            let found = self.tree.get(path.as_bytes()).map(describe);
            let right = match (&found, self.right_content(path, &known)) {
                (None, _) => false,
                (Some(found), Some(right)) => found == right,
                (Some(_), None) => true,
            };
            findings.check(right, || format!("{}: {path} is {found:?}", self.outcome.words));
        }
    }

    fn right_content<'k>(&self, path: &str, known: &BTreeMap<&'k str, &'k str>) -> Option<&'k str> {
        // item-stream-odd/dup holds a second, empty ok-before.
        let usual = known.get(if self.fixture.name == "item-stream-odd" { "ok-after" } else { path });
        usual.copied()
    }

    /// The same paths with the same content as the real client's.
    fn extracted_as_the_client(&self, wanted: &BTreeMap<String, String>, findings: &mut Findings) {
        let words = &self.outcome.words;
        if let (true, Some(archive)) = (wanted.is_empty(), self.fixture.expected.intact_archives.get(&self.command[1]))
        {
            // The real client gave up: whoever gets more out of it must get it right.
            return self.nothing_wrong(archive, findings);
        }
        let clear = |path: &String| !path.contains("... (");
        for (path, what) in wanted.iter().filter(|(path, _)| clear(path)) {
            let Some(node) = self.tree.get(path.as_bytes()) else {
                findings.wrong(format!("{words}: {path} is missing"));
                continue;
            };
            let found = describe(node);
            findings.check(found == *what, || format!("{words}: {path} is {found}, not {what}"));
        }
        if wanted.keys().all(clear) {
            for path in self.tree.keys().map(|path| String::from_utf8_lossy(path).into_owned()) {
                let parent = wanted.keys().any(|wanted| wanted.starts_with(&format!("{path}/")));
                findings.check(path == "." || parent || wanted.contains_key(&path), || {
                    format!("{words}: {path} should not be there")
                });
            }
        }
    }
}

/// As the kit writes it: `SHA-256 size`, `link -> b'target'` or a mode.
fn describe(node: &Node) -> String {
    match (&node.sha256, &node.target) {
        (Some(sha256), _) => format!("{sha256} {}", node.size.unwrap_or(0)),
        (_, Some(target)) => format!("link -> b'{}'", String::from_utf8_lossy(target)),
        _ => format!("0o{:o}", node.mode),
    }
}

fn describe_zeros(bytes: u64) -> String {
    let zeros = vec![0; usize::try_from(bytes).expect("a file of a fixture fits into memory")];
    format!("{} {bytes}", to_hex(&Sha256::digest(&zeros)))
}

/// All runs of 64 hex digits.
fn ids_in(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !letter.is_ascii_hexdigit()).filter(|run| run.len() == 64).map(str::to_owned).collect()
}

/// Content that authenticates but does not have its id is found where ids are asserted.
fn asserted(program: &Program, name: &str, archive: &str, path: &str, findings: &mut Findings) {
    let fixture = fixture::named(name);
    let tried = Tried::run_with(program, &fixture, &["extract", archive], &[("BORG_ASSERT_ID", "read")]);
    tried.behaved(&[113], "as the real client", findings);
    let said = tried.outcome.err();
    findings.check(said.contains(path) && !ids_in(&said).is_empty(), || {
        format!("{}; it does not name the file and the chunk", tried.outcome.summary())
    });
    let without = Tried::run(program, &fixture, &["extract", archive]);
    findings.check(without.tree.get(path.as_bytes()) != tried.tree.get(path.as_bytes()), || {
        format!("{path} is the same whether ids are asserted or not")
    });
}

fn opens_after_break_lock(program: &Program, findings: &mut Findings) {
    for name in ["lock-other-host", "lock-unreadable"] {
        let fixture = fixture::named(name);
        let unpacked = fixture.unpack();
        let run = |args: &[&str]| program.on(&unpacked.repository(), &fixture.expected.passphrase).args(args).run();
        for (args, code) in [
            (&["--lock-wait", "1", "list", "one"][..], 73),
            (&["break-lock"], 0),
            (&["--lock-wait", "1", "list", "one"], 0),
        ] {
            let outcome = run(args);
            findings.extend(outcome.misbehaviour());
            findings.check(outcome.code == Some(code), || format!("{name}: {}, not {code}", outcome.summary()));
        }
    }
}

/// On a terminal no control character of a name gets through; into a pipe names go as they are.
fn names_on_a_terminal(program: &Program, findings: &mut Findings) {
    let tool = Path::new("/usr/bin/script");
    if !tool.exists() {
        return findings.skip("`script` (bsdutils) is not installed");
    }
    let fixture = fixture::named("archive-name-control");
    let unpacked = fixture.unpack();
    for args in [&["repo-list"][..], &["info", "sh:con*"], &["list", "sh:con*"]] {
        let inner = format!("'{}' {}", program.path().display(), args.join(" ").replace("sh:con*", "'sh:con*'"));
        let shell = Program::peer(tool.to_owned());
        let call =
            shell.on(&unpacked.repository(), &fixture.expected.passphrase).env("TERM", "xterm").env("NO_COLOR", "1");
        let outcome = call.args(["-qec", &inner, "/dev/null"]).run();
        let raw = ["\u{1b}[31m", "\u{1b}[1m", "\u{1b}]0;", "\u{7}"];
        for sequence in raw {
            findings.check(!outcome.out().contains(sequence), || format!("{inner}: {sequence:?} reached the terminal"));
        }
        if args == ["repo-list"] {
            findings.check(outcome.out().contains("two"), || format!("{inner}: printed {:?}", outcome.out()));
        }
    }
    let piped = program.on(&unpacked.repository(), &fixture.expected.passphrase).args(["repo-list"]).run();
    findings.check(piped.out().contains("\u{1b}[31m"), || "into a pipe names go as they are".to_owned());
}

/// Other people's files: beside the target, and where the forged archives point.
mod outside {
    use super::*;

    /// The forged archives point here; made for the run where that is possible.
    const FIXTURE: &str = "/fixture";
    /// Names that forged archives would create above the target or in the root folder.
    const ESCAPES: [&str; 5] =
        ["/fixture-escape-x", "/escape-abs", "/escape-dotdot", "/escape-inner", "/fixture/outside/x"];

    static MADE: Mutex<Option<bool>> = Mutex::new(None);

    /// Makes `/fixture/outside/target`, if it is not there and we may.
    fn make() {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_none() {
            let new = fs::create_dir(FIXTURE).is_ok();
            if new {
                let _ = fs::create_dir(Path::new(FIXTURE).join("outside"));
                let _ = fs::write(Path::new(FIXTURE).join("outside/target"), "somebody's file");
            }
            *made = Some(new);
        }
    }

    /// Removes what [`make`] made.
    pub(crate) fn forget() {
        let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if *made == Some(true) {
            let _ = fs::remove_dir_all(FIXTURE);
        }
    }

    /// The state before a command.
    pub(crate) struct Guard {
        folders: Vec<(PathBuf, Tree)>,
        inner: Vec<(PathBuf, BTreeSet<String>)>,
        escapes: Vec<bool>,
    }

    impl Guard {
        pub(crate) fn new(unpacked: &Unpacked) -> Self {
            make();
            let scratch = unpacked.scratch();
            let beside = scratch.folder("outside");
            fs::write(beside.join("target"), "somebody's file").expect("a new folder can be written");
            fs::write(scratch.path().join("out/mine"), "mine").expect("a new folder can be written");
            fs::write(scratch.path().join("out/in/mine"), "mine").expect("a new folder can be written");
            let far = PathBuf::from(FIXTURE).join("outside");
            let folders = [beside, far].into_iter().map(|folder| (folder.clone(), tree::read(&folder))).collect();
            let inner = [scratch.path().join("out"), scratch.path().join("out/in")];
            let inner = inner.into_iter().map(|folder| (folder.clone(), names(&folder))).collect();
            Self { folders, inner, escapes: ESCAPES.map(|path| Path::new(path).exists()).to_vec() }
        }

        /// What a command changed.
        pub(crate) fn changes(&self) -> Vec<String> {
            let mut found = Vec::new();
            for (folder, before) in &self.folders {
                let without_access = |tree: Tree| -> Tree {
                    tree.into_iter().map(|(path, node)| (path, Node { atime_ns: None, ..node })).collect()
                };
                let differences =
                    tree::differences(&without_access(tree::read(folder)), &without_access(before.clone()));
                found.extend(differences.into_iter().map(|what| format!("{}: {what}", folder.display())));
            }
            for (folder, before) in &self.inner {
                if names(folder) != *before {
                    found.push(folder.display().to_string());
                }
            }
            let appeared = ESCAPES.iter().zip(&self.escapes).filter(|(path, was)| Path::new(path).exists() != **was);
            found.extend(appeared.map(|(path, _)| (*path).to_owned()));
            found
        }
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect()
    }
}
