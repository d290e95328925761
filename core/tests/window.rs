//! Reading ahead: whatever the order in which work is finished, what was wanted comes out as a reader of one chunk after
//! the other would give it.

mod common;

use aes::Aes256;
use aes::cipher::{Block, BlockCipherDecrypt, KeyInit};
use common::build::{MemoryRepository, PackBuilder, authenticated_keys, empty_repository};
use portaborg_core::codec::PureRust;
use portaborg_core::crypto::{EnvelopeError, Keys, Suite};
use portaborg_core::extract::{Fetch, Plain, Purpose, ReadAhead, Unpacked, Want, Window};
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::index::{ChunkIndex, Location};
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::name::Key;
use portaborg_core::object::{ObjectError, Opener};
use portaborg_core::repo::ReadError;
use portaborg_core::store::{Store, now};
use proptest::prelude::*;
use std::sync::Arc;

type Outcome = Result<Plain, ReadError>;

/// A repository of a few packs, and its index.
struct Fixture<'k> {
    repository: MemoryRepository,
    keys: &'k Keys,
    index: ChunkIndex,
}

impl<'k> Fixture<'k> {
    fn new(keys: &'k Keys) -> Self {
        Fixture { repository: empty_repository(keys), keys, index: ChunkIndex::new() }
    }

    fn pack(&mut self, chunks: &[Vec<u8>]) -> (PackId, Vec<ChunkId>) {
        let mut pack = PackBuilder::new(self.keys);
        let ids = chunks.iter().map(|chunk| pack.add("F", chunk)).collect();
        (pack.store(&self.repository.store.0, &mut self.index), ids)
    }

    fn work(&self, job: Fetch) -> Unpacked {
        let mut opener = Opener::new(self.keys, &PureRust);
        let pieces = now(self.repository.store.gather(&job.pieces));
        job.fetched(pieces).open(&mut opener).unpack(&mut opener)
    }

    /// Runs a window to its end: `choose` says which of so many jobs in flight is finished next.
    fn run(&self, window: &mut Window, width: usize, choose: &mut dyn FnMut(usize) -> usize) -> Vec<(Want, Outcome)> {
        let mut in_flight = Vec::new();
        let mut out = Vec::new();
        while !window.is_empty() {
            while in_flight.len() < width
                && let Some(job) = window.next_fetch(&self.index)
            {
                in_flight.push(job);
            }
            while let Some((want, result)) = window.next_ready() {
                out.push((want, result.map(|plain| Plain::clone(&plain))));
            }
            if !in_flight.is_empty() {
                let job = in_flight.remove(choose(in_flight.len()));
                window.finish(self.work(job));
            }
        }
        out
    }

    fn reads(&self) -> usize {
        self.repository.store.0.reads.get()
    }
}

fn ahead(held_bytes: u64, read_bytes: usize) -> ReadAhead {
    ReadAhead { held_bytes, read_bytes }
}

fn content(limits: ReadAhead) -> Window {
    Window::new(Purpose::Content, false, limits)
}

fn want(id: ChunkId, size: usize) -> Want {
    Want { id, size: Some(size as u64) }
}

fn data(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|at| seed.wrapping_add(at as u8).max(1)).collect()
}

#[test]
fn order_is_that_of_the_wants_whatever_is_finished_first() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let chunks: Vec<_> = (0..50).map(|seed| data(seed, 1000)).collect();
    let (_, ids) = fixture.pack(&chunks);
    // The late first, the early last; in turns; the one in the middle.
    let orders: [&mut dyn FnMut(usize) -> usize; 3] =
        [&mut |count| count - 1, &mut |count| count * 7 % 5 % count, &mut |count| count / 2];
    for choose in orders {
        let mut window = content(ahead(1 << 20, 1));
        ids.iter().for_each(|id| window.want(want(*id, 1000)));
        let out = fixture.run(&mut window, 50, choose);
        assert_eq!(out.len(), 50);
        for ((out, chunk), id) in out.into_iter().zip(&chunks).zip(&ids) {
            assert_eq!(out, (want(*id, 1000), Ok(Plain::Data(chunk.clone()))));
        }
    }
}

#[test]
fn nothing_overtakes_a_late_first_chunk() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let (_, ids) = fixture.pack(&[data(1, 100), data(2, 100), data(3, 100)]);
    let mut window = content(ahead(1 << 20, 1));
    ids.iter().for_each(|id| window.want(want(*id, 100)));
    window.want(want(ChunkId([9; 32]), 1)); // an error that is known at once
    let jobs: Vec<_> = std::iter::from_fn(|| window.next_fetch(&fixture.index)).collect();
    assert_eq!(jobs.len(), 3);
    let mut jobs = jobs.into_iter();
    let first = jobs.next().unwrap();
    for late in jobs {
        window.finish(fixture.work(late));
        assert!(window.next_ready().is_none());
    }
    window.finish(fixture.work(first));
    let out: Vec<_> = std::iter::from_fn(|| window.next_ready()).map(|(want, result)| (want.id, result)).collect();
    assert_eq!(out.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [ids[0], ids[1], ids[2], ChunkId([9; 32])]);
    assert_eq!(out[3].1, Err(ReadError::NotIndexed));
    assert!(window.is_empty());
}

#[test]
fn errors_take_the_place_of_their_chunk_and_no_other() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let (damaged, ids) = fixture.pack(&[data(1, 100), data(2, 100), data(3, 100)]);
    let (lost, gone) = fixture.pack(&[data(4, 100), data(5, 100)]);
    let (cut, short) = fixture.pack(&[data(6, 100), data(7, 100), data(8, 100)]);
    let store = &fixture.repository.store.0;
    let middle = fixture.index.get(&ids[1]).unwrap();
    store.change(&Key::Pack(damaged).path(), |pack| pack[(middle.offset + middle.size) as usize - 1] ^= 1);
    store.remove(&Key::Pack(lost).path());
    store.change(&Key::Pack(cut).path(), |pack| pack.truncate(pack.len() - 10));
    let mut window = content(ahead(1 << 20, 1 << 20));
    for id in ids.iter().chain(&gone).chain(&short) {
        window.want(want(*id, 100));
    }
    window.want(want(ids[0], 99));
    window.want(Want { id: ids[0], size: Some(MAX_DATA_SIZE as u64 + 1) });
    window.want(Want { id: ids[0], size: Some(u64::MAX) });
    let results: Vec<_> = fixture.run(&mut window, 4, &mut |_| 0).into_iter().map(|(_, result)| result).collect();
    assert_eq!(results.len(), 11);
    for right in [0, 2, 5, 6] {
        assert!(results[right].is_ok(), "{right}: {:?}", results[right]);
    }
    assert!(matches!(results[1], Err(ReadError::Object(ObjectError::DataEnvelope(_)))));
    for missing in [3, 4] {
        assert_eq!(results[missing], Err(ReadError::PackMissing { pack: lost }));
        assert!(results[missing].as_ref().unwrap_err().may_have_moved());
    }
    let expected = fixture.index.get(&short[2]).unwrap().size as usize;
    assert_eq!(results[7], Err(ReadError::Truncated { pack: cut, expected, found: expected - 10 }));
    assert_eq!(results[8], Err(ReadError::Size { expected: 99, found: 100 }));
    assert_eq!(results[9], Err(ReadError::TooLarge { claimed: MAX_DATA_SIZE as u64 + 1 }));
    assert_eq!(results[10], Err(ReadError::TooLarge { claimed: u64::MAX }));
}

#[test]
fn claims_are_refused_before_anything_is_fetched_or_allocated() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let (pack, ids) = fixture.pack(&[data(1, 100)]);
    fixture.index.insert(ChunkId([8; 32]), Location { pack, offset: 0, size: u32::MAX });
    let mut window = content(ahead(1 << 20, 1 << 20));
    window.want(Want { id: ids[0], size: Some(u64::MAX) });
    window.want(want(ChunkId([8; 32]), 5));
    assert!(window.next_fetch(&fixture.index).is_none());
    assert_eq!(window.next_ready().unwrap().1, Err(ReadError::TooLarge { claimed: u64::MAX }));
    let error = window.next_ready().unwrap().1.unwrap_err();
    assert_eq!(error, ReadError::Object(ObjectError::Length { claimed: u32::MAX.into(), found: 0 }));
    assert_eq!(fixture.reads(), 0);
}

#[test]
fn neighbours_are_read_at_once_and_a_chunk_in_several_places_only_once() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let chunks: Vec<_> = (0..=255).map(|seed| data(seed, 500)).collect();
    let (_, ids) = fixture.pack(&chunks);
    let mut window = content(ahead(1 << 30, 8 << 20));
    for _ in 0..3 {
        ids.iter().for_each(|id| window.want(want(*id, 500)));
    }
    let out = fixture.run(&mut window, 4, &mut |_| 0);
    assert_eq!((out.len(), fixture.reads()), (3 * ids.len(), 1));
    assert!(
        out.iter().zip(chunks.iter().cycle()).all(|((_, result), chunk)| *result == Ok(Plain::Data(chunk.clone())))
    );
}

#[test]
fn no_more_is_held_than_the_budget_and_what_is_larger_comes_alone() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let chunks: Vec<_> = [1000, 1000, 1000, 9000, 1000].iter().zip(0..).map(|(len, seed)| data(seed, *len)).collect();
    let (_, ids) = fixture.pack(&chunks);
    let mut window = content(ahead(2500, 1));
    ids.iter().zip(&chunks).for_each(|(id, chunk)| window.want(want(*id, chunk.len())));
    let fetch = |window: &mut Window| {
        let jobs: Vec<_> = std::iter::from_fn(|| window.next_fetch(&fixture.index)).collect();
        let count = jobs.len();
        jobs.into_iter().for_each(|job| window.finish(fixture.work(job)));
        count
    };
    assert_eq!(fetch(&mut window), 2);
    assert_eq!(fetch(&mut window), 0); // finished, but not taken out
    assert!(window.next_ready().is_some());
    assert_eq!(fetch(&mut window), 1);
    assert!(window.next_ready().is_some());
    assert_eq!(fetch(&mut window), 0);
    assert!(window.next_ready().is_some());
    assert_eq!(fetch(&mut window), 1); // the large one, alone
    assert_eq!(fetch(&mut window), 0);
    assert!(window.next_ready().is_some());
    assert_eq!(fetch(&mut window), 1);
    // What is given up is free again, also in flight.
    window.skip();
    assert!(window.is_empty());
    ids[..2].iter().for_each(|id| window.want(want(*id, 1000)));
    let lost: Vec<_> = std::iter::from_fn(|| window.next_fetch(&fixture.index)).collect();
    assert_eq!(lost.len(), 2);
    window.skip();
    window.skip();
    lost.into_iter().for_each(|job| window.finish(fixture.work(job)));
    ids[..2].iter().for_each(|id| window.want(want(*id, 1000)));
    assert_eq!(fetch(&mut window), 2);
}

#[test]
fn known_zeros_are_not_fetched() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let (_, ids) = fixture.pack(&[vec![0; 4000], data(1, 10)]);
    let mut window = content(ahead(1 << 20, 1 << 20));
    window.want(want(ids[0], 4000));
    let run = |window: &mut Window| fixture.run(window, 1, &mut |_| 0).pop().unwrap().1;
    assert_eq!(run(&mut window), Ok(Plain::Zeros(4000)));
    for _ in 0..3 {
        window.want(want(ids[0], 4000));
        assert_eq!(run(&mut window), Ok(Plain::Zeros(4000)));
        window.want(want(ids[0], 4001));
        assert_eq!(run(&mut window), Err(ReadError::Size { expected: 4001, found: 4000 }));
    }
    assert_eq!(fixture.reads(), 1);
}

#[test]
fn objects_that_overlap_are_each_opened_from_their_own_bytes() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let (_, ids) = fixture.pack(&[data(1, 100), data(2, 100)]);
    let first = fixture.index.get(&ids[0]).unwrap();
    fixture.index.insert(ChunkId([8; 32]), Location { offset: first.offset + 1, ..first });
    let mut window = content(ahead(1 << 20, 1 << 20));
    for id in [ids[0], ChunkId([8; 32]), ids[1]] {
        window.want(want(id, 100));
    }
    let results: Vec<_> = fixture.run(&mut window, 1, &mut |_| 0).into_iter().map(|(_, result)| result).collect();
    assert_eq!(results[0], Ok(Plain::Data(data(1, 100))));
    assert_eq!(results[1], Err(ReadError::Object(ObjectError::Header)));
    assert_eq!(results[2], Ok(Plain::Data(data(2, 100))));
}

/// What a chunk of the property test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Data,
    Zeros,
    Damaged,
    Lost,
}

fn kinds() -> impl Strategy<Value = Vec<(Kind, usize)>> {
    let kind =
        prop_oneof![6 => Just(Kind::Data), 2 => Just(Kind::Zeros), 1 => Just(Kind::Damaged), 1 => Just(Kind::Lost)];
    proptest::collection::vec((kind, 1..3000usize), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_window_gives_what_one_chunk_after_the_other_would_be(
        chunks in kinds(),
        wants in proptest::collection::vec((any::<prop::sample::Index>(), 0..8u8), 0..120),
        held_bytes in 0..40_000u64,
        read_bytes in 0..20_000usize,
        width in 1..9usize,
        order in proptest::collection::vec(any::<prop::sample::Index>(), 200),
    ) {
        let keys = authenticated_keys();
        let mut fixture = Fixture::new(&keys);
        let plain: Vec<Vec<u8>> = chunks.iter().enumerate().map(|(number, (kind, len))| match kind {
            Kind::Zeros => vec![0; *len],
            // Its number makes each one of its kind.
            _ => [&(number as u32 + 1).to_le_bytes()[..], &data(number as u8, *len)].concat(),
        }).collect();
        let mut ids = Vec::new();
        for part in plain.chunks(7) {
            ids.extend(fixture.pack(part).1);
        }
        for ((kind, _), id) in chunks.iter().zip(&ids) {
            let Some(place) = fixture.index.get(id) else { continue };
            match kind {
                Kind::Lost => fixture.index.remove(id),
                Kind::Damaged => fixture.repository.store.0.change(&Key::Pack(place.pack).path(), |pack| {
                    pack[(place.offset + place.size) as usize - 1] ^= 0x80;
                }),
                Kind::Data | Kind::Zeros => {}
            }
        }
        let mut window = content(ahead(held_bytes, read_bytes));
        let mut expected = Vec::new();
        for (index, claim) in &wants {
            let number = index.index(chunks.len());
            let len = plain[number].len();
            let size = match claim { 0 => len + 1, 1 => MAX_DATA_SIZE + 1, _ => len };
            window.want(want(ids[number], size));
            let outcome = match (claim, chunks[number].0) {
                (1, _) => "too large",
                (_, Kind::Lost) => "not indexed",
                (_, Kind::Damaged) => "damaged",
                (0, _) => "size",
                (_, Kind::Zeros) => "zeros",
                (_, Kind::Data) => "data",
            };
            expected.push((ids[number], outcome, number));
        }
        let mut order = order.iter().cycle();
        let out = fixture.run(&mut window, width, &mut |count| order.next().unwrap().index(count));
        prop_assert_eq!(out.len(), expected.len());
        for ((want, result), (id, outcome, number)) in out.into_iter().zip(expected) {
            prop_assert_eq!(want.id, id);
            let found = match result {
                Ok(Plain::Data(bytes)) => { prop_assert_eq!(&bytes, &plain[number]); "data" }
                Ok(Plain::Zeros(len)) => { prop_assert_eq!(len, plain[number].len()); "zeros" }
                Ok(Plain::Verified) => "verified",
                Err(ReadError::TooLarge { .. }) => "too large",
                Err(ReadError::NotIndexed) => "not indexed",
                Err(ReadError::Object(ObjectError::DataEnvelope(_))) => "damaged",
                Err(ReadError::Size { .. }) => "size",
                Err(_) => "something else",
            };
            prop_assert_eq!(found, outcome);
        }
    }
}

#[test]
fn a_shared_chunk_is_one_in_memory() {
    let keys = authenticated_keys();
    let mut fixture = Fixture::new(&keys);
    let (_, ids) = fixture.pack(&[data(1, 100)]);
    let mut window = content(ahead(1 << 20, 1 << 20));
    (0..2).for_each(|_| window.want(want(ids[0], 100)));
    let job = window.next_fetch(&fixture.index).unwrap();
    window.finish(fixture.work(job));
    let (one, other) = (window.next_ready().unwrap().1.unwrap(), window.next_ready().unwrap().1.unwrap());
    assert!(Arc::ptr_eq(&one, &other));
}

#[test]
fn a_block_cipher_elsewhere_makes_no_difference() {
    let secrets = ([1; 64], [2; 32]);
    for encryption in ["aes256-ocb", "chacha20-poly1305"] {
        let suite = Suite::from_names(encryption, "blake3").unwrap();
        let keys = Keys::new(suite, secrets.0, secrets.1, 0);
        let mut fixture = Fixture::new(&keys);
        let chunks: Vec<_> = [3, 900, 16, 1000, 5000, 4096, 20_000].map(|bytes| data(bytes as u8, bytes)).into();
        let (_, ids) = fixture.pack(&chunks);
        let mut window = content(ahead(1 << 20, 10_000));
        ids.iter().zip(&chunks).for_each(|(id, chunk)| window.want(want(*id, chunk.len())));
        let mut opener = Opener::new(&keys, &PureRust);
        let (mut elsewhere, mut forged) = (0, None);
        while let Some(job) = window.next_fetch(&fixture.index) {
            let pieces = now(fixture.repository.store.gather(&job.pieces));
            let mut begun = job.fetched(pieces).begin(&mut opener, 950);
            for (session, blocks) in begun.blocks() {
                let cipher = Aes256::new((&*keys.block_key(&session)).into());
                cipher.decrypt_blocks(Block::<Aes256>::cast_slice_from_core_mut(blocks.as_chunks_mut().0));
                // Whoever decrypts the second one makes a mistake.
                if elsewhere == 1 {
                    blocks[1234] ^= 1;
                    forged = Some(4);
                }
                elsewhere += 1;
            }
            window.finish(begun.finish(&mut opener).unpack(&mut opener));
        }
        assert_eq!(elsewhere, if encryption == "aes256-ocb" { 4 } else { 0 });
        for (number, chunk) in chunks.iter().enumerate() {
            let (_, result) = window.next_ready().unwrap();
            match result {
                Ok(plain) => assert_eq!((plain.bytes(), Some(number) == forged), (&chunk[..], false)),
                Err(error) => {
                    let wanted = ObjectError::DataEnvelope(EnvelopeError::Tag);
                    assert_eq!((error, Some(number)), (ReadError::Object(wanted), forged));
                }
            }
        }
    }
}
