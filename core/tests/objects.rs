//! Objects and store objects against the vectors, and objects that no honest writer makes (repository layer, sections 4.6
//! and 5.1 to 5.3).

mod common;

use common::build::{object, plain_meta, sealer};
use common::msgpack::{int, map, str};
use common::{SuiteVectors, array, bytes, repository_id, suites, text};
use portaborg_core::codec::{Algorithm, DecodeError, Payload, PureRust};
use portaborg_core::crypto::{EnvelopeError, Keys, Mode, Sessions, store_hash};
use portaborg_core::id::{ChunkId, RepositoryId};
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::name::Namespace;
use portaborg_core::object::{HEADER_BYTES, Header, ObjectError, ObjectMeta, ObjectType, Opener};
use portaborg_core::store_object::{Place, open_store_object};

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog\n";

fn object_f(vectors: &SuiteVectors) -> (ChunkId, Vec<u8>) {
    (text(&vectors.values, "/object_F/id").parse().unwrap(), bytes(&vectors.values, "/object_F/bytes"))
}

/// Opens an object made of this metadata and payload.
fn open_made(keys: &Keys, meta: &[u8], payload: &[u8]) -> Result<(ObjectMeta, Vec<u8>), ObjectError> {
    let id = keys.chunk_id(b"any");
    let mut stored = object(&mut sealer(keys, [1; 24]), id, meta, payload);
    let mut plaintext = b"left over".to_vec();
    let opened = Opener::new(keys, &PureRust).open(&mut stored, id, None, &mut plaintext);
    if opened.is_err() {
        assert!(plaintext.is_empty());
    }
    opened.map(|meta| (meta, plaintext))
}

#[test]
fn the_object_of_the_vectors_opens() {
    for vectors in suites() {
        let (id, mut stored) = object_f(&vectors);
        let header = Header::parse(&stored).unwrap();
        assert_eq!((header.id, header.total()), (id, stored.len() as u64));
        let mut opener = Opener::new(&vectors.keys, &PureRust);
        let (_, meta) = opener.open_meta(&mut stored.clone(), id).unwrap();
        let mut plaintext = Vec::new();
        assert_eq!(opener.open(&mut stored, id, Some(ObjectType::Content), &mut plaintext), Ok(meta));
        assert_eq!(plaintext, SENTENCE, "{}", vectors.name);
        assert_eq!(opener.assert_id(id, &plaintext), Ok(()));
        assert_eq!(opener.assert_id(id, b"other"), Err(ObjectError::Id));
        let payload =
            Payload { size: Some(44), algorithm: Algorithm::None, level: 255, csize: 44, psize: None, olevel: None };
        assert_eq!(meta, ObjectMeta { kind: Some(ObjectType::Content), payload });
    }
}

#[test]
fn the_object_of_the_vectors_is_made_again() {
    for vectors in suites() {
        let (id, stored) = object_f(&vectors);
        let meta = plain_meta("F", SENTENCE.len());
        assert_eq!(meta, bytes(&vectors.values, "/object_F/meta_msgpack"));
        let mut sealer = match vectors.suite.mode {
            Mode::Encrypted(_) => sealer(&vectors.keys, array(&vectors.values, "/session_id")),
            Mode::Authenticated => sealer(&vectors.keys, [0; 24]),
        };
        assert_eq!(object(&mut sealer, id, &meta, SENTENCE), stored, "{}", vectors.name);
    }
}

#[test]
fn an_object_with_any_byte_changed_or_cut_is_refused() {
    for vectors in suites() {
        let (id, stored) = object_f(&vectors);
        let mut opener = Opener::new(&vectors.keys, &PureRust);
        let mut plaintext = Vec::new();
        for at in 0..stored.len() {
            for change in [1, 0x80] {
                let mut forged = stored.clone();
                forged[at] ^= change;
                let error = opener.open(&mut forged, id, None, &mut plaintext).unwrap_err();
                assert!(plaintext.is_empty());
                match at {
                    0..9 => assert_eq!(error, ObjectError::Header),
                    9..41 => assert!(matches!(error, ObjectError::MetaEnvelope(EnvelopeError::Tag))),
                    41..49 => assert!(matches!(error, ObjectError::Length { .. })),
                    _ => assert!(matches!(error, ObjectError::MetaEnvelope(_) | ObjectError::DataEnvelope(_))),
                }
            }
        }
        for len in 0..stored.len() {
            assert!(opener.open(&mut stored[..len].to_vec(), id, None, &mut plaintext).is_err(), "{len}");
        }
        let mut longer = [&stored[..], b"x"].concat();
        assert!(matches!(
            opener.open(&mut longer, id, None, &mut plaintext),
            Err(ObjectError::Length { claimed, found }) if claimed + 1 == found as u64
        ));
    }
}

#[test]
fn an_object_is_no_other_chunk_and_no_other_type() {
    for vectors in suites() {
        let (id, stored) = object_f(&vectors);
        let mut opener = Opener::new(&vectors.keys, &PureRust);
        let mut plaintext = Vec::new();
        let other = ChunkId([1; 32]);
        let opened = opener.open(&mut stored.clone(), other, None, &mut plaintext);
        assert_eq!(opened, Err(ObjectError::MetaEnvelope(EnvelopeError::Tag)));
        for wanted in [ObjectType::Archive, ObjectType::ItemPtrs, ObjectType::Items] {
            let opened = opener.open(&mut stored.clone(), id, Some(wanted), &mut plaintext);
            assert_eq!(opened, Err(ObjectError::Type { wanted, found: Some(ObjectType::Content) }));
        }
    }
}

#[test]
fn the_two_envelopes_of_an_object_cannot_change_places() {
    for vectors in suites() {
        let id = vectors.keys.chunk_id(SENTENCE);
        // Both have the same length, so nothing but the letter in their context tells them apart.
        let meta = plain_meta("F", plain_meta("F", 10).len());
        let stored = object(&mut sealer(&vectors.keys, [1; 24]), id, &meta, &meta);
        let half = (stored.len() - HEADER_BYTES) / 2;
        let (head, rest) = stored.split_at(HEADER_BYTES);
        let mut swapped = [head, &rest[half..], &rest[..half]].concat();
        let opened = Opener::new(&vectors.keys, &PureRust).open(&mut swapped, id, None, &mut Vec::new());
        assert_eq!(opened, Err(ObjectError::MetaEnvelope(EnvelopeError::Tag)));
    }
}

#[test]
fn metadata_that_cannot_be_is_refused() {
    let keys = suites().pop().unwrap().keys;
    let full = |change: (&'static str, Option<Vec<u8>>)| {
        let mut pairs = vec![
            ("type", str("F")),
            ("size", int(3)),
            ("ctype", int(0)),
            ("clevel", int(255)),
            ("csize", int(3)),
            ("psize", int(3)),
            ("olevel", int(110)),
        ];
        pairs.retain(|(key, _)| *key != change.0);
        pairs.extend(change.1.map(|value| (change.0, value)));
        map(&pairs)
    };
    let too_large = MAX_DATA_SIZE as i64 + 1;
    for (key, value) in [
        ("csize", None),
        ("csize", Some(int(-1))),
        ("csize", Some(int(too_large))),
        ("csize", Some(str("3"))),
        ("ctype", None),
        ("ctype", Some(int(4))),
        ("ctype", Some(int(6))),
        ("ctype", Some(int(256))),
        ("clevel", Some(int(256))),
        ("size", Some(int(-1))),
        ("size", Some(int(too_large))),
        ("psize", Some(int(-1))),
        ("psize", Some(int(4))),
        ("olevel", Some(str("x"))),
    ] {
        let opened = open_made(&keys, &full((key, value.clone())), b"abc");
        assert_eq!(opened, Err(ObjectError::Attribute { key }), "{key} {value:?}");
    }
    let opened = open_made(&keys, &full(("csize", Some(int(4)))), b"abc").unwrap_err();
    assert!(matches!(opened, ObjectError::PayloadSize { claimed: 4, .. }));
    for size in [2, 4] {
        let opened = open_made(&keys, &full(("size", Some(int(size)))), b"abc").unwrap_err();
        assert!(matches!(opened, ObjectError::Decode(DecodeError::WrongSize { .. } | DecodeError::TooLarge { .. })));
    }
    for no_map in [&b""[..], b"\xc0", b"\x90", b"\x81", b"\xdf\xff\xff\xff\xff", b"\x80x", b"\x81\xc1\xc0"] {
        assert!(matches!(open_made(&keys, no_map, b""), Err(ObjectError::Meta(_))), "{no_map:?}");
    }
}

#[test]
fn metadata_is_read_in_any_order_with_padding_and_unknown_entries() {
    let keys = suites().pop().unwrap().keys;
    let meta = map(&[
        ("olevel", int(110)),
        ("future", map(&[("a", int(1))])),
        ("psize", int(3)),
        ("csize", int(7)),
        ("clevel", int(255)),
        ("ctype", int(0)),
        ("type", str("S")),
    ]);
    let (meta, plaintext) = open_made(&keys, &meta, b"abc\0\0\0\0").unwrap();
    assert_eq!(plaintext, b"abc");
    assert_eq!((meta.kind, meta.payload.size), (Some(ObjectType::Items), None));
    assert_eq!((meta.payload.csize, meta.payload.psize, meta.payload.olevel), (7, Some(3), Some(110)));
    let (meta, _) = open_made(&keys, &plain_meta("Z", 0), b"").unwrap();
    assert_eq!(meta.kind, None);
}

#[test]
fn a_header_is_plausible_only_if_the_object_fits() {
    let header = |meta_size, data_size| Header { id: ChunkId([0; 32]), meta_size, data_size };
    assert!(header(10, 20).is_plausible(79));
    assert!(!header(10, 20).is_plausible(78));
    let largest = (MAX_DATA_SIZE - HEADER_BYTES) as u32;
    assert!(header(0, largest).is_plausible(u64::MAX));
    assert!(!header(1, largest).is_plausible(u64::MAX));
    assert!(!header(u32::MAX, u32::MAX).is_plausible(u64::MAX));
}

#[test]
fn packs_of_the_vectors_hold_their_objects_under_their_names() {
    for vectors in suites() {
        let mut kinds = String::new();
        for pack in vectors.values["packs"].as_array().unwrap() {
            let stored = bytes(pack, "/bytes");
            assert_eq!(store_hash(&stored).to_string(), text(pack, "/id"));
            let mut rest = &stored[..];
            while !rest.is_empty() {
                let header = Header::parse(rest).unwrap();
                assert!(header.is_plausible(rest.len() as u64));
                let (object, after) = rest.split_at(header.total() as usize);
                let mut plaintext = Vec::new();
                let mut opener = Opener::new(&vectors.keys, &PureRust);
                let meta = opener.open(&mut object.to_vec(), header.id, None, &mut plaintext).unwrap();
                assert_eq!(opener.assert_id(header.id, &plaintext), Ok(()));
                kinds.push(meta.kind.unwrap().letter());
                rest = after;
            }
        }
        assert_eq!(kinds, "FSCA");
    }
}

#[test]
fn store_objects_of_the_vectors_open_at_their_place_and_nowhere_else() {
    let id = repository_id();
    let places = [
        ("index_fragment", Place::Hashed(Namespace::Index)),
        ("config_defaults", Place::Name("config/defaults")),
        ("lock", Place::Hashed(Namespace::Locks)),
    ];
    let wrong = [Place::Name("config/default"), Place::Name("index"), Place::Hashed(Namespace::Cache)];
    for vectors in suites() {
        let mut sessions = Sessions::new();
        let mut open = |name: &str, repository, place| {
            let mut stored = bytes(&vectors.values, &format!("/{name}/envelope"));
            let opened = open_store_object(&vectors.keys, &mut sessions, repository, place, &mut stored);
            opened.map(|payload| payload.to_vec())
        };
        for (name, place) in places {
            let plain = match name {
                "lock" => text(&vectors.values, "/lock/plain").as_bytes().to_vec(),
                _ => bytes(&vectors.values, &format!("/{name}/plain")),
            };
            assert_eq!(open(name, id, place), Ok(plain), "{} {name}", vectors.name);
            assert_eq!(open(name, RepositoryId([0; 32]), place), Err(EnvelopeError::Tag));
            for elsewhere in places.iter().map(|(_, place)| *place).chain(wrong).filter(|other| *other != place) {
                assert_eq!(open(name, id, elsewhere), Err(EnvelopeError::Tag), "{name} as {elsewhere:?}");
            }
            if place != Place::Name("config/defaults") {
                let stored = bytes(&vectors.values, &format!("/{name}/envelope"));
                assert_eq!(store_hash(&stored).to_string(), text(&vectors.values, &format!("/{name}/name")));
            }
        }
    }
}
