//! Checking repositories: packs, data, archives, and the records of earlier checks (repository layer, section 7.2).

mod common;

use common::build::{MemoryRepository, PackBuilder, authenticated_keys, empty_repository, plain_meta, reader};
use common::msgpack::{array, bin, int, map, str, timestamp};
use common::{SuiteVectors, suites, text};
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::check::{
    ArchiveFinding, CheckedPacks, DataFinding, MissingChunks, PackCheck, PackFinding, PackSummary, Record,
    RecordsError, check_archive, check_packs, verify_data,
};
use portaborg_core::codec::PureRust;
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::item::Item;
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::object::{ObjectError, Opener};
use portaborg_core::repo::{ChunkReader, ReadError, Repository, load_index};
use portaborg_core::store::{Ready, now};
use portaborg_core::time::Timestamp;
use std::cell::Cell;
use std::ops::ControlFlow::{Break, Continue};

fn open(vectors: &SuiteVectors) -> MemoryRepository {
    now(Repository::open(Ready(vectors.repository()))).unwrap()
}

fn pack_id(vectors: &SuiteVectors, number: usize) -> PackId {
    text(&vectors.values["packs"][number], "/id").parse().unwrap()
}

fn path(pack: PackId) -> String {
    format!("packs/{}/{pack}", &pack.to_string()[..2])
}

/// Checks the packs at a time; gives the summary, and what was found besides progress.
fn check(
    vectors: &SuiteVectors,
    repository: &MemoryRepository,
    ask: PackCheck,
    records: &mut CheckedPacks,
    secs: i64,
) -> (PackSummary, Vec<String>) {
    let mut found = Vec::new();
    let mut opener = Opener::new(&vectors.keys, &PureRust);
    let clock = || Timestamp { secs, nanos: 0 };
    let summary = now(check_packs(repository, &mut opener, ask, records, &clock, &mut |finding| {
        match finding {
            PackFinding::IndexProgress(..) | PackFinding::PackProgress(..) => {}
            PackFinding::Corrupt(key) | PackFinding::FragmentCorrupt(key) => found.push(format!("corrupt {key}")),
            other => found.push(format!("{other:?}")),
        }
        Continue(())
    }));
    (summary.unwrap(), found)
}

#[test]
fn the_repositories_of_the_vectors_are_clean() {
    for vectors in suites() {
        let repository = open(&vectors);
        let mut records = CheckedPacks::default();
        let (summary, found) = check(&vectors, &repository, PackCheck::default(), &mut records, 1000);
        assert!(summary.is_clean());
        assert_eq!((summary.index_files, summary.pack_files, summary.pack_reused), (1, 2, 0));
        assert_eq!(found, ["PacksDone { complete: true, records: 2 }"]);
        assert_eq!(records.get(&pack_id(&vectors, 0)), Some(Record { time_secs: 1000, intact: true }));

        let index = summary.index.unwrap();
        let mut reader = ChunkReader::new(&repository, &vectors.keys, &PureRust, index);
        let summary = now(verify_data(&mut reader, &mut |finding| {
            assert!(matches!(finding, DataFinding::Progress(_, 4)));
            Continue(())
        }));
        let summary = summary.unwrap();
        assert_eq!((summary.verified, summary.errors, summary.defects, summary.interrupted), (4, 0, 0, false));

        let meta = ArchiveMeta::decode(&common::bytes(&vectors.values, "/archive/msgpack")).unwrap();
        let mut missing = MissingChunks::default();
        let clean = now(check_archive(&mut reader, &meta, "vec", &mut missing, &mut |finding| {
            assert_eq!(finding, ArchiveFinding::Item);
            Continue(())
        }));
        assert!(clean && missing.chunks.is_empty());
    }
}

#[test]
fn a_changed_pack_is_found_by_its_hash_and_its_data_by_its_tag() {
    for vectors in suites() {
        let repository = open(&vectors);
        let pack = pack_id(&vectors, 0);
        repository.store.0.change(&path(pack), |stored| stored[150] ^= 1);
        let mut records = CheckedPacks::default();
        let (summary, found) = check(&vectors, &repository, PackCheck::default(), &mut records, 1000);
        assert_eq!((summary.pack_errors, &summary.corrupt[..]), (1, &[pack][..]));
        assert!(!summary.is_clean());
        assert_eq!(found[0], format!("corrupt packs/{pack}"));
        assert_eq!(records.get(&pack), Some(Record { time_secs: 1000, intact: false }));

        let index = now(load_index(&repository, &mut Opener::new(&vectors.keys, &PureRust), &mut |_| {})).unwrap();
        let mut reader = ChunkReader::new(&repository, &vectors.keys, &PureRust, index);
        let mut defects = Vec::new();
        let summary = now(verify_data(&mut reader, &mut |finding| {
            if let DataFinding::Defect(id, error) = finding {
                assert!(matches!(error, ReadError::Object(_)));
                defects.push(id.to_string());
            }
            Continue(())
        }));
        assert_eq!((summary.unwrap().errors, &defects[..]), (1, &[text(&vectors.values, "/object_F/id").into()][..]));
    }
}

#[test]
fn missing_orphaned_and_misnamed_packs_are_found() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let store = &repository.store.0;
    let gone = pack_id(vectors, 1);
    store.remove(&path(gone));
    let orphan = PackId::from(portaborg_core::crypto::store_hash(b"orphan"));
    store.put(&path(orphan), "orphan");
    store.put("packs/00/readme", "");
    let (summary, found) = check(vectors, &repository, PackCheck::default(), &mut CheckedPacks::default(), 1000);
    assert_eq!((&summary.missing[..], summary.pack_errors), (&[gone][..], 1));
    assert_eq!(summary.index.as_ref().unwrap().len(), 3);
    let expected = ["InvalidName(\"readme\")", "OrphanPacks(1)", "PacksDone { complete: true, records: 2 }"];
    assert_eq!(found, expected);

    let index = now(load_index(&repository, &mut Opener::new(&vectors.keys, &PureRust), &mut |_| {})).unwrap();
    let mut reader = ChunkReader::new(&repository, &vectors.keys, &PureRust, index);
    let mut lost = Vec::new();
    let data = now(verify_data(&mut reader, &mut |finding| {
        if let DataFinding::PackMissing(pack, count) = finding {
            lost.push((pack, count));
        }
        Continue(())
    }));
    let data = data.unwrap();
    assert_eq!((lost, data.errors, data.defects, data.verified), (vec![(gone, 1)], 1, 0, 4));
}

#[test]
fn a_damaged_index_stops_the_check_before_the_packs() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let fragment = format!("index/{}", text(&vectors.values, "/index_fragment/name"));
    repository.store.0.change(&fragment, |stored| stored[60] ^= 1);
    let (summary, found) = check(vectors, &repository, PackCheck::default(), &mut CheckedPacks::default(), 1000);
    assert_eq!((summary.index_errors, summary.pack_files), (1, 0));
    assert_eq!(found, [format!("corrupt {fragment}"), "IndexCorrupt".into()]);
    // Rightly named, but made by no one who has the key.
    let repository = open(vectors);
    let forged = format!("index/{}", portaborg_core::crypto::store_hash(b"forged"));
    repository.store.0.put(&forged, "forged");
    let (summary, found) = check(vectors, &repository, PackCheck::default(), &mut CheckedPacks::default(), 1000);
    assert_eq!((summary.index_errors, summary.pack_files), (1, 2));
    assert_eq!(found[..2], [format!("corrupt {forged}"), "NoCrossCheck".into()]);
}

#[test]
fn the_marker_of_an_interrupted_operation_is_reported() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    repository.store.0.put("cache/chunkindex-invalid.del", "");
    let mut records = CheckedPacks::default();
    let (_, found) = check(vectors, &repository, PackCheck::default(), &mut records, 1000);
    assert_eq!(found, ["PacksDone { complete: true, records: 2 }"]);
    repository.store.0.put("cache/chunkindex-invalid", "");
    let (summary, found) = check(vectors, &repository, PackCheck::default(), &mut records, 1000);
    assert_eq!(found[0], "IndexInvalid");
    assert!(summary.index.is_none() && summary.is_clean());
}

#[test]
fn young_records_of_intact_packs_are_believed() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let ask = PackCheck { max_age_secs: Some(100), ..PackCheck::default() };
    let mut records = CheckedPacks::default();
    let mut reused = |secs| check(vectors, &repository, ask, &mut records, secs).0.pack_reused;
    assert_eq!(reused(10_000), 0);
    assert_eq!(reused(10_099), 2);
    assert_eq!(reused(10_100), 0);
    assert_eq!(reused(10_000), 2, "a record from a clock that runs ahead a little");
    assert_eq!(reused(9_000), 0, "from the future");
    assert_eq!(reused(i64::MIN), 0);
    assert_eq!(reused(i64::MAX), 0);
    // A record of damage is never believed to be good.
    repository.store.0.change(&path(pack_id(vectors, 0)), |stored| stored.push(0));
    let (summary, _) = check(vectors, &repository, PackCheck::default(), &mut records, 20_000);
    assert_eq!(summary.corrupt.len(), 1);
    let (summary, _) = check(vectors, &repository, ask, &mut records, 20_001);
    assert_eq!((summary.pack_reused, summary.pack_errors, summary.corrupt.len()), (1, 1, 1));
}

#[test]
fn a_check_with_a_time_limit_begins_with_the_longest_unchecked() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let ask = PackCheck { max_duration_secs: Some(5), ..PackCheck::default() };
    let mut records = CheckedPacks::default();
    let mut opener = Opener::new(&vectors.keys, &PureRust);
    let time = Cell::new(1000);
    let clock = || {
        time.set(time.get() + 3);
        Timestamp { secs: time.get(), nanos: 0 }
    };
    let mut complete = Vec::new();
    for _ in 0..2 {
        let observe = &mut |finding: PackFinding<'_>| {
            if let PackFinding::PacksDone { complete: all, records } = finding {
                complete.push((all, records));
            }
            Continue(())
        };
        let summary = now(check_packs(&repository, &mut opener, ask, &mut records, &clock, observe)).unwrap();
        assert_eq!(summary.pack_files, 1);
    }
    assert_eq!(complete, [(false, 1), (false, 2)]);
    let endless = PackCheck { max_duration_secs: Some(i64::MAX), ..ask };
    let (summary, _) = check(vectors, &repository, endless, &mut records, i64::MAX);
    assert_eq!(summary.pack_files, 2);
}

#[test]
fn records_are_stored_and_useless_ones_forgotten() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let store = &repository.store.0;
    let mut opener = Opener::new(&vectors.keys, &PureRust);
    let mut records = CheckedPacks::default();
    check(vectors, &repository, PackCheck::default(), &mut records, 1000);
    now(records.save(&repository, &vectors.keys, [5; 24])).unwrap();
    let (loaded, problem) = now(CheckedPacks::load(&repository, &mut opener)).unwrap();
    assert_eq!((loaded.len(), problem), (2, None));
    assert_eq!(loaded.get(&pack_id(vectors, 1)), records.get(&pack_id(vectors, 1)));
    store.change("cache/checked-packs", |stored| stored[50] ^= 1);
    let (loaded, problem) = now(CheckedPacks::load(&repository, &mut opener)).unwrap();
    assert_eq!((loaded.len(), problem), (0, Some(RecordsError::Corrupted)));
    now(loaded.save(&repository, &vectors.keys, [6; 24])).unwrap();
    assert!(store.paths("cache/").is_empty());
    now(loaded.save(&repository, &vectors.keys, [7; 24])).unwrap();
    let (loaded, problem) = now(CheckedPacks::load(&repository, &mut opener)).unwrap();
    assert!(loaded.is_empty() && problem.is_none());
}

#[test]
fn data_is_verified_down_to_the_id_and_a_stop_is_obeyed() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut pack = PackBuilder::new(&keys);
    for i in 0..5u8 {
        pack.add("F", &[i]);
    }
    let forged = ChunkId([0xff; 32]);
    pack.add_as(forged, &plain_meta("F", 4), b"evil");
    let odd = keys.chunk_id(b"odd");
    pack.add_as(odd, &plain_meta("X", 3), b"odd");
    let mut reader = reader(&repository, &keys, vec![pack]);
    let mut defects = Vec::new();
    let summary = now(verify_data(&mut reader, &mut |finding| {
        if let DataFinding::Defect(id, error) = finding {
            defects.push((id, error.clone()));
        }
        Continue(())
    }));
    let summary = summary.unwrap();
    assert_eq!((summary.verified, summary.errors, summary.defects), (7, 2, 2));
    assert_eq!(defects[0], (forged, ReadError::Object(ObjectError::Id)));
    assert_eq!(defects[1], (odd, ReadError::Object(ObjectError::Attribute { key: "type" })));
    let summary = now(verify_data(&mut reader, &mut |_| Break(()))).unwrap();
    assert!(summary.interrupted && summary.verified == 1);
}

fn file(path: &str, chunks: &[(ChunkId, u64)], size: u64) -> Vec<u8> {
    let chunks: Vec<_> = chunks.iter().map(|(id, size)| array(&[bin(id.0), int(*size as i64)])).collect();
    map(&[("chunks", array(&chunks)), ("mtime", timestamp(0)), ("path", str(path)), ("size", int(size as i64))])
}

#[test]
fn missing_chunks_wrong_sizes_and_new_keys_are_found_in_archives() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut pack = PackBuilder::new(&keys);
    let there = pack.add("F", b"there");
    let lost = ChunkId([1; 32]);
    let newer = map(&[("path", str("newer")), ("warp", int(9))]);
    let stream = [
        file("a", &[(there, 5)], 5),
        file("b", &[(there, 5), (lost, 7)], 12),
        file("c", &[(lost, 7), (lost, 7)], 13),
        newer,
        int(0),
    ];
    let pointers = pack.add_stream(&[&stream.concat()]);
    let meta = map(&[
        ("item_ptrs", array(&[bin(pointers.0)])),
        ("name", str("n")),
        ("time", str("2025-01-01T00:00:00")),
        ("version", int(2)),
    ]);
    let meta = ArchiveMeta::decode(&meta).unwrap();
    let mut reader = reader(&repository, &keys, vec![pack]);
    let mut missing = MissingChunks::default();
    for name in ["first", "second"] {
        let mut found = Vec::new();
        let clean = now(check_archive(&mut reader, &meta, name, &mut missing, &mut |finding| {
            found.push(match finding {
                ArchiveFinding::Item => return Continue(()),
                ArchiveFinding::Missing(id, size) => format!("missing {size} {}", id == lost),
                ArchiveFinding::Size { item: Item { path, .. }, stated, chunks } => {
                    format!("size of {} {stated} {chunks}", String::from_utf8_lossy(path))
                }
                ArchiveFinding::UnknownKey(key) => format!("key {}", String::from_utf8_lossy(key)),
                ArchiveFinding::Items(problem) => problem.to_string(),
            });
            Continue(())
        }));
        assert!(!clean);
        let expected = ["missing 7 true", "size of c 13 14", "key warp", "1 bytes of the item stream are not items"];
        assert_eq!(found, expected[usize::from(name == "second")..]);
    }
    assert_eq!((missing.references, missing.truncated, missing.chunks.len()), (6, false, 1));
    let files = &missing.chunks[&lost].files;
    assert_eq!(files.keys().collect::<Vec<_>>(), [b"b", b"c"]);
    assert_eq!(files[&b"b"[..]], ["first", "second"]);
    // A stop is obeyed wherever it is asked for.
    let mut asked = 0;
    now(check_archive(&mut reader, &meta, "third", &mut MissingChunks::default(), &mut |_| {
        asked += 1;
        Break(())
    }));
    assert_eq!(asked, 1);
}

#[test]
fn the_report_of_missing_chunks_stays_small() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut pack = PackBuilder::new(&keys);
    let id = |i: u32| ChunkId([i.to_le_bytes(); 8].concat().try_into().unwrap());
    let all: Vec<_> = (1..5000).map(|i| (id(i), MAX_DATA_SIZE as u64)).collect();
    let size = all.len() as u64 * MAX_DATA_SIZE as u64;
    let stream: Vec<u8> = (0..20).flat_map(|i| file(&format!("file{i}"), &all, size)).collect();
    let pointers = pack.add_stream(&[&stream[..1_000_000], &stream[1_000_000..]]);
    let meta = map(&[
        ("item_ptrs", array(&[bin(pointers.0)])),
        ("name", str("n")),
        ("time", str("2025-01-01T00:00:00")),
        ("version", int(2)),
    ]);
    let meta = ArchiveMeta::decode(&meta).unwrap();
    let mut reader = reader(&repository, &keys, vec![pack]);
    let mut missing = MissingChunks::default();
    let mut found = 0;
    let clean = now(check_archive(&mut reader, &meta, "n", &mut missing, &mut |finding| {
        found += usize::from(matches!(finding, ArchiveFinding::Missing(..)));
        Continue(())
    }));
    assert!(!clean && missing.truncated);
    assert_eq!((missing.chunks.len(), missing.references, found), (1000, 20 * 4999, 1000));
    assert!(missing.chunks.values().all(|chunk| chunk.truncated && chunk.files.len() == 10));
}
