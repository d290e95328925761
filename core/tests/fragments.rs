//! The stored chunk index: fragments as Borg makes them, their merging, and what becomes of damaged ones (repository layer,
//! sections 5.6, 5.7 and 7.4).

mod common;

use common::build::{MemoryRepository, PackBuilder, authenticated_keys, empty_repository, sealer};
use common::memory::MemoryStore;
use common::{array, bytes, repository_id, suites, text};
use portaborg_core::codec::PureRust;
use portaborg_core::config::Config;
use portaborg_core::crypto::{Keys, Mode, store_hash};
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::index::{ChunkIndex, Location, batches};
use portaborg_core::name::Namespace;
use portaborg_core::object::Opener;
use portaborg_core::repo::{
    ChunkReader, ChunkWriter, IndexDamage, IndexError, PackLimits, Repository, consolidate, delete_fragments,
    load_fragments, load_index_to_add, load_index_to_rewrite, replace_fragments,
};
use portaborg_core::store::{Ready, now};
use portaborg_core::store_object::{Place, seal_store_object};
use std::collections::BTreeSet;

const MARKER: &str = "cache/chunkindex-invalid";

#[test]
fn the_fragment_of_the_vectors_is_written_again() {
    for vectors in suites() {
        let config = Config { id: repository_id(), suite: Some(vectors.suite) };
        let repository = Repository { store: Ready(MemoryStore::default()), config };
        let plain = bytes(&vectors.values, "/index_fragment/plain");
        let mut index = ChunkIndex::new();
        index.merge_fragment(&plain).unwrap();
        let mut ids: Vec<ChunkId> = index.iter().map(|(id, _)| id).collect();
        assert_eq!(batches(&mut ids).iter().map(|batch| index.fragment(batch)).collect::<Vec<_>>(), [plain]);
        let mut sealer = match vectors.suite.mode {
            Mode::Encrypted(_) => sealer(&vectors.keys, array(&vectors.values, "/session_id")),
            Mode::Authenticated => sealer(&vectors.keys, [0; 24]),
        };
        let before: Vec<_> = (1..9).map(|_| sealer.ticket(0, 0)).collect();
        assert_eq!(before.len(), 8); // the vectors' fragment is message 9
        now(replace_fragments(&repository, &mut sealer, &index)).unwrap();
        let path = format!("index/{}", text(&vectors.values, "/index_fragment/name"));
        assert_eq!(repository.store.0.paths(""), [path.as_str()], "{}", vectors.name);
        assert_eq!(repository.store.0.content(&path), bytes(&vectors.values, "/index_fragment/envelope"));
    }
}

#[test]
fn up_to_400000_entries_are_one_fragment() {
    let mut ids: Vec<ChunkId> = (0..400_000).rev().map(spread).collect();
    let sorted: BTreeSet<ChunkId> = ids.iter().copied().collect();
    let one = batches(&mut ids);
    assert_eq!((one.len(), one[0].len()), (1, 400_000));
    assert!(one[0].iter().eq(&sorted));
    assert!(batches(&mut []).is_empty());
}

#[test]
fn more_are_divided_by_their_first_bits() {
    // 760,001 are three parts of 380,000, so there are two bits, and four fragments.
    for (count, bits, fragments) in [(400_001, 1, 2), (760_000, 1, 2), (760_001, 2, 4)] {
        let mut ids: Vec<ChunkId> = (0..count).map(spread).collect();
        let parts = batches(&mut ids);
        assert_eq!(parts.len(), fragments, "{count}");
        assert_eq!(parts.iter().map(|part| part.len()).sum::<usize>(), count as usize);
        for (number, part) in parts.iter().enumerate() {
            assert!(part.is_sorted() && part.len() <= 400_000);
            assert!(part.iter().all(|id| usize::from(id.0[0] >> (8 - bits)) == number), "{count}");
        }
    }
    // What is not divided by them is cut.
    let mut ids: Vec<ChunkId> = (0..450_000)
        .map(|number| ChunkId([[0; 4], u32::to_be_bytes(number)].concat().repeat(4).try_into().unwrap()))
        .collect();
    assert_eq!(batches(&mut ids).iter().map(|part| part.len()).collect::<Vec<_>>(), [400_000, 50_000]);
}

#[test]
fn equal_sets_are_divided_equally() {
    let (mut up, mut down): (Vec<ChunkId>, Vec<ChunkId>) =
        ((0..500_000).map(spread).collect(), (0..500_000).rev().map(spread).collect());
    assert_eq!(batches(&mut up), batches(&mut down));
}

#[test]
fn sixteen_small_fragments_become_one_and_fifteen_stay() {
    let keys = authenticated_keys();
    for (count, left) in [(1, 1), (15, 15), (16, 1), (40, 1)] {
        let repository = with_fragments(&keys, &vec![3; count]);
        let before = entries(&repository, &keys);
        now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).unwrap();
        assert_eq!(repository.store.0.paths("index/").len(), left, "{count}");
        assert_eq!(entries(&repository, &keys), before);
        assert_eq!(before.len(), 3 * count);
        // Once is enough.
        let paths = repository.store.0.paths("");
        now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).unwrap();
        assert_eq!(repository.store.0.paths(""), paths);
    }
}

#[test]
fn small_fragments_that_make_a_large_one_are_merged() {
    let keys = authenticated_keys();
    for (sizes, left) in [
        (&[50_000, 49_000][..], 2),
        (&[50_000, 50_000], 1),
        (&[99_000, 1_000, 5], 1),
        (&[100_000, 99_000], 2), // a single small one
        (&[100_000, 100_000], 2),
    ] {
        let repository = with_fragments(&keys, sizes);
        now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).unwrap();
        assert_eq!(repository.store.0.paths("index/").len(), left, "{sizes:?}");
        assert_eq!(entries(&repository, &keys).len(), sizes.iter().sum::<usize>());
    }
}

#[test]
fn nothing_is_merged_beside_the_marker() {
    let keys = authenticated_keys();
    let repository = with_fragments(&keys, &[1; 20]);
    repository.store.0.put(MARKER, "");
    now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).unwrap();
    assert_eq!(repository.store.0.paths("index/").len(), 20);
}

#[test]
fn a_damaged_fragment_is_left_for_check() {
    let keys = authenticated_keys();
    let repository = with_fragments(&keys, &[2; 20]);
    let damaged = repository.store.0.paths("index/")[7].clone();
    repository.store.0.change(&damaged, |content| content[100] ^= 1);
    now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).unwrap();
    let paths = repository.store.0.paths("index/");
    assert!(paths.len() == 2 && paths.contains(&damaged));
    repository.store.0.remove(&damaged);
    assert_eq!(entries(&repository, &keys).len(), 38);
}

/// A crash after the merged fragment was stored, before the others are removed: the next one to come finishes the work.
#[test]
fn merging_that_was_interrupted_is_finished() {
    let keys = authenticated_keys();
    for sizes in [&[4; 16][..], &[60_000, 60_000]] {
        let repository = with_fragments(&keys, sizes);
        let before = entries(&repository, &keys);
        repository.store.0.keeps_all.set(true);
        assert!(now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).is_err());
        repository.store.0.keeps_all.set(false);
        assert_eq!(repository.store.0.paths("index/").len(), sizes.len() + 1);
        assert_eq!(entries(&repository, &keys), before);
        now(consolidate(&repository, &mut sealer(&keys, [9; 24]))).unwrap();
        assert_eq!(repository.store.0.paths("index/").len(), 1);
        assert_eq!(entries(&repository, &keys), before);
    }
}

/// An empty fragment is an index, too, so the last one stays.
#[test]
fn one_of_many_empty_fragments_stays() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let empty = ChunkIndex::new().fragment(&[]);
    // Authenticated envelopes are what their content makes them, so each is put under a name of its own.
    let stored = seal_store_object(&mut sealer(&keys, [1; 24]), repository.id(), PLACE, &empty);
    (0..20).for_each(|number| repository.store.0.put(&format!("index/{}", store_hash(&[number])), stored.clone()));
    now(consolidate(&repository, &mut sealer(&keys, [8; 24]))).unwrap();
    assert!(!repository.store.0.paths("index/").is_empty());
    assert!(entries(&repository, &keys).is_empty());
}

#[test]
fn the_whole_index_replaces_all_fragments_behind_the_marker() {
    let keys = authenticated_keys();
    let repository = with_fragments(&keys, &[3, 4]);
    let mut index = ChunkIndex::new();
    (0..10).for_each(|number| index.insert(spread(number), location(number)));
    repository.store.0.keeps_all.set(true);
    assert!(now(replace_fragments(&repository, &mut sealer(&keys, [8; 24]), &index)).is_err());
    assert_eq!(repository.store.0.paths(MARKER).len(), 1, "both old and new are there, so none of them is trusted");
    assert!(fragments(&repository, &keys).is_none());
    repository.store.0.keeps_all.set(false);
    now(replace_fragments(&repository, &mut sealer(&keys, [9; 24]), &index)).unwrap();
    assert_eq!(repository.store.0.paths("").len(), 1);
    assert_eq!(entries(&repository, &keys).len(), 10);
    now(delete_fragments(&repository.store)).unwrap();
    assert!(repository.store.0.paths("").is_empty());
}

#[test]
fn an_index_that_was_made_from_the_packs_is_stored_by_who_adds() {
    let keys = authenticated_keys();
    for marked in [true, false] {
        let (repository, ids) = with_packs(&keys);
        if marked {
            // Whatever it says: it is not trusted.
            let mut lies = ChunkIndex::new();
            lies.insert(spread(1), location(1));
            now(replace_fragments(&repository, &mut sealer(&keys, [1; 24]), &lies)).unwrap();
            repository.store.0.put(MARKER, "");
        }
        let loaded = now(load_index_to_add(&repository, &mut Opener::new(&keys, &PureRust), &mut no_damage)).unwrap();
        assert!(loaded.is_rebuilt);
        assert_eq!(repository.store.0.paths("index/"), [""; 0], "the packs are all there is until it is stored");
        assert_eq!(repository.store.0.paths(MARKER), [""; 0]);
        let reader = ChunkReader::new(&repository, &keys, &PureRust, loaded.index);
        let (sealer, compression) = (sealer(&keys, [8; 24]), "none".parse().unwrap());
        let mut writer = ChunkWriter::new(reader, sealer, &PureRust, compression, PackLimits::default());
        writer.save_all();
        let id = writer.chunk_id(b"new");
        now(writer.add(id, portaborg_core::object::ObjectType::Content, b"new")).unwrap();
        now(writer.save_index()).unwrap();
        let expected: BTreeSet<ChunkId> = ids.into_iter().chain([id]).collect();
        assert_eq!(entries(&repository, &keys), expected);
        assert_eq!(repository.store.0.paths("index/").len(), 1);

        let again = now(load_index_to_add(&repository, &mut Opener::new(&keys, &PureRust), &mut no_damage)).unwrap();
        assert!(!again.is_rebuilt);
    }
}

/// A crash while a large index is stored that was made from the packs: its first fragment must not pass for all of it.
#[test]
fn one_of_the_first_fragments_does_not_pass_for_the_whole_index() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut index = ChunkIndex::new();
    (0..400_001).for_each(|number| index.insert(spread(number), location(number)));
    let reader = ChunkReader::new(&repository, &keys, &PureRust, index);
    let (sealer, compression) = (sealer(&keys, [8; 24]), "none".parse().unwrap());
    let mut writer = ChunkWriter::new(reader, sealer, &PureRust, compression, PackLimits::default());
    writer.save_all();
    repository.store.0.writes_left.set(Some(2)); // the marker and the first fragment
    assert!(now(writer.save_index()).is_err());
    assert_eq!(repository.store.0.paths("index/").len(), 1);
    assert!(fragments(&repository, &keys).is_none());
    repository.store.0.writes_left.set(None);
    now(writer.save_index()).unwrap();
    assert_eq!(entries(&repository, &keys).len(), 400_001);
}

#[test]
fn damage_to_the_index_stops_who_adds_and_is_mended_by_who_rewrites() {
    let keys = authenticated_keys();
    let (repository, ids) = with_packs(&keys);
    let mut index = ChunkIndex::new();
    ids.iter().for_each(|id| index.insert(*id, location(0)));
    now(replace_fragments(&repository, &mut sealer(&keys, [1; 24]), &index)).unwrap();
    let fragment = repository.store.0.paths("index/")[0].clone();
    repository.store.0.change(&fragment, |content| content[70] ^= 1);
    let paths = repository.store.0.paths("");
    let refused = now(load_index_to_add(&repository, &mut Opener::new(&keys, &PureRust), &mut no_damage));
    assert!(matches!(refused, Err(IndexError::Envelope { .. })));
    assert_eq!(repository.store.0.paths(""), paths);

    let mut seen = Vec::new();
    let mut opener = Opener::new(&keys, &PureRust);
    let mut sealer = sealer(&keys, [8; 24]);
    let loaded = now(load_index_to_rewrite(&repository, &mut opener, &mut sealer, &mut |damage| seen.push(damage)));
    assert_eq!(loaded.unwrap().len(), ids.len());
    assert!(matches!(&seen[..], [IndexDamage::Fragment(IndexError::Envelope { .. })]), "{seen:?}");
    assert_eq!(entries(&repository, &keys), ids.into_iter().collect());
    assert!(!repository.store.0.paths("index/").contains(&fragment));
    assert_eq!(repository.store.0.paths(MARKER), [""; 0]);
}

#[test]
fn who_rewrites_stores_a_missing_index_and_merges_many_fragments() {
    let keys = authenticated_keys();
    let rewrite = |repository: &MemoryRepository| {
        let (mut opener, mut sealer) = (Opener::new(&keys, &PureRust), sealer(&keys, [8; 24]));
        now(load_index_to_rewrite(repository, &mut opener, &mut sealer, &mut no_damage)).unwrap().len()
    };
    for marked in [true, false] {
        let (repository, ids) = with_packs(&keys);
        if marked {
            repository.store.0.put(MARKER, "");
        }
        assert_eq!(rewrite(&repository), ids.len());
        assert_eq!(entries(&repository, &keys).len(), ids.len());
        assert_eq!(repository.store.0.paths(MARKER), [""; 0]);
    }
    let many = with_fragments(&keys, &[1; 16]);
    assert_eq!(rewrite(&many), 16);
    assert_eq!(many.store.0.paths("index/").len(), 1);
}

const PLACE: Place<'static> = Place::Hashed(Namespace::Index);

fn no_damage(damage: IndexDamage) {
    panic!("{damage:?}");
}

/// An id whose first bits are as even as a hash's.
fn spread(number: u32) -> ChunkId {
    let mut id = [0; 32];
    id[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b1).to_be_bytes());
    id[4..8].copy_from_slice(&number.to_be_bytes());
    ChunkId(id)
}

fn location(number: u32) -> Location {
    Location { pack: PackId([7; 32]), offset: number, size: 100 }
}

/// Fragments of so many entries, all of different chunks.
fn with_fragments(keys: &Keys, sizes: &[usize]) -> MemoryRepository {
    let repository = empty_repository(keys);
    let mut sealer = sealer(keys, [1; 24]);
    let mut next = 0;
    for &size in sizes {
        let mut index = ChunkIndex::new();
        (next..next + size as u32).for_each(|number| index.insert(spread(number), location(number)));
        next += size as u32;
        let mut ids: Vec<ChunkId> = index.iter().map(|(id, _)| id).collect();
        let stored = seal_store_object(&mut sealer, repository.id(), PLACE, &index.fragment(batches(&mut ids)[0]));
        repository.store.0.put(&format!("index/{}", store_hash(&stored)), stored);
    }
    repository
}

/// Two packs without an index.
fn with_packs(keys: &Keys) -> (MemoryRepository, Vec<ChunkId>) {
    let repository = empty_repository(keys);
    let mut ids = Vec::new();
    for texts in [["a", "b"], ["c", "d"]] {
        let mut pack = PackBuilder::new(keys);
        ids.extend(texts.map(|text| pack.add("F", text.as_bytes())));
        pack.store(&repository.store.0, &mut ChunkIndex::new());
    }
    (repository, ids)
}

fn fragments(repository: &MemoryRepository, keys: &Keys) -> Option<ChunkIndex> {
    now(load_fragments(repository, &mut Opener::new(keys, &PureRust))).unwrap()
}

fn entries(repository: &MemoryRepository, keys: &Keys) -> BTreeSet<ChunkId> {
    fragments(repository, keys).expect("there is an index").iter().map(|(id, _)| id).collect()
}
