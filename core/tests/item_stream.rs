//! Item streams, whole and damaged, in repositories made by hand (data layer, section 9.3).

mod common;

use common::build::{PackBuilder, authenticated_keys, empty_repository, plain_meta, reader};
use common::msgpack::{array, bin, int, item, map, str, timestamp};
use common::{bytes, data_vectors, text, unhex};
use portaborg_core::bytes::Hex;
use portaborg_core::crypto::Keys;
use portaborg_core::id::ChunkId;
use portaborg_core::item::{Item, ItemError};
use portaborg_core::repo::{ItemProblem, ItemStream, ReadError};
use portaborg_core::store::now;
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// What comes out of a stream: paths, and problems in short.
fn read(keys: &Keys, pack: PackBuilder<'_>, pointers: &[ChunkId]) -> Vec<String> {
    let repository = empty_repository(keys);
    let mut reader = reader(&repository, keys, vec![pack]);
    let mut stream = ItemStream::new(pointers);
    let mut seen = Vec::new();
    while let Some(next) = now(stream.next(&mut reader)) {
        seen.push(match next {
            Ok(item) => String::from_utf8_lossy(&item.path).into_owned(),
            Err(ItemProblem::Chunk { source: ReadError::NotIndexed, .. }) => "!missing chunk".into(),
            Err(ItemProblem::Chunk { .. }) => "!chunk".into(),
            Err(ItemProblem::Pointers { .. }) => "!pointers".into(),
            Err(ItemProblem::NoPointers { .. }) => "!no pointers".into(),
            Err(ItemProblem::Garbage { bytes }) => format!("!{bytes} bytes"),
            Err(ItemProblem::Item(ItemError::UnsafePath { .. })) => "!unsafe".into(),
            Err(ItemProblem::Item(ItemError::NoPath)) => "!no path".into(),
            Err(ItemProblem::Item(ItemError::Attribute { key, .. })) => format!("!{key}"),
            Err(ItemProblem::Item(error)) => panic!("{error:?}"),
        });
        assert!(seen.len() < 100_000);
    }
    assert!(now(stream.next(&mut reader)).is_none(), "the end stays the end");
    seen
}

/// Reads a stream cut into these chunks; an empty one is lost.
fn read_pieces(pieces: &[&[u8]]) -> Vec<String> {
    let keys = authenticated_keys();
    let mut pack = PackBuilder::new(&keys);
    let mut ids = Vec::new();
    for piece in pieces {
        ids.push(if piece.is_empty() { ChunkId([0; 32]) } else { pack.add("S", piece) });
    }
    let pointers = pack.add_pointers(&ids);
    read(&keys, pack, &[pointers])
}

fn items(paths: &[&str]) -> Vec<u8> {
    paths.iter().flat_map(item).collect()
}

/// The item that the vectors give number `i`.
fn vector_item(i: u32) -> Vec<u8> {
    let id = Sha256::digest(i.to_string().as_bytes());
    map(&[
        ("bsdflags", int(0)),
        ("chunks", array(&[array(&[bin(id), int(i64::from(i) + 1)])])),
        ("gid", int(1000)),
        ("group", str("group")),
        ("inode", int(i64::from(i) + 1)),
        ("mode", int(0o100_644)),
        ("mtime", timestamp(1_700_000_000_000_000_000 + u64::from(i))),
        ("path", str(format!("dir{}/file{i}", i / 100))),
        ("size", int(i64::from(i) + 1)),
        ("uid", int(1000)),
        ("user", str("user")),
        ("xattrs", map(&[])),
    ])
}

#[test]
fn the_stream_of_the_vectors_is_read_to_its_end() {
    let vectors = &data_vectors()["item_stream"];
    let stream: Vec<u8> = (0..60_000).flat_map(vector_item).collect();
    assert_eq!(vector_item(0), bytes(vectors, "/first_item_msgpack"));
    assert_eq!(stream.len() as u64, vectors["stream_len"].as_u64().unwrap());
    assert_eq!(Hex(&Sha256::digest(&stream)).to_string(), text(vectors, "/stream_sha256"));
    let mut rest = &stream[..];
    let mut pieces = Vec::new();
    for len in vectors["part_lengths"].as_array().unwrap() {
        let (piece, after) = rest.split_at(len.as_u64().unwrap() as usize);
        pieces.push(piece);
        rest = after;
    }
    let hashes: Vec<u8> = pieces.iter().flat_map(|piece| *blake3::hash(piece).as_bytes()).collect();
    let hash = blake3::hash(&hashes).to_string();
    assert_eq!((rest, hash.as_str()), (&[][..], text(vectors, "/blake3_of_concatenated_part_blake3s")));

    let keys = authenticated_keys();
    let mut pack = PackBuilder::new(&keys);
    let pointers = [pack.add_stream(&pieces[..40]), pack.add_stream(&pieces[40..])];
    let repository = empty_repository(&keys);
    let mut reader = reader(&repository, &keys, vec![pack]);
    let mut stream = ItemStream::new(&pointers);
    for i in 0..60_000 {
        let read = now(stream.next(&mut reader)).unwrap().unwrap();
        assert_eq!(read, Item::decode(&vector_item(i)).unwrap());
        assert_eq!((read.path, read.inode), (format!("dir{}/file{i}", i / 100).into_bytes(), Some(u64::from(i) + 1)));
    }
    assert!(now(stream.next(&mut reader)).is_none());
    // Two lists and 81 pieces of 10 MB, which follow one another in the pack.
    let reads = repository.store.0.reads.get();
    assert!(reads <= 20, "{reads} reads");
}

#[test]
fn an_empty_stream_has_no_items() {
    let keys = authenticated_keys();
    assert!(read(&keys, PackBuilder::new(&keys), &[]).is_empty());
    assert!(read_pieces(&[]).is_empty());
}

#[test]
fn items_come_out_however_the_stream_is_cut() {
    let stream = items(&["a", "b/c", "d"]);
    for first in 1..stream.len() - 1 {
        let (head, tail) = stream.split_at(first);
        assert_eq!(read_pieces(&[head, tail]), ["a", "b/c", "d"]);
        let (middle, end) = tail.split_at(tail.len() / 2);
        assert_eq!(read_pieces(&[head, middle, end]), ["a", "b/c", "d"]);
    }
    let single: Vec<_> = stream.chunks(1).collect();
    assert_eq!(read_pieces(&single), ["a", "b/c", "d"]);
    // One item over three chunks, neighbours whole.
    let long = "x".repeat(10_000);
    let stream = items(&["a", &long, "z"]);
    let third = stream.len() / 3;
    assert_eq!(read_pieces(&[&stream[..third], &stream[third..2 * third], &stream[2 * third..]]), ["a", &long, "z"]);
}

#[test]
fn what_follows_a_lost_chunk_comes_out() {
    let stream = items(&["a", "b", "c", "d", "e", "f"]);
    let len = stream.len() / 6;
    // Cut between items: nothing else is lost.
    let seen = read_pieces(&[&stream[..2 * len], b"", &stream[4 * len..]]);
    assert_eq!(seen, ["a", "b", "!missing chunk", "e", "f"]);
    // Cut inside items: their remains are named too.
    for cut in 1..len {
        let seen = read_pieces(&[&stream[..2 * len + cut], b"", &stream[3 * len + cut..]]);
        let remains = format!("!{len} bytes");
        assert_eq!(seen, ["a", "b", "!missing chunk", &remains, "e", "f"], "cut at {cut}");
    }
    assert_eq!(read_pieces(&[b"", b"", &stream[..len]]), ["!missing chunk", "!missing chunk", "a"]);
    assert_eq!(read_pieces(&[&stream[..len], b""]), ["a", "!missing chunk"]);
    let seen = read_pieces(&[&stream[..len + 1], b""]);
    assert_eq!(seen, ["a", "!missing chunk", "!1 bytes"]);
}

#[test]
fn an_item_with_many_keys_is_found_after_a_loss_wherever_it_is_cut() {
    let names: Vec<String> = (0..20).map(|i| format!("key{i:02}")).collect();
    let mut pairs = vec![("mtime", timestamp(0)), ("path", str("large"))];
    pairs.extend(names.iter().map(|name| (name.as_str(), int(7))));
    let stream = [map(&pairs), item("z")].concat();
    assert_eq!(stream[0], 0xde);
    for cut in 1..stream.len() {
        let seen = read_pieces(&[b"", &stream[..cut], &stream[cut..]]);
        assert_eq!(seen, ["!missing chunk", "large", "z"], "cut at {cut}");
    }
}

#[test]
fn a_lost_list_costs_its_part_of_the_stream() {
    let keys = authenticated_keys();
    let mut pack = PackBuilder::new(&keys);
    let first = pack.add_stream(&[&items(&["a"])]);
    let odd = [pack.add("C", &int(1)), pack.add("C", &array(&[bin([0; 31])])), pack.add("C", b"\xdd\xff\xff\xff\xff")];
    let wrong_type = pack.add("S", b"\x90");
    let last = pack.add_stream(&[&items(&["z"])]);
    let pointers = [first, ChunkId([1; 32]), wrong_type, odd[0], odd[1], odd[2], last];
    let seen = read(&keys, pack, &pointers);
    assert_eq!(seen, ["a", "!pointers", "!pointers", "!no pointers", "!no pointers", "!no pointers", "z"]);
}

#[test]
fn garbage_between_items_is_passed_over() {
    let (a, z) = (item("a"), item("z"));
    for (garbage, count) in [
        (unhex("00"), 1),
        (unhex("c1c1c1"), 3),
        (int(123_456), 5),
        (str("a text between items"), 21),
        (unhex("ddffffffff"), 5),
        (unhex("dfffffffff"), 5),
        (unhex("81a161c1"), 4),
        (vec![0xff; 3000], 3000),
    ] {
        let stream = [&a[..], &garbage, &z].concat();
        assert_eq!(read_pieces(&[&stream]), ["a", &format!("!{count} bytes"), "z"]);
        assert_eq!(read_pieces(&[&a, &garbage, &z]), ["a", &format!("!{count} bytes"), "z"]);
    }
}

#[test]
fn a_map_that_is_no_item_costs_no_other() {
    let odd = [
        map(&[]),
        map(&[("mode", int(1))]),
        item("../etc/passwd"),
        item("a\\..\\b"),
        map(&[("path", str("p")), ("mtime", str("x"))]),
    ];
    let stream = [item("a"), odd.concat(), item("z")].concat();
    assert_eq!(read_pieces(&[&stream]), ["a", "!no path", "!no path", "!unsafe", "!unsafe", "!mtime", "z"]);
}

#[test]
fn a_stream_that_ends_inside_an_item_says_so() {
    let stream = items(&["a", "b"]);
    let len = stream.len() / 2;
    for cut in 1..len {
        assert_eq!(read_pieces(&[&stream[..len + cut]]), ["a", &format!("!{cut} bytes")]);
    }
}

#[test]
fn a_value_that_claims_to_be_endless_does_not_hide_what_follows() {
    // An item whose list of chunks claims four billion entries.
    let endless = [&[0x82][..], &str("path"), &str("x"), &str("chunks"), &unhex("ddffffffff")].concat();
    let stream = [item("a"), endless.clone(), item("y"), item("z")].concat();
    assert_eq!(read_pieces(&[&stream]), ["a", &format!("!{} bytes", endless.len()), "y", "z"]);
}

#[test]
fn nested_values_cost_no_stack() {
    let deep = [&[0x82][..], &str("path"), &str("deep"), &str("x"), &vec![0x91; 3_000_000], &[0xc0]].concat();
    assert_eq!(read_pieces(&[&deep, &item("z")]), ["deep", "z"]);
    let cut = &deep[..deep.len() - 1];
    let began = Instant::now();
    assert_eq!(read_pieces(&[cut]), [format!("!{} bytes", cut.len())]);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn bytes_that_look_like_endless_items_everywhere_are_given_up() {
    let keys = authenticated_keys();
    let mut pack = PackBuilder::new(&keys);
    // Every third byte begins a map with a key, whose value is the rest.
    let crafted = b"\x8f\xa1a".repeat(500_000);
    let ids: Vec<_> = (0..8u8).map(|number| pack.add("S", &[&[number][..], &crafted].concat())).collect();
    let pointers = pack.add_pointers(&ids);
    let began = Instant::now();
    let seen = read(&keys, pack, &[pointers]);
    assert!(seen.iter().all(|line| line.starts_with('!')), "{:?}", &seen[..seen.len().min(5)]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a_search_that_needs_more_and_more_data_looks_at_each_byte_once() {
    let keys = authenticated_keys();
    let mut pack = PackBuilder::new(&keys);
    // After a loss comes what may be an item, with an array that claims to go on for ever, piece by piece.
    let begin = [&[0x81][..], &str("a"), &unhex("ddffffffff")].concat();
    let filler = vec![0xc0; 100_000];
    let mut ids = vec![ChunkId([0; 32]), pack.add("S", &begin)];
    let piece = pack.add("S", &filler);
    ids.extend(std::iter::repeat_n(piece, 500));
    ids.push(pack.add("S", &item("z")));
    let pointers = pack.add_pointers(&ids);
    let began = Instant::now();
    let seen = read(&keys, pack, &[pointers]);
    assert_eq!(seen, ["!missing chunk", &format!("!{} bytes", begin.len() + 500 * filler.len()), "z"]);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_damaged_chunk_of_the_stream_is_no_different_from_a_lost_one() {
    let keys = authenticated_keys();
    let mut pack = PackBuilder::new(&keys);
    let stream = items(&["a", "b", "c"]);
    let len = stream.len() / 3;
    let id = keys.chunk_id(&stream[len..2 * len]);
    pack.add_as(id, &plain_meta("S", len + 1), &stream[len..2 * len]);
    let (first, last) = (pack.add("S", &stream[..len]), pack.add("S", &stream[2 * len..]));
    let pointers = pack.add_pointers(&[first, id, last]);
    assert_eq!(read(&keys, pack, &[pointers]), ["a", "!chunk", "c"]);
}
