//! Hash tables against the original library's serialisation (repository layer, sections 5.5 and 5.6).

mod common;

use common::{bytes, repository_vectors, suites, text};
use portaborg_core::bytes::Hex;
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::index::{ChunkIndex, Location};
use portaborg_core::table::{Layout, TableError, entries, serialise};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

const LAYOUT: Layout = Layout {
    value: "ChunkIndexEntry",
    fields: &["flags", "size", "pack_id", "obj_offset", "obj_size"],
    codes: &["I", "I", "32s", "I", "I"],
    value_bytes: 48,
};

fn sha256(data: &[u8]) -> [u8; 32] {
    Sha256::digest(data).into()
}

/// The vectors' entries, in the order they are inserted.
fn vector_entries(count: u32) -> Vec<([u8; 32], Vec<u8>)> {
    let mut entries: Vec<_> = (0..count)
        .map(|i| {
            let mut value = 0x0100_0000u32.to_le_bytes().to_vec();
            value.extend(0u32.to_le_bytes());
            value.extend(sha256(format!("p{}", i / 7).as_bytes()));
            value.extend(i.to_le_bytes());
            value.extend((i + 1).to_le_bytes());
            (sha256(i.to_string().as_bytes()), value)
        })
        .collect();
    entries.sort();
    entries
}

#[test]
fn tables_are_serialised_as_the_original_library_does() {
    let vectors = repository_vectors();
    let tables = vectors["borghash"].as_object().unwrap();
    assert_eq!(tables.len(), 7);
    for (count, vector) in tables {
        let stored = serialise(&vector_entries(count.parse().unwrap()), &LAYOUT);
        assert_eq!(stored.len() as u64, vector["length"].as_u64().unwrap(), "{count}");
        assert_eq!(Hex(&sha256(&stored)).to_string(), text(vector, "/sha256"), "{count}");
        if vector.get("bytes").is_some() {
            assert_eq!(stored, bytes(vector, "/bytes"));
        }
    }
}

#[test]
fn tables_are_read_and_become_an_index() {
    for (count, vector) in repository_vectors()["borghash"].as_object().unwrap() {
        let count: u32 = count.parse().unwrap();
        let stored = match vector.get("bytes") {
            Some(_) => bytes(vector, "/bytes"),
            None => serialise(&vector_entries(count), &LAYOUT),
        };
        let mut read: Vec<_> = entries(&stored, &LAYOUT).unwrap().map(|(key, value)| (*key, value.to_vec())).collect();
        read.sort();
        assert_eq!(read, vector_entries(count));
        let mut index = ChunkIndex::new();
        index.merge_fragment(&stored).unwrap();
        assert_eq!(index.len(), count as usize);
        for i in 0..count {
            let pack = PackId(sha256(format!("p{}", i / 7).as_bytes()));
            let location = index.get(&ChunkId(sha256(i.to_string().as_bytes())));
            assert_eq!(location, Some(Location { pack, offset: i, size: i + 1 }));
        }
        assert_eq!(index.get(&ChunkId([0; 32])), None);
    }
}

#[test]
fn fragments_of_the_vectors_are_written_again_byte_for_byte() {
    for vectors in suites() {
        let plain = bytes(&vectors.values, "/index_fragment/plain");
        let mut read: Vec<_> = entries(&plain, &LAYOUT).unwrap().map(|(key, value)| (*key, value.to_vec())).collect();
        assert_eq!(read.len(), 4);
        read.sort();
        assert_eq!(serialise(&read, &LAYOUT), plain, "{}", vectors.name);
    }
}

#[test]
fn packs_are_forgotten_with_their_chunks() {
    let mut index = ChunkIndex::new();
    index.merge_fragment(&serialise(&vector_entries(21), &LAYOUT)).unwrap();
    let pack = |number: u32| PackId(sha256(format!("p{number}").as_bytes()));
    index.remove_packs(&[pack(1), pack(99)]);
    assert_eq!(index.len(), 14);
    assert!(index.iter().all(|(_, location)| location.pack != pack(1)));
}

#[test]
fn a_table_that_claims_more_than_it_has_is_refused() {
    let stored = serialise(&vector_entries(3), &LAYOUT);
    for len in 0..stored.len() {
        assert!(entries(&stored[..len], &LAYOUT).is_err(), "{len} bytes");
    }
    let with_tail = [&stored[..], b"tail"].concat();
    assert_eq!(entries(&with_tail, &LAYOUT).unwrap().len(), 3);
    let json_end = 16 + u32::from_le_bytes(stored[12..16].try_into().unwrap()) as usize;
    let patched = |from: &str, to: &str| {
        let json = std::str::from_utf8(&stored[16..json_end]).unwrap().replace(from, to);
        let len = (json.len() as u32).to_le_bytes();
        [&stored[..12], &len, json.as_bytes(), &stored[json_end..]].concat()
    };
    for huge in ["4", "4294967296", "18446744073709551615", "230584300921369396"] {
        let table = patched("\"used\": 3", &format!("\"used\": {huge}"));
        let claimed = huge.parse().unwrap();
        assert_eq!(entries(&table, &LAYOUT).err(), Some(TableError::Entries { claimed, found: 240 }));
    }
    // The capacity is believed by nobody.
    let table = patched("\"capacity\": 6", "\"capacity\": 18446744073709551615");
    assert_eq!(entries(&table, &LAYOUT).unwrap().len(), 3);
    for (from, to) in [
        ("\"key_size\": 32", "\"key_size\": 0"),
        ("\"value_size\": 48", "\"value_size\": 0"),
        ("little", "big"),
        ("32s", "33s"),
        ("\"used\": 3", "\"used\": -1"),
        ("{", "["),
    ] {
        assert_eq!(entries(&patched(from, to), &LAYOUT).err(), Some(TableError::Description), "{to}");
    }
    let mut other_version = stored.clone();
    other_version[8] = 2;
    assert_eq!(entries(&other_version, &LAYOUT).err(), Some(TableError::NotATable));
    let mut endless_json = stored.clone();
    endless_json[12..16].copy_from_slice(&[0xff; 4]);
    assert_eq!(entries(&endless_json, &LAYOUT).err(), Some(TableError::Description));
}

#[test]
fn keys_that_all_want_one_slot_are_written_quickly() {
    let key = |i: u32| {
        let mut key = [0xff; 32];
        key[4..8].copy_from_slice(&i.to_be_bytes());
        key
    };
    let many: Vec<_> = (0..200_000).map(|i| (key(i), vec![0; 48])).collect();
    let began = Instant::now();
    let stored = serialise(&many, &LAYOUT);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(entries(&stored, &LAYOUT).unwrap().len(), many.len());
}
