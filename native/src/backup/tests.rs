//! Walks through real directories. What needs root or a capable file system says so and is skipped without.

mod attributes;
mod deep;
mod objects;
mod reading;
mod walking;

use super::*;
use crate::failure::Failure;
use portaborg_core::files_cache::FileState;
use portaborg_core::id::ChunkId;
use portaborg_core::item::Item;
use portaborg_core::pattern::{PatternMatcher, parse_pattern_file};
use std::cell::RefCell;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is gone at the end.
struct Tree {
    base: PathBuf,
}

impl Tree {
    fn new() -> Tree {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = std::env::temp_dir().join(format!("portaborg-backup-{}-{number}", std::process::id()));
        fs::create_dir_all(&base).unwrap();
        Tree { base: base.canonicalize().unwrap() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        file
    }

    fn directory(&self, path: &str) -> PathBuf {
        fs::create_dir_all(self.at(path)).unwrap();
        self.at(path)
    }

    fn symlink(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
    }

    fn fifo(&self, path: &str) -> PathBuf {
        let fifo = self.at(path);
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        fifo
    }

    /// Without the name of this tree, which differs from run to run.
    fn plain(&self, text: &str) -> String {
        text.replace(self.base.to_str().unwrap(), "/T").replace(&self.base.to_str().unwrap()[1..], "T")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // The standard library keeps a descriptor for each level of a deep tree, `rm` doesn't.
        assert!(std::process::Command::new("rm").arg("-rf").arg(&self.base).status().unwrap().success());
    }
}

/// Keeps everything that it is told and given.
#[derive(Default)]
struct Record {
    lines: RefCell<Vec<String>>,
    counts: RefCell<Vec<Status>>,
    problems: RefCell<Vec<Problem>>,
    notes: RefCell<Vec<String>>,
}

impl Observer for Record {
    fn status(&self, status: Status, path: &[u8]) {
        self.lines.borrow_mut().push(format!("{} {}", status.letter(), String::from_utf8_lossy(path)));
    }

    fn count(&self, status: Status) {
        self.counts.borrow_mut().push(status);
    }

    fn warn(&self, problem: &Problem) {
        self.problems.borrow_mut().push(problem.clone());
    }

    fn note(&self, text: &str) {
        self.notes.borrow_mut().push(text.into());
    }
}

type Bytes = Rc<Vec<u8>>;

/// Holds the items with their contents, and what is to be known of files.
#[derive(Default)]
struct Memory {
    items: Vec<(Item, Option<Bytes>)>,
    known: Vec<(Vec<u8>, Known<Bytes>)>,
    memorized: Vec<Vec<u8>>,
    reads: usize,
    /// Runs after the content of a file was read.
    meanwhile: Option<Box<dyn FnMut()>>,
    /// The end of everything, once there are so many items.
    full_after: Option<usize>,
}

impl Sink for Memory {
    type Content = Bytes;
    type Trace = ();

    fn content(&mut self, parts: Vec<Part<'_>>) -> Result<Self::Content, Fault> {
        self.reads += 1;
        let mut content = Vec::new();
        let mut buffer = [0; 1000];
        for part in parts {
            match part {
                Part::Known(chunks) => chunks.iter().for_each(|chunk| content.extend_from_slice(&chunk.id.0[..1])),
                Part::Read(mut input) => loop {
                    match input.read(&mut buffer)? {
                        0 => break,
                        len => content.extend_from_slice(&buffer[..len]),
                    }
                },
            }
        }
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile();
        }
        Ok(Rc::new(content))
    }

    fn has(&self, _id: &ChunkId) -> bool {
        true
    }

    fn known(&mut self, path: &[u8], _state: &FileState) -> Known<Self::Content> {
        self.known.iter().find(|(known, _)| known == path).map_or(Known::No, |(_, known)| known.clone())
    }

    fn memorize(&mut self, path: &[u8], _state: &FileState, _content: &Self::Content, _is_read_only: bool) {
        self.memorized.push(path.into());
    }

    fn item(&mut self, item: Item, content: Option<Self::Content>) -> Result<(), Failure> {
        if self.full_after == Some(self.items.len()) {
            return Err(Failure::error("no space left"));
        }
        self.items.push((item, content));
        Ok(())
    }
}

impl Memory {
    fn paths(&self) -> Vec<String> {
        self.items.iter().map(|(item, _)| String::from_utf8_lossy(&item.path).into_owned()).collect()
    }

    fn item_at(&self, path: &str) -> &Item {
        &self.items.iter().find(|(item, _)| item.path == path.as_bytes()).unwrap_or_else(|| panic!("no {path}")).0
    }

    fn content_at(&self, path: &str) -> Option<&[u8]> {
        let (_, content) = self.items.iter().find(|(item, _)| item.path == path.as_bytes()).unwrap();
        content.as_deref().map(|content| &**content)
    }
}

/// What is asked for.
struct Run {
    walk: walk::Options,
    selection: Selection,
    reading: read::Options,
    patterns: &'static str,
    skip: Vec<PathBuf>,
}

impl Default for Run {
    /// Files that were just made must not be taken for ones that change.
    fn default() -> Self {
        Run {
            walk: walk::Options::default(),
            selection: Selection::default(),
            reading: read::Options { files_changed: FilesChanged::Disabled, ..read::Options::default() },
            patterns: "",
            skip: Vec::new(),
        }
    }
}

impl Run {
    fn matcher(&self) -> PatternMatcher {
        let mut matcher = PatternMatcher::new(true);
        matcher.add_rules(parse_pattern_file(self.patterns.as_bytes()).unwrap().rules);
        matcher
    }

    /// Archives roots into `memory`.
    fn fill(&self, memory: &mut Memory, roots: &[&Path]) -> Result<Record, Failure> {
        let record = Record::default();
        let order = Order::new(&record);
        let mut collector = Collector::new(&self.selection, &self.reading, &order, memory);
        let mut walk = Walk::new(&self.walk, self.matcher(), &record);
        for path in &self.skip {
            walk.skip(path.as_os_str().as_bytes());
        }
        for root in roots {
            walk.root(root.as_os_str().as_bytes(), &mut collector)?;
        }
        Ok(record)
    }

    fn go(&self, roots: &[&Path]) -> (Memory, Record) {
        let mut memory = Memory::default();
        let record = self.fill(&mut memory, roots).unwrap();
        (memory, record)
    }
}

impl Record {
    /// The lines, sorted, since the order in a directory is that of inode numbers.
    fn sorted_lines(&self, tree: &Tree) -> Vec<String> {
        let mut lines: Vec<_> = self.lines.borrow().iter().map(|line| tree.plain(line)).collect();
        lines.sort();
        lines
    }

    fn problem_lines(&self, tree: &Tree) -> Vec<String> {
        let told = |problem: &Problem| format!("{} {}", problem.exit_code(), tree.plain(&problem.to_string()));
        self.problems.borrow().iter().map(told).collect()
    }

    fn count_of(&self, status: Status) -> usize {
        self.counts.borrow().iter().filter(|counted| **counted == status).count()
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
