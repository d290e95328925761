//! A store in memory.

use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::store::{BlockingStore, BlockingStoreMut, StoreError, StoreErrorKind};
use portaborg_core::time::Timestamp;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Objects in memory, under the paths that they have on disk. It counts what is asked of it.
#[derive(Default)]
pub struct MemoryStore {
    objects: RefCell<BTreeMap<String, Object>>,
    /// The storage's clock in seconds; `None` if it stamps nothing.
    pub clock: Cell<Option<i64>>,
    /// Objects read from, since this was set to zero.
    pub reads: Cell<usize>,
    /// Bytes given, since this was set to zero.
    pub read_bytes: Cell<usize>,
    /// Listings, since this was set to zero.
    pub listings: Cell<usize>,
    /// Whether deleting fails.
    pub keeps_all: Cell<bool>,
    /// How many more objects can be written; `None` if any number.
    pub writes_left: Cell<Option<usize>>,
}

struct Object {
    content: Vec<u8>,
    modified: Option<i64>,
}

impl MemoryStore {
    /// Stores an object under a path, at the storage's time.
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        let object = Object { content: content.into(), modified: self.clock.get() };
        self.objects.borrow_mut().insert(path.into(), object);
    }

    /// Removes an object, which must be there.
    pub fn remove(&self, path: &str) {
        self.objects.borrow_mut().remove(path).unwrap_or_else(|| panic!("no {path}"));
    }

    /// Changes an object's bytes.
    pub fn change(&self, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.objects.borrow_mut().get_mut(path).unwrap_or_else(|| panic!("no {path}")).content);
    }

    /// An object's bytes.
    pub fn content(&self, path: &str) -> Vec<u8> {
        self.objects.borrow().get(path).unwrap_or_else(|| panic!("no {path}")).content.clone()
    }

    /// Paths of all objects in a folder.
    pub fn paths(&self, folder: &str) -> Vec<String> {
        self.objects.borrow().keys().filter(|path| path.starts_with(folder)).cloned().collect()
    }

    /// Sets the counters to zero.
    pub fn recount(&self) {
        self.reads.set(0);
        self.read_bytes.set(0);
        self.listings.set(0);
    }

    fn missing(key: &Key) -> StoreError {
        StoreError { name: key.to_string(), kind: StoreErrorKind::NotFound, detail: String::new() }
    }
}

impl BlockingStore for MemoryStore {
    fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        self.reads.set(self.reads.get() + 1);
        let objects = self.objects.borrow();
        let content = &objects.get(&key.path()).ok_or_else(|| Self::missing(key))?.content;
        let start = (offset as usize).min(content.len());
        let end = start.saturating_add(len).min(content.len());
        self.read_bytes.set(self.read_bytes.get() + end - start);
        Ok(content[start..end].to_vec())
    }

    fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        self.listings.set(self.listings.get() + 1);
        let folder = format!("{}/", namespace.name());
        let objects = self.objects.borrow();
        let inside = objects.iter().filter(|(path, _)| path.starts_with(&folder));
        let entries = inside.filter_map(|(path, object)| {
            let name = path.rsplit('/').next().unwrap();
            let modified = object.modified.map(|secs| Timestamp { secs, nanos: 0 });
            Entry::from_name(name, object.content.len() as u64, modified)
        });
        Ok(entries.collect())
    }
}

impl BlockingStoreMut for MemoryStore {
    fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError> {
        if self.writes_left.get() == Some(0) {
            return Err(StoreError { name: key.to_string(), kind: StoreErrorKind::Failed, detail: "full".into() });
        }
        self.writes_left.set(self.writes_left.get().map(|left| left - 1));
        self.put(&key.path(), content);
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        if self.keeps_all.get() {
            return Err(StoreError { name: key.to_string(), kind: StoreErrorKind::Failed, detail: "broken".into() });
        }
        self.objects.borrow_mut().remove(&key.path()).map(drop).ok_or_else(|| Self::missing(key))
    }

    fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        let object = self.objects.borrow_mut().remove(&from.path()).ok_or_else(|| Self::missing(from))?;
        self.objects.borrow_mut().insert(to.path(), object);
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
