//! Items, timestamps and paths against the vectors (data layer, sections 7 and 8).

mod common;

use common::msgpack::{array, bin, int, item, map, str, timestamp};
use common::shake::shake256;
use common::{bytes, data_vectors, suites, text, unhex};
use portaborg_core::id::ChunkId;
use portaborg_core::item::{ChunkEntry, FileType, Item, ItemError, UnsafePath, make_path_safe};
use portaborg_core::msgpack::{MsgpackError, Reader, Writer};
use portaborg_core::time::Timestamp;

const MTIME: Timestamp = Timestamp { secs: 1_700_000_000, nanos: 123_456_789 };

fn chunk(label: &str, size: u64) -> ChunkEntry {
    ChunkEntry { id: ChunkId(shake256(label, 32).try_into().unwrap()), size }
}

/// The vector whose description begins so.
fn vector(description: &str) -> Item {
    let vectors = data_vectors();
    let vectors = vectors["items"].as_array().unwrap();
    let vector = vectors.iter().find(|vector| text(vector, "/desc").starts_with(description)).unwrap();
    Item::decode(&bytes(vector, "/msgpack")).unwrap()
}

#[test]
fn every_item_of_the_vectors_is_tested_here() {
    assert_eq!(data_vectors()["items"].as_array().unwrap().len(), 8);
}

#[test]
fn a_regular_file_is_read_whole() {
    let expected = Item {
        path: b"dir/file".to_vec(),
        mode: Some(0o100_644),
        uid: Some(1000),
        gid: Some(100),
        user: Some(b"alice".to_vec()),
        group: Some(b"users".to_vec()),
        mtime: MTIME,
        ctime: Some(Timestamp { secs: 1_700_000_000, nanos: 123_456_794 }),
        inode: Some(0x0002_dfdc_1c35),
        size: Some(524_366),
        chunks: Some(vec![chunk("borg-spec:chunk0", 524_289), chunk("borg-spec:chunk1", 77)]),
        xattrs: Some(vec![(b"user.a".to_vec(), b"x".to_vec())]),
        bsdflags: Some(0),
        ..Item::default()
    };
    let item = vector("regular file");
    assert_eq!(item, expected);
    assert_eq!(item.file_type(), Some(FileType::Regular));
    assert_eq!(item.content_size(), 524_366);
}

#[test]
fn other_kinds_of_items_are_read() {
    let empty = vector("empty file");
    assert_eq!((&empty.path[..], empty.chunks, empty.size), (&b"empty"[..], Some(vec![]), Some(0)));
    assert_eq!((empty.mtime, empty.xattrs), (Timestamp { secs: 1_700_000_000, nanos: 0 }, Some(vec![])));
    let root = vector("directory root");
    assert_eq!((&root.path[..], root.file_type()), (&b"."[..], Some(FileType::Directory)));
    assert_eq!((root.chunks, root.bsdflags), (None, Some(1)));
    let link = vector("symlink");
    assert_eq!(link.file_type(), Some(FileType::Symlink));
    assert_eq!(link.target.unwrap(), "../some where/ü".as_bytes());
    let odd = vector("non-UTF-8 path");
    assert_eq!(odd.path, b"a/\xfc/c");
    let member = vector("hard link member");
    let hlid = "164d6ffd25103c2141f17e8df8c2148d3195e8ab572251da07079dc38ce5a56f";
    assert_eq!(member.hlid, Some(unhex(hlid)));
    let device = vector("char device");
    assert_eq!((device.file_type(), device.rdev), (Some(FileType::CharDevice), Some(0x103)));
}

#[test]
fn acls_and_digests_are_read() {
    let item = vector("ACLs and digests");
    let acl = "user::rw-\nuser:alice:r--:1000\ngroup::r--\nmask::r--\nother::---";
    assert_eq!(item.acl.access, Some(acl.into()));
    assert_eq!((item.acl.default, item.acl.nfs4, item.acl.extended), (None, None, None));
    let digests = item.digests.unwrap();
    let names: Vec<_> = digests.iter().map(|(name, digest)| (&name[..], digest.len())).collect();
    assert_eq!(names, [(&b"blake3"[..], 32), (b"sha256", 32)]);
    assert_eq!(digests[0].1, unhex("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"));
}

#[test]
fn items_from_other_vectors_are_read() {
    let tar = Item::decode(&bytes(&data_vectors(), "/tar/item_msgpack")).unwrap();
    assert_eq!((&tar.path[..], tar.content_size()), (&b"dir/file"[..], 3));
    assert_eq!(tar.xattrs.unwrap(), [(b"user.a".to_vec(), b"x".to_vec()), (b"user.b".to_vec(), vec![0xff, 0])]);
    for vectors in suites() {
        let item = Item::decode(&bytes(&vectors.values, "/archive/item_msgpack")).unwrap();
        let id = text(&vectors.values, "/object_F/id").parse().unwrap();
        assert_eq!(item.path, b"hello.txt");
        assert_eq!(item.chunks, Some(vec![ChunkEntry { id, size: 44 }]));
        assert_eq!(item.mtime, MTIME);
    }
}

#[test]
fn timestamps_of_the_vectors_are_read() {
    for vector in data_vectors()["timestamps"].as_array().unwrap() {
        let packed = bytes(vector, "/msgpack");
        let mut reader = Reader::new(&packed);
        let nanos: i128 = text(vector, "/ns").parse().unwrap();
        let stamp = reader.timestamp().unwrap();
        assert_eq!((stamp, stamp.as_nanos()), (Timestamp::from_nanos(nanos), nanos));
        reader.finish().unwrap();
        for len in 0..packed.len() {
            assert_eq!(Reader::new(&packed[..len]).timestamp(), Err(MsgpackError::Truncated));
        }
    }
}

#[test]
fn timestamps_that_cannot_be_are_refused() {
    for (packed, why) in [
        ("d600ffffffff", "another extension"),
        ("d7ffffffffffffffffff", "too many nanoseconds"),
        ("c70cff3b9aca000000000000000000", "a whole second of nanoseconds"),
        ("c708ff0000000000000000", ""),
        ("c70bff0000000000000000000000", "no such length"),
    ] {
        let stamp = Reader::new(&unhex(packed)).timestamp();
        match why {
            "" => assert!(stamp.is_ok()), // the length decides, not the shortest form
            why => assert_eq!(stamp, Err(MsgpackError::OutOfRange), "{why}"),
        }
    }
    let first = Reader::new(&unhex("c70cff000000018000000000000000")).timestamp().unwrap();
    assert_eq!(first, Timestamp { secs: i64::MIN, nanos: 1 });
    assert!(matches!(Reader::new(b"\xa1x").timestamp(), Err(MsgpackError::Unexpected { .. })));
    assert_eq!(Reader::new(b"\xff").timestamp(), Ok(Timestamp::from_nanos(-1)));
}

#[test]
fn paths_are_made_safe_or_refused_as_the_vectors_say() {
    for case in data_vectors()["paths"]["make_path_safe"].as_array().unwrap() {
        let expected = case[1].as_str().map(|safe| safe.as_bytes().to_vec()).ok_or(UnsafePath);
        assert_eq!(make_path_safe(text(case, "/0").as_bytes()), expected, "{case}");
    }
    assert_eq!(make_path_safe(b"//\xff/.//x/."), Ok(b"\xff/x".to_vec()));
    for unsafe_path in [&b"a/b/../../../c"[..], b"/..", b"./..", b"..//x", b"x\\..\\y", b"a/..\\b"] {
        assert_eq!(make_path_safe(unsafe_path), Err(UnsafePath));
    }
}

#[test]
fn items_of_older_and_newer_writers_are_read() {
    let id = [5; 32];
    let packed = map(&[
        ("chunks", array(&[array(&[bin(id), int(7)]), array(&[bin(id), int(9), int(4711)])])),
        ("gid", vec![0xc0]),
        ("group", vec![0xc0]),
        ("mtime", int(-1_000_000_001)),
        ("path", bin(b"/old//path")),
        ("user", bin(b"\xfe")),
        ("xattrs", [&[0x81][..], &bin(b"user.x"), &[0xc0]].concat()),
        ("zebra", map(&[("new", int(1))])),
    ]);
    let item = Item::decode(&packed).unwrap();
    assert_eq!(item.path, b"old/path");
    assert_eq!(item.chunks.as_ref().unwrap().iter().map(|chunk| chunk.size).collect::<Vec<_>>(), [7, 9]);
    assert_eq!((item.gid, item.group, item.user), (None, None, Some(vec![0xfe])));
    assert_eq!(item.mtime, Timestamp { secs: -2, nanos: 999_999_999 });
    assert_eq!(item.xattrs.unwrap(), [(b"user.x".to_vec(), vec![])]);
    assert_eq!(item.unknown, [(b"zebra".to_vec(), unhex("81a36e657701").into_boxed_slice())]);
}

#[test]
fn items_that_cannot_be_used_are_refused_with_the_reason() {
    let decode = |key, value| Item::decode(&map(&[("path", str("p")), (key, value)])).unwrap_err();
    for (key, value) in [
        ("mode", int(-1)),
        ("mode", str("rw")),
        ("mtime", str("now")),
        ("size", int(-1)),
        ("chunks", int(3)),
        ("chunks", array(&[array(&[bin([0; 32])])])),
        ("chunks", array(&[array(&[bin([0; 31]), int(1)])])),
        ("chunks", array(&[array(&[bin([0; 32]), int(-1)])])),
        ("chunks", array(&[array(&[bin([0; 32]), int(1), int(1), int(1)])])),
        ("xattrs", array(&[])),
        ("digests", map(&[("a", int(1))])),
    ] {
        let error = decode(key, value);
        let is_right = matches!(&error, ItemError::Attribute { path: Some(path), key: found, .. }
            if path == b"p" && *found == key);
        assert!(is_right, "{key}: {error:?}");
    }
    for size in [0x7fff_ffff_ffff_ffff_u64, 0xffff_ffff_ffff_ffff] {
        let entry = [&[0x92][..], &bin([0; 32]), &[0xcf], &size.to_be_bytes()].concat();
        let item = Item::decode(&map(&[("path", str("p")), ("chunks", array(&[entry.clone(), entry.clone(), entry]))]));
        assert_eq!(item.unwrap().content_size(), u64::MAX);
    }
    assert_eq!(Item::decode(&[0xc0]), Err(ItemError::NotAMap));
    assert_eq!(Item::decode(&map(&[("mode", int(1))])), Err(ItemError::NoPath));
    let unsafe_path = b"a/../b".to_vec();
    assert_eq!(Item::decode(&item(&unsafe_path)), Err(ItemError::UnsafePath { path: unsafe_path }));
    let whole = item("p");
    for len in 0..whole.len() {
        assert!(Item::decode(&whole[..len]).is_err(), "{len} bytes");
    }
    assert!(Item::decode(&[&whole[..], b"\0"].concat()).is_err());
    // Counts that the data can't hold cost nothing.
    for huge in ["ddffffffff", "dffffffff0", "c6ffffffff"] {
        assert!(Item::decode(&map(&[("path", str("p")), ("chunks", unhex(huge))])).is_err());
    }
    assert!(Item::decode(&map(&[("mtime", timestamp(0)), ("path", str(""))])).is_ok_and(|item| item.path == b"."));
}

#[test]
fn items_are_written_as_they_were_read() {
    for vector in data_vectors()["items"].as_array().unwrap() {
        let encoded = bytes(vector, "/msgpack");
        let mut written = b"before".to_vec();
        Item::decode(&encoded).unwrap().encode_into(&mut written);
        assert_eq!(written, [b"before", &encoded[..]].concat(), "{}", text(vector, "/desc"));
    }
}

#[test]
fn what_is_not_known_is_written_back_in_its_place() {
    let encoded = map(&[("aaa", int(1)), ("mtime", timestamp(1_000_000_000)), ("path", str("p")), ("zzz", bin(b"z"))]);
    let mut written = Vec::new();
    Item::decode(&encoded).unwrap().encode_into(&mut written);
    assert_eq!(written, encoded);
}

#[test]
fn timestamps_are_written_in_their_shortest_form() {
    for vector in data_vectors()["timestamps"].as_array().unwrap() {
        let nanos: i128 = text(vector, "/ns").parse().unwrap();
        let mut writer = Writer::new();
        writer.timestamp(Timestamp::from_nanos(nanos));
        assert_eq!(writer.into_bytes(), bytes(vector, "/msgpack"), "{nanos}");
    }
}
