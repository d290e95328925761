//! The program for WASI under wasmtime, beside the native program.
//!
//! `wasi/good/NAME` and `wasi/damaged/NAME` want the same output, exit codes and contents over the fixtures; `wasi/write/...` has
//! the native program and the real client look at what it wrote; `wasi/sandbox/...` tries what is its own; `wasi/readme/...` runs
//! the examples of its page as they stand there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use portaborg_core::bytes::lossy;
use portaborg_tests::client::{Client, PASSPHRASE, aid};
use portaborg_tests::fixture::{self, Fixture};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::program::{Outcome, Program};
use portaborg_tests::scratch::Scratch;
use portaborg_tests::tree::{self, Node, Tree};
use portaborg_tests::wasi::{self, Call, Sandbox};
use portaborg_tests::{peers, source};
use serde_json::Value;

fn main() -> ExitCode {
    harness::main(|| {
        let lent = Arc::new(Lent::default());
        let mut trials = Vec::new();
        for fixture in fixture::all() {
            let group = if fixture.expected.is_negative() { "damaged" } else { "good" };
            let name = format!("wasi/{group}/{}", fixture.name);
            trials.push(lent.trial(name, move |sandbox, findings| as_natively(sandbox, &fixture, findings)));
        }
        type Case = (&'static str, fn(&Sandbox, &mut Findings));
        let cases: [Case; 10] = [
            ("write/read-by-the-native-program", read_by_ours),
            ("write/read-by-the-real-client", read_by_the_real_client),
            ("write/delete-and-compact", delete_and_compact),
            ("write/files-cache", files_cache),
            ("sandbox/passphrases", passphrases),
            ("sandbox/left-out", left_out),
            ("sandbox/component", component),
            ("readme/check", |sandbox, findings| readme(sandbox, "sh", 0, findings)),
            ("readme/extract", |sandbox, findings| readme(sandbox, "sh", 1, findings)),
            ("readme/list", |sandbox, findings| readme(sandbox, "python", 0, findings)),
        ];
        for (name, case) in cases {
            trials.push(lent.trial(format!("wasi/{name}"), case));
        }
        trials
    })
}

/// The sandbox, made when the first test needs it.
#[derive(Default)]
struct Lent(OnceLock<Result<Sandbox, String>>);

impl Lent {
    fn trial(self: &Arc<Self>, name: String, test: impl Fn(&Sandbox, &mut Findings) + Send + Sync + 'static) -> Trial {
        let lent = Arc::clone(self);
        Trial::new(name, move |findings| {
            if let Some(obstacle) = wasi::obstacle() {
                return findings.skip(obstacle);
            }
            match lent.0.get_or_init(Sandbox::new) {
                Ok(sandbox) => test(sandbox, findings),
                Err(error) => findings.wrong(error.as_str()),
            }
        })
    }
}

/// Both programs on a fixture: each command on a fresh copy for each of them.
fn as_natively(sandbox: &Sandbox, fixture: &Fixture, findings: &mut Findings) {
    for command in commands(fixture) {
        let native = Tried::natively(fixture, &command);
        let ours = Tried::in_sandbox(sandbox, fixture, &command, &native.folder);
        let (ours_is, native_is) = (&ours.outcome, &native.outcome);
        let code_is_right = ours_is.code == native_is.code || ours.leaves_out() && has_no_failure(native_is.code);
        findings
            .check(code_is_right, || format!("{}, not {:?}: {}", ours_is.summary(), native_is.code, native_is.err()));
        let (printed, wanted) = (ours_is.out(), native_is.out());
        findings.check(printed == wanted, || first_difference(&ours_is.words, &printed, &wanted));
        for (path, difference) in differences(&ours.tree, &native.tree) {
            let is_told = ours_is.code != Some(0) && ours_is.err().contains(&*lossy(&path).0);
            findings.check(is_told && !ours.tree.contains_key(&path), || format!("{}: {difference}", ours_is.words));
        }
    }
}

/// Nothing at all, or a warning, of which the sandbox has one of its own.
fn has_no_failure(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 1 | 100..=127))
}

/// What is tried on a fixture: what the real client was asked, else everything of a few archives.
fn commands(fixture: &Fixture) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    if fixture.expected.is_negative() {
        let all: Vec<_> = fixture.expected.reactions.iter().map(|reaction| words(&reaction.args())).collect();
        // What can't be extracted can't be listed either.
        let is_extracted =
            |words: &[String]| words[0] == "list" && all.contains(&vec!["extract".into(), words[1].clone()]);
        return all.iter().filter(|words| words[0] != "create" && !is_extracted(words)).cloned().collect();
    }
    let mut commands = vec![words(&["repo-list", "--json"]), words(&["check", "--verify-data"])];
    for archive in fixture.expected.archives.iter().filter(|archive| !archive.soft_deleted).take(MOST_ARCHIVES) {
        commands.push(words(&["list", "--json-lines", &aid(&archive.id)]));
        commands.push(words(&["extract", &aid(&archive.id)]));
    }
    commands
}

/// An hour in nanoseconds.
const HOUR_NANOS: i128 = 3_600_000_000_000;
/// Of so many archives of a fixture at most; one has a hundred.
const MOST_ARCHIVES: usize = 2;

/// One command on a fresh copy of a fixture.
struct Tried {
    /// Where repository and keys were for the program.
    folder: PathBuf,
    outcome: Outcome,
    tree: Tree,
}

impl Tried {
    fn natively(fixture: &Fixture, words: &[String]) -> Self {
        let unpacked = fixture.unpack();
        let target = unpacked.scratch().folder("out");
        let keys = unpacked.keys();
        let call = Program::portaborg().on(&unpacked.repository(), &fixture.expected.passphrase).keys(keys.as_deref());
        let outcome = call.args(words).within(&target).run();
        Self { folder: unpacked.scratch().path().to_owned(), outcome, tree: tree::read(&target) }
    }

    fn in_sandbox(sandbox: &Sandbox, fixture: &Fixture, words: &[String], folder: &Path) -> Self {
        let unpacked = fixture.unpack();
        let target = unpacked.scratch().folder("out");
        let (name, keys_name) = (text(&folder.join("repo")), text(&folder.join("keys")));
        let mut call = usual(sandbox, &unpacked.repository(), &name, &fixture.expected.passphrase).folder(&target, "/");
        if let Some(keys) = unpacked.keys() {
            call = call.folder(&keys, &keys_name).env("BORG_KEYS_DIR", keys_name);
        }
        let outcome = call.args(words).run();
        Self { folder: folder.to_owned(), outcome, tree: tree::read(&target) }
    }

    /// It warns of what can't be made in the sandbox: attributes that count, or links to absolute paths.
    fn leaves_out(&self) -> bool {
        let said = self.outcome.err();
        has_no_failure(self.outcome.code) && (said.contains("owners and permissions, ") || said.contains(": symlink: "))
    }
}

/// A command on a repository that is lent under a name, with the variables that all tests set.
fn usual<'s>(sandbox: &'s Sandbox, repository: &Path, name: &str, passphrase: &str) -> Call<'s> {
    let call = sandbox.call().folder(repository, name).env("BORG_REPO", name).env("BORG_PASSPHRASE", passphrase);
    let call = call.env("BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK", "yes");
    call.env("BORG_HOST_ID", "fixture-host@1").env("TZ", "UTC")
}

/// A command on a repository that a [`Client`] has made, too.
fn of_a_client<'s>(sandbox: &'s Sandbox, repository: &Path) -> Call<'s> {
    usual(sandbox, repository, "/repo", PASSPHRASE).env("BORG_TESTONLY_WEAKEN_KDF", "1")
}

fn text(path: &Path) -> String {
    path.to_str().expect("the names of temporary folders are texts").to_owned()
}

/// What is different, by path, but for what there is not in the sandbox.
fn differences(ours: &Tree, wanted: &Tree) -> Vec<(Vec<u8>, String)> {
    // Folders that no item is of, the target itself among them, have just been made.
    let just_now = UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as i128) - HOUR_NANOS;
    let is_new = |node: &Node| node.mode & 0o170_000 == 0o040_000 && node.mtime_ns > just_now;
    let time = |node: &Node| if is_new(node) { 0 } else { node.mtime_ns };
    let comparable = |tree: &Tree| {
        let nodes = tree.iter().map(|(path, node)| (path, Node { mtime_ns: time(node), ..node.clone() }));
        nodes.filter_map(|(path, node)| Some((path.clone(), plain(&node)?))).collect()
    };
    let (ours, wanted): (BTreeMap<_, _>, BTreeMap<_, _>) = (comparable(ours), comparable(wanted));
    let paths: std::collections::BTreeSet<&Vec<u8>> = ours.keys().chain(wanted.keys()).collect();
    let different = paths.into_iter().filter(|path| ours.get(*path) != wanted.get(*path));
    let tell = |path: &Vec<u8>| {
        format!("{} is {:?}, not {:?}", String::from_utf8_lossy(path), ours.get(path), wanted.get(path))
    };
    different.map(|path| (path.clone(), tell(path))).collect()
}

/// Type, content, time and links of an object; none of those that can't be made in the sandbox.
fn plain(node: &Node) -> Option<impl PartialEq + std::fmt::Debug + use<>> {
    let kind = node.mode & 0o170_000;
    let Node { size, sha256, mtime_ns, linked_to, target, .. } = node;
    matches!(kind, 0o100_000 | 0o040_000 | 0o120_000)
        .then(|| (kind, *size, sha256.clone(), *mtime_ns, linked_to.clone(), target.clone()))
}

fn first_difference(words: &str, ours: &str, wanted: &str) -> String {
    let mut pairs = ours.lines().zip(wanted.lines());
    let counts = [ours, wanted].map(|text| text.lines().count());
    let pair = pairs.find(|(our, wanted)| our != wanted);
    format!("{words}: {pair:?}, {counts:?} lines")
}

/// A repository that the sandbox made, with the tree that is in its one archive, `series`.
struct Made {
    scratch: Scratch,
    source: PathBuf,
    repository: PathBuf,
}

impl Made {
    /// Makes it, with a tree of one of everything.
    fn new(sandbox: &Sandbox, findings: &mut Findings) -> Self {
        let scratch = Scratch::new("written");
        let (source, repository) = (scratch.path().join("source"), scratch.folder("repository"));
        source::make(&source);
        remove_what_can_not_be_seen(&source);
        let made = Self { scratch, source, repository };
        made.runs(sandbox, &["repo-create", "--encryption", "aes256-ocb"], 0, findings);
        // Pipes and devices are passed over with a warning.
        let created = made.runs(sandbox, &["create", "--list", "series", "source"], 1, findings);
        let warnings = created.err().matches("owners, permissions, ").count();
        findings.check(warnings == 1, || format!("{} warnings of what is not stored: {}", warnings, created.err()));
        made
    }

    fn call<'s>(&self, sandbox: &'s Sandbox) -> Call<'s> {
        of_a_client(sandbox, &self.repository).folder(&self.source, "/source")
    }

    /// Runs a command in the sandbox that must end with this code.
    fn runs(&self, sandbox: &Sandbox, args: &[&str], code: i32, findings: &mut Findings) -> Outcome {
        let outcome = self.call(sandbox).args(args.iter().copied()).run();
        findings.check(outcome.code == Some(code), || format!("{}, not {code}", outcome.summary()));
        outcome
    }

    fn ours(&self) -> Client {
        Client::ours(&self.scratch, &self.repository)
    }

    /// Has a client verify everything, and compares what it extracts with the source.
    fn is_read_by(&self, client: &Client, findings: &mut Findings) {
        client.verify();
        let wanted = tree::read(&self.source);
        for id in client.archives() {
            let listed = client.list(&id);
            let has_owner = listed.lines().any(|line| {
                let item: Value = serde_json::from_str(line).unwrap_or_default();
                !item["uid"].is_null() || !item["gid"].is_null()
            });
            findings.check(!has_owner, || format!("{}: an item has an owner", client.name()));
            let mut tree = client.extract(&id, &self.scratch.path().join(format!("out-{id}")), "source");
            let mut wanted = wanted.clone();
            // The real client sets the times of folders too early, and of the source those of the top are changed by tests.
            for tree in [&mut tree, &mut wanted] {
                tree.values_mut()
                    .filter(|node| node.size.is_none() && node.target.is_none())
                    .for_each(|node| node.mtime_ns = 0);
            }
            let different = differences(&tree, &wanted).into_iter();
            findings.extend(different.map(|(_, text)| format!("{}: {text}", client.name())));
        }
    }
}

/// Wasmtime shows no folder in which a name is no UTF-8, no text of a link that is absolute or no UTF-8, and no time before 1970.
fn remove_what_can_not_be_seen(source: &Path) {
    for (path, node) in tree::read(source) {
        let is_text = |bytes: &[u8]| str::from_utf8(bytes).is_ok();
        let is_near = |target: &Vec<u8>| is_text(target) && !target.starts_with(b"/");
        if !is_text(&path) || !node.target.as_ref().is_none_or(is_near) || node.mtime_ns < 0 {
            fs::remove_file(source.join(OsStr::from_bytes(&path))).expect("it was made, and is no folder");
        }
    }
}

fn read_by_ours(sandbox: &Sandbox, findings: &mut Findings) {
    let made = Made::new(sandbox, findings);
    made.is_read_by(&made.ours(), findings);
}

fn read_by_the_real_client(sandbox: &Sandbox, findings: &mut Findings) {
    let Some(peer) = peers::borg2() else { return findings.skip(peers::MISSING) };
    let made = Made::new(sandbox, findings);
    made.is_read_by(&Client::new(peer, &made.repository, &made.scratch.folder("base-of-peer")), findings);
}

/// Archives come, go, come back, and go for good; the native program finds all that is left.
fn delete_and_compact(sandbox: &Sandbox, findings: &mut Findings) {
    let made = Made::new(sandbox, findings);
    let one = made.ours().archives();
    made.runs(sandbox, &["create", "--compression", "zstd,1", "other", "source/many"], 0, findings);
    let both = made.ours().archives();
    findings.check(both.len() == 2 && both.is_superset(&one), || format!("two archives: {both:?}"));
    made.runs(sandbox, &["delete", "series"], 0, findings);
    made.runs(sandbox, &["undelete", "series"], 0, findings);
    findings.check(made.ours().archives() == both, || "undelete brings it back".to_owned());
    made.runs(sandbox, &["recreate", "-a", "other", "--exclude", "source/many/1"], 0, findings);
    made.runs(sandbox, &["delete", "other"], 0, findings);
    made.runs(sandbox, &["compact"], 0, findings);
    findings.check(made.ours().archives() == one, || "what is left is the first archive".to_owned());
    made.is_read_by(&made.ours(), findings);
    let too_high = made.call(sandbox).args(["create", "--compression", "zstd,19", "third", "source"]).run();
    let is_clear = too_high.code.is_some_and(|code| code >= 2) && too_high.err().contains("zstd level 19");
    findings.check(is_clear, || format!("a level that there is not here: {}", too_high.summary()));
    made.runs(sandbox, &["check", "--verify-data"], 0, findings);
}

/// The client's own files are kept where a folder is lent for them.
fn files_cache(sandbox: &Sandbox, findings: &mut Findings) {
    let made = Made::new(sandbox, findings);
    let home = made.scratch.folder("home");
    let create = || {
        let call = made.call(sandbox).folder(&home, "/home").env("HOME", "/home");
        call.args(["create", "--list", "--filter", "AMU", "series", "source/many"]).run()
    };
    let (first, second) = (create(), create());
    let unchanged = |outcome: &Outcome| outcome.err().lines().filter(|line| line.starts_with("U ")).count();
    findings.check(first.code == Some(0) && second.code == Some(0), || second.summary());
    findings.check(unchanged(&second) >= 190, || format!("{} unchanged: {}", unchanged(&second), second.err()));
    findings.check(home.join(".local/share/borg/security").is_dir(), || "the repository is remembered".to_owned());
}

/// The ways to hand over a passphrase, and those that there are not.
fn passphrases(sandbox: &Sandbox, findings: &mut Findings) {
    let unpacked = fixture::named(USED).unpack();
    let passphrase = fixture::named(USED).expected.passphrase;
    let call = || sandbox.call().folder(&unpacked.repository(), "/repo").args(["-r", "/repo", "repo-list", "--short"]);
    let line = format!("{passphrase}\n");
    let cases: [(&str, Call<'_>, i32, &str); 7] = [
        ("from a variable", call().env("BORG_PASSPHRASE", &passphrase), 0, ""),
        ("from standard input", call().env("BORG_PASSPHRASE_FD", "0").input(line.as_bytes()), 0, ""),
        ("as an answer", call().input(line.as_bytes()), 0, ""),
        ("none", call(), 50, "NoPassphrase"),
        ("from elsewhere", call().env("BORG_PASSPHRASE_FD", "3"), 50, "standard input"),
        ("from a command", call().env("BORG_PASSCOMMAND", "echo x"), 51, "Passcommand"),
        ("wrong", call().env("BORG_PASSPHRASE", "wrong"), 52, ""),
    ];
    for (what, call, code, said) in cases {
        let outcome = call.args(["--log-json"]).run();
        findings.check(outcome.code == Some(code), || format!("{what}: {}, not {code}", outcome.summary()));
        findings.check(outcome.err().contains(said), || format!("{what}: {}", outcome.err()));
        findings.check(outcome.stdout.is_empty() == (code != 0), || format!("{what}: prints {:?}", outcome.out()));
    }
}

/// What there is not in the sandbox is told, and nothing is seen that was not lent.
fn left_out(sandbox: &Sandbox, findings: &mut Findings) {
    let scratch = Scratch::new("left-out");
    let (source, repository) = (scratch.path().join("source"), scratch.path().join("repository"));
    source::make(&source);
    let native = Client::ours(&scratch, &repository);
    let _ = native.ok(&["repo-create", "--encryption", "aes256-ocb"]);
    let _ = native.create(&[], scratch.path(), "source");
    let extract = |name: &str, options: &[&str]| {
        let call = of_a_client(sandbox, &repository).folder(&scratch.folder(name), "/out");
        call.args(["extract", "--destination", "/out", "series"]).args(options.iter().copied()).run()
    };
    let all = extract("all", &[]);
    let count = all.err().matches("not restored, since there are none here").count();
    findings.check(all.code == Some(1) && count == 1, || format!("{count} warnings: {}", all.summary()));
    let plain = ["--noxattrs", "--noacls", "--noflags", "source/contents", "source/many"];
    let some = extract("some", &plain);
    findings.check(some.code == Some(0), || format!("contents only: {}", some.summary()));
    let outside = of_a_client(sandbox, &repository).args(["create", "other", "/etc"]).run();
    findings.check(outside.code != Some(0), || format!("what was not lent: {}", outside.summary()));
    for words in [&["benchmark", "cpu"][..], &["benchmark"]] {
        let outcome = sandbox.call().args(words.iter().copied()).run();
        findings.check(outcome.code == Some(2), || format!("{}, not 2", outcome.summary()));
    }
    let version = sandbox.call().args(["version"]).run();
    findings.check(version.code == Some(0) && version.out().contains("2.0.0b25"), || version.summary());
}

/// The component does the same.
fn component(sandbox: &Sandbox, findings: &mut Findings) {
    let unpacked = fixture::named(USED).unpack();
    let mut command = Command::new(sandbox.path().join("wasmtime"));
    command.arg("run").arg("--dir").arg(format!("{}::/repo", unpacked.repository().display()));
    command.args(["--env", "BORG_PASSPHRASE"]).env("BORG_PASSPHRASE", &fixture::named(USED).expected.passphrase);
    command.arg(&sandbox.built.component).args(["-r", "/repo", "check", "--verify-data"]).stdin(Stdio::null());
    match command.output() {
        Ok(output) => findings.check(output.status.success(), || String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => findings.wrong(format!("wasmtime: {error}")),
    }
}

/// Runs an example of the program's page: the block with this number of those in this language.
fn readme(sandbox: &Sandbox, language: &str, number: usize, findings: &mut Findings) {
    let is_python = language == "python";
    if let Some(obstacle) = wasi::python_obstacle().filter(|_| is_python) {
        return findings.skip(obstacle);
    }
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../native/README.md"));
    let page = page.expect("the program has a page");
    let fence = format!("```{language}\n");
    let block = page.split(&fence).nth(number + 1).and_then(|rest| rest.split("```").next());
    let block = block.expect("the page has the example");

    let scratch = Scratch::new("readme");
    source::make(&scratch.path().join("source"));
    let native = Client::ours(&scratch, &scratch.path().join("repo")).env("BORG_TESTONLY_WEAKEN_KDF", "0");
    let _ = native.ok(&["repo-create", "--encryption", "aes256-ocb"]);
    let call = native.call(["create", "documents", "contents", "many"]).within(&scratch.path().join("source"));
    let _ = native.succeeds(call);
    fs::copy(&sandbox.built.module, scratch.path().join("portaborg.wasm")).expect("the module was built");
    let mut command = Command::new(if is_python { "python3" } else { "sh" });
    command.args(if is_python { &["-c"][..] } else { &["-e", "-c"] }).arg(block).env("BORG_PASSPHRASE", PASSPHRASE);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(sandbox.path().to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).expect("the tool's folder has no colon"));
    if let Ok(packages) = wasi::python().and_then(|folder| if is_python { Ok(folder) } else { Err(String::new()) }) {
        command.env("PYTHONPATH", packages);
    }
    let output = match command.current_dir(scratch.path()).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => return findings.wrong(format!("{language}: {error}")),
    };
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    findings.check(output.status.success(), || format!("{language}: {}: {out}{err}", output.status));
    if is_python {
        findings
            .check(out.lines().any(|line| line == "documents 300000 contents/noise"), || format!("it printed {out}"));
    } else if block.contains("extract") {
        let [ours, wanted] = ["out", "source"].map(|name| tree::read(&scratch.path().join(name).join("contents")));
        findings.extend(differences(&ours, &wanted).into_iter().map(|(_, text)| text));
    }
}

/// A fixture with a passphrase.
const USED: &str = "mode-aes256-ocb-sha256-repokey";
