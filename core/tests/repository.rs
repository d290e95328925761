//! The repositories of the vectors, read to the end from memory, and what is read when things are missing
//! (repository layer, sections 2, 3.4, 5.7 and 5.10).

mod common;

use common::build::{
    MemoryRepository, PackBuilder, authenticated_keys, empty_repository, object, plain_meta, reader, sealer,
};
use common::memory::MemoryStore;
use common::{SuiteVectors, bytes, repository_id, repository_vectors, suites, text};
use portaborg_core::codec::PureRust;
use portaborg_core::crypto::{Kdf, Keys, Mode, store_hash};
use portaborg_core::defaults::Defaults;
use portaborg_core::id::{ArchiveId, ChunkId, PackId};
use portaborg_core::item::Item;
use portaborg_core::object::{Header, ObjectError, ObjectType, Opener};
use portaborg_core::repo::{
    ArchiveProblem, ChunkReader, Content, DefaultsError, Foreign, IndexDamage, IndexError, ItemStream, OpenError,
    ReadError, Repository, list_archives, load_fragments, load_index, rebuild_index, repository_keys, unlock,
};
use portaborg_core::store::{Ready, now};

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog\n";

fn open(vectors: &SuiteVectors) -> MemoryRepository {
    now(Repository::open(Ready(vectors.repository()))).unwrap()
}

fn open_reader<'r>(repository: &'r MemoryRepository, keys: &'r Keys) -> ChunkReader<'r, Ready<MemoryStore>> {
    let index = now(load_index(repository, &mut Opener::new(keys, &PureRust), &mut |_| {})).unwrap();
    ChunkReader::new(repository, keys, &PureRust, index)
}

fn fragment_path(vectors: &SuiteVectors) -> String {
    format!("index/{}", text(&vectors.values, "/index_fragment/name"))
}

fn pack_path(vectors: &SuiteVectors, number: usize) -> String {
    let id = text(&vectors.values["packs"][number], "/id");
    format!("packs/{}/{id}", &id[..2])
}

/// From the archives down to the last byte of content.
fn assert_reads_to_the_end(vectors: &SuiteVectors, repository: &MemoryRepository, keys: &Keys) {
    let mut reader = open_reader(repository, keys);
    reader.assert_ids(true);
    let listing = now(list_archives(&mut reader, false)).unwrap();
    assert!(listing.strays.is_empty());
    let [archive] = &listing.archives[..] else { panic!("{:?}", listing.archives) };
    assert_eq!(archive.id.to_string(), text(&vectors.values, "/archive/id"));
    let meta = archive.meta.as_ref().unwrap();
    assert_eq!(meta.name, b"vec");
    let mut stream = ItemStream::new(&meta.item_ptrs);
    let item = now(stream.next(&mut reader)).unwrap().unwrap();
    assert_eq!(item, Item::decode(&bytes(&vectors.values, "/archive/item_msgpack")).unwrap());
    assert!(now(stream.next(&mut reader)).is_none());
    let chunk = item.chunks.unwrap()[0];
    assert_eq!(now(reader.read_content(chunk.id, chunk.size)), Ok(Content::Data(SENTENCE)));
    assert_eq!(now(reader.read_content(chunk.id, 43)), Err(ReadError::Size { expected: 43, found: SENTENCE.len() }));
    let (meta, plaintext) = now(reader.read_any(chunk.id)).unwrap();
    assert_eq!((meta.kind, plaintext), (Some(ObjectType::Content), SENTENCE));
    assert!(now(list_archives(&mut reader, true)).unwrap().archives.is_empty());
}

#[test]
fn every_suites_repository_is_opened_unlocked_and_read() {
    let passphrase = bytes(&repository_vectors(), "/key/passphrase_utf8");
    for vectors in suites() {
        let repository = open(&vectors);
        assert_eq!((repository.id(), repository.config.suite), (repository_id(), Some(vectors.suite)));
        let sources = now(repository_keys(&repository.store, repository.id())).unwrap();
        assert_eq!(sources.len(), 1);
        assert_eq!(sources[0].name.to_string(), text(&repository_vectors(), "/key/keyfile_name"));
        let unlocked = unlock(&sources, &passphrase, Kdf::Stored, vectors.suite, repository.id()).unwrap();
        let defaults = now(repository.defaults(&mut Opener::new(&unlocked.keys, &PureRust))).unwrap();
        assert_eq!(defaults, Defaults { compression: Some("zstd,3".into()), chunker_params: None });
        assert_reads_to_the_end(&vectors, &repository, &unlocked.keys);
    }
}

#[test]
fn the_index_is_rebuilt_where_its_fragments_are_missing_or_not_to_be_trusted() {
    for vectors in suites() {
        let repository = open(&vectors);
        let store = &repository.store.0;
        let mut opener = Opener::new(&vectors.keys, &PureRust);
        let loaded = now(load_fragments(&repository, &mut opener)).unwrap().unwrap();
        let rebuilt = now(rebuild_index(&repository.store, &mut opener, &mut no_damage)).unwrap();
        let sorted = |index: &portaborg_core::index::ChunkIndex| {
            let mut all: Vec<_> = index.iter().map(|(id, at)| (id, at.pack, at.offset, at.size)).collect();
            all.sort();
            all
        };
        assert_eq!(sorted(&loaded), sorted(&rebuilt));
        assert_eq!(loaded.len(), 4);

        store.put("cache/chunkindex-invalid", "");
        assert!(now(load_fragments(&repository, &mut opener)).unwrap().is_none());
        store.change(&fragment_path(&vectors), |fragment| fragment[60] ^= 1);
        assert_reads_to_the_end(&vectors, &repository, &vectors.keys);
        store.remove("cache/chunkindex-invalid");
        let name = text(&vectors.values, "/index_fragment/name").parse().unwrap();
        let mut damage = Vec::new();
        let index = now(load_index(&repository, &mut opener, &mut |found| damage.push(found))).unwrap();
        assert_eq!(sorted(&index), sorted(&loaded));
        let [IndexDamage::Fragment(IndexError::Envelope { name: found, .. })] = damage[..] else {
            panic!("{damage:?}")
        };
        assert_eq!(found, name);

        store.remove(&fragment_path(&vectors));
        assert!(now(load_fragments(&repository, &mut opener)).unwrap().is_none());
        assert_reads_to_the_end(&vectors, &repository, &vectors.keys);
    }
}

#[test]
fn damage_in_a_pack_costs_a_rebuilt_index_the_damaged_object_alone() {
    let vectors = &suites()[0];
    let mut object = 0;
    open(vectors).store.0.change(&pack_path(vectors, 0), |pack| object = Header::parse(pack).unwrap().total());
    let damages: [fn(&mut Vec<u8>); 6] = [
        |pack| pack[0] ^= 1,
        |pack| pack[8] = 1,
        |pack| pack[20] ^= 1,   // the id
        |pack| pack[44] = 0xff, // the metadata claims gigabytes
        |pack| pack[45] ^= 1,   // the data is claimed to be a little longer, which would lead into the next object
        |pack| pack[60] ^= 1,   // the metadata
    ];
    for damage in damages {
        let repository = open(vectors);
        repository.store.0.remove(&fragment_path(vectors));
        repository.store.0.change(&pack_path(vectors, 0), damage);
        let mut damage = Vec::new();
        let mut opener = Opener::new(&vectors.keys, &PureRust);
        let index = now(load_index(&repository, &mut opener, &mut |found| damage.push(found))).unwrap();
        assert_eq!(index.len(), 3);
        assert!(matches!(damage[..], [IndexDamage::Range { offset: 0, bytes, .. }] if bytes == object), "{damage:?}");
    }
    // A cut object is none, and what is too short for a header is nothing at all.
    let mut opener = Opener::new(&vectors.keys, &PureRust);
    let repository = open(vectors);
    repository.store.0.change(&pack_path(vectors, 0), |pack| pack.extend([0; 48]));
    assert_eq!(now(rebuild_index(&repository.store, &mut opener, &mut no_damage)).unwrap().len(), 4);
    let mut damage = 0;
    repository.store.0.change(&pack_path(vectors, 0), |pack| pack.truncate(object as usize - 1));
    let index = now(rebuild_index(&repository.store, &mut opener, &mut |_| damage += 1)).unwrap();
    assert!(index.len() < 4 && damage == 1);
}

#[test]
fn objects_are_found_again_far_behind_damage_and_across_the_borders_of_reading() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    for garbage in [1, 100, (1 << 20) - 60, (1 << 20) - 4, (1 << 20) + 3, 3_000_000] {
        let id = keys.chunk_id(b"behind");
        let object = object(&mut sealer(&keys, [7; 24]), id, &plain_meta("F", 6), b"behind");
        let stored = [&b"BORG_OBJ".repeat(garbage / 8 + 1)[..garbage], &object].concat();
        let name = store_hash(&stored);
        let path = portaborg_core::name::Key::Pack(name.into()).path();
        repository.store.0.put(&path, stored);
        let mut skipped = Vec::new();
        let mut opener = Opener::new(&keys, &PureRust);
        let index = now(rebuild_index(&repository.store, &mut opener, &mut |found| skipped.push(found))).unwrap();
        assert_eq!(index.len(), 1, "{garbage}");
        let expected = IndexDamage::Range { pack: name.into(), offset: 0, bytes: garbage as u64 };
        assert_eq!(skipped, [expected]);
        repository.store.0.remove(&path);
    }
}

#[test]
fn packs_in_which_nothing_is_authentic_are_no_empty_repository() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let keys = Keys::new(vectors.suite, [0; 64], [0; 32], 0);
    let error = now(load_index(&repository, &mut Opener::new(&keys, &PureRust), &mut no_damage)).unwrap_err();
    assert!(matches!(error, IndexError::Envelope { .. }), "{error:?}");
    repository.store.0.remove(&fragment_path(vectors));
    let error = now(load_index(&repository, &mut Opener::new(&keys, &PureRust), &mut |_| {})).unwrap_err();
    assert_eq!(error, IndexError::NothingAuthentic);
}

fn no_damage(damage: IndexDamage) {
    panic!("{damage:?}");
}

#[test]
fn rebuilding_the_index_reads_headers_not_content() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let (mut small, mut large) = (PackBuilder::new(&keys), PackBuilder::new(&keys));
    for i in 0..1000u32 {
        small.add("F", &i.to_le_bytes());
    }
    for i in 0..10u8 {
        large.add("F", &vec![i; 1_000_000]);
    }
    drop(reader(&repository, &keys, vec![small, large]));
    let store = &repository.store.0;
    store.recount();
    let mut opener = Opener::new(&keys, &PureRust);
    assert_eq!(now(rebuild_index(&repository.store, &mut opener, &mut no_damage)).unwrap().len(), 1010);
    let (reads, bytes) = (store.reads.get(), store.read_bytes.get());
    assert!(reads <= 70 && bytes <= 300_000, "{reads} reads, {bytes} bytes");
}

#[test]
fn neighbouring_chunks_are_read_together() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut pack = PackBuilder::new(&keys);
    let ids: Vec<_> = (0..10_000u32).map(|i| pack.add("F", &i.to_le_bytes())).collect();
    let mut reader = reader(&repository, &keys, vec![pack]);
    let store = &repository.store.0;
    let pack_bytes: usize = reader.index.iter().map(|(_, location)| location.size as usize).sum();
    for (i, id) in (0..10_000u32).zip(&ids) {
        let bytes = i.to_le_bytes();
        let expected = if i == 0 { Content::Zeros(4) } else { Content::Data(&bytes) };
        assert_eq!(now(reader.read_content(*id, 4)), Ok(expected));
    }
    let (reads, bytes) = (store.reads.get(), store.read_bytes.get());
    assert!(reads <= pack_bytes / (1 << 20) + 2, "{reads} reads of {pack_bytes} bytes");
    assert!(bytes <= pack_bytes + 1000, "{bytes} bytes read of {pack_bytes}");
    // One alone costs no more than itself, and once more nothing.
    let one = reader.index.get(&ids[17]).unwrap();
    store.recount();
    now(reader.read(ids[17], ObjectType::Content)).unwrap();
    now(reader.read(ids[17], ObjectType::Content)).unwrap();
    assert_eq!((store.reads.get(), store.read_bytes.get()), (1, one.size as usize));
}

#[test]
fn chunks_of_zeros_are_read_once_and_not_missed_when_lost() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut pack = PackBuilder::new(&keys);
    let zeros = pack.add("F", &[0; 5000]);
    let mut reader = reader(&repository, &keys, vec![pack]);
    let store = &repository.store.0;
    for _ in 0..3 {
        assert_eq!(now(reader.read_content(zeros, 5000)), Ok(Content::Zeros(5000)));
    }
    assert_eq!(store.reads.get(), 1);
    assert_eq!(now(reader.read_content(zeros, 4999)), Err(ReadError::Size { expected: 4999, found: 5000 }));
    let lost = keys.chunk_id(&[0; 77]);
    assert_eq!(now(reader.read_content(lost, 76)), Err(ReadError::NotIndexed));
    assert_eq!(now(reader.read_content(lost, 77)), Ok(Content::Zeros(77)));
    assert_eq!(now(reader.read_content(ChunkId([1; 32]), u64::MAX)), Err(ReadError::NotIndexed));
}

#[test]
fn lost_damaged_and_mistaken_chunks_are_told_apart() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let (mut first, mut second) = (PackBuilder::new(&keys), PackBuilder::new(&keys));
    let (a, b) = (first.add("F", b"first"), first.add("S", b"second"));
    let c = second.add("F", b"third");
    let forged = ChunkId([3; 32]);
    second.add_as(forged, &common::build::plain_meta("F", 4), b"evil");
    let mut reader = reader(&repository, &keys, vec![first, second]);
    let store = &repository.store.0;
    let path = |reader: &ChunkReader<'_, _>, id| {
        let pack: PackId = reader.index.get(&id).unwrap().pack;
        format!("packs/{}/{pack}", &pack.to_string()[..2])
    };
    assert_eq!(now(reader.read(ChunkId([9; 32]), ObjectType::Content)), Err(ReadError::NotIndexed));
    let wrong = ObjectError::Type { wanted: ObjectType::Content, found: Some(ObjectType::Items) };
    assert_eq!(now(reader.read(b, ObjectType::Content)), Err(ReadError::Object(wrong)));
    // Its holder of the key may store anything under any id: only the id's own check finds out.
    assert_eq!(now(reader.read(forged, ObjectType::Content)), Ok(&b"evil"[..]));
    reader.assert_ids(true);
    assert_eq!(now(reader.read(forged, ObjectType::Content)), Err(ReadError::Object(ObjectError::Id)));
    let mut reader = ChunkReader::new(&repository, &keys, &PureRust, reader.index);
    store.change(&path(&reader, a), |pack| pack.truncate(pack.len() - 1));
    assert_eq!(now(reader.read(a, ObjectType::Content)), Ok(&b"first"[..]));
    assert!(matches!(now(reader.read(b, ObjectType::Items)), Err(ReadError::Truncated { .. })));
    store.change(&path(&reader, a), |pack| pack[60] ^= 1);
    now(reader.read(c, ObjectType::Content)).unwrap();
    assert!(matches!(now(reader.read(a, ObjectType::Content)), Err(ReadError::Object(_))));
    store.remove(&path(&reader, a));
    now(reader.read(c, ObjectType::Content)).unwrap();
    let pack = reader.index.get(&a).unwrap().pack;
    assert_eq!(now(reader.read(a, ObjectType::Content)), Err(ReadError::PackMissing { pack }));
    // A location that no writer makes.
    let location = portaborg_core::index::Location { pack, offset: u32::MAX, size: u32::MAX };
    std::sync::Arc::make_mut(&mut reader.index).insert(a, location);
    assert!(matches!(now(reader.read(a, ObjectType::Content)), Err(ReadError::Object(_))));
}

#[test]
fn an_index_is_never_used_in_part() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    repository.store.0.put(&format!("index/{}", store_hash(b"garbage")), "garbage");
    let mut damage = Vec::new();
    let mut opener = Opener::new(&vectors.keys, &PureRust);
    let index = now(load_index(&repository, &mut opener, &mut |found| damage.push(found))).unwrap();
    assert!(matches!(damage[..], [IndexDamage::Fragment(IndexError::Envelope { .. })]));
    assert_eq!(index.len(), 4);
    // What no fragment can be named is none, and so is a soft-deleted one.
    let repository = open(vectors);
    repository.store.0.put("index/readme", "garbage");
    repository.store.0.put(&format!("index/{}.del", store_hash(b"garbage")), "garbage");
    assert_eq!(now(load_index(&repository, &mut opener, &mut no_damage)).unwrap().len(), 4);
}

#[test]
fn archives_that_cannot_be_used_cost_no_other() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let store = &repository.store.0;
    let content: ArchiveId = text(&vectors.values, "/object_F/id").parse().unwrap();
    let deleted: ArchiveId = ArchiveId([7; 32]);
    store.put(&format!("archives/{content}"), "");
    store.put(&format!("archives/{}", ArchiveId([0; 32])), "");
    store.put(&format!("archives/{deleted}.del"), "");
    store.put("archives/stray", "");
    store.put("archives/.DS_Store", "");
    let mut reader = open_reader(&repository, &vectors.keys);
    let listing = now(list_archives(&mut reader, false)).unwrap();
    assert_eq!(listing.strays, ["stray"]);
    assert_eq!(listing.archives.len(), 3);
    assert!(listing.archives.is_sorted_by_key(|archive| archive.id));
    for archive in listing.archives {
        let id = archive.id.to_string();
        match archive.meta {
            Ok(meta) => assert_eq!((&meta.name[..], id.as_str()), (&b"vec"[..], text(&vectors.values, "/archive/id"))),
            Err(ArchiveProblem::Read(ReadError::NotIndexed)) => assert_eq!(archive.id, ArchiveId([0; 32])),
            Err(ArchiveProblem::Read(ReadError::Object(ObjectError::Type { .. }))) => assert_eq!(archive.id, content),
            Err(problem) => panic!("{id}: {problem:?}"),
        }
    }
    let listing = now(list_archives(&mut reader, true)).unwrap();
    assert_eq!(listing.archives.iter().map(|archive| archive.id).collect::<Vec<_>>(), [deleted]);
}

#[test]
fn keys_of_other_repositories_and_other_files_are_passed_over() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let store = &repository.store.0;
    let mine = text(&repository_vectors(), "/key/keyfile_text").to_owned();
    let broken = format!("BORG_KEY {}\nbroken", repository_id());
    let others = [mine.replace("BORG_KEY 00", "BORG_KEY 01"), "garbage".into(), mine.clone() + &" ".repeat(70_000)];
    for other in &others {
        store.put(&format!("keys/{}", store_hash(other.as_bytes())), other.as_str());
    }
    store.put("keys/readme", mine.as_str());
    store.put(&format!("keys/{}", store_hash(broken.as_bytes())), broken.as_str());
    let mut texts: Vec<_> = now(repository_keys(&repository.store, repository.id())).unwrap();
    texts.sort_by_key(|source| source.text.len());
    assert_eq!(texts.iter().map(|source| &source.text[..]).collect::<Vec<_>>(), [broken.as_bytes(), mine.as_bytes()]);
}

#[test]
fn what_is_no_repository_says_what_it_is() {
    let open = |objects: &[(&str, &str)]| {
        let store = MemoryStore::default();
        objects.iter().for_each(|(path, content)| store.put(path, *content));
        now(Repository::open(Ready(store))).map(drop).unwrap_err()
    };
    assert_eq!(open(&[]), OpenError::NoConfig);
    assert_eq!(open(&[("packs/00/x", "")]), OpenError::NoConfig);
    assert_eq!(open(&[("config", "[repository]\nversion = 1\n")]), OpenError::Foreign(Foreign::Borg1));
    assert_eq!(open(&[("config/id", "x"), ("config/version", "3")]), OpenError::Foreign(Foreign::Borg2Beta));
    assert_eq!(open(&[("config", "\u{fffd}"), ("keys/0", "{}")]), OpenError::Foreign(Foreign::Restic));
    assert_eq!(open(&[("config", "anything")]), OpenError::NoConfig);
    assert!(matches!(open(&[("config/config", "[repository]\nversion = 6\n")]), OpenError::Config(_)));
    assert!(matches!(open(&[("config/config", &"#".repeat(70_000))]), OpenError::Store(_)));
}

#[test]
fn defaults_may_be_missing_or_forged() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let mut opener = Opener::new(&vectors.keys, &PureRust);
    repository.store.0.change("config/defaults", |stored| stored[40] ^= 1);
    assert!(matches!(now(repository.defaults(&mut opener)), Err(DefaultsError::Envelope(_))));
    repository.store.0.remove("config/defaults");
    assert_eq!(now(repository.defaults(&mut opener)), Err(DefaultsError::Missing));
}

#[test]
fn an_authenticated_repository_is_read_without_its_key() {
    for vectors in suites().into_iter().filter(|vectors| vectors.suite.mode == Mode::Authenticated) {
        let repository = open(&vectors);
        let lost = Keys::lost(vectors.suite).unwrap();
        assert_reads_to_the_end(&vectors, &repository, &lost);
    }
}

#[test]
fn without_a_lock_the_index_is_loaded_again_when_a_pack_has_gone() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let store = &repository.store.0;
    let id: ChunkId = text(&vectors.values, "/object_F/id").parse().unwrap();
    let mut reader = open_reader(&repository, &vectors.keys);
    reader.without_lock();
    // Another client has put the objects into another pack.
    let old = reader.index.get(&id).unwrap();
    let pack = bytes(&vectors.values["packs"][0], "/bytes");
    let moved = [&pack[old.offset as usize..][..old.size as usize], &pack].concat();
    let name = store_hash(&moved).to_string();
    store.put(&format!("packs/{}/{name}", &name[..2]), moved);
    store.remove(&pack_path(vectors, 0));
    store.remove(&fragment_path(vectors));
    assert_eq!(now(reader.read(id, ObjectType::Content)), Ok(SENTENCE));
    assert_eq!(reader.index.get(&id).unwrap().pack.to_string(), name);
    // Once is enough.
    store.remove(&format!("packs/{}/{name}", &name[..2]));
    now(reader.read(text(&vectors.values, "/archive/id").parse().unwrap(), ObjectType::Archive)).unwrap();
    assert_eq!(now(reader.read(id, ObjectType::Content)), Err(ReadError::Changed));
}

#[test]
fn without_a_lock_what_was_always_missing_is_missing() {
    let vectors = &suites()[0];
    let repository = open(vectors);
    let id: ChunkId = text(&vectors.values, "/object_F/id").parse().unwrap();
    let archive: ChunkId = text(&vectors.values, "/archive/id").parse().unwrap();
    repository.store.0.remove(&pack_path(vectors, 0));
    repository.store.0.remove(&pack_path(vectors, 1));
    let mut reader = open_reader(&repository, &vectors.keys);
    reader.without_lock();
    for id in [id, archive, id, archive] {
        let pack = reader.index.get(&id).unwrap().pack;
        let kind = if id == archive { ObjectType::Archive } else { ObjectType::Content };
        assert_eq!(now(reader.read(id, kind)), Err(ReadError::PackMissing { pack }));
    }
    let unknown = ChunkId([1; 32]);
    assert_eq!(now(reader.read(unknown, ObjectType::Content)), Err(ReadError::NotIndexed));
}
