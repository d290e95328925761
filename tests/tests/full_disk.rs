//! A repository on a disk that fills up in the middle of each command that writes: what is said, what is left, and that
//! everything goes on once there is room again. Needs the right to mount (root); with the real client, it looks as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use portaborg_tests::census::leftovers;
use portaborg_tests::client::{Client, aid};
use portaborg_tests::dice::Dice;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::program::{Outcome, Program};
use portaborg_tests::scratch::{Scratch, remove_all};
use portaborg_tests::tree::{self, Tree};

fn main() -> ExitCode {
    harness::main(|| {
        let trial = |name: &str, args: &'static [&'static str]| {
            Trial::new(format!("full-disk/{name}"), move |findings| fills_up(args, findings))
        };
        vec![
            trial("create", &["create", "series", SOURCE]),
            trial("delete", &["delete", "the first"]),
            trial("compact", &["compact", "--threshold", "0"]),
            trial("repo-compress", &["repo-compress", "--compression", "none"]),
            trial("key-add", &["key", "add", "--label", "another"]),
            Trial::new("full-disk/repo-create", no_room_for_a_repository),
            Trial::new("full-disk/own-files", own_files),
        ]
    })
}

/// What is archived, below the scratch folder.
const SOURCE: &str = "source";
const DISK_BYTES: u64 = 4 << 20;
/// How much room there is when a command begins.
const ROOMS_KIB: [u64; 8] = [0, 4, 8, 16, 40, 100, 170, 250];
const PACK_BYTES: &str = "100000";

/// A small file system of its own, with a repository that has some archives.
struct Disk {
    scratch: Scratch,
    mount: PathBuf,
    ours: Client,
    peer: Option<Client>,
}

impl Disk {
    /// `None`, with the reason told, where nothing can be mounted.
    fn new(findings: &mut Findings) -> Option<Self> {
        let scratch = Scratch::new("full-disk");
        let mount = scratch.folder("disk");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={DISK_BYTES},mode=700"), "tmpfs"]).arg(&mount);
        if !command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
            findings.skip("mounting is not permitted");
            return None;
        }
        let repository = mount.join("repository");
        let env = |client: Client| client.env("BORG_PACK_MAX_SIZE", PACK_BYTES);
        let ours = env(Client::ours(&scratch, &repository));
        let peer = peers::borg2().map(|peer| env(Client::new(peer, &repository, &scratch.folder("base-of-peer"))));
        if peer.is_none() {
            findings.note(format!("the real client does not look: {}", peers::MISSING));
        }
        Some(Self { scratch, mount, ours, peer })
    }

    fn source(&self, seed: u64) -> Tree {
        let folder = self.scratch.folder(SOURCE);
        for number in 0..4 {
            // Half of it is left when it is compressed.
            let content: Vec<u8> =
                Dice::new(seed * 4 + number).bytes(80_000).into_iter().map(|byte| byte & 0x0f).collect();
            fs::write(folder.join(number.to_string()), content).expect("a scratch folder can be written");
        }
        tree::read(&folder)
    }

    /// Leaves so much room.
    fn fill(&self, room_kib: u64) {
        let free = rustix::fs::statvfs(&self.mount).expect("it is mounted");
        let free_bytes = free.f_bavail * free.f_frsize;
        let len = free_bytes.saturating_sub(room_kib << 10);
        fs::write(self.mount.join("filler"), vec![0; usize::try_from(len).expect("a small disk")])
            .expect("there is room");
    }

    fn free(&self) {
        fs::remove_file(self.mount.join("filler")).expect("it was written");
    }

    fn both(&self) -> Vec<&Client> {
        [Some(&self.ours), self.peer.as_ref()].into_iter().flatten().collect()
    }

    /// Every archive is whole, for these programs.
    fn is_whole(&self, clients: &[&Client], archives: &[(String, Tree)], after: &str, findings: &mut Findings) {
        for client in clients {
            client.verify();
            let found = client.archives();
            for (id, source) in archives {
                findings.check(found.contains(id), || format!("{}: {after}: archive {id} is gone", client.name()));
                let into = self.scratch.path().join(format!("extracted-{}", &id[..8]));
                let extracted = without_access_times(client.extract(id, &into, SOURCE));
                remove_all(&into);
                let differences = tree::differences(&extracted, &without_access_times(source.clone()));
                findings.extend(
                    differences.into_iter().map(|difference| format!("{}: {after}: {difference}", client.name())),
                );
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mount).stderr(Stdio::null()).status();
    }
}

fn without_access_times(mut tree: Tree) -> Tree {
    tree.values_mut().for_each(|node| node.atime_ns = None);
    tree
}

/// A command fails for want of room, at several places, and says so; with room it succeeds.
fn fills_up(args: &[&str], findings: &mut Findings) {
    let Some(disk) = Disk::new(findings) else { return };
    disk.ours.ok(&["repo-create", "--encryption", "chacha20-poly1305", "--chunker-params", "fastcdc,10,16,13,2"]);
    let mut archives = Vec::new();
    for seed in 1..4 {
        let tree = disk.source(seed);
        archives.push((disk.ours.create(&[], disk.scratch.path(), SOURCE), tree));
    }
    // Something for each command to do.
    let first = archives.remove(0).0;
    let id = aid(&first);
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "the first" { id.as_str() } else { arg }).collect();
    if args[0] == "compact" {
        disk.ours.ok(&["delete", &id]);
    }
    disk.source(9);

    let run = || disk.ours.call(&args).env("BORG_NEW_PASSPHRASE", "another").within(disk.scratch.path()).run();
    let mut failed = 0;
    let mut succeeded = false;
    for room_kib in ROOMS_KIB {
        disk.fill(room_kib);
        let outcome = run();
        disk.free();
        let left = leftovers(disk.ours.repository());
        findings.check(left.is_empty(), || format!("{}: {left:?} stay behind", outcome.words));
        succeeded = outcome.code == Some(0);
        if succeeded {
            break;
        }
        failed += 1;
        says_what_is_wrong(&outcome, findings);
    }
    findings.check(failed > 0, || format!("{}: never failed", args.join(" ")));
    disk.is_whole(&disk.both(), &archives, "after the failures", findings);
    if !succeeded {
        let outcome = run();
        findings.check(outcome.code == Some(0), || format!("with room again: {}", outcome.summary()));
    }
    disk.is_whole(&[&disk.ours], &archives, "with room again", findings);
    disk.source(10);
    for client in disk.both() {
        client.create(&[], disk.scratch.path(), SOURCE);
    }
}

fn says_what_is_wrong(outcome: &Outcome, findings: &mut Findings) {
    findings.extend(outcome.misbehaviour());
    let said = outcome.err();
    let names_the_object = ["packs/", "index/", "archives/", "cache/", "keys/", "locks/", "config/"];
    let is_clear = said.contains("No space left on device") && names_the_object.iter().any(|name| said.contains(name));
    findings.check(outcome.code == Some(2) && is_clear, || format!("not clear: {}", outcome.summary()));
}

/// Nothing is left of a repository that could not be made.
fn no_room_for_a_repository(findings: &mut Findings) {
    let Some(disk) = Disk::new(findings) else { return };
    let args = ["repo-create", "--encryption", "aes256-ocb"];
    for room_kib in [0, 1] {
        disk.fill(room_kib << 2);
        let outcome = disk.ours.call(args).run();
        disk.free();
        findings
            .check(outcome.code == Some(2) && outcome.err().contains("No space left on device"), || outcome.summary());
        findings.check(!disk.ours.repository().exists(), || format!("with {room_kib} pages: something is left"));
    }
    disk.ours.ok(&args);
    let tree = disk.source(1);
    let id = disk.ours.create(&[], disk.scratch.path(), SOURCE);
    disk.is_whole(&disk.both(), &[(id, tree)], "with room", findings);
}

/// The program's own files are a help, no need: without room for them, archives are made all the same.
fn own_files(findings: &mut Findings) {
    let Some(disk) = Disk::new(findings) else { return };
    let repository = disk.scratch.path().join("elsewhere");
    let client = |base: &Path| Client::new(Program::portaborg(), &repository, base);
    let base = disk.mount.join("base");
    client(&base).ok(&["repo-create", "--encryption", "aes256-ocb"]);
    let tree = disk.source(1);
    disk.fill(0);
    let args = ["create", "series", SOURCE];
    let outcome = client(&base).call(args).within(disk.scratch.path()).run();
    findings.check(outcome.code == Some(0) || outcome.code == Some(1), || outcome.summary());
    disk.free();
    let left = leftovers(&base);
    findings.check(left.is_empty(), || format!("{left:?} stay behind"));
    let ours = client(&base);
    ours.verify();
    let ids: Vec<String> = ours.archives().into_iter().collect();
    findings.check(ids.len() == 1, || format!("there are {} archives", ids.len()));
    for id in ids {
        let extracted = without_access_times(ours.extract(&id, &disk.scratch.path().join("extracted"), SOURCE));
        findings.extend(tree::differences(&extracted, &without_access_times(tree.clone())));
    }
}
