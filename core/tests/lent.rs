//! A writer whose work others do, in any order, writes what one writes that does everything itself (repository layer,
//! sections 4.2 and 5.3).

mod common;

use common::build::{MemoryRepository, empty_repository, sealer};
use common::memory::MemoryStore;
use common::shake::shake256;
use common::suites;
use portaborg_core::codec::PureRust;
use portaborg_core::crypto::Keys;
use portaborg_core::index::ChunkIndex;
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::object::{ObjectType, ObjectWriter};
use portaborg_core::repo::{ChunkReader, ChunkWriter, PackLimits, WriteDone, WriteError, WriteJob};
use portaborg_core::store::{Ready, now};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

type Writer<'r> = ChunkWriter<'r, Ready<MemoryStore>>;

fn writer<'r>(repository: &'r MemoryRepository, keys: &'r Keys, limits: PackLimits) -> Writer<'r> {
    let reader = ChunkReader::new(repository, keys, &PureRust, ChunkIndex::new());
    ChunkWriter::new(reader, sealer(keys, [5; 24]), &PureRust, "lz4".parse().unwrap(), limits)
}

fn packs(repository: &MemoryRepository) -> BTreeMap<String, Vec<u8>> {
    let store = &repository.store.0;
    store.paths("packs/").into_iter().map(|path| (path.clone(), store.content(&path))).collect()
}

/// Files of several chunks, some of which they have in common.
fn files() -> Vec<Vec<Vec<u8>>> {
    let chunk = |number: usize| shake256(&format!("chunk {}", number % 83), 100 + number * 37 % 3000);
    (0..60).map(|file| (0..file % 7).map(|part| chunk(file * 5 + part)).collect()).collect()
}

/// Takes jobs and does them when a number says so: those that wait longest are not the first.
struct Crew<'k> {
    objects: Vec<ObjectWriter<'k>>,
    jobs: Vec<WriteJob>,
    number: u64,
}

impl Crew<'_> {
    fn next(&mut self, below: usize) -> usize {
        self.number = self.number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.number >> 33) as usize % below
    }

    fn take(&mut self, writer: &mut Writer<'_>) {
        while let Some(job) = writer.next_job() {
            self.jobs.push(job);
        }
    }

    fn work(&mut self, writer: &mut Writer<'_>, store: &Ready<MemoryStore>) -> Result<(), WriteError> {
        self.take(writer);
        if self.jobs.is_empty() {
            return Ok(());
        }
        let (job, worker) = (self.next(self.jobs.len()), self.next(self.objects.len()));
        let done = now(self.jobs.swap_remove(job).run(&mut self.objects[worker], store));
        writer.done(done)
    }
}

#[test]
fn packs_do_not_depend_on_who_does_what_when() {
    for vectors in suites() {
        for limits in [PackLimits::default(), PackLimits { size: Some(9000), count: None }] {
            let serial = empty_repository(&vectors.keys);
            let mut alone = writer(&serial, &vectors.keys, limits);
            for chunk in files().iter().flatten() {
                now(alone.add(alone.chunk_id(chunk), ObjectType::Content, chunk)).unwrap();
            }
            now(alone.flush()).unwrap();
            for seed in 0..4 {
                let repository = empty_repository(&vectors.keys);
                let mut writer = writer(&repository, &vectors.keys, limits);
                let objects = (0..8).map(|_| ObjectWriter::new(&vectors.keys, &PureRust)).collect();
                let mut crew = Crew { objects, jobs: Vec::new(), number: seed };
                writer.lend(true);
                for file in files() {
                    let (buffer, mut start) = (Arc::new(file.concat()), 0);
                    for chunk in &file {
                        writer.put(writer.chunk_id(chunk), ObjectType::Content, start..start + chunk.len());
                        start += chunk.len();
                    }
                    writer.submit(&buffer);
                    crew.take(&mut writer);
                    for _ in 0..crew.next(3) {
                        crew.work(&mut writer, &repository.store).unwrap();
                    }
                }
                for _ in 0..2 {
                    while !writer.is_settled() {
                        crew.work(&mut writer, &repository.store).unwrap();
                    }
                    writer.close_pack();
                }
                writer.lend(false);
                now(writer.flush()).unwrap();
                assert!(packs(&repository) == packs(&serial), "{} with {seed}", vectors.name);
                let places = |writer: &Writer<'_>| writer.reader.index.iter().collect::<HashMap<_, _>>();
                assert_eq!(places(&writer), places(&alone));
            }
            assert!(packs(&serial).len() > 10 || limits == PackLimits::default());
        }
    }
}

/// The others of its buffer that come after it are missing, too; those before it and in other buffers are not.
#[test]
fn what_is_refused_takes_only_its_followers_along() {
    let vectors = suites().into_iter().next().unwrap();
    let repository = empty_repository(&vectors.keys);
    let mut writer = writer(&repository, &vectors.keys, PackLimits::default());
    let mut objects = ObjectWriter::new(&vectors.keys, &PureRust);
    writer.lend(true);
    let parts = [shake256("before", 50), shake256("long", MAX_DATA_SIZE), shake256("after", 50)];
    let ids = parts.each_ref().map(|part| writer.chunk_id(part));
    let (buffer, mut start) = (Arc::new(parts.concat()), 0);
    for (id, part) in ids.iter().zip(&parts) {
        assert!(writer.put(*id, ObjectType::Content, start..start + part.len()));
        start += part.len();
    }
    writer.submit(&buffer);
    let other = shake256("other", 50);
    let other_id = writer.chunk_id(&other);
    assert!(now(writer.add(other_id, ObjectType::Content, &other)).unwrap());
    assert!(ids.iter().chain([&other_id]).all(|id| writer.has(id)));
    let jobs: Vec<WriteJob> = std::iter::from_fn(|| writer.next_job()).collect();
    assert_eq!(jobs.len(), 2);
    let done: Vec<WriteDone> = jobs.into_iter().map(|job| now(job.run(&mut objects, &repository.store))).collect();
    let results: Vec<_> = done.into_iter().rev().map(|done| writer.done(done)).collect();
    assert!(matches!(&results[..], [Ok(()), Err(WriteError::Object { id, .. })] if *id == ids[1]), "{results:?}");
    writer.lend(false);
    now(writer.flush()).unwrap();
    let found = ids.each_ref().map(|id| writer.has(id));
    assert_eq!((found, writer.has(&other_id)), ([true, false, false], true));
    assert_eq!(now(writer.reader.read(other_id, ObjectType::Content)).unwrap(), other);
}

/// How much is let in: what is not sealed counts, and then packs that nobody has stored.
#[test]
fn there_is_no_room_for_more_than_is_allowed() {
    let vectors = suites().into_iter().next().unwrap();
    let repository = empty_repository(&vectors.keys);
    let mut writer = writer(&repository, &vectors.keys, PackLimits { size: Some(15_000_000), count: None });
    let mut objects = ObjectWriter::new(&vectors.keys, &PureRust);
    writer.lend(true);
    let mut packs = Vec::new();
    let mut most = 0;
    for number in 0..12 {
        let chunk = shake256(&format!("{number}"), 10_000_000);
        assert!(writer.has_room(1 << 20));
        assert!(now(writer.add(writer.chunk_id(&chunk), ObjectType::Content, &chunk)).unwrap());
        assert!(!writer.has_room(1 << 20), "it is not sealed");
        while let Some(job) = writer.next_job() {
            match job {
                WriteJob::Seal(_) => writer.done(now(job.run(&mut objects, &repository.store))).unwrap(),
                WriteJob::Pack(_) => packs.push(job),
            }
        }
        most = most.max(packs.len());
        // 100 MB that nobody stores are too much, 80 MB are not.
        if !writer.has_room(1 << 20) {
            assert_eq!(packs.len(), 5);
            for pack in packs.drain(..) {
                writer.done(now(pack.run(&mut objects, &repository.store))).unwrap();
            }
        }
    }
    assert_eq!(most, 5);
}
