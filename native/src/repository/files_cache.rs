//! The files cache of this client: files that were archived before need not be read again (data layer, section 13).

use crate::app::App;
use crate::client::dirs;
use crate::failure::Failure;
use crate::repository::archives::{self, Archive, Reader};
use crate::repository::session::Session;
use portaborg_core::bytes::lossy;
use portaborg_core::crypto::Keys;
use portaborg_core::files_cache::{CacheConfig, Entries, Entry, FileState, IntegrityHasher, Mode, file_name};
use portaborg_core::id::{PathHash, RepositoryId};
use portaborg_core::index::ChunkIndex;
use portaborg_core::item::{FileType, Item};
use portaborg_core::repo::ItemStream;
use portaborg_core::select::Candidate;
use portaborg_core::store::now;
use portaborg_core::time::Timestamp;
use std::collections::HashMap;
use std::env;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a cache folder says of itself.
const README: &str = "This is a Borg Backup cache.\nSee https://borgbackup.readthedocs.io/\n";
/// No file system's clock has longer ticks, in nanoseconds.
const LONGEST_TICK: i128 = 3_000_000_000;
/// No clock has longer ticks that tells fractions of seconds, in nanoseconds.
const LONGEST_SHORT_TICK: i128 = 20_000_000;
/// For so many archives a file that is not seen any more is remembered.
const DEFAULT_TTL: u64 = 2;

/// Which archive a lost cache is made anew from: the last one that has these in common with the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKey {
    /// The archive's name.
    Name,
    /// The machine.
    Host,
    /// The user.
    User,
}

/// Whose cache it is.
pub struct Series<'a> {
    /// The new archive's name.
    pub name: &'a str,
    /// Its machine.
    pub host: &'a str,
    /// Its user.
    pub user: &'a str,
    /// What an earlier archive must have in common with it.
    pub group_by: &'a [GroupKey],
}

/// A file's content: its chunks, and digests of all of it.
#[derive(Debug, Clone)]
pub struct Content {
    /// The chunks in order.
    pub chunks: Vec<portaborg_core::item::ChunkEntry>,
    /// Digests by algorithm name, if any were made.
    pub digests: Option<portaborg_core::item::Pairs>,
    /// When reading it began, by the system's clock.
    pub read_at: Timestamp,
}

/// The files that are remembered: those of earlier runs, which many threads can look up, and those of this one.
pub struct FilesCache {
    known: Arc<KnownFiles>,
    /// What was read in this run, or looks otherwise than it was remembered. It counts instead of what was known.
    fresh: Vec<Fresh>,
    /// The encoded entries of it.
    encoded: Vec<Vec<u8>>,
    /// The last change of all the files that were read in this run.
    newest: Option<Timestamp>,
    place: PathBuf,
    file: String,
    config: CacheConfig,
}

/// The files of earlier runs. The repository has all their chunks.
pub struct KnownFiles {
    mode: Mode,
    files: HashMap<PathHash, KnownFile>,
}

/// One of them.
pub struct KnownFile {
    entry: Entry,
    /// Whether it was met in this run.
    is_seen: AtomicBool,
    /// Whether something else is remembered of it now.
    is_replaced: AtomicBool,
}

/// One of those of this run.
struct Fresh {
    /// Which of the encoded entries were encoded with it, and its place there.
    encoded: usize,
    place: Range<usize>,
    last_change: Timestamp,
    settled: Settled,
}

/// A file that is to be remembered, encoded already, so that whoever read it has the work.
pub struct Memory {
    path: PathHash,
    /// Where the entry lies among those that were encoded with it.
    place: Range<usize>,
    last_change: Timestamp,
    settled: Settled,
    /// Whether it was read in this run.
    is_read: bool,
}

/// Whether the clock of a file's file system had gone on since the file's last change when it was read. If not, the file may
/// have changed once more after that, and look as before; so it must not be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    Yes,
    /// If another file changed later.
    ByOthers,
    No,
}

/// What the cache has of a file.
pub enum Found<'a> {
    /// Nothing.
    Unknown,
    /// Another state of it.
    Modified,
    /// This state of it.
    Unchanged(&'a KnownFile),
}

impl KnownFiles {
    /// The hash that stands for a path.
    pub fn path_hash(keys: &Keys, path: &[u8]) -> PathHash {
        PathHash(keys.chunk_id(path).0)
    }

    /// Whether files are looked up, or remembered, at all: else their paths need not be hashed.
    pub fn is_used(&self) -> bool {
        self.mode.is_kept() || self.mode.is_looked_up()
    }

    /// What is remembered of a regular file.
    pub fn find(&self, path: &PathHash, state: &FileState) -> Found<'_> {
        if !self.mode.is_looked_up() {
            return Found::Unknown;
        }
        let Some(known) = self.files.get(path) else { return Found::Unknown };
        if !self.mode.is_same(&known.entry.state, state) {
            return Found::Modified;
        }
        known.is_seen.store(true, Ordering::Relaxed);
        Found::Unchanged(known)
    }
}

impl Memory {
    /// Of a regular file that did not change while it was read. Its entry is appended to `encoded`. `is_read_only` tells
    /// whether it is on a file system that can't be written to.
    pub fn of_read(
        path: PathHash,
        state: &FileState,
        content: &Content,
        is_read_only: bool,
        encoded: &mut Vec<u8>,
    ) -> Memory {
        let settled = Settled::of(state, content.read_at, is_read_only);
        Memory { is_read: true, ..Memory::encode(path, state, content, settled, encoded) }
    }

    /// Of a file that looks otherwise now, but whose content is what it was.
    pub fn of_unread(path: PathHash, state: &FileState, content: &Content, encoded: &mut Vec<u8>) -> Memory {
        let settled = Settled::of(state, content.read_at, false);
        Memory::encode(path, state, content, settled, encoded)
    }

    fn encode(path: PathHash, state: &FileState, content: &Content, settled: Settled, encoded: &mut Vec<u8>) -> Memory {
        let start = encoded.len();
        portaborg_core::files_cache::encode(&path, 0, state, &content.chunks, content.digests.as_ref(), encoded);
        let place = start..encoded.len();
        Memory { path, place, last_change: state.last_change(), settled, is_read: false }
    }
}

impl KnownFile {
    /// Its content, as of now.
    pub fn content(&self, now: Timestamp) -> Content {
        Content { chunks: self.entry.chunks.clone(), digests: self.entry.digests.clone(), read_at: now }
    }

    /// Whether it looks otherwise than it was remembered, in what was not compared. Then it is to be
    /// remembered so: it is what a later run with another mode compares with.
    pub fn differs(&self, state: &FileState) -> bool {
        self.entry.state != *state
    }

    /// Digests of its content, if any were made.
    pub fn digests(&self) -> Option<&portaborg_core::item::Pairs> {
        self.entry.digests.as_ref()
    }
}

impl FilesCache {
    /// Reads the cache of a series, or makes it from the series' last archive.
    pub fn load(
        app: &App,
        session: &Session,
        reader: &mut Reader<'_>,
        mode: Mode,
        series: &Series<'_>,
    ) -> Result<FilesCache, Failure> {
        let id = session.repository.id();
        let place = dirs::cache(id);
        let suffix = env::var("BORG_FILES_CACHE_SUFFIX").unwrap_or_default();
        let file = file_name(series.name, &suffix);
        // Without a place for it there is no cache.
        let (mode, config) = if dirs::can_exist(&place) {
            (mode, load_config(app, &place, id))
        } else {
            ("disabled".parse().expect("that is a mode"), CacheConfig::new(id))
        };
        let mut cache = FilesCache {
            known: Arc::new(KnownFiles { mode, files: HashMap::new() }),
            fresh: Vec::new(),
            encoded: Vec::new(),
            newest: None,
            place,
            file,
            config,
        };
        if mode.is_kept() {
            let files = match cache.read(&reader.index) {
                Ok(files) => files,
                Err(why) => {
                    app.debug(&why);
                    rebuild(app, session, reader, series)?
                }
            };
            cache.known = Arc::new(KnownFiles { mode, files });
        }
        Ok(cache)
    }

    /// The files of earlier runs.
    pub fn known(&self) -> &Arc<KnownFiles> {
        &self.known
    }

    /// Takes over entries that were encoded together. The number that it gives is asked for with their memories.
    pub fn take_encoded(&mut self, encoded: Vec<u8>) -> usize {
        self.encoded.push(encoded);
        self.encoded.len() - 1
    }

    /// Remembers a file whose entry was [taken over](FilesCache::take_encoded) under this number.
    pub fn remember(&mut self, encoded: usize, memory: Memory) {
        if !self.known.mode.is_kept() {
            return;
        }
        if memory.is_read {
            self.newest = self.newest.max(Some(memory.last_change));
        }
        if let Some(known) = self.known.files.get(&memory.path) {
            known.is_replaced.store(true, Ordering::Relaxed);
        }
        let Memory { place, last_change, settled, .. } = memory;
        self.fresh.push(Fresh { encoded, place, last_change, settled });
    }

    /// Stores what is remembered. It counts once [`save_config`](Self::save_config) vouches for it.
    ///
    /// What was not seen gets older only if everything was seen that there is.
    pub fn save(&mut self, has_seen_all: bool) -> io::Result<()> {
        if !self.known.mode.is_kept() {
            return Ok(());
        }
        let ttl = env::var("BORG_FILES_CACHE_TTL").ok().and_then(|ttl| ttl.trim().parse().ok()).unwrap_or(DEFAULT_TTL);
        let mut content = Vec::new();
        let is_true = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let kept = self.known.files.iter().filter(|(_, known)| !is_true(&known.is_replaced));
        for (path, KnownFile { entry, is_seen, .. }) in kept {
            let age = if is_true(is_seen) { 0 } else { entry.age + u64::from(has_seen_all) };
            if age == 0 || age < ttl {
                entry.encode_aged(age, path, &mut content);
            }
        }
        // Of what is remembered twice the last one counts, also for those who read it.
        for Fresh { encoded, place, last_change, settled } in &self.fresh {
            let is_settled = match settled {
                Settled::Yes => true,
                Settled::ByOthers => Some(*last_change) < self.newest,
                Settled::No => false,
            };
            if is_settled {
                content.extend_from_slice(&self.encoded[*encoded][place.clone()]);
            }
        }
        let mut hasher = IntegrityHasher::new(&self.file);
        hasher.update(&content);
        self.config.set_integrity(&self.file, hasher.finish());
        dirs::save(&self.place.join(&self.file), &content)
    }

    /// Stores what the cache folder says of its files.
    pub fn save_config(&self) -> io::Result<()> {
        if !self.known.mode.is_kept() {
            return Ok(());
        }
        let mut config = match fs::read_to_string(self.place.join("config")).map(|text| CacheConfig::parse(&text)) {
            // Other archives may have been made meanwhile.
            Ok(Ok(config)) if config.repository == self.config.repository => config,
            _ => self.config.clone(),
        };
        if let Some(integrity) = self.config.integrity(&self.file) {
            config.set_integrity(&self.file, integrity);
        }
        dirs::save(&self.place.join("config"), config.encode().as_bytes())?;
        dirs::sync(&self.place)
    }

    fn read(&self, index: &ChunkIndex) -> Result<HashMap<PathHash, KnownFile>, String> {
        let path = self.place.join(&self.file);
        let content = fs::read(&path).map_err(|error| format!("The files cache can't be read. [{error}]"))?;
        let mut hasher = IntegrityHasher::new(&self.file);
        hasher.update(&content);
        if self.config.integrity(&self.file) != Some(hasher.finish()) {
            return Err("The files cache is corrupted.".into());
        }
        let mut files = HashMap::new();
        for entry in Entries::new(&content) {
            let (path, entry) = entry.map_err(|error| format!("The files cache seems invalid. [{error}]"))?;
            insert_known(&mut files, path, entry, false, index);
        }
        Ok(files)
    }
}

/// Remembers a file if the repository has its chunks.
fn insert_known(
    files: &mut HashMap<PathHash, KnownFile>,
    path: PathHash,
    entry: Entry,
    is_seen: bool,
    index: &ChunkIndex,
) {
    if entry.chunks.iter().all(|chunk| index.get(&chunk.id).is_some()) {
        files.insert(path, KnownFile { entry, is_seen: AtomicBool::new(is_seen), is_replaced: AtomicBool::new(false) });
    }
}

/// Makes the cache from the last archive of the series, if there is one that can be read.
fn rebuild(
    app: &App,
    session: &Session,
    reader: &mut Reader<'_>,
    series: &Series<'_>,
) -> Result<HashMap<PathHash, KnownFile>, Failure> {
    let mut files = HashMap::new();
    let is_of_series = |archive: &Archive| {
        series.group_by.iter().all(|key| match key {
            GroupKey::Name => archive.name() == series.name.as_bytes(),
            GroupKey::Host => archive.host() == series.host.as_bytes(),
            GroupKey::User => archive.user() == series.user.as_bytes(),
        })
    };
    let all = archives::list(app, session, reader, false)?.archives;
    let last = all.into_iter().filter(is_of_series).max_by_key(|archive| (archive.time(), archive.id()));
    let Some(last) = last else { return Ok(files) };
    let Some(meta) = last.meta() else { return Ok(files) };
    app.debug(&format!("Building files cache from {} {} {} ...", lossy(&meta.name).0, meta.time.text, last.id()));
    let mut items = ItemStream::new(&meta.item_ptrs);
    let mut newest = None;
    while let Some(item) = now(items.next(reader)) {
        crate::interrupt::check()?;
        let Some(entry) = item.ok().and_then(|item| Some((item.path.clone(), entry_of(item)?))) else { continue };
        let (path, entry) = entry;
        newest = newest.max(Some(entry.state.last_change()));
        if Settled::of(&entry.state, meta.start.time, false) == Settled::Yes {
            // It was seen when that archive was made, which no other one counts.
            insert_known(&mut files, KnownFiles::path_hash(&session.keys, &path), entry, true, &reader.index);
        }
    }
    // What was archived may have been a snapshot.
    files.retain(|_, known| Some(known.entry.state.last_change()) < newest);
    Ok(files)
}

/// What is to be remembered of a regular file by its item.
fn entry_of(item: Item) -> Option<Entry> {
    let size = item.size.unwrap_or_else(|| item.content_size());
    let is_regular = item.file_type() == Some(FileType::Regular);
    let Item { inode, ctime, mtime, chunks, digests, .. } = item;
    let state = FileState {
        inode: inode.unwrap_or_default(),
        size,
        // What was not stored equals nothing that a file has.
        ctime: ctime.unwrap_or_default(),
        mtime,
    };
    Some(Entry { age: 0, state, chunks: chunks.filter(|_| is_regular)?, digests })
}

impl Settled {
    /// Of a file that was read at a time by the system's clock. What can't be written to may be a snapshot of a file system
    /// that went on: then that time says nothing.
    fn of(state: &FileState, read_at: Timestamp, is_read_only: bool) -> Settled {
        let age = read_at.as_nanos() - state.last_change().as_nanos();
        if is_read_only {
            Settled::ByOthers
        } else if age > LONGEST_TICK {
            Settled::Yes
        } else if age > LONGEST_SHORT_TICK && state.ctime.nanos != 0 {
            Settled::ByOthers
        } else {
            Settled::No
        }
    }
}

/// Reads what the cache folder says of its files; a folder that is not there is made, and one that makes no sense is made
/// anew. Where that can't be done, all files are read, which is no reason to make no archive.
fn load_config(app: &App, place: &Path, repository: RepositoryId) -> CacheConfig {
    match fs::read_to_string(place.join("config")).map(|text| CacheConfig::parse(&text)) {
        Ok(Ok(config)) if config.repository == repository => return config,
        Ok(Ok(_)) => {
            app.warning(&format!("The cache in {} is another repository's; it is made anew.", place.display()))
        }
        Ok(Err(error)) => app.warning(&format!("{} {error} It is made anew.", place.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => app.warning(&format!("The cache in {} can not be read: {error}", place.display())),
    }
    create_cache(place, repository).unwrap_or_else(|failure| {
        app.warning(&failure.text);
        CacheConfig::new(repository)
    })
}

/// Makes the cache folder of a repository, with nothing in it.
pub fn create_cache(place: &Path, repository: RepositoryId) -> Result<CacheConfig, Failure> {
    dirs::create(place)?;
    let config = CacheConfig::new(repository);
    let saved = dirs::save(&place.join("README"), README.as_bytes())
        .and_then(|()| dirs::save(&place.join("config"), config.encode().as_bytes()));
    saved.map_err(|error| Failure::error(format_args!("can not store the cache in {}: {error}", place.display())))?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(ctime: (i64, u32), read_at: (i64, u32), is_read_only: bool) -> Settled {
        let time = |(secs, nanos)| Timestamp { secs, nanos };
        let state = FileState { ctime: time(ctime), ..FileState::default() };
        Settled::of(&state, time(read_at), is_read_only)
    }

    #[test]
    fn a_file_is_settled_when_its_clock_has_gone_on() {
        assert_eq!(settled((100, 5), (103, 6), false), Settled::Yes);
        // It depends on another file whether a short tick is over.
        assert_eq!(settled((100, 5), (103, 5), false), Settled::ByOthers);
        assert_eq!(settled((100, 5), (100, 20_000_006), false), Settled::ByOthers);
        assert_eq!(settled((100, 5), (100, 20_000_005), false), Settled::No);
        // A clock of whole seconds may have long ticks.
        assert_eq!(settled((100, 0), (103, 0), false), Settled::No);
        assert_eq!(settled((100, 0), (103, 1), false), Settled::Yes);
        // A file of the future.
        assert_eq!(settled((100, 5), (99, 0), false), Settled::No);
        assert_eq!(settled((i64::MAX, 5), (i64::MIN, 0), false), Settled::No);
    }

    #[test]
    fn in_a_snapshot_only_other_files_tell_how_late_it_was() {
        assert_eq!(settled((100, 5), (5000, 0), true), Settled::ByOthers);
    }
}
