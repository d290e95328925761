//! Compaction and recompression: what happens to which pack, and what must never be lost by it (repository layer, sections
//! 5.9, 7.1 and 7.3).

mod common;

use common::build::{PackBuilder, authenticated_keys, plain_meta, sealer};
use common::made::Made;
use common::shake::shake256;
use portaborg_core::codec::{Algorithm, PureRust};
use portaborg_core::compact::{
    OneByOne, PackFate, PackProblem, RecompressJob, Recompressed, Recompression, Recompressors, RewriteError, Step,
    Usage, forget_references, load_references, store_references,
};
use portaborg_core::crypto::Keys;
use portaborg_core::id::{ArchiveId, ChunkId, PackId};
use portaborg_core::index::Location;
use portaborg_core::name::Key;
use portaborg_core::object::{HEADER_BYTES, ObjectType, ObjectWriter, Opener};
use portaborg_core::references::ArchiveReferences;
use portaborg_core::store::now;
use portaborg_core::tuning::Help;
use std::collections::BTreeSet;

#[test]
fn packs_are_dropped_rewritten_or_kept() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    let unused = made.pack(&[&noise(1, 900), &noise(2, 900)]);
    let mixed = made.pack(&[b"used", &noise(3, 500), b"used, too"]);
    let used = made.pack(&[&noise(4, 900)]);
    let ids = [made.id(b"used"), made.id(b"used, too"), made.id(&noise(4, 900))];
    made.uses(&ids);
    let plan = made.plan(10.0, 1000);
    let fates = |fate| plan.packs(fate).map(|pack| pack.id).collect::<Vec<_>>();
    assert_eq!(fates(PackFate::Drop), [unused]);
    assert_eq!(fates(PackFate::Rewrite), [mixed]);
    assert_eq!(fates(PackFate::Keep), [used]);
    assert_eq!(plan.dropped_chunks(&made.index, &made.usage), 3);

    let sizes = |made: &Made<'_>| made.packs().iter().map(|pack| pack.size).sum::<u64>();
    let before = sizes(&made);
    let freed = made.run(&plan);
    assert_eq!(freed, before - sizes(&made));
    assert_eq!(freed, plan.freed_bytes());
    assert_eq!(made.index.len(), 3);
    made.assert_whole();
    let packs = made.packs();
    assert!(packs.len() == 2 && packs.iter().any(|pack| pack.name == used.to_string()));
}

#[test]
fn a_pack_whose_objects_are_all_gone_leaves_nothing() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    // A copy in the gap makes it a pack that is rewritten, not dropped.
    let pack = made.pack(&[b"copy", b"unused"]);
    made.pack(&[b"copy"]);
    made.uses(&[made.id(b"copy")]);
    let plan = made.plan(10.0, 1);
    assert_eq!(plan.packs(PackFate::Rewrite).map(|pack| pack.id).collect::<Vec<_>>(), [pack]);
    made.run(&plan);
    assert_eq!(made.packs().len(), 1);
    made.assert_whole();
}

#[test]
fn little_gain_is_left_for_another_time() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    made.pack(&[&noise(1, 800), &noise(2, 50)]); // about 200 of 1150 bytes
    made.uses(&[made.id(&noise(1, 800))]);
    let fate = |made: &Made<'_>, threshold| made.plan(threshold, 1).packs(PackFate::Rewrite).count();
    let percent = {
        let plan = made.plan(0.0, 1);
        100.0 * plan.freed_bytes() as f64 / plan.total_bytes as f64
    };
    assert!((15.0..20.0).contains(&percent), "{percent}");
    assert_eq!((fate(&made, percent), fate(&made, percent + 0.1)), (1, 0));
    // As part of a large repository it is not worth a new index, whatever the pack's own share.
    made.pack(&[&noise(3, 20_000)]);
    made.uses(&[made.id(&noise(3, 20_000))]);
    assert_eq!((fate(&made, 10.0), fate(&made, 3.0)), (0, 1));
    made.store_index();
    let before = made.repository.store.0.paths("");
    let plan = made.plan(10.0, 1);
    assert!(plan.is_empty());
    assert_eq!(made.run(&plan), 0);
    assert_eq!(made.repository.store.0.paths(""), before, "not even the index is touched");
}

#[test]
fn tiny_packs_become_one_when_there_are_enough() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    for seed in 0..7 {
        made.pack(&[&noise(seed, 100)]);
        made.uses(&[made.id(&noise(seed, 100))]);
    }
    let bytes = made.packs()[0].size;
    let count = |made: &Made<'_>, limit| made.plan(10.0, limit).packs(PackFate::Merge).count();
    assert_eq!((count(&made, 7 * bytes + 1), count(&made, 7 * bytes)), (0, 7));
    // Tiny is less than half of a full one.
    assert_eq!((count(&made, 2 * bytes), count(&made, 2 * bytes + 2)), (0, 7));
    let plan = made.plan(10.0, 3 * bytes);
    assert_eq!(plan.merges().iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
    made.run(&plan);
    assert_eq!(made.packs().iter().map(|pack| pack.size / bytes).collect::<BTreeSet<_>>(), BTreeSet::from([1, 3]));
    assert_eq!(made.packs().len(), 3);
    made.assert_whole();
}

/// What lies between the objects of the index: other copies go, everything else stays.
#[test]
fn of_a_gap_only_needless_copies_are_dropped() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    let mut pack = PackBuilder::new(&keys);
    pack.add("F", b"used");
    pack.add("F", b"copy");
    pack.add("F", b"nobody knows");
    pack.add_as(keys.chunk_id(b"forged"), &plain_meta("F", 3), b"x");
    pack.add("F", b"unused");
    let mixed = pack.store(&made.repository.store.0, &mut made.index);
    made.index.remove(&made.id(b"nobody knows"));
    made.index.remove(&keys.chunk_id(b"forged"));
    made.pack(&[b"copy"]);
    made.uses(&[made.id(b"used"), made.id(b"copy")]);
    let plan = made.plan(1.0, 1);
    assert_eq!(plan.packs(PackFate::Rewrite).map(|pack| pack.id).collect::<Vec<_>>(), [mixed]);
    made.run(&plan);
    made.assert_whole();
    let all = made.rebuilt();
    assert!(all.get(&made.id(b"nobody knows")).is_some(), "an object that no index has stays");
    assert!(all.get(&made.id(b"unused")).is_none());
    let copies = made.occurrences(b"copy");
    assert_eq!((copies, made.occurrences(b"nobody knows")), (1, 1));
}

#[test]
fn garbage_at_the_end_stays_and_is_told() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    let pack = made.pack(&[b"used", &noise(1, 500)]);
    let content = [made.content(pack), b"garbage, not an object".to_vec()].concat();
    made.rename(pack, &content);
    made.uses(&[made.id(b"used")]);
    let plan = made.plan(10.0, 1);
    let problems = made.run_and_tell(&plan);
    assert!(matches!(&problems[..], [PackProblem::Gap { bytes: 22, .. }]), "{problems:?}");
    made.assert_whole();
    assert_eq!(made.occurrences(b"garbage, not an object"), 1);

    // Nothing of it is needed, but it isn't wholly known either: it is not dropped.
    made.usage = Usage::new();
    let plan = made.plan(10.0, 1);
    assert_eq!((plan.packs(PackFate::Drop).count(), plan.packs(PackFate::Rewrite).count()), (0, 1));
    made.run_and_tell(&plan);
    assert_eq!(made.occurrences(b"garbage, not an object"), 1);
}

/// The index tells that a chunk lies in a pack that is gone, or that a check found damaged: the copy in a gap is the last.
#[test]
fn the_last_good_copy_is_no_needless_one() {
    let keys = authenticated_keys();
    for is_gone in [true, false] {
        let mut made = Made::new(&keys);
        made.pack(&[b"used", b"precious", &noise(1, 500)]);
        let other = made.pack(&[b"precious"]);
        if is_gone {
            made.repository.store.0.remove(&Key::Pack(other).path());
        } else {
            made.corrupt.insert(other);
        }
        made.uses(&[made.id(b"used"), made.id(b"precious")]);
        let plan = made.plan(10.0, 1);
        assert_eq!((plan.stale_entries, plan.stale_used), if is_gone { (1, 1) } else { (0, 0) });
        assert_eq!(plan.packs(PackFate::Rewrite).count(), 1);
        made.run(&plan);
        assert_eq!(made.occurrences(b"precious"), if is_gone { 1 } else { 2 });
        assert_eq!(made.index.get(&made.id(b"precious")).map(|at| at.pack), Some(other), "it stays for check to mend");

        made.recompress("zstd,1");
        assert_eq!(made.occurrences(b"precious"), if is_gone { 1 } else { 2 });
    }
}

#[test]
fn damaged_packs_are_never_copied() {
    let keys = authenticated_keys();
    let build = || {
        let mut made = Made::new(&keys);
        let mixed = made.pack(&[b"used", &noise(1, 500)]);
        let tiny = [made.pack(&[b"1"]), made.pack(&[b"2"]), made.pack(&[b"3"])];
        made.uses(&[made.id(b"used"), made.id(b"1"), made.id(b"2"), made.id(b"3")]);
        (made, mixed, tiny)
    };
    // Known to be damaged.
    let (mut made, mixed, tiny) = build();
    made.corrupt = BTreeSet::from([mixed, tiny[1]]);
    let plan = made.plan(10.0, 450);
    assert_eq!(plan.packs(PackFate::Rewrite).count(), 0);
    assert_eq!(plan.kept_corrupt, made.corrupt.iter().copied().collect::<Vec<_>>());
    assert!(plan.packs(PackFate::Merge).all(|pack| pack.id != tiny[1]));
    // One of which nothing is needed goes all the same.
    made.usage = Usage::new();
    let plan = made.plan(10.0, 450);
    assert_eq!((plan.packs(PackFate::Drop).count(), plan.kept_corrupt.len()), (4, 0));

    // Not known yet: its content is not what its name says.
    let (mut made, mixed, tiny) = build();
    let damage = |made: &Made<'_>, pack: PackId| {
        made.repository.store.0.change(&Key::Pack(pack).path(), |content| *content.last_mut().unwrap() ^= 1);
        made.content(pack)
    };
    let contents = [damage(&made, mixed), damage(&made, tiny[1])];
    let plan = made.plan(10.0, 450);
    assert_eq!((plan.packs(PackFate::Rewrite).count(), plan.packs(PackFate::Merge).count()), (1, 3));
    let problems: BTreeSet<PackId> = made.run_and_tell(&plan).iter().map(damaged).collect();
    assert_eq!(problems, BTreeSet::from([mixed, tiny[1]]));
    assert_eq!([made.content(mixed), made.content(tiny[1])], contents);
    assert_eq!(made.packs().len(), 3, "the two others became one");
    assert_eq!(made.recompress("zstd,1").1.iter().map(damaged).collect::<BTreeSet<_>>(), problems);
    assert_eq!([made.content(mixed), made.content(tiny[1])], contents);
}

#[test]
fn an_impossible_index_stops_before_anything_is_written() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    let pack = made.pack(&[&noise(1, 100), &noise(2, 100), &noise(3, 100)]);
    made.uses(&[made.id(&noise(1, 100))]);
    // More than the pack has: it is left alone.
    let bytes = made.packs()[0].size;
    made.index.insert(ChunkId([1; 32]), Location { pack, offset: 0, size: bytes as u32 });
    let plan = made.plan(10.0, 1);
    assert_eq!((plan.overdrawn.clone(), plan.is_empty()), (vec![pack], true));
    // As much as it has, but one over the other.
    made.index.remove(&ChunkId([1; 32]));
    let location = made.index.get(&made.id(&noise(3, 100))).unwrap();
    made.index.insert(made.id(&noise(3, 100)), Location { offset: location.offset - 5, ..location });
    let plan = made.plan(10.0, 1);
    assert!(made.try_run(&plan, &mut |_| true).is_err());
    assert_eq!(made.content(pack).len() as u64, bytes);
    assert_eq!(made.stored().len(), 3, "the index is there again");
}

#[test]
fn work_that_is_stopped_leaves_a_whole_repository() {
    let keys = authenticated_keys();
    for stop in 1..=5 {
        let mut made = Made::new(&keys);
        for seed in 0..5 {
            let (used, unused) = (noise(2 * seed, 300), noise(2 * seed + 1, 300));
            made.pack(&[&used, &unused]);
            made.uses(&[made.id(&used)]);
        }
        let plan = made.plan(10.0, 1);
        let mut steps = 0;
        made.try_run(&plan, &mut |step| {
            steps += usize::from(matches!(step, Step::Done { total: 5, .. }));
            steps < stop
        })
        .unwrap();
        assert_eq!(made.index.len(), 10 - stop);
        made.assert_whole();
    }
}

/// The leftover of a compaction that a crash ended: a new pack beside what it was made of, of which no index knows. In a later
/// compaction it is one of the tiny packs, and at the same time what others become: what moved into it must not get lost when
/// it is merged itself.
#[test]
fn a_pack_that_was_there_before_is_found_again() {
    let keys = authenticated_keys();
    let mut interesting = 0;
    for seed in 0..60 {
        let mut made = Made::new(&keys);
        // Merged: a and b would become exactly the pack that lies there already.
        let (a, b) = (noise(10 * seed, 100), noise(10 * seed + 1, 100));
        let leftover = made.pack(&[&a, &b]);
        made.pack(&[&a]);
        made.pack(&[&b]);
        for extra in 2..6 {
            made.pack(&[&noise(10 * seed + extra, 100)]);
        }
        // Rewritten: without its unused object this is another leftover.
        let (kept, unused) = (noise(10 * seed + 6, 110), noise(10 * seed + 7, 3000));
        let rest = made.pack(&[&kept]);
        made.pack(&[&kept, &unused]);
        let ids: Vec<ChunkId> = made.index.iter().map(|(id, _)| id).filter(|id| *id != made.id(&unused)).collect();
        made.uses(&ids);
        let tiny = made.packs().iter().map(|pack| pack.size).min().unwrap();
        let plan = made.plan(10.0, 2 * tiny + tiny / 2);
        interesting += usize::from(plan.packs(PackFate::Merge).any(|pack| pack.id == leftover || pack.id == rest));
        made.run(&plan);
        made.assert_whole();
        assert_eq!(made.index.len(), 7);
    }
    assert!(interesting > 50);
}

#[test]
fn objects_are_compressed_anew() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    let text = b"compressible ".repeat(100);
    made.pack(&[&text, &noise(1, 500)]);
    made.pack(&[&noise(2, 500)]);
    let stored = made.repository.store.0.paths("packs/");
    let ids: Vec<ChunkId> = made.index.iter().map(|(id, _)| id).collect();
    made.uses(&ids);
    // The pack with nothing to gain is looked at and stays.
    let first = Recompression { packs: 2, rewritten_packs: 1, objects: 3, recompressed: 1, already: 0, kept: 2 };
    assert_eq!(made.recompress("zstd,1").0, first);
    made.assert_whole();
    let meta = now(made.reader().read_any(made.id(&text))).unwrap().0;
    assert_eq!(
        (meta.payload.algorithm, meta.payload.level, meta.kind),
        (Algorithm::Zstd, 1, Some(ObjectType::Content))
    );
    assert_eq!(made.repository.store.0.paths("packs/").iter().filter(|path| stored.contains(path)).count(), 1);

    let paths = made.repository.store.0.paths("");
    let again = Recompression { rewritten_packs: 0, recompressed: 0, already: 1, ..first };
    assert_eq!(made.recompress("zstd,1").0, again);
    assert_eq!(made.repository.store.0.paths(""), paths, "not even the index is touched");

    // Obfuscation makes every object another one.
    let padded = Recompression { rewritten_packs: 2, recompressed: 3, kept: 0, ..first };
    assert_eq!(made.recompress("obfuscate,110,zstd,1").0, padded);
    made.assert_whole();
    let meta = now(made.reader().read_any(made.id(&text))).unwrap().0;
    assert!(meta.payload.olevel == Some(110) && meta.payload.psize.is_some_and(|psize| psize <= meta.payload.csize));
    assert_eq!(made.recompress("none").0, Recompression { already: 0, ..padded });
    let meta = now(made.reader().read_any(made.id(&text))).unwrap().0;
    assert_eq!((meta.payload.olevel, meta.payload.psize, meta.payload.csize), (None, None, text.len()));
    made.assert_whole();
}

/// Does the last job that was given first.
struct LastFirst<'k> {
    opener: Opener<'k>,
    writer: ObjectWriter<'k>,
    jobs: Vec<RecompressJob>,
    most: usize,
}

impl<'k> LastFirst<'k> {
    fn new(keys: &'k Keys) -> Self {
        let (opener, writer) = (Opener::new(keys, &PureRust), ObjectWriter::new(keys, &PureRust));
        LastFirst { opener, writer, jobs: Vec::new(), most: 0 }
    }
}

impl Recompressors for LastFirst<'_> {
    fn look_ahead(&self) -> usize {
        4
    }

    fn help(&self) -> Help {
        Help::NONE
    }

    fn give(&mut self, job: RecompressJob) {
        self.jobs.push(job);
        self.most = self.most.max(self.jobs.len());
    }

    fn next(&mut self) -> Recompressed {
        self.jobs.pop().expect("there is a job to wait for").run(&mut self.opener, &mut self.writer)
    }
}

/// A pack of more jobs than may be given at once, long objects and short ones.
fn many_jobs(made: &mut Made<'_>) -> PackId {
    let text = |number: u8| [number; 300].repeat(if number.is_multiple_of(5) { 3 } else { 400 });
    let texts: Vec<Vec<u8>> = (1..60).map(text).collect();
    let chunks: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let ids: Vec<ChunkId> = chunks.iter().map(|chunk| made.id(chunk)).collect();
    let pack = made.pack(&chunks);
    made.uses(&ids);
    pack
}

#[test]
fn jobs_of_recompression_may_be_done_in_any_order() {
    let keys = authenticated_keys();
    let all = [true, false].map(|in_order| {
        let mut made = Made::new(&keys);
        many_jobs(&mut made);
        let mut last_first = LastFirst::new(&keys);
        let done = if in_order {
            made.recompress("lz4").0
        } else {
            let done = made.recompress_by("lz4", &mut last_first).0.unwrap();
            assert_eq!((last_first.most, last_first.jobs.len()), (4, 0));
            done
        };
        assert_eq!((done.recompressed, done.rewritten_packs), (59, 1));
        made.assert_whole();
        made.repository.store.0.paths("packs/")
    });
    assert_eq!(all[0], all[1]);
}

#[test]
fn the_first_object_that_fails_ends_recompression_whoever_finds_it_first() {
    let keys = authenticated_keys();
    // In the payload of one object and the metadata of another, in both orders.
    for [payload, metadata] in [[20, 40], [40, 20]] {
        let mut made = Made::new(&keys);
        let pack = many_jobs(&mut made);
        let mut inside: Vec<_> = made.index.iter().map(|(id, place)| (place.offset as usize, id)).collect();
        inside.sort_unstable();
        let mut content = made.content(pack);
        content[inside[payload + 1].0 - 1] ^= 1;
        content[inside[metadata].0 + HEADER_BYTES + 60] ^= 1;
        made.rename(pack, &content);
        let stored = made.repository.store.0.paths("packs/");
        let error = made.recompress_by("lz4", &mut LastFirst::new(&keys)).0.unwrap_err();
        let RewriteError::Read { id, .. } = error else { panic!("{error}") };
        assert_eq!(id, inside[20].1);
        assert_eq!(made.recompress_by("lz4", &mut OneByOne::new(&keys, &PureRust)).0, Err(error));
        assert_eq!(made.repository.store.0.paths("packs/"), stored);
    }
}

#[test]
fn recompression_passes_damaged_packs_over() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    let text = b"compressible ".repeat(100);
    let pack = made.pack(&[&text]);
    made.corrupt.insert(pack);
    assert_eq!(made.recompress("zstd,1").0, Recompression::default());
    made.corrupt.clear();
    assert_eq!(made.recompress("zstd,1").0.recompressed, 1);
}

#[test]
fn what_is_used_is_added_up_over_all_archives() {
    let keys = authenticated_keys();
    let mut made = Made::new(&keys);
    made.pack(&[b"one", b"two", b"three"]);
    let [one, two, three] = [&b"one"[..], b"two", b"three"].map(|text| made.id(text));
    let lost = ChunkId([9; 32]);
    let references =
        |chunks: &[(ChunkId, u32)]| ArchiveReferences { file_count: 2, content_size: 10, chunks: chunks.into() };
    let mut usage = Usage::new();
    usage.add(&references(&[(one, 3), (two, 0)]), &made.index);
    usage.add(&references(&[(one, 0), (two, 3), (lost, 7)]), &made.index);
    assert_eq!((usage.file_count(), usage.content_size(), usage.deduplicated_size()), (4, 20, 6));
    assert_eq!(usage.missing(), &BTreeSet::from([lost]));
    assert!(usage.is_used(&one) && usage.is_used(&two) && !usage.is_used(&three) && !usage.is_used(&lost));
    // What soft-deleted archives need is kept without counting.
    assert_eq!(usage.keep(&references(&[(three, 5), (lost, 7), (ChunkId([8; 32]), 1)]), &made.index), 2);
    assert!(usage.is_used(&three));
    assert_eq!((usage.file_count(), usage.deduplicated_size(), usage.missing().len()), (4, 6, 1));
}

#[test]
fn references_are_kept_in_the_repository() {
    let keys = authenticated_keys();
    let made = Made::new(&keys);
    let chunks: Vec<(ChunkId, u32)> =
        (0..3000u32).map(|number| (keys.chunk_id(&number.to_le_bytes()), number)).collect();
    let references = ArchiveReferences { file_count: u64::MAX, content_size: 1 << 40, chunks: chunks.clone() };
    let sorted = |mut references: ArchiveReferences| {
        references.chunks.sort_unstable();
        references
    };
    assert_eq!(ArchiveReferences::decode(&references.encode()).map(sorted), Some(sorted(references.clone())));
    assert_eq!(ArchiveReferences::decode(&references.encode()[..100]), None);
    assert_eq!(ArchiveReferences::decode(b""), None);

    let ids = [ArchiveId([1; 32]), ArchiveId([2; 32])];
    let mut reader = made.reader();
    for id in ids {
        now(store_references(&reader, &mut sealer(&keys, [1; 24]), id, &references)).unwrap();
    }
    let loaded = now(load_references(&mut reader, ids[0])).unwrap();
    assert_eq!(loaded.map(|loaded| loaded.map(sorted)), Ok(Some(sorted(references))));
    assert_eq!(now(load_references(&mut reader, ArchiveId([3; 32]))).unwrap(), Ok(None));
    let store = &made.repository.store;
    // One archive's are not another's.
    store.0.put(&Key::References(ids[0]).path(), store.0.content(&Key::References(ids[1]).path()));
    assert!(matches!(now(load_references(&mut reader, ids[0])).unwrap(), Err(Some(_))));
    now(forget_references(store, &BTreeSet::from([ids[1]]))).unwrap();
    assert_eq!(store.0.paths("cache/"), [Key::References(ids[1]).path()]);
}

fn noise(seed: u64, len: usize) -> Vec<u8> {
    shake256(&format!("compaction {seed}"), len)
}

fn damaged(problem: &PackProblem) -> PackId {
    match problem {
        PackProblem::Damaged { pack } => *pack,
        other => panic!("{other}"),
    }
}
