//! A repository in a local folder (repository layer, section 1.5).

mod create;
mod destroy;
mod leftovers;
mod listing;

pub use create::Made;

use crate::client::dirs;
use crate::repository::permissions::{Permissions, Right};
use crate::repository::store_stats::StoreStats;
use crate::system::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::repo::Repository;
use portaborg_core::store::{BlockingStore, BlockingStoreMut, Ready, StoreError, StoreErrorKind};
use portaborg_core::time::Timestamp;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Objects lie at most this deep below their namespace; what lies deeper is none.
const MAX_DEPTH: usize = 3;
/// What is being written, and what was when a writer died.
const TEMPORARY_SUFFIX: &str = "tmp";

/// Packs that are kept open.
const RECENT_FILES: usize = 8;

/// A repository in a local folder.
pub type LocalRepository = Repository<Ready<Folder>>;

/// The folder.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    /// Packs that were read of late, the last one in front: they are read piece by piece, by several threads.
    recent: Mutex<Vec<(Key, Arc<File>)>>,
    permissions: Permissions,
    /// Folders whose names changed since the last [`BlockingStoreMut::sync`].
    unsynced: Mutex<BTreeSet<PathBuf>>,
    stats: Mutex<StoreStats>,
}

impl Folder {
    /// The folder at this path, which must be one.
    pub fn open(root: &Path) -> io::Result<Self> {
        if fs::metadata(root)?.is_dir() {
            Ok(Folder {
                root: root.into(),
                recent: Mutex::default(),
                permissions: Permissions::All,
                unsynced: Mutex::default(),
                stats: Mutex::default(),
            })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// The same folder, in which only so much may be done.
    pub fn with_permissions(self, permissions: Permissions) -> Self {
        Folder { permissions, ..self }
    }

    /// What may be done in it.
    pub fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether locks can be written here at all. It may still fail for another reason, such as a full disk.
    pub fn takes_locks(&self) -> io::Result<()> {
        let locks = self.root.join(Namespace::Locks.name());
        let folder = if locks.is_dir() { locks } else { self.root.clone() };
        Ok(rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?)
    }

    /// What was done so far.
    pub fn stats(&self) -> StoreStats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, update: impl FnOnce(&mut StoreStats)) {
        update(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Requires that something may be done with an object.
    fn allow(&self, key: &Key, right: Right) -> Result<(), StoreError> {
        match key.namespace() {
            Some(namespace) => {
                self.allow_in(namespace, right).map_err(|error| StoreError { name: key.to_string(), ..error })
            }
            None => Ok(()),
        }
    }

    fn allow_in(&self, namespace: Namespace, right: Right) -> Result<(), StoreError> {
        if self.permissions.allow(namespace, right) {
            return Ok(());
        }
        let granted = self.permissions.letters(namespace);
        let detail = format!("BORG_REPO_PERMISSIONS grants only '{granted}' there");
        Err(StoreError { name: namespace.name().into(), kind: StoreErrorKind::Denied, detail })
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.path())
    }

    /// Reads like [`BlockingStore::read`], into a buffer whose content is of no interest.
    pub fn read_into(&self, buffer: Vec<u8>, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        self.allow(key, Right::Read)?;
        let began = Instant::now();
        let read = self.read_at(buffer, key, offset, len);
        self.count(|stats| stats.load.add(began.elapsed(), read.as_ref().map_or(0, Vec::len)));
        read.map_err(|error| store_error(error, key.to_string()))
    }

    fn read_at(&self, mut bytes: Vec<u8>, key: &Key, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let file = self.open_file(key)?;
        let left = file.metadata()?.len().saturating_sub(offset);
        bytes.resize(len.min(usize::try_from(left).unwrap_or(usize::MAX)), 0);
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn open_file(&self, key: &Key) -> io::Result<Arc<File>> {
        // Only packs never change under their name.
        if !matches!(key, Key::Pack(_)) {
            return Ok(Arc::new(File::open(self.path(key))?));
        }
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |recent: &mut Vec<(Key, Arc<File>)>| {
            let hit = recent.iter().position(|(name, _)| name == key)?;
            recent[..=hit].rotate_right(1);
            Some(recent[0].1.clone())
        };
        if let Some(file) = find(&mut recent()) {
            return Ok(file);
        }
        let file = Arc::new(File::open(self.path(key))?);
        let mut recent = recent();
        recent.truncate(RECENT_FILES - 1);
        recent.insert(0, (*key, file.clone()));
        Ok(file)
    }

    fn write_whole<C: AsRef<[u8]>>(&self, key: &Key, pieces: &[C]) -> io::Result<()> {
        let path = self.path(key);
        let unique = getrandom::u64().map_err(io::Error::other)?;
        let temporary = path.with_extension(format!("{unique:016x}.{TEMPORARY_SUFFIX}"));
        let create = || fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary);
        let file = match create() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = path.parent().expect("objects lie in namespaces");
                fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
                parent.ancestors().take_while(|folder| *folder != self.root).for_each(|folder| self.changed(folder));
                create()
            }
            other => other,
        }?;
        let is_lock = matches!(key, Key::Lock(_));
        // The content is on disk before the name is: after a power failure no name has half an object.
        let synced = || if is_lock { Ok(()) } else { file.sync_data() };
        let mut offset = 0;
        let written = pieces.iter().map(AsRef::as_ref).try_for_each(|piece| {
            let place = offset;
            offset += piece.len() as u64;
            file.write_all_at(piece, place)
        });
        let stored = written.and_then(|()| synced()).and_then(|()| fs::rename(&temporary, &path));
        match &stored {
            Ok(()) if is_lock => {}
            Ok(()) => self.changed(&path),
            Err(_) => drop(fs::remove_file(&temporary)), // the error that counts is the first one
        }
        stored
    }

    /// Remembers that a folder's names changed.
    fn changed(&self, path: &Path) {
        let folder = path.parent().expect("objects lie in namespaces");
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.into());
    }

    fn sync_folders(&self) -> io::Result<()> {
        let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(folder) = unsynced.first() {
            dirs::sync(folder)?;
            unsynced.pop_first();
        }
        Ok(())
    }
}

impl BlockingStore for Folder {
    fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        self.read_into(Vec::new(), key, offset, len)
    }

    fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        self.allow_in(namespace, Right::List)?;
        let began = Instant::now();
        let mut entries = Vec::new();
        match list_into(&self.root.join(namespace.name()), 0, &mut entries) {
            Err(error) if !is_missing(&error) => return Err(store_error(error, namespace.name().into())),
            _ => {}
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        self.count(|stats| stats.list.add(began.elapsed(), 0));
        Ok(entries)
    }
}

impl Folder {
    fn write_counted<C: AsRef<[u8]>>(&self, key: &Key, pieces: &[C]) -> Result<(), StoreError> {
        let is_there = self.permissions != Permissions::All && self.path(key).exists();
        self.allow(key, if is_there { Right::Replace } else { Right::Add })?;
        let began = Instant::now();
        let written = self.write_whole(key, pieces);
        let bytes = pieces.iter().map(|piece| piece.as_ref().len()).sum();
        self.count(|stats| stats.store.add(began.elapsed(), bytes));
        written.map_err(|error| match store_error(error, key.to_string()) {
            // It is the place that is missing, not the object.
            error if error.kind == StoreErrorKind::NotFound => StoreError { kind: StoreErrorKind::Failed, ..error },
            error => error,
        })
    }
}

impl BlockingStoreMut for Folder {
    fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError> {
        self.write_counted(key, &[content])
    }

    fn write_pieces(&self, key: &Key, pieces: &[Vec<u8>]) -> Result<(), StoreError> {
        self.write_counted(key, pieces)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.allow(key, Right::Delete)?;
        let began = Instant::now();
        let removed = fs::remove_file(self.path(key));
        self.count(|stats| stats.delete.add(began.elapsed(), 0));
        if !matches!(key, Key::Lock(_)) {
            self.changed(&self.path(key));
        }
        removed.map_err(|error| store_error(error, key.to_string()))
    }

    fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        self.allow(from, Right::Delete)?;
        self.allow(to, Right::Add)?;
        let began = Instant::now();
        let renamed = fs::rename(self.path(from), self.path(to));
        self.count(|stats| stats.rename.add(began.elapsed(), 0));
        self.changed(&self.path(to));
        renamed.map_err(|error| store_error(error, from.to_string()))
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.sync_folders().map_err(|error| store_error(error, self.root.display().to_string()))
    }
}

fn list_into(folder: &Path, depth: usize, entries: &mut Vec<Entry>) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        let metadata = match fs::metadata(file.path()) {
            Ok(metadata) => metadata,
            Err(error) if is_missing(&error) => continue, // removed meanwhile
            Err(error) => return Err(error),
        };
        let name = file.file_name();
        let Some(name) = name.to_str() else { continue };
        if metadata.is_dir() {
            if depth < MAX_DEPTH {
                list_into(&file.path(), depth + 1, entries)?;
            }
            continue;
        }
        let modified = Timestamp { secs: metadata.mtime(), nanos: metadata.mtime_nsec() as u32 };
        // A storage that keeps no times says 0.
        let modified = Some(modified).filter(|modified| modified.secs != 0);
        entries.extend(Entry::from_name(name, metadata.len(), modified));
    }
    Ok(())
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn store_error(error: io::Error, name: String) -> StoreError {
    let kind = match error.kind() {
        _ if is_missing(&error) => StoreErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => StoreErrorKind::Denied,
        io::ErrorKind::ReadOnlyFilesystem => StoreErrorKind::ReadOnly,
        _ => StoreErrorKind::Failed,
    };
    StoreError { name, kind, detail: error.to_string() }
}
