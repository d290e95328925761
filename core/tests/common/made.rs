//! Packs with content, to be compacted and recompressed.

use super::build::{MemoryRepository, PackBuilder, empty_repository, sealer};
use super::memory::MemoryStore;
use portaborg_core::codec::PureRust;
use portaborg_core::compact::{
    OneByOne, PackProblem, Plan, PlanOptions, Recompression, Recompressors, RewriteError, Step, Usage, recompress, run,
};
use portaborg_core::crypto::{Keys, store_hash};
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::index::{ChunkIndex, Location};
use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::object::{ObjectType, Opener};
use portaborg_core::references::ArchiveReferences;
use portaborg_core::repo::{ChunkReader, load_fragments, rebuild_index, replace_fragments};
use portaborg_core::store::{BlockingStore, Ready, now};
use std::collections::BTreeSet;

/// A repository of packs with content, and what is known of it.
pub struct Made<'k> {
    /// The repository.
    pub repository: MemoryRepository,
    /// What opens it.
    pub keys: &'k Keys,
    /// What is known to be where; it need not be what is stored.
    pub index: ChunkIndex,
    /// What archives need.
    pub usage: Usage,
    /// The same, to be read.
    pub used: BTreeSet<ChunkId>,
    /// Packs that a check found to be damaged.
    pub corrupt: BTreeSet<PackId>,
}

impl<'k> Made<'k> {
    /// Nothing yet.
    pub fn new(keys: &'k Keys) -> Self {
        let (index, usage) = (ChunkIndex::new(), Usage::new());
        let (used, corrupt) = (BTreeSet::new(), BTreeSet::new());
        Made { repository: empty_repository(keys), keys, index, usage, used, corrupt }
    }

    /// Stores a pack of these chunks, which the index has here from now on.
    pub fn pack(&mut self, chunks: &[&[u8]]) -> PackId {
        let mut pack = PackBuilder::new(self.keys);
        for chunk in chunks {
            pack.add("F", chunk);
        }
        pack.store(&self.repository.store.0, &mut self.index)
    }

    /// A chunk's id.
    pub fn id(&self, plaintext: &[u8]) -> ChunkId {
        self.keys.chunk_id(plaintext)
    }

    /// Archives need these chunks, which are there.
    pub fn uses(&mut self, ids: &[ChunkId]) {
        let chunks = ids.iter().map(|id| (*id, 1)).collect();
        self.usage.add(&ArchiveReferences { chunks, ..ArchiveReferences::default() }, &self.index);
        self.used.extend(ids);
    }

    /// The pack files.
    pub fn packs(&self) -> Vec<Entry> {
        self.repository.store.0.list(Namespace::Packs).unwrap()
    }

    /// A pack's bytes.
    pub fn content(&self, pack: PackId) -> Vec<u8> {
        self.repository.store.0.content(&Key::Pack(pack).path())
    }

    /// How often these bytes lie in packs.
    pub fn occurrences(&self, bytes: &[u8]) -> usize {
        let contents = self.packs().into_iter().map(|pack| self.content(pack.name.parse().unwrap()));
        contents.map(|content| content.windows(bytes.len()).filter(|window| *window == bytes).count()).sum()
    }

    /// Gives a pack another content and the name that belongs to it.
    pub fn rename(&mut self, pack: PackId, content: &[u8]) {
        let new = PackId::from(store_hash(content));
        self.repository.store.0.remove(&Key::Pack(pack).path());
        self.repository.store.0.put(&Key::Pack(new).path(), content);
        let moved: Vec<_> = self.index.iter().filter(|(_, at)| at.pack == pack).collect();
        moved.into_iter().for_each(|(id, at)| self.index.insert(id, Location { pack: new, ..at }));
    }

    /// What a compaction would do.
    pub fn plan(&self, threshold_percent: f64, pack_bytes: u64) -> Plan {
        let options = PlanOptions { threshold_percent, pack_bytes, corrupt: self.corrupt.clone() };
        Plan::new(&self.packs(), &self.index, &self.usage, &options)
    }

    /// Reads through the index in memory.
    pub fn reader(&self) -> ChunkReader<'_, Ready<MemoryStore>> {
        let mut index = ChunkIndex::new();
        self.index.iter().for_each(|(id, location)| index.insert(id, location));
        ChunkReader::new(&self.repository, self.keys, &PureRust, index)
    }

    /// Stores an index where there is none, so that there is one to be replaced.
    pub fn store_index(&self) {
        if self.repository.store.0.paths("index/").is_empty() {
            now(replace_fragments(&self.repository, &mut sealer(self.keys, [2; 24]), &self.index)).unwrap();
        }
    }

    /// Carries it out over a stored index. The one in memory becomes the one that is then stored.
    pub fn try_run(&mut self, plan: &Plan, tell: &mut dyn FnMut(Step<'_>) -> bool) -> Result<u64, String> {
        self.store_index();
        let mut sealer = sealer(self.keys, [3; 24]);
        let mut reader = self.reader();
        let done = now(run(plan, &self.usage, &mut reader, &mut sealer, tell)).map_err(|error| error.to_string());
        drop(reader);
        self.index = self.stored();
        done
    }

    /// Carries a plan out to its end. Gives the bytes freed.
    pub fn run(&mut self, plan: &Plan) -> u64 {
        let mut done_before = 0;
        let freed = self.try_run(plan, &mut |step| {
            if let Step::Done { done, total } = step {
                assert!(done > done_before && total == plan.steps());
                done_before = done;
            }
            true
        });
        assert_eq!(done_before, plan.steps());
        freed.unwrap()
    }

    /// Carries a plan out, and gives what it told.
    pub fn run_and_tell(&mut self, plan: &Plan) -> Vec<PackProblem> {
        let mut problems = Vec::new();
        let tell = &mut |step: Step<'_>| {
            if let Step::Problem(problem) = step {
                problems.push(problem.clone());
            }
            true
        };
        self.try_run(plan, tell).unwrap();
        problems
    }

    /// Compresses everything anew.
    pub fn recompress(&mut self, compression: &str) -> (Recompression, Vec<PackProblem>) {
        let (done, problems) = self.recompress_by(compression, &mut OneByOne::new(self.keys, &PureRust));
        (done.unwrap(), problems)
    }

    /// The same by others.
    pub fn recompress_by(
        &mut self,
        compression: &str,
        workers: &mut dyn Recompressors,
    ) -> (Result<Recompression, RewriteError>, Vec<PackProblem>) {
        self.store_index();
        let mut sealer = sealer(self.keys, [4; 24]);
        let mut problems = Vec::new();
        let mut tell = |step: Step<'_>| {
            if let Step::Problem(problem) = step {
                problems.push(problem.clone());
            }
            true
        };
        let mut reader = self.reader();
        let (packs, compression) = (self.packs(), compression.parse().unwrap());
        let done = now(recompress(&packs, &self.corrupt, &compression, workers, &mut reader, &mut sealer, &mut tell));
        drop(reader);
        self.index = self.stored();
        (done, problems)
    }

    /// The stored index.
    pub fn stored(&self) -> ChunkIndex {
        let index = now(load_fragments(&self.repository, &mut Opener::new(self.keys, &PureRust)));
        index.unwrap().expect("the index is stored")
    }

    /// The index as the packs tell it.
    pub fn rebuilt(&self) -> ChunkIndex {
        let store = &self.repository.store;
        now(rebuild_index(store, &mut Opener::new(self.keys, &PureRust), &mut |_| ())).unwrap()
    }

    /// Every chunk that is used can be read through the stored index, and every pack is what its name says.
    pub fn assert_whole(&self) {
        let mut reader = self.reader();
        reader.assert_ids(true);
        for id in &self.used {
            now(reader.read(*id, ObjectType::Content)).unwrap_or_else(|error| panic!("{id}: {error}"));
        }
        for pack in self.packs() {
            let id: PackId = pack.name.parse().unwrap();
            assert_eq!(PackId::from(store_hash(&self.content(id))), id);
        }
    }
}
