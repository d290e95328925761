//! What lies in a repository: its stored objects by type, and what its archives point to. Read with core, past both programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use portaborg_core::codec::PureRust;
use portaborg_core::crypto::Kdf;
use portaborg_core::id::PackId;
use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::object::{HEADER_BYTES, Opener};
use portaborg_core::repo::{self, ChunkReader, PackWalk, Repository, Walked};
use portaborg_core::store::{BlockingStore, Ready, Store, StoreError, StoreErrorKind, now};

/// The content of a repository at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    /// Chunk ids in the packs by the letter of their type, with the number of times each is stored.
    pub chunks: BTreeMap<char, BTreeMap<String, usize>>,
    /// Archive id to the ids of the objects that list its item stream's chunks. They name their content, so equal ids are
    /// equal streams, cut at the same places.
    pub item_ptrs: BTreeMap<String, Vec<String>>,
}

impl Census {
    /// Counts what lies in a repository that this passphrase opens.
    ///
    /// # Panics
    ///
    /// If anything is not authentic, whole and readable.
    #[must_use]
    pub fn take(repository: &Path, passphrase: &str) -> Self {
        let opened = now(Repository::open(Ready(Folder(repository.to_owned()))));
        let repository = opened.unwrap_or_else(|error| panic!("{}: {error}", repository.display()));
        let suite = repository.config.suite.expect("both programs write the suite");
        let sources = now(repo::repository_keys(&repository.store, repository.id())).expect("keys can be read");
        let unlocked = repo::unlock(&sources, passphrase.as_bytes(), Kdf::Weakened, suite, repository.id());
        let keys = unlocked.expect("the passphrase is the right one").keys;
        let mut opener = Opener::new(&keys, &PureRust);

        let mut census = Self::default();
        for pack in now(repository.store.list(Namespace::Packs)).expect("packs can be listed") {
            let Ok(id) = pack.name.parse() else { panic!("packs/{}: not the name of a pack", pack.name) };
            census.count(&repository.store, &mut opener, id, pack.size);
        }
        let index = now(repo::load_index(&repository, &mut opener, &mut |damage| panic!("{damage:?}")));
        let mut reader = ChunkReader::new(&repository, &keys, &PureRust, index.expect("the index can be read"));
        for archive in now(repo::list_archives(&mut reader, false)).expect("archives can be listed").archives {
            let meta = archive.meta.unwrap_or_else(|error| panic!("archive {}: {error}", archive.id));
            census.item_ptrs.insert(archive.id.to_string(), meta.item_ptrs.iter().map(ToString::to_string).collect());
        }
        census
    }

    /// Ids of the chunks of a type.
    #[must_use]
    pub fn ids(&self, letter: char) -> BTreeSet<&String> {
        self.chunks.get(&letter).into_iter().flat_map(BTreeMap::keys).collect()
    }

    /// How many objects of a type are stored.
    #[must_use]
    pub fn stored(&self, letter: char) -> usize {
        self.chunks.get(&letter).into_iter().flat_map(BTreeMap::values).sum()
    }

    fn count(&mut self, store: &Ready<Folder>, opener: &mut Opener<'_>, pack: PackId, pack_bytes: u64) {
        let mut walk = PackWalk::new(pack, pack_bytes);
        let mut end = 0;
        while let Some(next) = now(walk.next(store, opener)) {
            match next.unwrap_or_else(|error| panic!("packs/{pack}: {error}")) {
                Walked::Object { offset, header } => {
                    let head_bytes = HEADER_BYTES + header.meta_size as usize;
                    let mut head = now(store.read(&Key::Pack(pack), offset, head_bytes)).expect("it was just read");
                    let (_, meta) = opener.open_meta(&mut head, header.id).expect("it was just opened");
                    let kind = meta.kind.unwrap_or_else(|| panic!("packs/{pack}: {} has no type", header.id));
                    let ids = self.chunks.entry(kind.letter()).or_default();
                    *ids.entry(header.id.to_string()).or_default() += 1;
                    end = offset + header.total();
                }
                Walked::Skipped { offset, bytes } => panic!("packs/{pack}: {bytes} bytes at {offset} are no object"),
            }
        }
        assert_eq!(end, pack_bytes, "packs/{pack} does not end with an object");
    }
}

/// Every file below a repository that an unfinished write left behind.
#[must_use]
pub fn leftovers(repository: &Path) -> Vec<PathBuf> {
    files(repository).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// A repository's folder.
struct Folder(PathBuf);

impl BlockingStore for Folder {
    fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        let stored = fs::read(self.0.join(key.path())).map_err(|error| StoreError {
            name: key.to_string(),
            kind: match error.kind() {
                io::ErrorKind::NotFound => StoreErrorKind::NotFound,
                _ => StoreErrorKind::Failed,
            },
            detail: error.to_string(),
        })?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(stored.len());
        Ok(stored[start..stored.len().min(start.saturating_add(len))].to_vec())
    }

    fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        let entry = |path: PathBuf| {
            let size = fs::metadata(&path).ok()?.len();
            Entry::from_name(path.file_name()?.to_str()?, size, None)
        };
        Ok(files(&self.0.join(namespace.name())).into_iter().filter_map(entry).collect())
    }
}
