//! The item cache: what is put there comes out again, and what is in a file that nobody sealed so does nothing at all.

mod common;

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};
use common::{SuiteVectors, repository_id, suites, unhex};
use portaborg_core::bytes::Hex;
use portaborg_core::crypto::{Keys, Suite};
use portaborg_core::id::{ArchiveId, ChunkId, RepositoryId};
use portaborg_core::item::{Acl, ChunkEntry, Item, make_path_safe};
use portaborg_core::item_cache::{
    Block, CacheError, CacheStep, FileKey, HEAD_BYTES, Packing, Place, SEGMENT_BYTES, Segment, TAG_BYTES, Unpacking,
};
use portaborg_core::time::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

const ARCHIVE: ArchiveId = ArchiveId([3; 32]);
const NONCE: [u8; 32] = [5; 32];

fn keys() -> Keys {
    Keys::new(Suite::from_names("aes256-ocb", "blake3").unwrap(), [1; 64], [2; 32], 0)
}

fn cipher(key: &FileKey) -> Aes256Gcm {
    Aes256Gcm::new(key.bytes().into())
}

/// A file with these blocks.
fn file_of(keys: &Keys, blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut packing = Packing::new(keys, repository_id(), ARCHIVE, &NONCE).unwrap();
    let mut file = packing.head().to_vec();
    let cipher = cipher(packing.key());
    let mut seal = |Segment { nonce, mut plaintext }| {
        let tag = cipher.encrypt_inout_detached((&nonce).into(), &[], plaintext.as_mut_slice().into()).unwrap();
        file.extend_from_slice(&plaintext);
        file.extend_from_slice(&tag);
    };
    for block in blocks {
        packing.add(block).into_iter().for_each(&mut seal);
    }
    seal(packing.finish());
    file
}

/// The items of a file, and why there are no more, if it has no end.
fn read_as(keys: &Keys, repository: RepositoryId, archive: ArchiveId, file: &[u8]) -> (Vec<Item>, Option<CacheError>) {
    let mut items = Vec::new();
    let mut unpacking = match Unpacking::new(keys, repository, archive, file, file.len() as u64) {
        Ok(unpacking) => unpacking,
        Err(error) => return (items, Some(error)),
    };
    let cipher = cipher(unpacking.key());
    loop {
        match unpacking.step() {
            Ok(CacheStep::Block(block)) => items.extend(block.items()),
            Ok(CacheStep::End) => return (items, None),
            Ok(CacheStep::Open(Place { segment, offset, len, nonce })) => {
                let mut sealed = file[offset as usize..][..len].to_vec();
                let (data, tag) = sealed.split_last_chunk_mut::<TAG_BYTES>().unwrap();
                let opened = cipher.decrypt_inout_detached((&nonce).into(), &[], (&mut *data).into(), (&*tag).into());
                if opened.is_err() {
                    return (items, Some(CacheError::Tag { segment }));
                }
                unpacking.feed(data);
            }
            Err(error) => return (items, Some(error)),
        }
    }
}

fn read(file: &[u8]) -> (Vec<Item>, Option<CacheError>) {
    read_as(&keys(), repository_id(), ARCHIVE, file)
}

/// Items as archives have many of them.
fn files(range: std::ops::Range<u32>) -> Vec<Item> {
    range
        .map(|number| Item {
            path: format!("home/me/folder{}/file{number}", number / 50).into_bytes(),
            mode: Some(if number % 50 == 0 { 0o040_755 } else { 0o100_644 }),
            uid: Some(1000),
            gid: Some(1000),
            user: Some(b"me".into()),
            group: Some(b"us".into()),
            mtime: Timestamp { secs: 1_700_000_000 + i64::from(number), nanos: number },
            ctime: Some(Timestamp { secs: 1_700_000_100 + i64::from(number), nanos: 999_999_999 }),
            inode: Some(7_000_000 + u64::from(number)),
            size: (number % 50 != 0).then_some(4711),
            chunks: (number % 50 != 0)
                .then(|| vec![ChunkEntry { id: ChunkId(*blake3::hash(&number.to_le_bytes()).as_bytes()), size: 4711 }]),
            xattrs: Some(Vec::new()),
            bsdflags: Some(0),
            ..Item::default()
        })
        .collect()
}

fn blocks(items: &[Item]) -> Vec<Vec<u8>> {
    items.chunks(700).map(|some| Block::encode(some).unwrap()).collect()
}

#[test]
fn items_come_out_as_they_were_put_in_whatever_the_suite() {
    let items = files(0..5000);
    let all = suites();
    assert_eq!(all.len(), 6);
    for SuiteVectors { keys, .. } in all {
        let file = file_of(&keys, &blocks(&items));
        assert_eq!(read_as(&keys, repository_id(), ARCHIVE, &file), (items.clone(), None));
        // No name, no id.
        assert!(!file.windows(6).any(|bytes| bytes == b"folder"));
    }
    assert_eq!(read(&file_of(&keys(), &[])), (Vec::new(), None));
}

#[test]
fn an_item_takes_little_besides_the_ids_of_its_chunks() {
    let items = files(0..5000);
    let bytes: usize = blocks(&items).iter().map(Vec::len).sum();
    assert!(bytes < 5000 * (32 + 32), "{bytes}");
}

#[test]
fn a_file_may_end_with_a_segment_that_is_full() {
    let one = Block::encode(&files(0..1)).unwrap();
    let long = |path_bytes: usize| vec![Item { path: vec![b'x'; path_bytes], ..Item::default() }];
    for full in [1, 2, 3] {
        for more in [0, 1] {
            let rest = full * SEGMENT_BYTES + more - one.len();
            let mut path_bytes = rest - 60;
            let last = loop {
                let last = Block::encode(&long(path_bytes)).unwrap();
                if last.len() == rest {
                    break last;
                }
                path_bytes += rest - last.len();
            };
            let file = file_of(&keys(), &[one.clone(), last]);
            assert_eq!(file.len(), HEAD_BYTES + full * (SEGMENT_BYTES + TAG_BYTES) + more * (1 + TAG_BYTES));
            assert_eq!(read(&file), ([files(0..1), long(path_bytes)].concat(), None));
        }
    }
}

#[test]
fn a_file_counts_for_one_archive_of_one_repository_only() {
    let file = file_of(&keys(), &blocks(&files(0..10)));
    let wrong = (Vec::new(), Some(CacheError::Tag { segment: 0 }));
    assert_eq!(read_as(&keys(), RepositoryId([9; 32]), ARCHIVE, &file), wrong);
    assert_eq!(read_as(&keys(), repository_id(), ArchiveId([9; 32]), &file), wrong);
    let others = Keys::new(keys().suite(), [7; 64], [2; 32], 0);
    assert_eq!(read_as(&others, repository_id(), ARCHIVE, &file), wrong);
}

#[test]
fn where_the_key_is_lost_there_is_no_cache() {
    let lost = Keys::lost(Suite::from_names("authenticated-blake3", "blake3").unwrap()).unwrap();
    assert!(Packing::new(&lost, repository_id(), ARCHIVE, &NONCE).is_none());
    let zero = Keys::new(lost.suite(), [0; 64], [0; 32], 0);
    let file = file_of(&zero, &blocks(&files(0..10)));
    assert_eq!(read_as(&lost, repository_id(), ARCHIVE, &file), (Vec::new(), Some(CacheError::Head)));
}

#[test]
fn every_file_has_a_key_of_its_own() {
    let packing = |nonce| Packing::new(&keys(), repository_id(), ARCHIVE, &nonce).unwrap();
    let (one, other) = (packing([5; 32]), packing([6; 32]));
    assert_ne!(one.key().bytes(), other.key().bytes());
    assert!(!format!("{one:?}").contains(&format!("{:?}", one.key().bytes())));
}

#[test]
fn what_is_missing_of_a_file_or_in_another_place_is_noticed() {
    let items = files(0..9000);
    let file = file_of(&keys(), &blocks(&items));
    let sealed = SEGMENT_BYTES + TAG_BYTES;
    assert!(file.len() > HEAD_BYTES + 3 * sealed);
    let segment = |number: usize| HEAD_BYTES + number * sealed..HEAD_BYTES + (number + 1) * sealed;
    let parts = |ranges: &[std::ops::Range<usize>]| -> Vec<u8> {
        let segments = ranges.iter().flat_map(|range| &file[range.clone()]);
        file[..HEAD_BYTES].iter().chain(segments).copied().collect()
    };
    let end = file.len();
    let rest = segment(2).start..end;
    let twice = [&file[..], &file[segment(0)]].concat();
    for wrong in [
        parts(&[segment(1), segment(0), rest.clone()]),
        parts(&[segment(1), rest.clone()]),
        parts(&[segment(0), segment(0), segment(1), rest.clone()]),
        parts(&[segment(0), segment(1)]),
        parts(&[segment(0)]),
        parts(&[]),
        twice,
    ] {
        let (found, error) = read(&wrong);
        assert!(error.is_some() && items.starts_with(&found));
    }
    for len in (0..end).step_by(997).chain(end - 40..end).chain(0..HEAD_BYTES + 40) {
        let (found, error) = read(&file[..len]);
        assert!(error.is_some() && items.starts_with(&found), "cut to {len}");
    }
}

#[test]
fn another_version_is_another_format() {
    let mut file = file_of(&keys(), &blocks(&files(0..10)));
    file[8] += 1;
    assert_eq!(read(&file), (Vec::new(), Some(CacheError::Head)));
}

#[test]
fn a_block_that_would_unfold_to_more_than_an_archive_has_is_none() {
    let value = vec![b'v'; 1 << 20];
    let same = |count: usize| vec![Item { xattrs: Some(vec![(b"user.x".into(), value.clone())]), ..item("a") }; count];
    assert!(Block::encode(&same(60)).is_some());
    assert!(Block::encode(&same(70)).is_none());
    let long = item(&"x".repeat(1 << 20));
    assert!(Block::encode(&vec![long.clone(); 60]).is_some());
    assert!(Block::encode(&vec![long; 70]).is_none());
    // By hand, a block of a million bytes, each item of which has the whole path of the one before it.
    let path = vec![b'x'; 500_000];
    let mut paths = [&[0][..], &[0xa0, 0xc2, 0x1e], &path].concat();
    let mut rows = vec![0, 0, 0, 0, 0, 0, 0];
    for _ in 1..200 {
        paths.extend([0xa0, 0xc2, 0x1e, 0]);
        rows.extend([0; 7]);
    }
    let number = |mut number: usize| {
        let mut bytes = Vec::new();
        while number >= 128 {
            bytes.push(number as u8 | 128);
            number /= 128;
        }
        [&bytes[..], &[number as u8]].concat()
    };
    let block = |count: usize, rows: &[u8], paths: &[u8]| {
        [&number(count), &[0, 0, 1, 1, 0][..], &number(paths.len()), paths, rows].concat()
    };
    let of = |count: usize| block(count, &rows[..7 * count], &paths[..4 + path.len() + 4 * (count - 1)]);
    assert_eq!(Block::parse(of(100)).unwrap().items().count(), 100);
    assert_eq!(Block::parse(of(200)).unwrap_err(), CacheError::Block);
}

fn item(path: &str) -> Item {
    Item { path: path.into(), ..Item::default() }
}

#[test]
fn unsafe_paths_are_in_no_block() {
    for path in ["..", "a/../b", "a/..", "../a", "/a", "a/", "a//b", "./a", "a/.", "", "a\\..", "..\\a", "a/..\\b"] {
        for before in ["a", "a/b", "a/..c", ".", "..c"] {
            let block = Block::encode(&[item(before), item(path)]).unwrap();
            assert_eq!(Block::parse(block[4..].to_vec()).unwrap_err(), CacheError::Block, "{path} after {before}");
        }
    }
    for path in [".", "..a", "a..", "...", ".a/..b", "a/.../b", "a.b/c", "\\", "a\\.b"] {
        for before in ["a", "a/b", "a/..c", ".", "..c"] {
            let block = Block::encode(&[item(before), item(path)]).unwrap();
            assert_eq!(Block::parse(block[4..].to_vec()).unwrap().len(), 2, "{path} after {before}");
        }
    }
}

#[test]
fn the_file_is_what_its_description_says() {
    // Made by a program that was written after the description, with Python's blake3 and Node's AES.
    let file = unhex(VECTOR);
    let keys = Keys::new(keys().suite(), std::array::from_fn(|at| at as u8), [0; 32], 0);
    let (items, error) = read_as(&keys, RepositoryId([0xa1; 32]), ArchiveId([0xb2; 32]), &file);
    assert_eq!(error, None);
    assert_eq!(items, vector_items());
    let nonce = file[12..HEAD_BYTES].try_into().unwrap();
    let mut packing = Packing::new(&keys, RepositoryId([0xa1; 32]), ArchiveId([0xb2; 32]), nonce).unwrap();
    assert!(packing.add(&Block::encode(&vector_items()).unwrap()).is_empty());
    let cipher = cipher(packing.key());
    let mut again = packing.head().to_vec();
    let Segment { nonce, mut plaintext } = packing.finish();
    let tag = cipher.encrypt_inout_detached((&nonce).into(), &[], plaintext.as_mut_slice().into()).unwrap();
    again.extend_from_slice(&plaintext);
    again.extend_from_slice(&tag);
    assert_eq!(Hex(&again).to_string(), VECTOR);
}

fn vector_items() -> Vec<Item> {
    let time = |secs, nanos| Timestamp { secs, nanos };
    vec![
        Item {
            path: b"etc".into(),
            mode: Some(0o040_755),
            uid: Some(0),
            gid: Some(0),
            user: Some(b"root".into()),
            group: Some(b"root".into()),
            mtime: time(1_700_000_000, 5),
            inode: Some(1000),
            ..Item::default()
        },
        Item {
            path: b"etc/passwd".into(),
            mode: Some(0o100_644),
            uid: Some(0),
            gid: Some(0),
            user: Some(b"root".into()),
            group: Some(b"root".into()),
            mtime: time(1_600_000_000, 999_999_999),
            ctime: Some(time(1_600_000_100, 1)),
            inode: Some(900),
            size: Some(1300),
            chunks: Some(vec![
                ChunkEntry { id: ChunkId([0xc1; 32]), size: 1000 },
                ChunkEntry { id: ChunkId([0xc2; 32]), size: 300 },
            ]),
            ..Item::default()
        },
        Item {
            path: b"etc/link".into(),
            mode: Some(0o120_777),
            uid: Some(-2),
            mtime: time(-1, 0),
            target: Some(b"passwd".into()),
            xattrs: Some(vec![(b"user.b".into(), b"1".into()), (b"user.a".into(), b"".into())]),
            unknown: vec![(b"new".into(), Box::new([0xc3]))],
            ..Item::default()
        },
    ]
}

const VECTOR: &str = "706f72746169746d010000006465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828391685ba16e70dff048f1c7\
    25f4d78430c46ed2d39db69bcff4d1a46ff3234e342d4f85b49d1f59c78248f162de77fde91d915655d12be10d4ac0d928d094ecc1137c\
    cd3f4b2ca984bccd3a6bcbfb5ff4aaac7d970590581180ecf64f4db427e85b42959ebda3e3945cba8f6653fc5fc9708036ed23e3015b8a\
    f0e3338ab01a71cbba8d415efc5d406dcfb319f18e86cc1f2d8607fc3f000e695dfc9be1bdc15c96381176d515fc836d028138a19c8731\
    8f60f3b69b1db0fd4a57ad3d2c4334442fc02e9021d42984d6360eca366a4a6cf378a6c0ea6fe939eb1c2c78b60f00c2e169269eb4";

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..most)
}

fn time() -> impl Strategy<Value = Timestamp> {
    (any::<i64>(), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Timestamp { secs, nanos })
}

fn pairs() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<u8>)>> {
    vec((bytes(9), bytes(9)), 0..4)
}

prop_compose! {
    fn any_item()(
        path in prop_oneof![bytes(20), "[a-c/.]{0,12}".prop_map(String::into_bytes)]
            .prop_filter_map("unsafe", |path| make_path_safe(&path).ok()),
        (mode, bsdflags) in (of(any::<u32>()), of(any::<u32>())),
        (uid, gid) in (of(any::<i64>()), of(any::<i64>())),
        (user, group, target, hlid) in (of(bytes(9)), of(bytes(9)), of(bytes(9)), of(bytes(40))),
        mtime in time(),
        (atime, ctime, birthtime) in (of(time()), of(time()), of(time())),
        (inode, size, rdev) in (of(any::<u64>()), of(any::<u64>()), of(any::<u64>())),
        chunks in of(vec((any::<[u8; 32]>(), any::<u64>()), 0..4)),
        (xattrs, digests) in (of(pairs()), of(pairs())),
        unknown in btree_map(bytes(9), bytes(9), 0..3),
        (access, default, nfs4, extended) in (of(bytes(9)), of(bytes(9)), of(bytes(9)), of(bytes(9))),
        is_sum in any::<bool>(),
    ) -> Item {
        let entry = |(id, size)| ChunkEntry { id: ChunkId(id), size };
        let chunks = chunks.map(|chunks| chunks.into_iter().map(entry).collect());
        let unknown = unknown.into_iter().map(|(key, value)| (key, value.into())).collect();
        let acl = Acl { access, default, nfs4, extended };
        let mut item = Item {
            path, mode, bsdflags, uid, gid, user, group, target, hlid, mtime, atime, ctime, birthtime, inode, size, rdev, chunks,
            xattrs, digests, unknown, acl,
        };
        if is_sum {
            item.size = Some(item.content_size());
        }
        item
    }
}

/// Whatever a block is, its items are as many as it says, and their paths stay where they are extracted.
fn look_at(content: Vec<u8>) {
    let Ok(block) = Block::parse(content) else { return };
    let count = block.len();
    let items: Vec<Item> = block.items().collect();
    assert_eq!(items.len(), count);
    for item in items {
        assert_eq!(make_path_safe(&item.path).as_ref(), Ok(&item.path));
    }
}

proptest! {
    #[test]
    fn any_items_come_out_as_they_were_put_in(items in vec(any_item(), 0..8)) {
        let block = Block::encode(&items).unwrap();
        let (length, content) = block.split_first_chunk().unwrap();
        prop_assert_eq!(u32::from_le_bytes(*length) as usize, content.len());
        let block = Block::parse(content.to_vec()).unwrap();
        prop_assert_eq!(block.len(), items.len());
        prop_assert_eq!(block.is_empty(), items.is_empty());
        prop_assert_eq!(block.items().collect::<Vec<_>>(), items);
    }

    #[test]
    fn paths_can_be_looked_through_alone(items in vec(any_item(), 0..8), wanted in any::<u8>()) {
        let block = Block::encode(&items).unwrap();
        let mut some = Block::parse(block[4..].to_vec()).unwrap().items();
        let mut found = Vec::new();
        for (number, item) in items.iter().enumerate() {
            prop_assert_eq!(some.next_path(), Some(&item.path[..]));
            if wanted >> number & 1 == 1 {
                found.push(some.item().unwrap());
            }
        }
        prop_assert_eq!(some.next_path(), None);
        let all = items.into_iter().enumerate();
        let all: Vec<Item> = all.filter(|(number, _)| wanted >> number & 1 == 1).map(|(_, item)| item).collect();
        prop_assert_eq!(found, all);
    }

    #[test]
    fn any_bytes_are_a_block_or_none(content in bytes(400)) {
        look_at(content);
    }

    #[test]
    fn a_block_with_mistakes_is_another_block_or_none(
        items in vec(any_item(), 1..6),
        mistakes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in of(any::<prop::sample::Index>()),
    ) {
        let mut content = Block::encode(&items).unwrap()[4..].to_vec();
        for (at, byte) in mistakes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        if let Some(cut) = cut {
            content.truncate(cut.index(content.len()));
        }
        look_at(content);
    }

    #[test]
    fn any_bytes_are_no_file(bytes in bytes(600), has_head in any::<bool>()) {
        let mut file = bytes;
        if has_head && file.len() >= HEAD_BYTES {
            file[..12].copy_from_slice(&file_of(&keys(), &[])[..12]);
        }
        let (items, error) = read(&file);
        prop_assert!(items.is_empty() && error.is_some());
    }

    #[test]
    fn a_file_with_a_mistake_gives_nothing_wrong(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let items = files(0..40);
        let mut file = file_of(&keys(), &blocks(&items));
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        let (found, error) = read(&file);
        prop_assert!(found.is_empty() && error.is_some());
    }

    #[test]
    fn authentic_bytes_that_are_no_blocks_do_no_harm(plaintext in bytes(300)) {
        read(&file_of(&keys(), std::slice::from_ref(&plaintext)));
        let block = [&(plaintext.len() as u32).to_le_bytes()[..], &plaintext].concat();
        read(&file_of(&keys(), &[block]));
    }
}
