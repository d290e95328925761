//! How the program behaves beside what it reads: pipes, signals, passphrases, exit codes.

use portaborg_tests::fixture::{self, Unpacked};
use portaborg_tests::program::Program;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_reader_that_goes_away_ends_the_program_in_good_order() {
    let unpacked = fixture::named("many-items").unpack();
    let mut child = ours(&unpacked, "kit pass").args(["list", "many"]).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_no_lock(&unpacked);
}

#[test]
fn a_signal_ends_the_wait_for_a_lock_and_leaves_none() {
    let unpacked = fixture::named("lock-other-host").unpack();
    let before = locks(&unpacked);
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 2)] {
        let mut child = ours(&unpacked, "neg pass").args(["--lock-wait", "60", "repo-list"]).spawn().unwrap();
        thread::sleep(Duration::from_secs(2));
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(ended(&mut child), Some(code), "SIG{signal}");
        assert_eq!(locks(&unpacked), before, "SIG{signal}");
    }
}

#[test]
fn a_wrong_passphrase_is_said_to_be_wrong_and_the_weak_variable_is_named() {
    let unpacked = fixture::named("keys-several").unpack();
    let wrong = run(ours(&unpacked, "no pass").args(["repo-list"]));
    assert_eq!(wrong.status.code(), Some(52));
    assert!(!err(&wrong).contains("WEAKEN") && !err(&wrong).contains("no pass"), "{}", err(&wrong));
    let weakened = run(ours(&unpacked, "first pass").env("BORG_TESTONLY_WEAKEN_KDF", "1").args(["repo-list"]));
    assert_eq!(weakened.status.code(), Some(52));
    assert!(err(&weakened).contains("BORG_TESTONLY_WEAKEN_KDF"), "{}", err(&weakened));
}

#[test]
fn a_passphrase_comes_from_a_command_that_sees_no_secret() {
    let unpacked = fixture::named("keys-several").unpack();
    let command = "sh -c 'test -z \"$BORG_PASSCOMMAND\" && echo first pass'";
    let listed =
        run(ours(&unpacked, "").env_remove("BORG_PASSPHRASE").env("BORG_PASSCOMMAND", command).arg("repo-list"));
    assert_eq!(listed.status.code(), Some(0), "{}", err(&listed));
    let failing =
        run(ours(&unpacked, "").env_remove("BORG_PASSPHRASE").env("BORG_PASSCOMMAND", "false").arg("repo-list"));
    assert_eq!(failing.status.code(), Some(51), "{}", err(&failing));
    let two = run(ours(&unpacked, "first pass").env("BORG_PASSCOMMAND", command).arg("repo-list"));
    assert_eq!(two.status.code(), Some(2));
    assert!(err(&two).contains("BORG_PASSPHRASE, BORG_PASSCOMMAND"), "{}", err(&two));
}

#[test]
fn without_a_passphrase_and_without_a_terminal_it_does_not_hang() {
    let unpacked = fixture::named("keys-several").unpack();
    let mut child = ours(&unpacked, "").env_remove("BORG_PASSPHRASE").arg("repo-list").spawn().unwrap();
    assert_eq!(ended(&mut child), Some(50));
}

#[test]
fn legacy_exit_codes_are_two_and_one() {
    let unpacked = fixture::named("flip-data").unpack();
    let target = unpacked.scratch().folder("target");
    let mut command = ours(&unpacked, "neg pass");
    let warned = run(command.current_dir(target).env("BORG_EXIT_CODES", "legacy").args(["extract", "one"]));
    assert_eq!(warned.status.code(), Some(1), "{}", err(&warned));
    let failed = run(ours(&unpacked, "neg pass").env("BORG_EXIT_CODES", "legacy").args(["list", "nosuch"]));
    assert_eq!(failed.status.code(), Some(2), "{}", err(&failed));
}

#[test]
fn front_ends_are_told_the_version_that_they_know() {
    let version = |args: &[&str]| {
        let output = Command::new(Program::portaborg().path()).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let own = concat!("borg 2.0.0b25 (portaborg ", env!("CARGO_PKG_VERSION"), ")\n");
    assert_eq!(version(&["--version"]), own);
    assert_eq!(version(&["version"]), "2.0.0b25 / 2.0.0b25\n");
    assert_eq!(version(&["version", "--json"]), "{\n    \"client\": \"2.0.0b25\",\n    \"server\": \"2.0.0b25\"\n}\n");
}

#[test]
fn a_destination_is_made_and_must_be_empty() {
    let unpacked = fixture::named("mode-chacha20-poly1305-blake3-repokey").unpack();
    let destination = unpacked.scratch().path().join("new/destination");
    let extract = || {
        let mut command = ours(&unpacked, "mode pass 7");
        run(command
            .args(["extract", "-e", "re:.*random.*"])
            .arg("--destination")
            .arg(&destination)
            .arg(newest(&unpacked)))
    };
    let first = extract();
    assert_eq!(first.status.code(), Some(0), "{}", err(&first));
    assert_eq!(fs::read(destination.join("hello.txt")).unwrap(), b"hello world\n");
    assert!(!destination.join("sub/random.bin").exists());
    assert_eq!(extract().status.code(), Some(33));
}

fn newest(unpacked: &Unpacked) -> String {
    let output = run(ours(unpacked, "mode pass 7").args(["repo-list", "--short", "--last", "1"]));
    format!("aid:{}", String::from_utf8(output.stdout).unwrap().trim())
}

fn ours(unpacked: &Unpacked, passphrase: &str) -> Command {
    let mut command = Command::new(Program::portaborg().path());
    command
        .env("BORG_REPO", unpacked.repository())
        .env("BORG_PASSPHRASE", passphrase)
        .env("BORG_BASE_DIR", unpacked.scratch().path().join("base"))
        .env("BORG_HOST_ID", "fixture-host@1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The exit code of a program that should end soon; one that doesn't is stopped.
fn ended(child: &mut Child) -> Option<i32> {
    let patience = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > patience {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.wait().unwrap().code()
}

fn locks(unpacked: &Unpacked) -> Vec<String> {
    let folder = unpacked.repository().join("locks");
    let mut names: Vec<String> = entries(&folder).into_iter().collect();
    names.sort();
    names
}

fn assert_no_lock(unpacked: &Unpacked) {
    assert!(locks(unpacked).is_empty(), "{:?}", locks(unpacked));
}

fn entries(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
}
