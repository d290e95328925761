//! Writing: objects, packs and whole archives against the vectors, and what a writer refuses (repository layer, sections
//! 5.1 to 5.3 and 6.3; data layer, section 9).

mod common;

use common::build::{MemoryRepository, authenticated_keys, empty_repository, sealer};
use common::memory::MemoryStore;
use common::shake::shake256;
use common::{SuiteVectors, array, bytes, data_vectors, repository_id, suites, text};
use portaborg_core::archive::{ArchiveMeta, Stamp};
use portaborg_core::codec::{Compression, EncodeError, PureRust};
use portaborg_core::config::Config;
use portaborg_core::crypto::{Keys, Mode, Sealer, Suite};
use portaborg_core::id::ChunkId;
use portaborg_core::index::ChunkIndex;
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::object::{ObjectTicket, ObjectType, ObjectWriteError, ObjectWriter, Opener};
use portaborg_core::repo::{
    ArchiveWriter, ChunkReader, ChunkWriter, DEFAULT_PACK_BYTES, ItemStream, PackLimits, Repository, SizeRule,
    WriteError, load_fragments,
};
use portaborg_core::store::{Ready, now};
use portaborg_core::time::Timestamp;
use sha2::{Digest, Sha256};

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog\n";
const COUNT_ALONE: fn(usize) -> PackLimits = |count| PackLimits { size: None, count: Some(count) };

type Writer<'r> = ChunkWriter<'r, Ready<MemoryStore>>;

fn compression(text: &str) -> Compression {
    text.parse().unwrap()
}

/// The sealer with which the vectors were made.
fn vector_sealer(vectors: &SuiteVectors) -> Sealer<'_> {
    match vectors.suite.mode {
        Mode::Encrypted(_) => sealer(&vectors.keys, array(&vectors.values, "/session_id")),
        Mode::Authenticated => sealer(&vectors.keys, [0; 24]),
    }
}

fn writer<'r>(repository: &'r MemoryRepository, keys: &'r Keys, index: ChunkIndex, limits: PackLimits) -> Writer<'r> {
    let reader = ChunkReader::new(repository, keys, &PureRust, index);
    ChunkWriter::new(reader, sealer(keys, [5; 24]), &PureRust, compression("none"), limits)
}

/// Adds a chunk of file content.
fn add(writer: &mut Writer<'_>, plaintext: &[u8]) -> (ChunkId, Result<bool, WriteError>) {
    let id = writer.chunk_id(plaintext);
    (id, now(writer.add(id, ObjectType::Content, plaintext)))
}

fn stored_index(repository: &MemoryRepository, keys: &Keys) -> ChunkIndex {
    now(load_fragments(repository, &mut Opener::new(keys, &PureRust))).unwrap().expect("there is an index")
}

#[test]
fn the_object_of_the_vectors_is_written_again() {
    for vectors in suites() {
        let id: ChunkId = text(&vectors.values, "/object_F/id").parse().unwrap();
        let compression = compression("none");
        let ticket = ObjectTicket::issue(&mut vector_sealer(&vectors), SENTENCE.len(), &compression);
        let mut out = b"before".to_vec();
        let mut writer = ObjectWriter::new(&vectors.keys, &PureRust);
        writer.write(id, ObjectType::Content, SENTENCE, &compression, ticket, &mut out).unwrap();
        let expected = [b"before", &bytes(&vectors.values, "/object_F/bytes")[..]].concat();
        assert_eq!(out, expected, "{}", vectors.name);
    }
}

/// File, item stream, pointers, metadata, index fragment: each takes its turn in the session, so all bytes tell the order.
#[test]
fn the_archive_of_the_vectors_is_written_again() {
    for vectors in suites() {
        let config = Config { id: repository_id(), suite: Some(vectors.suite) };
        let repository = Repository { store: Ready(MemoryStore::default()), config };
        let reader = ChunkReader::new(&repository, &vectors.keys, &PureRust, ChunkIndex::new());
        let (sealer, limits) = (vector_sealer(&vectors), PackLimits::default());
        let mut writer = ChunkWriter::new(reader, sealer, &PureRust, compression("none"), limits);
        assert_eq!(add(&mut writer, SENTENCE).1, Ok(true));
        let mut archive = ArchiveWriter::new(&vectors.keys);
        let item = Item::decode(&bytes(&vectors.values, "/archive/item_msgpack")).unwrap();
        now(archive.add(&item, &mut writer)).unwrap();
        let mut meta = ArchiveMeta::decode(&bytes(&vectors.values, "/archive/msgpack")).unwrap();
        // The vectors count no pointer list; here one of a single id is counted.
        meta.size -= 35;
        meta.item_ptrs = vec![ChunkId([0xee; 32])];
        let prepared = now(archive.prepare(meta, SizeRule::WithoutLastItems, &mut writer)).unwrap();
        assert_eq!(repository.store.0.paths("archives/"), [""; 0]);
        now(prepared.commit(&repository.store)).unwrap();
        let metadata_bytes = bytes(&vectors.values, "/archive/msgpack").len() as u64;
        assert_eq!(prepared.metadata.original, 35 + metadata_bytes);

        let expected = vectors.repository();
        for folder in ["packs/", "index/", "archives/"] {
            let paths = repository.store.0.paths(folder);
            assert_eq!(paths, expected.paths(folder), "{}", vectors.name);
            assert!(paths.iter().all(|path| repository.store.0.content(path) == expected.content(path)));
        }
    }
}

/// The items of the vectors, 9.8 MB: the stream is cut once on its way and once at its end.
#[test]
fn the_item_stream_of_the_vectors_is_cut_as_borg_cuts_it() {
    let vectors = &data_vectors()["item_stream"];
    let suite = Suite::from_names("authenticated-blake3", "blake3").unwrap();
    let keys = Keys::new(suite, [1; 64], array(vectors, "/id_key"), 0);
    let repository = empty_repository(&keys);
    let mut writer = writer(&repository, &keys, ChunkIndex::new(), PackLimits::default());
    let mut archive = ArchiveWriter::new(&keys);
    let mut stream = Vec::new();
    for i in 0..60_000 {
        let item = vector_item(i);
        item.encode_into(&mut stream);
        now(archive.add(&item, &mut writer)).unwrap();
    }
    assert_eq!(stream.len() as u64, vectors["stream_len"].as_u64().unwrap());
    let prepared = now(archive.prepare(meta("items"), SizeRule::WithItems, &mut writer)).unwrap();

    let lists = prepared.meta.item_ptrs.clone();
    assert_eq!(lists.len(), 1);
    let list = now(writer.reader.read(lists[0], ObjectType::ItemPtrs)).unwrap().to_vec();
    let lengths: Vec<u64> =
        vectors["part_lengths"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
    assert_eq!(list.len(), 3 + 34 * lengths.len());
    let mut hashes = Vec::new();
    for (id, len) in list[3..].chunks(34).zip(lengths) {
        let id = ChunkId(id[2..].try_into().unwrap());
        let piece = now(writer.reader.read(id, ObjectType::Items)).unwrap();
        assert_eq!(piece.len() as u64, len);
        hashes.extend_from_slice(blake3::hash(piece).as_bytes());
    }
    assert_eq!(blake3::hash(&hashes).to_string(), text(vectors, "/blake3_of_concatenated_part_blake3s"));
    // With all of the stream, since that was asked for.
    assert_eq!(prepared.metadata.original, (stream.len() + list.len() + prepared.meta.encode().len()) as u64);
    assert_eq!(prepared.meta.size, (stream.len() + list.len()) as u64);

    let mut items = ItemStream::new(&lists);
    for i in 0..60_000 {
        assert_eq!(now(items.next(&mut writer.reader)).unwrap().unwrap(), vector_item(i));
    }
    assert!(now(items.next(&mut writer.reader)).is_none());
}

#[test]
fn the_last_items_count_only_where_borg_counts_them() {
    let keys = authenticated_keys();
    for (rule, counts) in [(SizeRule::WithoutLastItems, false), (SizeRule::WithItems, true)] {
        let repository = empty_repository(&keys);
        let mut writer = writer(&repository, &keys, ChunkIndex::new(), PackLimits::default());
        let mut archive = ArchiveWriter::new(&keys);
        let mut stream = Vec::new();
        vector_item(0).encode_into(&mut stream);
        now(archive.add(&vector_item(0), &mut writer)).unwrap();
        let prepared = now(archive.prepare(meta("a"), rule, &mut writer)).unwrap();
        assert_eq!(prepared.meta.size, 35 + if counts { stream.len() as u64 } else { 0 });
    }
}

#[test]
fn an_archive_without_items_has_no_lists() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut writer = writer(&repository, &keys, ChunkIndex::new(), PackLimits::default());
    let prepared = now(ArchiveWriter::new(&keys).prepare(meta("none"), SizeRule::WithItems, &mut writer)).unwrap();
    assert!(prepared.meta.item_ptrs.is_empty());
    assert_eq!((prepared.meta.size, repository.store.0.paths("packs/").len()), (0, 1));
}

#[test]
fn packs_are_full_by_size_or_by_number() {
    let keys = authenticated_keys();
    let sizes = |limits: PackLimits, lens: &[usize]| -> Vec<usize> {
        let repository = empty_repository(&keys);
        let mut writer = writer(&repository, &keys, ChunkIndex::new(), limits);
        let mut packs = vec![0];
        for (seed, len) in lens.iter().enumerate() {
            assert_eq!(add(&mut writer, &shake256(&seed.to_string(), *len)).1, Ok(true));
            packs.push(repository.store.0.paths("packs/").len());
        }
        now(writer.save_index()).unwrap();
        packs.push(repository.store.0.paths("packs/").len());
        assert_eq!(stored_index(&repository, &keys).len(), lens.len());
        packs
    };
    let limits = |size, count| PackLimits { size, count };
    assert_eq!(sizes(COUNT_ALONE(2), &[10; 5]), [0, 0, 1, 1, 2, 2, 3]);
    // Every object is about 160 bytes longer than its chunk; the one that passes the limit is the last.
    assert_eq!(sizes(limits(Some(2500), None), &[1000; 5]), [0, 0, 0, 1, 1, 1, 2]);
    assert_eq!(sizes(limits(Some(2500), Some(2)), &[1000; 4]), [0, 0, 1, 1, 2, 2]);
    assert_eq!(sizes(limits(None, None), &[1000; 4]), [0, 0, 0, 0, 0, 1]);
    assert_eq!(sizes(limits(Some(1), None), &[0, 1]), [0, 1, 2, 2]);
    assert_eq!(PackLimits::default(), limits(Some(DEFAULT_PACK_BYTES), None));
}

#[test]
fn what_the_repository_has_is_not_added() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut first = writer(&repository, &keys, ChunkIndex::new(), PackLimits::default());
    let (id, added) = add(&mut first, b"one");
    assert_eq!(added, Ok(true));
    // It waits for its pack, and is known all the same.
    assert_eq!((first.has(&id), add(&mut first, b"one").1), (true, Ok(false)));
    now(first.save_index()).unwrap();
    assert_eq!(add(&mut first, b"one").1, Ok(false));
    let paths = repository.store.0.paths("");
    now(first.save_index()).unwrap();
    assert_eq!(repository.store.0.paths(""), paths, "nothing new, so nothing is stored");

    let mut second = writer(&repository, &keys, stored_index(&repository, &keys), PackLimits::default());
    assert_eq!(add(&mut second, b"one").1, Ok(false));
    assert_eq!(add(&mut second, b"two").1, Ok(true));
    now(second.save_index()).unwrap();
    assert_eq!(repository.store.0.paths("index/").len(), 2);
    assert_eq!(stored_index(&repository, &keys).len(), 2);
}

/// An object that is put again, in one pack or in several, has one entry in the fragment: the newest.
#[test]
fn what_is_put_again_counts_from_then_on() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut writer = writer(&repository, &keys, ChunkIndex::new(), COUNT_ALONE(2));
    let (id, _) = add(&mut writer, b"plain");
    let mut object = Vec::new();
    let ticket = ObjectTicket::issue(writer.sealer(), 5, &compression("obfuscate,110,none"));
    let mut objects = ObjectWriter::new(&keys, &PureRust);
    let compression = compression("obfuscate,110,none");
    objects.write(id, ObjectType::Content, b"plain", &compression, ticket, &mut object).unwrap();
    for _ in 0..4 {
        now(writer.add_object(id, &object)).unwrap();
    }
    now(writer.save_index()).unwrap();
    let index = stored_index(&repository, &keys);
    assert_eq!((index.len(), index.get(&id)), (1, writer.reader.index.get(&id)));
    assert_eq!(index.get(&id).unwrap().size as usize, object.len());
    let fragment = repository.store.0.paths("index/");
    let [one] = &fragment[..] else { panic!("{fragment:?}") };
    let stored = repository.store.0.content(one);
    assert!(stored.len() < 16 + 400 + 2 * 80, "{} bytes", stored.len());
    assert_eq!(now(writer.reader.read(id, ObjectType::Content)).unwrap(), b"plain");
}

#[test]
fn too_long_objects_are_refused_and_cost_nothing_else() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut writer = writer(&repository, &keys, ChunkIndex::new(), PackLimits::default());
    add(&mut writer, b"before").1.unwrap();
    let incompressible = shake256("long", MAX_DATA_SIZE);
    let (id, refused) = add(&mut writer, &incompressible);
    let Err(WriteError::Object { id: named, source: ObjectWriteError::TooLong { found } }) = refused else {
        panic!("{refused:?}")
    };
    assert!(named == id && found > MAX_DATA_SIZE && !writer.has(&id));
    // The longest that fits: header, both envelopes and the metadata, whose numbers are short or long.
    let room = found - MAX_DATA_SIZE;
    assert_eq!(add(&mut writer, &incompressible[room..]).1, Ok(true));
    let (_, refused) = add(&mut writer, &incompressible[room - 1..]);
    assert!(matches!(refused, Err(WriteError::Object { source: ObjectWriteError::TooLong { .. }, .. })));
    // No plaintext is longer, however short it may become.
    let (_, refused) = add(&mut writer, &vec![0; MAX_DATA_SIZE + 1]);
    let too_large = EncodeError::TooLarge { size: MAX_DATA_SIZE + 1, limit: MAX_DATA_SIZE };
    assert!(
        matches!(refused, Err(WriteError::Object { source: ObjectWriteError::Encode(error), .. }) if error == too_large)
    );
    let (after, added) = add(&mut writer, b"after");
    assert_eq!(added, Ok(true));
    now(writer.save_index()).unwrap();
    assert_eq!(stored_index(&repository, &keys).len(), 3);
    assert_eq!(now(writer.reader.read(after, ObjectType::Content)).unwrap(), b"after");
}

/// What could not be stored is not lost to the writer: when there is room again, it goes on.
#[test]
fn a_pack_that_could_not_be_stored_is_stored_later() {
    let keys = authenticated_keys();
    let repository = empty_repository(&keys);
    let mut writer = writer(&repository, &keys, ChunkIndex::new(), COUNT_ALONE(2));
    repository.store.0.writes_left.set(Some(0));
    let (one, added) = add(&mut writer, b"one");
    assert_eq!(added, Ok(true));
    assert!(matches!(add(&mut writer, b"two").1, Err(WriteError::Store(_))));
    assert!(now(writer.save_index()).is_err());
    assert!(repository.store.0.paths("").is_empty());
    repository.store.0.writes_left.set(None);
    now(writer.save_index()).unwrap();
    assert_eq!(stored_index(&repository, &keys).len(), 2);
    assert_eq!(now(writer.reader.read(one, ObjectType::Content)).unwrap(), b"one");
}

/// `i`-th item of the vectors.
fn vector_item(i: u32) -> Item {
    let id = ChunkId(Sha256::digest(i.to_string().as_bytes()).into());
    Item {
        path: format!("dir{}/file{i}", i / 100).into_bytes(),
        mode: Some(0o100_644),
        uid: Some(1000),
        gid: Some(1000),
        user: Some(b"user".to_vec()),
        group: Some(b"group".to_vec()),
        mtime: Timestamp { secs: 1_700_000_000, nanos: i },
        inode: Some(u64::from(i) + 1),
        bsdflags: Some(0),
        xattrs: Some(Vec::new()),
        chunks: Some(vec![ChunkEntry { id, size: u64::from(i) + 1 }]),
        size: Some(u64::from(i) + 1),
        ..Item::default()
    }
}

fn meta(name: &str) -> ArchiveMeta {
    let time = Timestamp { secs: 1_700_000_000, nanos: 0 };
    let stamp = Stamp { text: "2023-11-14T22:13:20.000000+00:00".into(), time };
    ArchiveMeta {
        name: name.into(),
        comment: Vec::new(),
        tags: Vec::new(),
        item_ptrs: Vec::new(),
        command_line: Vec::new(),
        cwd: None,
        hostname: Vec::new(),
        username: Vec::new(),
        time: stamp.clone(),
        start: stamp.clone(),
        end: stamp,
        chunker_params: None,
        size: 0,
        nfiles: 0,
        recreate_command_line: None,
        unknown: Vec::new(),
    }
}
