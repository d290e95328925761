//! A store in memory that writes down what is done to it, and the states in which a crash may leave it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::store::{BlockingStore, BlockingStoreMut, StoreError, StoreErrorKind};

use crate::dice::Dice;

/// All objects by the paths that they have in a folder.
pub type Objects = BTreeMap<String, Arc<[u8]>>;

/// Something that was done to a store.
#[derive(Debug, Clone)]
pub enum Operation {
    /// An object was stored.
    Write(String, Arc<[u8]>),
    /// An object was removed.
    Delete(String),
    /// An object got another name.
    Rename(String, String),
    /// All before was made durable.
    Sync,
}

impl Operation {
    /// Does it again.
    pub fn apply(&self, objects: &mut Objects) {
        match self {
            Operation::Write(path, content) => drop(objects.insert(path.clone(), Arc::clone(content))),
            Operation::Delete(path) => drop(objects.remove(path)),
            Operation::Rename(from, to) => {
                if let Some(content) = objects.remove(from) {
                    objects.insert(to.clone(), content);
                }
            }
            Operation::Sync => {}
        }
    }
}

/// The store.
#[derive(Debug, Default)]
pub struct Recorder {
    objects: RefCell<Objects>,
    log: RefCell<Vec<Operation>>,
}

impl Recorder {
    /// With these objects and nothing written down.
    #[must_use]
    pub fn new(objects: Objects) -> Self {
        Recorder { objects: RefCell::new(objects), log: RefCell::default() }
    }

    /// What it holds now.
    #[must_use]
    pub fn objects(&self) -> Objects {
        self.objects.borrow().clone()
    }

    /// What was done.
    #[must_use]
    pub fn log(&self) -> Vec<Operation> {
        self.log.borrow().clone()
    }

    fn record(&self, operation: Operation) {
        operation.apply(&mut self.objects.borrow_mut());
        self.log.borrow_mut().push(operation);
    }

    fn require(&self, key: &Key) -> Result<(), StoreError> {
        if self.objects.borrow().contains_key(&key.path()) { Ok(()) } else { Err(missing(key)) }
    }
}

impl BlockingStore for Recorder {
    fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        let objects = self.objects.borrow();
        let content = objects.get(&key.path()).ok_or_else(|| missing(key))?;
        let start = usize::try_from(offset).map_or(content.len(), |start| start.min(content.len()));
        Ok(content[start..start.saturating_add(len).min(content.len())].to_vec())
    }

    fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        let folder = format!("{}/", namespace.name());
        let objects = self.objects.borrow();
        let inside = objects.iter().filter(|(path, _)| path.starts_with(&folder));
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(inside.filter_map(|(path, content)| Entry::from_name(&name(path), content.len() as u64, None)).collect())
    }
}

impl BlockingStoreMut for Recorder {
    fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError> {
        self.record(Operation::Write(key.path(), content.into()));
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.require(key)?;
        self.record(Operation::Delete(key.path()));
        Ok(())
    }

    fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        self.require(from)?;
        self.record(Operation::Rename(from.path(), to.path()));
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.record(Operation::Sync);
        Ok(())
    }
}

fn missing(key: &Key) -> StoreError {
    StoreError { name: key.to_string(), kind: StoreErrorKind::NotFound, detail: String::new() }
}

/// What a crash left.
#[derive(Debug, Clone)]
pub struct Crash {
    /// What is there.
    pub objects: Objects,
    /// Names in `archives/` that are there whatever of the unsynced operations was lost.
    pub archives: BTreeSet<String>,
    /// How it came about, in words.
    pub story: String,
    /// It happened right after a sync, so nothing was lost.
    pub is_at_sync: bool,
}

/// Every state in which a crash during this work may leave the store, each once: after each operation, with any part of
/// what was done since the last sync lost: nothing, all, all but one, one, and by chance, in any order.
#[must_use]
pub fn crashes(start: &Objects, log: &[Operation], dice: &mut Dice) -> Vec<Crash> {
    let mut seen = BTreeMap::new();
    let mut found: Vec<Crash> = Vec::new();
    let (mut durable, mut all, mut pending) = (start.clone(), start.clone(), Vec::new());
    for after in 0..=log.len() {
        match after.checked_sub(1).map(|last| &log[last]) {
            Some(Operation::Sync) => {
                durable.clone_from(&all);
                pending.clear();
            }
            Some(operation) => {
                operation.apply(&mut all);
                pending.push(operation);
            }
            None => {}
        }
        let archives: BTreeSet<String> = archives(&all).intersection(&archives(&durable)).cloned().collect();
        for kept in survivors(pending.len(), dice) {
            let mut objects = durable.clone();
            kept.iter().for_each(|&number| pending[number].apply(&mut objects));
            // Contents are shared, so one is told from another by its place in memory.
            let fingerprint: Vec<(String, usize)> =
                objects.iter().map(|(path, content)| (path.clone(), content.as_ptr().addr())).collect();
            let number = *seen.entry(fingerprint).or_insert(found.len());
            if number == found.len() {
                let story = format!(
                    "after {after} of {} operations, of {} unsynced ones {kept:?} are kept",
                    log.len(),
                    pending.len()
                );
                found.push(Crash { objects, archives: archives.clone(), story, is_at_sync: false });
            }
            found[number].is_at_sync |= pending.is_empty();
        }
    }
    found
}

/// What is left if everything is lost that was done since the last sync.
#[must_use]
pub fn durable(start: &Objects, log: &[Operation]) -> Objects {
    let last = log.iter().rposition(|operation| matches!(operation, Operation::Sync)).unwrap_or_default();
    let mut objects = start.clone();
    log[..last].iter().for_each(|operation| operation.apply(&mut objects));
    objects
}

/// Which of so many operations are kept, in which order.
fn survivors(count: usize, dice: &mut Dice) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..count).collect();
    let mut choices = vec![Vec::new(), all.clone()];
    for number in &all {
        choices.push(vec![*number]);
        choices.push(all.iter().filter(|other| *other != number).copied().collect());
    }
    if count > 2 {
        for _ in 0..RANDOM_CHOICES {
            let mut kept: Vec<usize> = all.iter().filter(|_| dice.below(2) == 0).copied().collect();
            dice.shuffle(&mut kept);
            choices.push(kept);
        }
    }
    choices
}

/// Random choices after each operation.
const RANDOM_CHOICES: usize = 4;

/// Names of the archives that are pointed to.
#[must_use]
pub fn archives(objects: &Objects) -> BTreeSet<String> {
    let names = objects.keys().filter_map(|path| path.strip_prefix("archives/"));
    names.filter(|name| !name.ends_with(".del")).map(str::to_owned).collect()
}

/// Reads a repository's folder.
#[must_use]
pub fn load(folder: &Path) -> Objects {
    let mut objects = Objects::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner).expect("a fixture can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it was found below").to_string_lossy().into_owned();
                objects.insert(name, fs::read(&path).expect("a fixture can be read").into());
            }
        }
    }
    objects
}

/// Writes a repository's folder.
pub fn store(objects: &Objects, folder: &Path) {
    let make = |folder: &Path| fs::create_dir_all(folder).expect("the folder for temporary files can be written");
    NAMESPACES.iter().for_each(|namespace| make(&folder.join(namespace.name())));
    for (path, content) in objects {
        let path = folder.join(path);
        make(path.parent().expect("objects lie in namespaces"));
        fs::write(&path, content).expect("the folder for temporary files can be written");
    }
}

const NAMESPACES: [Namespace; 7] = [
    Namespace::Archives,
    Namespace::Cache,
    Namespace::Config,
    Namespace::Index,
    Namespace::Keys,
    Namespace::Locks,
    Namespace::Packs,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A pointer that is written before what it needs is durable: one of the states has it alone.
    #[test]
    fn a_wrong_order_is_found() {
        let write = |path: &str| Operation::Write(path.into(), Arc::from(&b"x"[..]));
        let (pack, pointer) = (write("packs/aa/aa"), write("archives/1"));
        let wrong = |log: &[Operation]| {
            let crashes = crashes(&Objects::new(), log, &mut Dice::new(1));
            crashes.iter().any(|crash| {
                crash.objects.contains_key("archives/1") && !crash.objects.contains_key("packs/aa/aa")
                    || crash.archives.contains("1") && !crash.objects.contains_key("archives/1")
            })
        };
        assert!(wrong(&[pack.clone(), pointer.clone(), Operation::Sync]));
        assert!(!wrong(&[pack, Operation::Sync, pointer, Operation::Sync]));
    }
}
