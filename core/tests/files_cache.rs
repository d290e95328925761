//! The files cache, against what the real client wrote.

mod common;

use common::{array, bytes, data_vectors, text};
use portaborg_core::files_cache::{
    CacheConfig, CacheConfigError, Entries, Entry, FileState, Integrity, IntegrityHasher, Mode, ModeError, file_name,
};
use portaborg_core::id::{ChunkId, PathHash};
use portaborg_core::item::ChunkEntry;
use portaborg_core::msgpack::MsgpackError;
use portaborg_core::time::Timestamp;
use proptest::prelude::*;

fn at(secs: i64, nanos: u32) -> Timestamp {
    Timestamp { secs, nanos }
}

#[test]
fn entries_are_read_and_written_as_the_vectors_have_them() {
    let vectors = data_vectors();
    let encoded = bytes(&vectors, "/files_cache/one_entry_msgpack");
    let entries: Vec<_> = Entries::new(&encoded).collect::<Result<_, _>>().unwrap();
    let [(path, entry)] = &*entries else { panic!("{entries:?}") };
    assert_eq!(*path, PathHash(array(&vectors, "/files_cache/path_hash")));
    assert_eq!((entry.age, entry.state.inode, entry.state.size), (0, 5, 10));
    assert_eq!((entry.state.ctime, entry.state.mtime), (at(1_700_000_000, 123_456_789), at(1_700_000_000, 0)));
    assert_eq!((entry.chunks.len(), entry.chunks[0].size), (1, 10));
    assert_eq!(entry.digests, None);
    let mut again = Vec::new();
    entry.encode_into(path, &mut again);
    assert_eq!(again, encoded);
}

#[test]
fn names_and_digests_are_those_of_the_vectors() {
    let vectors = data_vectors();
    let name = text(&vectors, "/files_cache/file_name");
    assert_eq!(file_name(text(&vectors, "/files_cache/archive_name"), ""), name);
    assert_eq!(file_name("series", "Own"), "files.Own");
    let expected = text(&vectors, "/files_cache/integrity_json");
    let mut hasher = IntegrityHasher::new(name);
    for piece in bytes(&vectors, "/files_cache/one_entry_msgpack").chunks(7) {
        hasher.update(piece);
    }
    let integrity = hasher.finish();
    assert_eq!(integrity.encode(), expected);
    assert_eq!(Integrity::parse(expected), Some(integrity));
    for other in ["", "{}", "[]", r#"{"algorithm": "XXH64", "digests": {"final": "00"}}"#, r#"{"algorithm": "SHA256"}"#]
    {
        assert_eq!(Integrity::parse(other), None, "{other}");
    }
}

/// The text is what the real client wrote.
#[test]
fn the_config_is_read_and_written_as_borg_has_it() {
    let id = "70b2471cc813c2ab79ed7416c67fb726f159803fbf472105ed87e1197412424c";
    let json = r#"{"algorithm": "SHA256", "digests": {"final": "6dae2d426a30f2a9f2e84742901fff9e1e620c03974cf804068481cea43c32ea"}}"#;
    let stored = format!("[cache]\nversion = 1\nrepository = {id}\n\n[integrity]\nfiles.own = {json}\n\n");
    let mut config = CacheConfig::parse(&stored).unwrap();
    assert_eq!(config.repository, id.parse().unwrap());
    assert_eq!(config.integrity("files.Own"), Integrity::parse(json));
    assert_eq!(config.integrity("files.other"), None);
    assert_eq!(config.encode(), stored);
    config.set_integrity("files.Another", Integrity([7; 32]));
    assert_eq!(config.integrity("files.another"), Some(Integrity([7; 32])));
    assert_eq!(CacheConfig::parse(&config.encode()), Ok(config));
    let new = CacheConfig::new(id.parse().unwrap());
    assert_eq!(new.encode(), format!("[cache]\nversion = 1\nrepository = {id}\n\n[integrity]\n\n"));
}

#[test]
fn another_clients_cache_is_refused() {
    for (text, error) in [
        ("", CacheConfigError::NotACache),
        ("[cache]\nversion = 1\nrepository = 12\n", CacheConfigError::NotACache),
        ("rubbish", CacheConfigError::NotACache),
        ("[cache]\nversion = 2\n", CacheConfigError::Version { found: "2".into() }),
    ] {
        assert_eq!(CacheConfig::parse(text), Err(error), "{text}");
    }
}

#[test]
fn damaged_entries_end_the_cache() {
    let vectors = data_vectors();
    let whole = bytes(&vectors, "/files_cache/one_entry_msgpack");
    let cut = [&whole[..], &whole[..20]].concat();
    let mut entries = Entries::new(&cut);
    assert!(entries.next().unwrap().is_ok());
    assert_eq!(entries.next(), Some(Err(MsgpackError::Truncated)));
    assert_eq!(entries.next(), None);
    // six elements, of a version without digests
    let position = whole.iter().position(|&byte| byte == 0x97).unwrap();
    let mut early = whole[..whole.len() - 1].to_vec();
    early[position] = 0x96;
    assert!(Entries::new(&early).next().unwrap().is_ok());
    early[position] = 0x95;
    assert_eq!(Entries::new(&early).next(), Some(Err(MsgpackError::OutOfRange)));
}

#[test]
fn recent_changes_and_old_entries_are_not_kept() {
    let entry = |age, ctime, mtime| Entry {
        age,
        state: FileState { ctime: at(ctime, 0), mtime: at(mtime, 0), ..FileState::default() },
        chunks: vec![],
        digests: None,
    };
    assert!(entry(0, 5, 5).is_kept(None, 2));
    assert!(entry(0, 5, 4).is_kept(Some(at(6, 0)), 2));
    assert!(!entry(0, 5, 6).is_kept(Some(at(6, 0)), 2));
    assert!(!entry(0, 7, 4).is_kept(Some(at(6, 0)), 2));
    assert!(entry(1, 9, 9).is_kept(Some(at(6, 0)), 2));
    assert!(!entry(2, 5, 5).is_kept(None, 2));
}

#[test]
fn modes_compare_what_they_name() {
    let then = FileState { inode: 1, size: 2, ctime: at(3, 0), mtime: at(4, 0) };
    let inode = FileState { inode: 9, ..then };
    let size = FileState { size: 9, ..then };
    let ctime = FileState { ctime: at(9, 0), ..then };
    let mtime = FileState { mtime: at(9, 0), ..then };
    for (texts, same) in [
        (["cis", "inode,ctime,size"], [false, false, false, true]),
        (["ims", "mtime,size,inode"], [false, false, true, false]),
        (["cs", "size,ctime"], [true, false, false, true]),
        (["ms", "mtime,size,size"], [true, false, true, false]),
        (["s", " size "], [true, false, true, true]),
    ] {
        for text in texts {
            let mode: Mode = text.parse().unwrap();
            assert_eq!([inode, size, ctime, mtime].map(|now| mode.is_same(&then, &now)), same, "{text}");
            assert!(mode.is_looked_up() && mode.is_kept());
        }
    }
    assert_eq!(Mode::default(), "ctime,size,inode".parse().unwrap());
    for (text, is_kept) in [("rechunk,mtime", true), ("cr", true), ("d", false), ("disabled", false)] {
        let mode: Mode = text.parse().unwrap();
        assert_eq!((mode.is_looked_up(), mode.is_kept()), (false, is_kept), "{text}");
    }
    for (text, error) in [
        ("", ModeError::Word),
        ("sc", ModeError::Word),
        ("inode", ModeError::Combination),
        ("ctime,mtime,size", ModeError::Combination),
    ] {
        assert_eq!(text.parse::<Mode>(), Err(error), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        age in 0u64..5, inode: u64, size: u64, secs in 0i64..1 << 35, nanos in 0u32..1_000_000_000,
        chunks in prop::collection::vec((any::<[u8; 32]>(), any::<u64>()), 0..4),
        digest in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
        path: [u8; 32],
    ) {
        let entry = Entry {
            age,
            state: FileState { inode, size, ctime: at(secs, nanos), mtime: at(secs, 0) },
            chunks: chunks.into_iter().map(|(id, size)| ChunkEntry { id: ChunkId(id), size }).collect(),
            digests: digest.map(|digest| vec![(b"blake3".to_vec(), digest)]),
        };
        let mut out = vec![];
        entry.encode_into(&PathHash(path), &mut out);
        entry.encode_into(&PathHash(path), &mut out);
        let read: Vec<_> = Entries::new(&out).map(Result::unwrap).collect();
        prop_assert_eq!(read, vec![(PathHash(path), entry.clone()), (PathHash(path), entry)]);
    }

    #[test]
    fn any_bytes_end(data in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Entries::new(&data).count() <= data.len());
    }
}
