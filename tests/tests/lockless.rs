//! Reading a repository on a read-only mount, without a lock, while the real client uses and changes it.
//!
//! Needs the real client, and the right to mount (root).

use portaborg_tests::peers;
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PASSPHRASE: &str = "lockless";
/// Incompressible, and several to a pack.
const FILE_BYTES: usize = 300_000;
const PACK_BYTES: &str = "650000";
/// More than any number of workers reads ahead.
const FILES: usize = 80;
/// Of the files of archive `all`, every other one is in archive `some`, too: every pack holds some of both.
const KEPT: usize = FILES / 2;

#[test]
fn archives_are_read_whole_while_the_real_client_compacts() {
    let name = "archives_are_read_whole_while_the_real_client_compacts";
    let Some(setup) = Setup::new(name) else { return };
    setup.borg(&["delete", "all"]);
    let (reader, mut out) = setup.begin_reading();
    setup.borg(&["compact", "--threshold", "0"]);
    let (code, err) = finish(reader, &mut out);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("reading without a lock"), "{err}");
    assert!(out == setup.kept(), "the content is not what was archived");
}

#[test]
fn what_was_removed_while_it_was_read_is_said_to_be_missing() {
    let name = "what_was_removed_while_it_was_read_is_said_to_be_missing";
    let Some(setup) = Setup::new(name) else { return };
    let (reader, mut out) = setup.begin_reading();
    setup.borg(&["delete", "-a", "sh:*"]);
    setup.borg(&["compact", "--threshold", "0"]);
    let (code, err) = finish(reader, &mut out);
    assert_eq!(code, Some(113), "{err}");
    assert!(err.contains("the repository changed while it was read"), "{err}");
    assert_eq!(out.len(), KEPT * FILE_BYTES, "what is missing has its length");
}

#[test]
fn the_holder_of_an_exclusive_lock_is_named() {
    let name = "the_holder_of_an_exclusive_lock_is_named";
    let Some(setup) = Setup::new(name) else { return };
    let mut holder = setup.peer_command(&["with-lock", "sh", "-c", "echo held; exec sleep 60"]);
    let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
    let mut held = [0; 4];
    holder.stdout.as_mut().unwrap().read_exact(&mut held).unwrap();
    let listed = setup.ours(&["repo-list"]).output().unwrap();
    let pid = holder.id();
    stop(holder);
    let (out, err) = (String::from_utf8_lossy(&listed.stdout), String::from_utf8_lossy(&listed.stderr));
    assert_eq!(listed.status.code(), Some(0), "{err}");
    assert!(err.contains("reading without a lock") && err.contains("exclusive lock on host"), "{err}");
    assert!(err.contains(&format!("pid {pid}")), "{pid}: {err}");
    assert_eq!(out.lines().count(), 2, "{out}");
}

const WEAKEN: &str = "BORG_TESTONLY_WEAKEN_KDF";

/// A repository of the real client's, and a read-only view of it.
struct Setup {
    scratch: Scratch,
    repository: PathBuf,
    view: PathBuf,
    peer: PathBuf,
    files: Vec<Vec<u8>>,
}

impl Setup {
    /// `None`, and said so, where this can't be tried.
    fn new(name: &str) -> Option<Setup> {
        let Some(peer) = peers::borg2() else {
            println!("SKIPPED {name}: {}", peers::MISSING);
            return None;
        };
        let scratch = Scratch::new("lockless");
        let setup = Setup {
            repository: scratch.folder("repository"),
            view: scratch.folder("view"),
            peer: peer.path().to_owned(),
            files: (0..FILES).map(noise).collect(),
            scratch,
        };
        if !mount(&["--bind".as_ref(), setup.repository.as_path(), &setup.view])
            || !mount(&["-o".as_ref(), "remount,bind,ro".as_ref(), &setup.view])
        {
            println!("SKIPPED {name}: mounting is not permitted");
            return None;
        }
        let data = setup.scratch.folder("data");
        for (number, content) in setup.files.iter().enumerate() {
            fs::write(data.join(format!("f{number:02}")), content).unwrap();
        }
        setup.borg(&["repo-create", "-e", "chacha20-poly1305", "-i", "blake3"]);
        for (archive, step) in [("all", 1), ("some", 2)] {
            let paths = (0..FILES).step_by(step).map(|number| data.join(format!("f{number:02}")).display().to_string());
            let args: Vec<String> = ["create".into(), archive.into()].into_iter().chain(paths).collect();
            setup.borg(&args.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Some(setup)
    }

    fn kept(&self) -> Vec<u8> {
        self.files.iter().step_by(2).flatten().copied().collect()
    }

    fn peer_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.peer);
        command
            .args(args)
            .env("BORG_REPO", &self.repository)
            .env("BORG_PACK_MAX_SIZE", PACK_BYTES)
            .env("BORG_PASSPHRASE", PASSPHRASE)
            .env(WEAKEN, "1")
            .env("BORG_BASE_DIR", self.scratch.path().join("peer"))
            .env("BORG_HOST_ID", "fixture-host@1")
            .stdin(Stdio::null());
        command
    }

    fn borg(&self, args: &[&str]) {
        let output = self.peer_command(args).output().unwrap();
        assert!(output.status.success(), "borg {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Starts to read archive `some`, which blocks after a pipe's worth: the index is loaded, most is not read yet.
    fn begin_reading(&self) -> (Child, Vec<u8>) {
        let mut child = self.ours(&["extract", "--stdout", "some"]).spawn().unwrap();
        let mut first = vec![0; 1000];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        (child, first)
    }

    fn ours(&self, args: &[&str]) -> Command {
        let mut command = Command::new(Program::portaborg().path());
        command
            .args(args)
            .env("BORG_REPO", &self.view)
            .env("BORG_PASSPHRASE", PASSPHRASE)
            .env(WEAKEN, "1")
            .env("BORG_BASE_DIR", self.scratch.path().join("ours"))
            .env("BORG_HOST_ID", "fixture-host@1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.view).stderr(Stdio::null()).status();
    }
}

/// Reads on to the end; gives the exit code and what was said.
fn finish(mut child: Child, out: &mut Vec<u8>) -> (Option<i32>, String) {
    let mut err = child.stderr.take().unwrap();
    let said = thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).unwrap();
        text
    });
    child.stdout.take().unwrap().read_to_end(out).unwrap();
    (child.wait().unwrap().code(), said.join().unwrap())
}

fn stop(mut child: Child) {
    let _ = child.kill();
    let end = Instant::now() + Duration::from_secs(10);
    while child.try_wait().unwrap().is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
}

fn mount(args: &[&Path]) -> bool {
    Command::new("mount").args(args).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Bytes that no compressor shortens: a linear congruential generator's upper halves.
fn noise(seed: usize) -> Vec<u8> {
    let mut state = seed as u64 + 1;
    let mut step = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..FILE_BYTES).map(|_| step()).collect()
}
