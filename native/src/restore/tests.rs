//! Extraction into real directories. What needs root or a capable file system says so and is skipped without.

mod attributes;
mod escape;
mod files;
mod links;

use super::{Begun, Options, Problem, Restorer};
use portaborg_core::id::ChunkId;
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::time::Timestamp;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory `target` with a sentinel beside it, both gone at the end.
struct Place {
    base: PathBuf,
}

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = std::env::temp_dir().join(format!("portaborg-restore-{}-{number}", std::process::id()));
        fs::create_dir_all(base.join("target")).unwrap();
        fs::create_dir(base.join("outside")).unwrap();
        fs::write(base.join("outside/sentinel"), "untouched").unwrap();
        Place { base }
    }

    fn target(&self) -> PathBuf {
        self.base.join("target")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.target().join(path)
    }

    fn outside(&self) -> PathBuf {
        self.base.join("outside")
    }

    fn restorer(&self, options: Options) -> Extraction {
        Extraction(Restorer::open(&self.target(), options).unwrap())
    }

    /// Extracts all items with no options and returns the problems' texts.
    fn extract(&self, items: &[(Item, &[u8])]) -> Vec<String> {
        self.extract_with(Options::default(), items)
    }

    fn extract_with(&self, options: Options, items: &[(Item, &[u8])]) -> Vec<String> {
        let mut extraction = self.restorer(options);
        let mut problems = Vec::new();
        for (item, content) in items {
            problems.extend(extraction.item(item, content));
        }
        problems.extend(extraction.0.finish());
        problems.iter().map(text).collect()
    }

    fn assert_outside_untouched(&self) {
        let names: Vec<_> = fs::read_dir(self.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["sentinel"]);
        let sentinel = self.outside().join("sentinel");
        assert_eq!(fs::read(&sentinel).unwrap(), b"untouched");
        assert_eq!(fs::metadata(&sentinel).unwrap().nlink(), 1);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        clear_flags(&self.base);
        fs::remove_dir_all(&self.base).unwrap();
    }
}

struct Extraction(Restorer);

impl Extraction {
    /// One item with its content; all problems that came of it.
    fn item(&mut self, item: &Item, content: &[u8]) -> Vec<Problem> {
        let begun = self.0.begin(item);
        let mut problems = self.0.take_problems();
        match begun {
            Ok(Begun::File(mut file)) => {
                problems.extend(file.write(content).err());
                problems.extend(file.finish());
            }
            Ok(Begun::Done | Begun::Unchanged) => {}
            Err(problem) => problems.push(problem),
        }
        problems
    }
}

fn text(problem: &Problem) -> String {
    format!("{} {}: {problem}", problem.exit_code(), String::from_utf8_lossy(&problem.path))
}

fn object(path: &str, mode: u32) -> Item {
    Item { path: path.into(), mode: Some(mode), mtime: at(1_600_000_000, 0), ..Item::default() }
}

fn directory(path: &str) -> (Item, &'static [u8]) {
    (object(path, 0o040_755), b"")
}

fn symlink(path: &str, target: &Path) -> (Item, &'static [u8]) {
    let target = Some(target.to_str().unwrap().into());
    (Item { target, ..object(path, 0o120_777) }, b"")
}

fn file<'a>(path: &str, content: &'a [u8]) -> (Item, &'a [u8]) {
    let id = ChunkId(*blake3::hash(content).as_bytes());
    let size = content.len() as u64;
    let chunks = if content.is_empty() { vec![] } else { vec![ChunkEntry { id, size }] };
    (Item { chunks: Some(chunks), size: Some(size), ..object(path, 0o100_644) }, content)
}

fn with((mut item, content): (Item, &[u8]), change: impl FnOnce(&mut Item)) -> (Item, &[u8]) {
    change(&mut item);
    (item, content)
}

fn at(secs: i64, nanos: u32) -> Timestamp {
    Timestamp { secs, nanos }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(target_os = "linux")]
fn clear_flags(path: &Path) {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if !(metadata.is_dir() || metadata.is_file()) {
        return;
    }
    let guarding = IFlags::IMMUTABLE.bits() | IFlags::APPEND.bits();
    if let Ok(file) = fs::File::open(path)
        && let Ok(flags) = ioctl_getflags(&file)
        && flags.bits() & guarding != 0
    {
        ioctl_setflags(&file, IFlags::from_bits_retain(flags.bits() & !guarding)).unwrap();
    }
    for entry in fs::read_dir(path).into_iter().flatten() {
        clear_flags(&entry.unwrap().path());
    }
}

#[cfg(not(target_os = "linux"))]
fn clear_flags(_path: &Path) {}
