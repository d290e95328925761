//! Which paths are being worked on, so that an item can wait for those that it depends on.

use portaborg_core::item::{FileType, Item};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Items that others may have to wait for: files that are not complete, directories whose attributes are still to come.
///
/// Paths are compared without regard to case, since they may be the same on some file systems. They are kept as hashes: that
/// two are taken for one costs a wait and nothing else.
#[derive(Default)]
pub struct Busy {
    hasher: RandomState,
    paths: Counts,
    /// The directories that they lie in.
    above: Counts,
    ids: Counts,
}

#[derive(Default)]
struct Counts(HashMap<u64, u32>);

impl Busy {
    /// Whether an item depends on what is being worked on: its path, one that it lies below, one below it unless it is a
    /// directory, or another name of the same hard link.
    pub fn blocks(&self, item: &Item) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let mut steps = self.steps(&item.path);
        let path = steps.pop();
        path.is_some_and(|path| {
            self.paths.has(path) || item.file_type() != Some(FileType::Directory) && self.above.has(path)
        }) || steps.into_iter().any(|step| self.paths.has(step))
            || item.hlid.as_ref().is_some_and(|id| self.ids.has(self.hasher.hash_one(id)))
    }

    /// Work on a path begins.
    pub fn add(&mut self, path: &[u8], hlid: Option<&[u8]>) {
        let mut steps = self.steps(path);
        steps.pop().into_iter().for_each(|path| self.paths.add(path));
        steps.into_iter().for_each(|step| self.above.add(step));
        hlid.into_iter().for_each(|id| self.ids.add(self.hasher.hash_one(id)));
    }

    /// Work on a path has ended.
    pub fn remove(&mut self, path: &[u8], hlid: Option<&[u8]>) {
        let mut steps = self.steps(path);
        steps.pop().into_iter().for_each(|path| self.paths.remove(path));
        steps.into_iter().for_each(|step| self.above.remove(step));
        hlid.into_iter().for_each(|id| self.ids.remove(self.hasher.hash_one(id)));
    }

    /// Hashes of the directories that a path lies in, the outermost first, and of the path itself.
    fn steps(&self, path: &[u8]) -> Vec<u64> {
        let folded;
        let path = match std::str::from_utf8(path) {
            Ok(text) if !text.is_ascii() => {
                folded = text.to_uppercase().to_lowercase();
                folded.as_bytes()
            }
            _ => path,
        };
        let mut hasher = self.hasher.build_hasher();
        let mut steps = Vec::with_capacity(8);
        for component in path.split(|&byte| byte == b'/').filter(|component| !matches!(*component, b"" | b".")) {
            hasher.write_u8(b'/');
            // In pieces, since a hasher may take each write as a value of its own.
            let mut lower = [0; 64];
            for piece in component.chunks(lower.len()) {
                let lower = &mut lower[..piece.len()];
                lower.copy_from_slice(piece);
                lower.make_ascii_lowercase();
                hasher.write(lower);
            }
            steps.push(hasher.finish());
        }
        steps
    }
}

impl Counts {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, hash: u64) -> bool {
        self.0.contains_key(&hash)
    }

    fn add(&mut self, hash: u64) {
        *self.0.entry(hash).or_default() += 1;
    }

    fn remove(&mut self, hash: u64) {
        if let Some(count) = self.0.get_mut(&hash) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(path: &str, mode: u32, hlid: Option<&str>) -> Item {
        Item { path: path.into(), mode: Some(mode), hlid: hlid.map(Into::into), ..Item::default() }
    }

    #[test]
    fn an_item_waits_for_its_path_what_it_lies_in_what_lies_in_it_and_its_other_names() {
        const FILE: u32 = 0o100_644;
        const DIRECTORY: u32 = 0o040_755;
        let mut busy = Busy::default();
        assert!(!busy.blocks(&item("a/b", FILE, Some("id"))));
        busy.add(b"a/b", Some(b"id"));
        busy.add(b"a/b", None);
        for round in 0..2 {
            for path in ["a/b", "a/b/c", "./a//b", "A/B", "a", "a/."] {
                assert!(busy.blocks(&item(path, FILE, None)), "{path}");
            }
            for path in ["a/c", "b", "a/bb", "ab", ".", "", "a/c/b"] {
                assert!(!busy.blocks(&item(path, FILE, None)), "{path}");
            }
            assert!(busy.blocks(&item("a/b", DIRECTORY, None)));
            assert!(!busy.blocks(&item("a", DIRECTORY, None)));
            assert_eq!(busy.blocks(&item("x", FILE, Some("id"))), round == 0);
            assert!(!busy.blocks(&item("x", FILE, Some("other"))));
            busy.remove(b"a/b", (round == 0).then_some(b"id"));
        }
        assert!(!busy.blocks(&item("a/b", FILE, None)));
        busy.add("stra\u{df}e/\u{212a}".as_bytes(), None);
        assert!(busy.blocks(&item("STRASSE/k", FILE, None)));
    }
}
