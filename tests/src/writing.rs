//! Work on a repository in memory, through core alone, in the order in which the commands do it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use portaborg_core::archive::{ArchiveMeta, Stamp};
use portaborg_core::codec::PureRust;
use portaborg_core::compact::{
    PackFate, Plan, PlanOptions, Usage, forget_references, load_references, run, scan_references, store_references,
};
use portaborg_core::config::Config;
use portaborg_core::crypto::{Kdf, Keys, Sealer};
use portaborg_core::id::ArchiveId;
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::name::Namespace;
use portaborg_core::object::{ObjectType, Opener};
use portaborg_core::random::Random;
use portaborg_core::repo::{
    ArchiveWriter, ChunkReader, ChunkWriter, Content, ItemStream, PackLimits, Repository, SizeRule, forget_archive,
    list_archives, load_index, load_index_to_add, load_index_to_rewrite, repository_keys, unlock,
};
use portaborg_core::store::{BlockingStore, BlockingStoreMut, Ready, now};
use portaborg_core::time::Timestamp;
use sha2::{Digest, Sha256};

use crate::expected::to_hex;
use crate::fixture::Fixture;
use crate::recording::{Objects, Recorder, load};

/// A repository over a recorder.
pub type Recorded = Repository<Ready<Recorder>>;

/// Names and contents of the files of an archive.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What opens a repository, whatever it holds.
#[derive(Debug)]
pub struct Opened {
    /// Its secrets.
    pub keys: Keys,
    config: Config,
}

impl Opened {
    /// A fixture's repository, and what opens it.
    #[must_use]
    pub fn fixture(fixture: &Fixture) -> (Opened, Objects) {
        let objects = load(&fixture.unpack().repository());
        let repository = now(Repository::open(Ready(Recorder::new(objects.clone())))).expect("a good fixture opens");
        let sources = now(repository_keys(&repository.store, repository.id())).expect("a recorder does not fail");
        let suite = repository.config.suite.expect("a good fixture has a suite that is known");
        let passphrase = fixture.expected.passphrase.as_bytes();
        let unlocked = unlock(&sources, passphrase, Kdf::Stored, suite, repository.id()).expect("the kit knows");
        (Opened { keys: unlocked.keys, config: repository.config }, objects)
    }

    /// The repository with these objects.
    #[must_use]
    pub fn repository(&self, objects: &Objects) -> Recorded {
        Repository { store: Ready(Recorder::new(objects.clone())), config: self.config.clone() }
    }

    /// Seals in sessions that nobody else has.
    #[must_use]
    pub fn sealer(&self) -> Sealer<'_> {
        Sealer::new(&self.keys, Box::new(Unique))
    }

    /// Loads the index as `create` does, and gives a writer.
    #[must_use]
    pub fn writer<'r>(&'r self, repository: &'r Recorded, limits: PackLimits) -> ChunkWriter<'r, Ready<Recorder>> {
        let loaded = now(load_index_to_add(repository, &mut Opener::new(&self.keys, &PureRust), &mut |_| ()));
        let loaded = loaded.expect("the index is whole, or made from the packs");
        let reader = ChunkReader::new(repository, &self.keys, &PureRust, loaded.index);
        let compression = "zstd,1".parse().expect("that is a compression");
        let mut writer = ChunkWriter::new(reader, self.sealer(), &PureRust, compression, limits);
        if loaded.is_rebuilt {
            writer.save_all();
        }
        writer
    }

    /// Makes an archive, as `create` does.
    #[must_use]
    pub fn create(&self, repository: &Recorded, name: &str, files: &Files, limits: PackLimits) -> ArchiveId {
        let mut writer = self.writer(repository, limits);
        let id = create(&mut writer, name, files);
        now(writer.consolidate()).expect("a recorder does not fail");
        id
    }

    /// Frees space, as `compact` does. Gives how many packs were dropped, rewritten and merged.
    pub fn compact(&self, repository: &Recorded, pack_bytes: u64) -> Result<[usize; 3], String> {
        let mut sealer = self.sealer();
        let store = &repository.store;
        let mut opener = Opener::new(&self.keys, &PureRust);
        let index = now(load_index_to_rewrite(repository, &mut opener, &mut sealer, &mut |_| ()));
        let index = index.map_err(|error| error.to_string())?;
        let mut reader = ChunkReader::new(repository, &self.keys, &PureRust, index);
        let archives = now(list_archives(&mut reader, false)).map_err(|error| error.to_string())?.archives;
        let ids: BTreeSet<ArchiveId> = archives.iter().map(|archive| archive.id).collect();
        now(forget_references(store, &ids)).map_err(|error| error.to_string())?;
        let mut usage = Usage::new();
        for archive in &archives {
            let kept = now(load_references(&mut reader, archive.id)).map_err(|error| error.to_string())?;
            let references = match kept {
                Ok(Some(references)) => references,
                Ok(None) | Err(_) => {
                    let meta = archive.meta.as_ref().map_err(ToString::to_string)?;
                    let scanned = now(scan_references(&mut reader, archive.id, meta));
                    let scanned = scanned.map_err(|error| error.to_string())?;
                    let stored = now(store_references(&reader, &mut sealer, archive.id, &scanned));
                    stored.map_err(|error| error.to_string())?;
                    scanned
                }
            };
            usage.add(&references, &reader.index);
        }
        if !usage.missing().is_empty() {
            return Err(format!("missing: {:?}", usage.missing()));
        }
        for deleted in now(list_archives(&mut reader, true)).map_err(|error| error.to_string())?.archives {
            now(forget_archive(store, deleted.id)).map_err(|error| error.to_string())?;
        }
        store.0.sync().map_err(|error| error.to_string())?;
        let packs = store.0.list(Namespace::Packs).map_err(|error| error.to_string())?;
        let options = PlanOptions { threshold_percent: 10.0, pack_bytes, corrupt: BTreeSet::new() };
        let plan = Plan::new(&packs, &reader.index, &usage, &options);
        let done = now(run(&plan, &usage, &mut reader, &mut sealer, &mut |_| true));
        done.map_err(|error| error.to_string())?;
        Ok([PackFate::Drop, PackFate::Rewrite, PackFate::Merge].map(|fate| plan.packs(fate).count()))
    }

    /// Reads every archive that is listed, with every chunk of every file, and gives what identifies its content; or what
    /// is not whole.
    pub fn read_all(&self, objects: &Objects) -> Result<BTreeMap<String, String>, String> {
        let repository =
            now(Repository::open(Ready(Recorder::new(objects.clone())))).map_err(|error| error.to_string())?;
        let mut damage = Vec::new();
        let mut opener = Opener::new(&self.keys, &PureRust);
        let index = now(load_index(&repository, &mut opener, &mut |found| damage.push(format!("{found:?}"))));
        let index = index.map_err(|error| error.to_string())?;
        if !damage.is_empty() {
            return Err(damage.join(", "));
        }
        let mut reader = ChunkReader::new(&repository, &self.keys, &PureRust, index);
        reader.assert_ids(true);
        let mut read = BTreeMap::new();
        for archive in now(list_archives(&mut reader, false)).map_err(|error| error.to_string())?.archives {
            let meta = archive.meta.map_err(|error| format!("{}: {error}", archive.id))?;
            let mut digest = Sha256::new();
            let mut items = ItemStream::new(&meta.item_ptrs);
            while let Some(item) = now(items.next(&mut reader)) {
                let item = item.map_err(|error| format!("{}: {error}", archive.id))?;
                let mut encoded = Vec::new();
                item.encode_into(&mut encoded);
                digest.update(&encoded);
                for chunk in item.chunks.iter().flatten() {
                    let content = now(reader.read_content(chunk.id, chunk.size));
                    let content = content.map_err(|error| format!("{}: chunk {}: {error}", archive.id, chunk.id))?;
                    content.pieces().for_each(|piece| digest.update(piece));
                    if let Content::Data(bytes) = content
                        && bytes.len() as u64 != chunk.size
                    {
                        return Err(format!("{}: chunk {} has another length", archive.id, chunk.id));
                    }
                }
            }
            read.insert(archive.id.to_string(), to_hex(&digest.finalize()));
        }
        Ok(read)
    }
}

/// Makes an archive with this writer: contents in several chunks, some fragments on the way, and the pointer.
#[must_use]
pub fn create(writer: &mut ChunkWriter<'_, Ready<Recorder>>, name: &str, files: &Files) -> ArchiveId {
    const REASON: &str = "a recorder does not fail, and the chunks are short";
    let repository = writer.reader.repository;
    let mut archive = ArchiveWriter::new(writer.sealer().keys());
    for (number, (path, content)) in files.iter().enumerate() {
        let mut chunks = Vec::new();
        for piece in content.chunks(CHUNK_BYTES) {
            let id = writer.chunk_id(piece);
            now(writer.add(id, ObjectType::Content, piece)).expect(REASON);
            chunks.push(ChunkEntry { id, size: piece.len() as u64 });
        }
        let item = Item {
            path: path.clone().into_bytes(),
            mode: Some(0o100_644),
            mtime: Timestamp { secs: 1_700_000_000, nanos: 0 },
            size: Some(content.len() as u64),
            chunks: Some(chunks),
            ..Item::default()
        };
        now(archive.add(&item, writer)).expect(REASON);
        if number % FILES_BETWEEN_FRAGMENTS == FILES_BETWEEN_FRAGMENTS - 1 {
            now(writer.save_index()).expect(REASON);
        }
    }
    let prepared = now(archive.prepare(meta(name, files), SizeRule::WithoutLastItems, writer)).expect(REASON);
    now(prepared.commit(&repository.store)).expect(REASON);
    prepared.id
}

const CHUNK_BYTES: usize = 3000;
/// As if ten minutes had passed.
const FILES_BETWEEN_FRAGMENTS: usize = 3;

fn meta(name: &str, files: &Files) -> ArchiveMeta {
    let time = Timestamp { secs: 1_700_000_000, nanos: 0 };
    let stamp = Stamp { text: "2023-11-14T22:13:20.000000+00:00".into(), time };
    ArchiveMeta {
        name: name.into(),
        comment: Vec::new(),
        tags: Vec::new(),
        item_ptrs: Vec::new(),
        command_line: b"create".to_vec(),
        cwd: Some(b"/".to_vec()),
        hostname: b"host".to_vec(),
        username: b"user".to_vec(),
        time: stamp.clone(),
        start: stamp.clone(),
        end: stamp,
        chunker_params: None,
        size: files.values().map(|content| content.len() as u64).sum(),
        nfiles: files.len() as u64,
        recreate_command_line: None,
        unknown: Vec::new(),
    }
}

/// Bytes that are no others' in this process. Nobody needs to guess at these secrets.
struct Unique;

impl Random for Unique {
    fn fill(&mut self, bytes: &mut [u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let digest = Sha256::digest(NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes.iter_mut().zip(digest).for_each(|(byte, unique)| *byte = unique);
    }
}
