//! Archive metadata, item pointers, defaults, locks and configs against the vectors (data layer, sections 9 and 17;
//! repository layer, sections 2 and 6).

mod common;

use common::msgpack::{array, bin, int, map, str};
use common::shake::shake256;
use common::{bytes, data_vectors, repository_id, suites, text, unhex};
use jiff::tz::{Offset, TimeZone};
use portaborg_core::archive::{ArchiveError, ArchiveMeta, ChunkerParam, Stamp};
use portaborg_core::config::{Config, ConfigError};
use portaborg_core::crypto::{Keys, Suite};
use portaborg_core::defaults::Defaults;
use portaborg_core::id::ChunkId;
use portaborg_core::lock::{Lock, Owner};
use portaborg_core::msgpack::Reader;
use portaborg_core::time::Timestamp;

fn stamp(text: &str, secs: i64, micros: u32) -> Stamp {
    Stamp { text: text.into(), time: Timestamp { secs, nanos: micros * 1000 } }
}

#[test]
fn the_archive_of_the_data_layer_is_read_whole() {
    let vectors = data_vectors();
    let packed = bytes(&vectors, "/archive_meta/msgpack");
    let id_key = common::array(&vectors, "/archive_meta/id_key");
    for (id_hash, field) in [("sha256", "archive_id_hmac_sha256"), ("blake3", "archive_id_blake3")] {
        let suite = Suite::from_names("aes256-ocb", id_hash).unwrap();
        let id = Keys::new(suite, [0; 64], id_key, 0).chunk_id(&packed);
        assert_eq!(id.to_string(), text(&vectors["archive_meta"], &format!("/{field}")));
    }
    let expected = ArchiveMeta {
        name: b"series".to_vec(),
        comment: Vec::new(),
        tags: vec![b"a".to_vec(), b"b".to_vec()],
        item_ptrs: vec!["e953f56cda0ebd8968b4ca952f483260022f051b5905940c221ea20f071e41ba".parse().unwrap()],
        command_line: b"borg create series 'my dir'".to_vec(),
        cwd: Some(b"/home/u".to_vec()),
        hostname: b"host".to_vec(),
        username: b"u".to_vec(),
        time: stamp("2026-09-27T12:00:00.000000+02:00", 1_790_503_200, 0),
        start: stamp("2026-09-27T10:00:00.000001+00:00", 1_790_503_200, 1),
        end: stamp("2026-09-27T10:00:01.500000+00:00", 1_790_503_201, 500_000),
        chunker_params: Some(vec![
            ChunkerParam::Text("fastcdc".into()),
            ChunkerParam::Int(19),
            ChunkerParam::Int(23),
            ChunkerParam::Int(21),
            ChunkerParam::Int(2),
        ]),
        size: 1234,
        nfiles: 2,
        recreate_command_line: None,
        unknown: Vec::new(),
    };
    assert_eq!(ArchiveMeta::decode(&packed).unwrap(), expected);
}

#[test]
fn the_archives_of_the_suites_are_read() {
    for vectors in suites() {
        let packed = bytes(&vectors.values, "/archive/msgpack");
        assert_eq!(vectors.keys.chunk_id(&packed).to_string(), text(&vectors.values, "/archive/id"));
        let meta = ArchiveMeta::decode(&packed).unwrap();
        assert_eq!((&meta.name[..], meta.size, meta.nfiles), (&b"vec"[..], 44, 1));
        assert_eq!(meta.time, stamp("2023-11-14T22:13:20.000000+00:00", 1_700_000_000, 0));
        assert_eq!(meta.end.time.secs, 1_700_000_001);
        assert_eq!(meta.item_ptrs.len(), 1);
    }
}

#[test]
fn archives_are_written_as_they_were_read() {
    let packed = bytes(&data_vectors(), "/archive_meta/msgpack");
    assert_eq!(ArchiveMeta::decode(&packed).unwrap().encode(), packed);
    for suite in suites() {
        let packed = bytes(&suite.values, "/archive/msgpack");
        assert_eq!(ArchiveMeta::decode(&packed).unwrap().encode(), packed, "{}", suite.name);
    }
}

#[test]
fn times_are_written_with_the_offset_of_their_zone() {
    let time = Timestamp { secs: 1_740_868_506, nanos: 7_999 };
    let east = TimeZone::fixed(Offset::from_seconds(19_800).unwrap());
    assert_eq!(Stamp::new(time, &east), stamp("2025-03-02T04:05:06.000007+05:30", 1_740_868_506, 7));
    assert_eq!(Stamp::new(time, &TimeZone::UTC), stamp("2025-03-01T22:35:06.000007+00:00", 1_740_868_506, 7));
}

#[test]
fn archives_may_lack_what_is_not_required_and_have_what_is_not_known() {
    let least = [
        ("item_ptrs", array(&[])),
        ("name", bin(b"\xff")),
        ("time", str("2025-01-02T03:04:05.000000")),
        ("version", int(1)),
    ];
    let meta = ArchiveMeta::decode(&map(&least)).unwrap();
    assert_eq!((&meta.name[..], meta.cwd, meta.chunker_params), (&b"\xff"[..], None, None));
    assert_eq!(meta.start, meta.time);
    assert_eq!(meta.end.time.secs, 1_735_787_045);
    for missing in ["item_ptrs", "name", "time", "version"] {
        let rest: Vec<_> = least.iter().filter(|(key, _)| *key != missing).cloned().collect();
        assert_eq!(ArchiveMeta::decode(&map(&rest)), Err(ArchiveError::Missing { key: missing }));
    }
    let mut more = least.to_vec();
    more.push(("future", array(&[int(1), str("x")])));
    let unknown = ArchiveMeta::decode(&map(&more)).unwrap().unknown;
    assert_eq!(unknown, [(b"future".to_vec(), unhex("9201a178").into_boxed_slice())]);
}

#[test]
fn archives_with_impossible_values_are_refused() {
    let good = |change: (&'static str, Vec<u8>)| {
        let mut pairs = vec![
            ("item_ptrs", array(&[])),
            ("name", str("n")),
            ("time", str("2025-01-02T03:04:05.000000+00:00")),
            ("version", int(2)),
        ];
        pairs.retain(|(key, _)| *key != change.0);
        pairs.push(change);
        ArchiveMeta::decode(&map(&pairs))
    };
    assert_eq!(good(("version", int(3))), Err(ArchiveError::Version { found: 3 }));
    for (key, value) in [
        ("version", str("2")),
        ("name", int(1)),
        ("time", str("now")),
        ("time", str("\u{fffd}")),
        ("time", int(0)),
        ("start", str("")),
        ("item_ptrs", array(&[bin([0; 31])])),
        ("item_ptrs", vec![0xdd, 0xff, 0xff, 0xff, 0xff]),
        ("tags", str("a")),
        ("size", int(-1)),
        ("chunker_params", array(&[vec![0xca, 0, 0, 0, 0]])),
    ] {
        let refused = good((key, value));
        let is_right = matches!(refused, Err(ArchiveError::Attribute { key: found }) if found == key)
            || matches!(refused, Err(ArchiveError::Msgpack(_)));
        assert!(is_right, "{key}: {refused:?}");
    }
    for broken in [&b""[..], b"\x90", b"\xdf\xff\xff\xff\xff\x01", b"\x80\x80", b"\x81\xa1a", b"\xc1"] {
        assert!(ArchiveMeta::decode(broken).is_err(), "{broken:?}");
    }
    // A key that is no string names nothing.
    let odd_key = [&[0x85, 0x01, 0x02][..], &map(&[])[1..]].concat();
    assert!(ArchiveMeta::decode(&odd_key).is_err());
}

#[test]
fn the_item_pointers_of_the_vectors_are_read() {
    let vectors = data_vectors();
    let packed = bytes(&vectors, "/item_ptrs_object/msgpack");
    let mut reader = Reader::new(&packed);
    let count = reader.array_len().unwrap();
    let ids: Vec<_> = (0..count).map(|_| ChunkId(reader.byte_array().unwrap())).collect();
    reader.finish().unwrap();
    let expected: Vec<_> =
        (0..17).map(|i| ChunkId(shake256(&format!("borg-spec:p{i}"), 32).try_into().unwrap())).collect();
    assert_eq!(ids, expected);
}

#[test]
fn defaults_are_read_and_written() {
    for vectors in suites() {
        let defaults = Defaults::decode(&bytes(&vectors.values, "/config_defaults/plain")).unwrap();
        assert_eq!(defaults, Defaults { compression: Some("zstd,3".into()), chunker_params: None });
        assert_eq!(defaults.encode(), bytes(&vectors.values, "/config_defaults/plain"));
    }
    assert_eq!(Defaults::decode(b"\x80"), Ok(Defaults::default()));
    let more = map(&[("chunker_params", str("fixed,4096")), ("future", int(1))]);
    assert_eq!(Defaults::decode(&more).unwrap().chunker_params.as_deref(), Some("fixed,4096"));
    for broken in [&b""[..], b"\xc0", b"\x80\x00", b"\x81\x01\x02", &map(&[("compression", int(1))])] {
        assert!(Defaults::decode(broken).is_err(), "{broken:?}");
    }
}

#[test]
fn locks_are_read_and_written() {
    for vectors in suites() {
        let plain = text(&vectors.values, "/lock/plain");
        let lock = Lock {
            exclusive: true,
            owner: Owner { host: "host.example@123".into(), process: 4711, thread: 0 },
            time: Timestamp { secs: 1_767_323_045, nanos: 678_000_000 },
        };
        assert_eq!(Lock::decode(plain.as_bytes()), Some(lock.clone()));
        assert_eq!(String::from_utf8(lock.encode()).unwrap(), plain.replace(": ", ":").replace(", ", ","));
    }
    let whole =
        r#"{"time":"2026-01-02T03:04:05+00:00","threadid":0,"exclusive":false,"processid":1,"hostid":"ü","x":[]}"#;
    let lock = Lock::decode(whole.as_bytes()).unwrap();
    assert_eq!((lock.exclusive, lock.owner.host.as_str(), lock.time.nanos), (false, "ü", 0));
    assert!(String::from_utf8(lock.encode()).unwrap().contains("05.000+00:00"));
    for len in 0..whole.len() {
        assert_eq!(Lock::decode(&whole.as_bytes()[..len]), None);
    }
    for (from, to) in [("2026", "noon"), ("false", "0"), (":1,", ":-1,"), ("\"hostid\"", "\"host\"")] {
        assert_eq!(Lock::decode(whole.replacen(from, to, 1).as_bytes()), None, "{to}");
    }
}

#[test]
fn configs_are_read_and_written() {
    for vectors in suites() {
        let config = Config::parse(text(&vectors.values, "/config_text").as_bytes()).unwrap();
        assert_eq!(config, Config { id: repository_id(), suite: Some(vectors.suite) });
        assert_eq!(config.encode(), text(&vectors.values, "/config_text"));
    }
}

#[test]
fn configs_that_say_something_else_are_refused() {
    let suite = suites().into_iter().find(|vectors| vectors.name == "aes256-ocb/sha256").unwrap();
    let good = text(&suite.values, "/config_text").to_owned();
    let changed = |from: &str, to: &str| Config::parse(good.replacen(from, to, 1).as_bytes());
    assert!(changed("\n", "\r\n").is_ok());
    assert!(changed("version = 5", "; a comment\n[other]\nid = 7\n[repository]\nversion=5\nfuture = [x]").is_ok());
    assert_eq!(changed("version = 5", "version = 4"), Err(ConfigError::Version { found: "4".into() }));
    assert_eq!(changed("version = 5", "version = 5.0"), Err(ConfigError::Version { found: "5.0".into() }));
    assert_eq!(changed("version = 5\n", ""), Err(ConfigError::NotAConfig));
    assert_eq!(changed("[repository]", "[store]"), Err(ConfigError::NotAConfig));
    assert_eq!(changed("version = 5", "version"), Err(ConfigError::NotAConfig));
    assert_eq!(changed("id = 00", "id = "), Err(ConfigError::Id));
    assert_eq!(changed("id = 00", "id = gg"), Err(ConfigError::Id));
    assert_eq!(changed("id_hash = sha256\n", ""), Err(ConfigError::HalfSuite));
    assert!(matches!(changed("id_hash = sha256", "id_hash = md5"), Err(ConfigError::UnknownSuite { .. })));
    let bare = changed("encryption = aes256-ocb\nid_hash = sha256\n", "").unwrap();
    assert_eq!(bare.suite, None);
    assert_eq!(Config::parse(b"\xff"), Err(ConfigError::NotAConfig));
    assert_eq!(Config::parse(b""), Err(ConfigError::NotAConfig));
}
