//! The crash model: work on a repository is written down operation by operation, and every state in which a crash may leave
//! it must be a good repository: all earlier archives are whole, and so is a new one if it is there.
//!
//! `states/NAME` looks at all states through core, and goes on working from each; `ours/NAME` and `peer/NAME` show a sample
//! to the programs. `PORTABORG_TESTS_SEED` repeats the choices of a run that told its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use portaborg_core::codec::PureRust;
use portaborg_core::compact::{OneByOne, Step, recompress};
use portaborg_core::id::ArchiveId;
use portaborg_core::name::Namespace;
use portaborg_core::object::Opener;
use portaborg_core::repo::{ChunkReader, PackLimits, delete_archive, load_index_to_rewrite, undelete_archive};
use portaborg_core::store::{BlockingStore, BlockingStoreMut, now};
use portaborg_tests::dice::Dice;
use portaborg_tests::expected::to_hex;
use portaborg_tests::fixture;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::program::{Call, Program};
use portaborg_tests::recording::{self, Crash, Objects, Operation};
use portaborg_tests::scratch::Scratch;
use portaborg_tests::tree;
use portaborg_tests::writing::{Files, Opened, Recorded};
use sha2::{Digest, Sha256};

/// Small, so that a little work fills several.
const PACK_BYTES: usize = 20_000;
const LIMITS: PackLimits = PackLimits { size: Some(PACK_BYTES), count: None };
/// So many states of each kind of work are shown to a program.
const SAMPLE: usize = 11;

fn main() -> ExitCode {
    harness::main(|| {
        let dice = Dice::cast();
        let world = Arc::new(World::new());
        let program = Program::portaborg();
        let mut trials = Vec::new();
        for name in PLAYS {
            let (stage, chance) = (Arc::clone(&world), dice.clone());
            trials.push(Trial::new(format!("states/{name}"), move |f| all_states(&stage, name, &chance, f)));
            let (stage, chance, ours) = (Arc::clone(&world), dice.clone(), program.clone());
            trials.push(Trial::new(format!("ours/{name}"), move |f| sample(&ours, &stage, name, &chance, f)));
            let (stage, chance) = (Arc::clone(&world), dice.clone());
            trials.push(Trial::new(format!("peer/{name}"), move |f| match peers::borg2() {
                Some(client) => sample(&client, &stage, name, &chance, f),
                None => f.skip(peers::MISSING),
            }));
        }
        trials
    })
}

/// The kinds of work.
const PLAYS: [&str; 6] =
    ["create", "create-without-index", "create-beside-marker", "delete-undelete", "compact", "repo-compress"];

/// A repository of the real client's with two archives more, that share half of their files.
struct World {
    opened: Opened,
    /// As the client left it.
    fixture: Objects,
    passphrase: String,
    objects: Objects,
    one: ArchiveId,
    two: ArchiveId,
    /// What the archives hold that were made here.
    files: BTreeMap<String, Files>,
}

/// Work that was done once.
struct Play {
    start: Objects,
    log: Vec<Operation>,
    end: Objects,
    /// What identifies each archive's content, of all that were there before or after.
    known: BTreeMap<String, String>,
}

impl World {
    fn new() -> Self {
        let fixture = fixture::named("series");
        let (opened, start) = Opened::fixture(&fixture);
        let mut dice = Dice::new(7);
        let mut all: Vec<(String, Vec<u8>)> =
            (0..9).map(|number| (format!("file{number}"), dice.bytes(2000 + 1700 * number))).collect();
        let changed = dice.bytes(6000);
        let first: Files = all.iter().take(6).cloned().collect();
        all.iter_mut().take(2).for_each(|(_, content)| content.splice(..100, changed[..100].to_vec()).for_each(drop));
        let second: Files = all.iter().step_by(2).cloned().collect();
        let repository = opened.repository(&start);
        let one = opened.create(&repository, "one", &first, LIMITS);
        let two = opened.create(&repository, "two", &second, LIMITS);
        let files = BTreeMap::from([(one.to_string(), first), (two.to_string(), second)]);
        let passphrase = fixture.expected.passphrase;
        World { objects: repository.store.0.objects(), opened, fixture: start, passphrase, one, two, files }
    }

    /// Does the work.
    fn play(&self, name: &str) -> Play {
        let start = match name {
            "create-without-index" => without(&self.objects, |path| path.starts_with("index/")),
            "create-beside-marker" => {
                // Part of the index alone, which the marker tells not to trust.
                let mut fragments = 0;
                let mut objects = without(&self.objects, |path| {
                    fragments += usize::from(path.starts_with("index/"));
                    path.starts_with("index/") && fragments > 1
                });
                objects.insert("cache/chunkindex-invalid".into(), Arc::default());
                objects
            }
            "compact" => {
                let repository = self.opened.repository(&self.objects);
                now(delete_archive(&repository.store, self.one)).expect("it is there");
                repository.store.0.objects()
            }
            _ => self.objects.clone(),
        };
        let repository = self.opened.repository(&start);
        match name {
            "delete-undelete" => self.delete_and_undelete(&repository),
            "compact" => {
                let fates = self.opened.compact(&repository, 2 * PACK_BYTES as u64).expect("the repository is good");
                assert!(fates.iter().all(|count| *count > 0), "dropped, rewritten, merged: {fates:?}");
            }
            "repo-compress" => self.repo_compress(&repository),
            _ => self.create(&repository),
        }
        let (end, log) = (repository.store.0.objects(), repository.store.0.log());
        let mut known = self.opened.read_all(&start).expect("the repository was good before");
        known.extend(self.opened.read_all(&end).expect("the repository is good after"));
        Play { start, log, end, known }
    }

    /// An archive with new files and old ones.
    fn create(&self, repository: &Recorded) {
        let _ = self.opened.create(repository, "three", &self.third(), LIMITS);
    }

    fn third(&self) -> Files {
        let mut dice = Dice::new(8);
        let mut files = self.files[&self.two.to_string()].clone();
        files.extend((0..6).map(|number| (format!("new{number}"), dice.bytes(3000 + 2100 * number))));
        files
    }

    fn delete_and_undelete(&self, repository: &Recorded) {
        let store = &repository.store;
        let done = [
            now(delete_archive(store, self.one)),
            now(delete_archive(store, self.two)),
            store.0.sync(),
            now(undelete_archive(store, self.one)),
            store.0.sync(),
        ];
        assert!(done.iter().all(Result::is_ok), "{done:?}");
    }

    fn repo_compress(&self, repository: &Recorded) {
        let Opened { keys, .. } = &self.opened;
        let mut sealer = self.opened.sealer();
        let mut opener = Opener::new(keys, &PureRust);
        let index = now(load_index_to_rewrite(repository, &mut opener, &mut sealer, &mut |_| ()));
        let mut reader = ChunkReader::new(repository, keys, &PureRust, index.expect("the index is good"));
        let packs = repository.store.0.list(Namespace::Packs).expect("a recorder does not fail");
        let compression = "obfuscate,110,lz4".parse().expect("that is a compression");
        let (corrupt, mut goes_on) = (BTreeSet::new(), |_: Step<'_>| true);
        let mut workers = OneByOne::new(keys, &PureRust);
        let call = recompress(&packs, &corrupt, &compression, &mut workers, &mut reader, &mut sealer, &mut goes_on);
        let done = now(call).expect("the packs are good");
        assert!(done.rewritten_packs > 10 && done.recompressed > 30, "{done:?}");
    }

    /// What the archive of this id must hold, if it was made here.
    fn files(&self, id: &str, play: &str) -> Option<Files> {
        let made_now = || play.starts_with("create").then(|| self.third());
        self.files.get(id).cloned().or_else(|| {
            let is_old = self.fixture.contains_key(&format!("archives/{id}"));
            if is_old { None } else { made_now() }
        })
    }
}

impl Play {
    fn crashes(&self, dice: &Dice) -> Vec<Crash> {
        recording::crashes(&self.start, &self.log, &mut dice.clone())
    }

    /// What is wrong with a state, by what it lists and holds.
    fn judge(&self, crash: &Crash, read: &BTreeMap<String, String>) -> Result<(), String> {
        let lost: Vec<&String> = crash.archives.iter().filter(|id| !read.contains_key(*id)).collect();
        if !lost.is_empty() {
            return Err(format!("lost: {lost:?}"));
        }
        match read.iter().find(|(id, content)| self.known.get(*id) != Some(content)) {
            Some((id, _)) => Err(format!("archive {id} is not what it was")),
            None => Ok(()),
        }
    }
}

/// Looks at all states through core, and then compacts each and adds to it.
fn all_states(world: &World, name: &'static str, dice: &Dice, findings: &mut Findings) {
    let play = world.play(name);
    let crashes = play.crashes(dice);
    findings.note(format!("{} operations, {} states, seed {}", play.log.len(), crashes.len(), dice.seed));
    findings.check(crashes.len() >= play.log.len() / 2, || "there are too few states".into());
    let durable = recording::archives(&recording::durable(&play.start, &play.log));
    findings.check(durable == recording::archives(&play.end), || "what was done last is not durable at the end".into());
    for crash in &crashes {
        let seen = world.opened.read_all(&crash.objects).and_then(|read| play.judge(crash, &read).map(|()| read));
        match seen.and_then(|read| go_on(world, crash, &read)) {
            Ok(()) => {}
            Err(problem) => findings.wrong(format!("{}: {problem}", crash.story)),
        }
    }
}

/// The next ones to work on the repository find nothing that leads them astray.
fn go_on(world: &World, crash: &Crash, before: &BTreeMap<String, String>) -> Result<(), String> {
    let repository = world.opened.repository(&crash.objects);
    // The same files again, as if the interrupted work were repeated: what is not added must be there.
    let mut files = world.third();
    files.insert("after".into(), vec![7; 100]);
    let new = world.opened.create(&repository, "after", &files, LIMITS);
    world.opened.compact(&repository, 2 * PACK_BYTES as u64).map_err(|error| format!("compact: {error}"))?;
    let after = world.opened.read_all(&repository.store.0.objects()).map_err(|error| format!("afterwards: {error}"))?;
    if after.len() != before.len() + 1 || !after.contains_key(&new.to_string()) {
        return Err(format!("afterwards there are other archives: {:?}", after.keys()));
    }
    match before.iter().find(|(id, content)| after.get(*id) != Some(content)) {
        Some((id, _)) => Err(format!("afterwards archive {id} is not what it was")),
        None => Ok(()),
    }
}

/// Shows some states to a program: what comes after each sync, the last one, and others by chance.
fn sample(program: &Program, world: &World, name: &'static str, dice: &Dice, findings: &mut Findings) {
    let play = world.play(name);
    let mut crashes = play.crashes(dice);
    let mut chance = dice.clone();
    chance.shuffle(&mut crashes[1..]);
    // A third of the sample at most comes after a sync: those are the mildest.
    let (at_sync, others): (Vec<Crash>, Vec<Crash>) = crashes.into_iter().partition(|crash| crash.is_at_sync);
    let mut chosen: Vec<Crash> = at_sync.into_iter().take(SAMPLE / 3).collect();
    let left = SAMPLE - chosen.len();
    chosen.extend(others.into_iter().take(left));
    findings.note(format!("{} states, seed {}", chosen.len(), dice.seed));
    let scratch = Scratch::new("crash");
    let earlier = play.start.keys().find_map(|path| path.strip_prefix("archives/").filter(|id| is_earlier(world, id)));
    let earlier = earlier.expect("the fixture has archives");
    let untouched = scratch.folder("untouched");
    recording::store(&world.fixture, &untouched.join("repository"));
    let wanted = extract(program, world, &untouched, earlier, findings);
    findings.check(wanted.len() > 3, || "the earlier archive has too few files".into());
    for (number, crash) in chosen.iter().enumerate() {
        let folder = scratch.folder(&number.to_string());
        recording::store(&crash.objects, &folder.join("repository"));
        let mut told = Findings::default();
        show(program, world, crash, &folder, &mut told);
        let made = newest(world, crash, name);
        // The real client starts slowly, so it extracts one archive of each state.
        let (is_for_made, is_for_earlier) =
            (program.is_ours() || number % 2 == 0, program.is_ours() || number % 2 == 1);
        if let Some((id, files)) = made.filter(|_| is_for_made) {
            let tree = extract(program, world, &folder, id, &mut told);
            told.check(holds(&tree, &files), || format!("archive {id} is not what it was: {:?}", tree.keys()));
        }
        if is_for_earlier {
            let again = extract(program, world, &folder, earlier, &mut told);
            told.check(again == wanted, || format!("archive {earlier} is not what it was"));
        }
        findings.extend(told.into_wrong().into_iter().map(|problem| format!("{}: {problem}", crash.story)));
        portaborg_tests::scratch::remove_all(&folder);
    }
}

/// It was made by the real client, and has several files.
fn is_earlier(world: &World, id: &str) -> bool {
    world.fixture.contains_key(&format!("archives/{id}")) && id.starts_with("e2ddf485")
}

/// Verifies and lists.
fn show(program: &Program, world: &World, crash: &Crash, folder: &Path, findings: &mut Findings) {
    let verified = on(program, world, folder).args(["check", "--verify-data"]).run();
    findings.check(verified.code == Some(0), || verified.summary());
    if program.is_ours() {
        let listed = on(program, world, folder).args(["repo-list", "--format", "{id}{NL}"]).run();
        findings.check(listed.code == Some(0), || listed.summary());
        let ids: BTreeSet<String> = listed.out().lines().map(str::to_owned).collect();
        findings.check(ids == recording::archives(&crash.objects), || format!("lists {ids:?}"));
    }
}

/// Of the archives that were made here, the one with the most files: the newest.
fn newest<'c>(world: &World, crash: &'c Crash, name: &str) -> Option<(&'c str, Files)> {
    let listed = crash.objects.keys().filter_map(|path| path.strip_prefix("archives/"));
    let made = listed.filter_map(|id| Some((id, world.files(id, name)?)));
    made.max_by_key(|(_, files)| files.len())
}

/// Path, size and digest of everything that was extracted.
type Extracted = BTreeMap<String, (Option<u64>, Option<String>)>;

/// Whether these files were extracted and no others.
fn holds(tree: &Extracted, files: &Files) -> bool {
    let digest = |content: &[u8]| (Some(content.len() as u64), Some(to_hex(&Sha256::digest(content))));
    let wanted: Extracted = files.iter().map(|(path, content)| (path.clone(), digest(content))).collect();
    tree.iter().filter(|(_, (size, _))| size.is_some()).eq(&wanted)
}

fn extract(program: &Program, world: &World, folder: &Path, id: &str, findings: &mut Findings) -> Extracted {
    let target = folder.join(format!("extracted-{id}"));
    std::fs::create_dir_all(&target).expect("the folder for temporary files can be written");
    let extracted = on(program, world, folder).within(&target).args(["extract", &format!("aid:{id}")]).run();
    findings.check(extracted.code == Some(0), || extracted.summary());
    let tree = tree::read(&target);
    tree.into_iter()
        .map(|(path, node)| (String::from_utf8_lossy(&path).into_owned(), (node.size, node.sha256)))
        .collect()
}

fn on(program: &Program, world: &World, folder: &Path) -> Call {
    program.on(&folder.join("repository"), &world.passphrase).base(&folder.join("base"))
}

fn without(objects: &Objects, mut gone: impl FnMut(&str) -> bool) -> Objects {
    objects.iter().filter(|(path, _)| !gone(path)).map(|(path, content)| (path.clone(), Arc::clone(content))).collect()
}
