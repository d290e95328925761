//! Kills our program at random moments, again and again on one growing repository, and looks whether anything that was
//! committed is lost, and whether both programs go on.

use std::collections::BTreeMap;
use std::fs;
use std::mem;
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use crate::census::leftovers;
use crate::client::{Client, Pair, aid};
use crate::dice::Dice;
use crate::peers;
use crate::program::Program;
use crate::scratch::{Scratch, remove_all};
use crate::tree::{self, Tree};

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct Kills {
    /// How many processes are to be killed.
    pub count: usize,
    /// Decides what runs when, and when it is killed.
    pub seed: u64,
    /// After this many kills the real client looks at all, too.
    pub peer_every: usize,
}

/// How often what was killed, and how it ended.
#[derive(Debug, Default)]
pub struct Toll {
    /// Command to the number of its processes that were killed.
    pub killed: BTreeMap<&'static str, usize>,
    /// Killed commands whose work was done nevertheless.
    pub done_nevertheless: usize,
    /// Processes that were faster.
    pub escaped: usize,
    /// How often the real client looked at all.
    pub seen_by_peer: usize,
}

impl Kills {
    /// Does it. Without the real client, only our own program looks.
    ///
    /// # Panics
    ///
    /// If anything is lost or refused; what, and after which kill, is in the message.
    pub fn run(self, progress: &mut dyn FnMut(usize)) -> Toll {
        let scratch = Scratch::new("kills");
        let repository = scratch.path().join("repository");
        let pair = Pair::new(&scratch, &repository).map(|pair| pair.env("BORG_PACK_MAX_SIZE", PACK_BYTES));
        let (ours, peer) = match pair {
            Some(Pair { ours, peer }) => (ours, Some(peer)),
            None => (Client::ours(&scratch, &repository).env("BORG_PACK_MAX_SIZE", PACK_BYTES), None),
        };
        ours.ok(&["repo-create", "--encryption", "aes256-ocb", "--chunker-params", CHUNKER]);
        let mut game = Game {
            dice: Dice::new(self.seed),
            scratch,
            ours,
            peer,
            archives: BTreeMap::new(),
            deleted: BTreeMap::new(),
            durations: BTreeMap::new(),
            generation: 0,
            history: Vec::new(),
            toll: Toll::default(),
        };
        let knows_recreate = Program::portaborg().knows("recreate");
        for number in 1..=self.count {
            while !game.play(knows_recreate) {}
            game.look(number % OURS_EVERY == 0);
            if number % self.peer_every == 0 || number == self.count {
                game.let_the_peer_look();
            }
            progress(number);
        }
        game.let_all_be_seen();
        mem::take(&mut game.toll)
    }
}

const PACK_BYTES: &str = "150000";
const CHUNKER: &str = "fastcdc,10,16,13,2";
/// After this many kills our program verifies all data.
const OURS_EVERY: usize = 5;
/// With more archives, some are deleted.
const ENOUGH_ARCHIVES: usize = 8;
/// What is archived, below the scratch folder.
const SOURCE: &str = "source";

struct Game {
    dice: Dice,
    scratch: Scratch,
    ours: Client,
    peer: Option<Client>,
    /// Id to what must come out.
    archives: BTreeMap<String, Tree>,
    /// Those that were deleted, as far as they may come back.
    deleted: BTreeMap<String, Tree>,
    /// How long each command takes that is not killed.
    durations: BTreeMap<&'static str, Duration>,
    generation: u64,
    /// Every command so far, and what became of it.
    history: Vec<String>,
    toll: Toll,
}

impl Drop for Game {
    fn drop(&mut self) {
        if thread::panicking() {
            let last = self.history.len().saturating_sub(SHOWN);
            self.history[last..].iter().for_each(|line| eprintln!("{line}"));
        }
    }
}

/// How many commands are shown that led to a failure.
const SHOWN: usize = 40;

impl Game {
    /// Starts something and kills it; false if it was faster.
    fn play(&mut self, knows_recreate: bool) -> bool {
        let many = self.archives.len() >= ENOUGH_ARCHIVES;
        let command = match self.dice.below(20) {
            0..9 if !many => "create",
            0..5 if many => "create",
            5..12 if self.archives.len() > 2 => "delete",
            12..16 => "compact",
            16..18 => "repo-compress",
            18 if !self.deleted.is_empty() => "undelete",
            19 if knows_recreate && !self.archives.is_empty() => "recreate",
            _ => "create",
        };
        let mut args = vec![command.to_owned()];
        match command {
            "create" => {
                self.grow();
                args.extend(["series", SOURCE].map(str::to_owned));
            }
            "delete" => args.push(aid(&self.one_of(|game| &game.archives))),
            "undelete" => args.push(aid(&self.one_of(|game| &game.deleted))),
            "recreate" => {
                args.extend(["--chunker-params", "buzhash64,10,16,13,4095,2", "--match-archives"].map(str::to_owned));
                args.push(aid(&self.one_of(|game| &game.archives)));
            }
            "compact" => args.extend(["--threshold", "0"].map(str::to_owned)),
            _ => {
                let compression = ["lz4", "zlib,1", "zstd,-4", "lzma,0"][self.dice.below(4)];
                args.extend(["--compression", compression].map(str::to_owned));
            }
        }
        let usual = *self.durations.entry(command).or_insert(Duration::from_millis(200));
        let patience = usual.mul_f64(self.dice.below(125) as f64 / 100.0);
        let mut child = self.ours.call(&args).within(self.scratch.path()).command().spawn().expect("it can be started");
        let start = Instant::now();
        thread::sleep(patience);
        let ended = child.try_wait().expect("a child can be waited for").is_some();
        if !ended {
            child.kill().expect("a child can be killed");
        }
        let status = child.wait().expect("a child can be waited for");
        let was_killed = status.code().is_none();
        let fate = if was_killed { format!("killed after {patience:?}") } else { status.to_string() };
        self.history.push(format!("{}: {fate}", args.join(" ")));
        if !was_killed {
            assert!(status.success(), "{}: {status}: {}", args.join(" "), said(child));
            self.toll.escaped += 1;
            let took = start.elapsed().min(patience);
            self.durations.insert(command, (usual * 3 + took) / 4);
        } else {
            *self.toll.killed.entry(command).or_default() += 1;
            // What is killed too early each time is given more of it.
            self.durations.insert(command, usual + usual / 50);
        }
        self.settle(command, &args, was_killed);
        was_killed
    }

    /// New and changed files.
    fn grow(&mut self) {
        self.generation += 1;
        let folder = self.scratch.path().join(SOURCE);
        fs::create_dir_all(&folder).expect("a scratch folder can be written");
        let (generation, len) = (self.generation, self.dice.below(300_000));
        for (name, seed) in [(format!("file-{}", generation % 5), generation), ("changing".to_owned(), generation / 2)]
        {
            fs::write(folder.join(name), Dice::new(seed).bytes(len)).expect("a scratch folder can be written");
        }
        for number in 0..20 {
            let text = format!("{number} of {}\n", generation / 3).repeat(50);
            fs::write(folder.join(format!("small-{number}")), text).expect("a scratch folder can be written");
        }
    }

    fn one_of(&mut self, archives: impl Fn(&Self) -> &BTreeMap<String, Tree>) -> String {
        let at = self.dice.below(archives(self).len());
        archives(self).keys().nth(at).expect("there are as many").clone()
    }

    /// Finds out what a command has done, whether it was killed or not, and that it has done nothing else.
    fn settle(&mut self, command: &str, args: &[String], was_killed: bool) {
        let after =
            format!("after {} kills, {}{}", self.kills(), args.join(" "), if was_killed { " (killed)" } else { "" });
        let there = self.ours.archives();
        let named = args.last().and_then(|arg| arg.strip_prefix("aid:")).unwrap_or_default().to_owned();
        let missing: Vec<&String> = self.archives.keys().filter(|id| !there.contains(*id)).collect();
        let new: Vec<&String> = there.iter().filter(|id| !self.archives.contains_key(*id)).collect();
        let is_named = |ids: &[&String]| ids.iter().all(|id| **id == named);
        let is_done = match command {
            "create" => {
                assert!(missing.is_empty() && new.len() <= 1, "{after}: {missing:?} are gone, {new:?} are new");
                !new.is_empty()
            }
            "delete" => {
                assert!(new.is_empty() && is_named(&missing), "{after}: {missing:?} are gone, {new:?} are new");
                !missing.is_empty()
            }
            "undelete" => {
                assert!(missing.is_empty() && is_named(&new), "{after}: {missing:?} are gone, {new:?} are new");
                !new.is_empty()
            }
            "recreate" => {
                assert!(is_named(&missing) && new.len() <= 1, "{after}: {missing:?} are gone, {new:?} are new");
                // The new one comes before the old one goes.
                assert!(missing.len() <= new.len(), "{after}: {missing:?} are gone, and nothing is new");
                !missing.is_empty()
            }
            _ => {
                assert!(missing.is_empty() && new.is_empty(), "{after}: {missing:?} are gone, {new:?} are new");
                true
            }
        };
        // What was recreated so before is left alone.
        assert!(is_done || was_killed || command == "recreate", "{after}: has done nothing");
        self.toll.done_nevertheless +=
            usize::from(is_done && was_killed && !["compact", "repo-compress"].contains(&command));
        match command {
            "create" => {
                if let Some(id) = new.first() {
                    let tree = tree::read(&self.scratch.path().join(SOURCE));
                    self.archives.insert((*id).clone(), tree);
                }
            }
            "delete" if is_done => self.deleted.extend(self.archives.remove_entry(&named)),
            "undelete" if is_done => self.archives.extend(self.deleted.remove_entry(&named)),
            "recreate" => {
                let tree = self.archives[&named].clone();
                let new: Vec<String> = new.into_iter().cloned().collect();
                if is_done {
                    self.deleted.extend(self.archives.remove_entry(&named));
                }
                self.archives.extend(new.into_iter().map(|id| (id, tree.clone())));
            }
            // It may have removed some of them for good, and need not have told.
            "compact" => self.forget_what_is_gone(),
            _ => {}
        }
    }

    fn forget_what_is_gone(&mut self) {
        let out = self.ours.ok(&["repo-list", "--short", "--deleted"]).out();
        self.deleted.retain(|id, _| out.lines().any(|line| line == id));
    }

    fn kills(&self) -> usize {
        self.toll.killed.values().sum()
    }

    /// Our program accepts what is there.
    fn look(&mut self, verify: bool) {
        if verify {
            self.ours.verify();
            self.extract_one(&self.ours.clone());
        }
    }

    /// The real client accepts it as well, and goes on.
    fn let_the_peer_look(&mut self) {
        let Some(peer) = self.peer.clone() else { return };
        self.toll.seen_by_peer += 1;
        self.history.push("the real client looks, and makes an archive".to_owned());
        peer.verify();
        self.extract_one(&peer);
        self.grow();
        let id = peer.create(&[], self.scratch.path(), SOURCE);
        self.archives.insert(id, tree::read(&self.scratch.path().join(SOURCE)));
        let (theirs, ours) = (peer.archives(), self.ours.archives());
        let known = self.archives.keys().cloned().collect();
        assert!(theirs == known && ours == known, "after {} kills: {theirs:?}, {ours:?}, not {known:?}", self.kills());
    }

    fn extract_one(&mut self, client: &Client) {
        if !self.archives.is_empty() {
            let id = self.one_of(|game| &game.archives);
            self.extract(client, &id);
        }
    }

    fn extract(&self, client: &Client, id: &str) {
        let into: PathBuf = self.scratch.path().join("extracted");
        let mut extracted = client.extract(id, &into, SOURCE);
        let mut wanted = self.archives[id].clone();
        extracted.values_mut().chain(wanted.values_mut()).for_each(|node| node.atime_ns = None);
        let differences = tree::differences(&extracted, &wanted);
        assert!(differences.is_empty(), "after {} kills, {}: {id}: {differences:?}", self.kills(), client.name());
        remove_all(&into);
    }

    /// Every archive comes out of both programs, and after the next success nothing is left of what was killed.
    fn let_all_be_seen(&mut self) {
        self.ours.ok(&["compact", "--threshold", "0"]);
        self.ours.verify();
        // A lock that is about to be written is not for others to remove, so these few bytes stay.
        let is_lock = |path: &PathBuf| path.starts_with(self.ours.repository().join("locks"));
        let left: Vec<PathBuf> = leftovers(self.ours.repository()).into_iter().filter(|path| !is_lock(path)).collect();
        assert!(left.is_empty(), "after {} kills and a compaction there are still {left:?}", self.kills());
        for client in [Some(self.ours.clone()), self.peer.clone()].into_iter().flatten() {
            for id in self.archives.keys() {
                self.extract(&client, id);
            }
        }
        if self.peer.is_none() {
            println!("the real client did not look: {}", peers::MISSING);
        }
    }
}

/// What a process that ended has said.
fn said(child: Child) -> String {
    let output = child.wait_with_output().expect("a child can be waited for");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
