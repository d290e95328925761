//! In which order the program makes durable what it does, by its system calls: a file before it gets its name, then the
//! folders that names changed in, then the pointer to an archive; and nothing goes before what replaces it is safe.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use portaborg_tests::fixture;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::trace::{self, Event, Traced};

fn main() -> ExitCode {
    harness::main(|| {
        let program = Program::portaborg();
        vec![
            Trial::new("files_then_folders_then_the_pointer", move |f| commands(&program, f)),
            Trial::new("a_wrong_order_is_found", wrong_orders),
        ]
    })
}

/// Commands that change a repository, one after the other, and the folders that each must change.
const COMMANDS: &[(&[&str], &[&str])] = &[
    (&["create", "traced", "."], &["packs", "index", "archives"]),
    (&["delete", "-a", "aid:e2ddf485"], &["archives"]),
    (&["undelete", "-a", "aid:e2ddf485"], &["archives"]),
    (&["delete", "-a", "series"], &["archives"]),
    (&["compact", "--threshold", "0"], &["packs", "index", "archives", "cache"]),
    (&["repo-compress", "-C", "zlib,6"], &["packs", "index", "cache"]),
];
/// So small that the fixture's packs are worth merging.
const PACK_BYTES: &str = "20000";

fn commands(program: &Program, findings: &mut Findings) {
    if !trace::is_possible() {
        return findings.skip(trace::MISSING);
    }
    let fixture = fixture::named("series");
    let unpacked = fixture.unpack();
    let repository = unpacked.repository().canonicalize().expect("it was just unpacked");
    let scratch = Scratch::new("durable");
    let (data, base) = (scratch.folder("data"), scratch.folder("base"));
    (0..4).for_each(|number: u8| {
        std::fs::write(data.join(format!("file{number}")), vec![number; 9000]).expect("a new folder can be written");
    });
    for (args, folders) in COMMANDS.iter().filter(|(args, _)| program.knows(args[0])) {
        let traced = Traced::new(program, &repository, &fixture.expected.passphrase, args, &scratch.path().join("log"));
        let traced = traced.with(|call| call.base(&base).within(&data).env("BORG_PACK_MAX_SIZE", PACK_BYTES));
        let (outcome, events) = traced.run();
        findings.check(outcome.code == Some(0), || outcome.summary());
        let mut watch = Watch { repository: &repository, ..Watch::default() };
        events.iter().for_each(|event| watch.see(event));
        let changed: Vec<&str> = watch.changed.iter().map(String::as_str).collect();
        let missing: Vec<_> = folders.iter().filter(|folder| !changed.contains(folder)).collect();
        findings.check(missing.is_empty(), || format!("{}: {missing:?} did not change, but {changed:?}", args[0]));
        findings.extend(watch.finish().into_iter().map(|problem| format!("{}: {problem}", args[0])));
    }
}

/// What is not durable yet, and what was done too early.
struct Watch<'r> {
    repository: &'r Path,
    /// Files with bytes that may not be on disk.
    written: BTreeSet<PathBuf>,
    /// Folders with new names that may not be on disk.
    named: BTreeSet<PathBuf>,
    /// Folders from which names are gone, which may not be on disk.
    removed: BTreeSet<PathBuf>,
    /// Namespaces in which something changed.
    changed: BTreeSet<String>,
    problems: Vec<String>,
}

impl Default for Watch<'_> {
    fn default() -> Self {
        let repository = Path::new("/");
        let (written, named, removed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Watch { repository, written, named, removed, changed: BTreeSet::new(), problems: Vec::new() }
    }
}

impl Watch<'_> {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Write(path) => self.inside(path, |watch, path| watch.written.extend([path.into()])),
            Event::Sync(path) => {
                self.written.remove(path);
                self.named.remove(path);
                self.removed.remove(path);
            }
            Event::Rename(from, to) => self.inside(to, |watch, to| watch.rename(from, to)),
            Event::Unlink(path) => self.inside(path, |watch, path| watch.unlink(path)),
            Event::Mkdir(path) => self.inside(path, |watch, path| watch.named.extend([folder(path)])),
        }
    }

    /// Changes outside of the repository, and locks, need not last.
    fn inside(&mut self, path: &Path, see: impl FnOnce(&mut Self, &Path)) {
        let Ok(inner) = path.strip_prefix(self.repository) else { return };
        let namespace = inner.components().next().map(|first| first.as_os_str().to_string_lossy().into_owned());
        if let Some(namespace) = namespace.filter(|namespace| namespace != "locks") {
            self.changed.insert(namespace);
            see(self, path);
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        if self.written.remove(from) {
            self.problems.push(format!("{} got its name before its content was on disk", to.display()));
        }
        let is_new_pointer = to.starts_with(self.repository.join("archives")) && is_temporary(from);
        let others = self.named.iter().chain(&self.removed).filter(|dirty| !dirty.ends_with("archives"));
        let others: Vec<&PathBuf> = others.collect();
        if is_new_pointer && !others.is_empty() {
            self.problems.push(format!("{} points to what is not on disk: {others:?}", to.display()));
        }
        self.named.insert(folder(to));
        if !is_temporary(from) {
            self.removed.insert(folder(from));
        }
    }

    fn unlink(&mut self, path: &Path) {
        if path.starts_with(self.repository.join("packs")) && !self.named.is_empty() {
            self.problems.push(format!("{} went before {:?} were on disk", path.display(), self.named));
        }
        self.removed.insert(folder(path));
    }

    /// All that is wrong, at the end of a command.
    fn finish(mut self) -> Vec<String> {
        let left: Vec<&PathBuf> = self.written.iter().chain(&self.named).chain(&self.removed).collect();
        if !left.is_empty() {
            self.problems.push(format!("at the end these may not be on disk: {left:?}"));
        }
        self.problems
    }
}

/// What the other test would say.
fn wrong_orders(findings: &mut Findings) {
    let path = |name: &str| PathBuf::from(format!("/r/{name}"));
    let put = |name: &str, is_synced: bool| {
        let temporary = path(&format!("{name}.tmp"));
        let mut events = vec![Event::Write(temporary.clone())];
        events.extend(is_synced.then(|| Event::Sync(temporary.clone())));
        events.push(Event::Rename(temporary, path(name)));
        events
    };
    let synced = |name: &str| vec![Event::Sync(path(name))];
    let unlinked = |name: &str| vec![Event::Unlink(path(name))];
    let problems = |events: &[Vec<Event>]| {
        let mut watch = Watch { repository: Path::new("/r"), ..Watch::default() };
        events.iter().flatten().for_each(|event| watch.see(event));
        watch.finish().len()
    };
    let (pack, pointer) = (put("packs/a", true), put("archives/1", true));
    let (packs, archives) = (synced("packs"), synced("archives"));
    let cases: [(&[Vec<Event>], usize); 7] = [
        (&[pack.clone(), packs.clone(), pointer.clone(), archives.clone()], 0),
        (&[put("packs/a", false), packs.clone(), pointer.clone(), archives.clone()], 1),
        (&[pack.clone(), pointer.clone(), packs.clone(), archives.clone()], 1),
        (&[pack.clone(), packs.clone(), pointer], 1),
        (&[pack.clone(), packs.clone(), unlinked("packs/b"), packs.clone()], 0),
        (&[pack, unlinked("packs/b"), packs], 1),
        (&[put("locks/a", false), unlinked("locks/b")], 0),
    ];
    for (number, (events, wanted)) in cases.iter().enumerate() {
        let found = problems(events);
        findings.check(found == *wanted, || format!("case {number}: {found} problems, not {wanted}"));
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().expect("objects lie in namespaces").into()
}

fn is_temporary(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tmp")
}
