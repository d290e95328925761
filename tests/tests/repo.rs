//! Repositories that one program makes and the other one uses and deletes. What needs the real client says so without it.

use portaborg_tests::machine;
use portaborg_tests::peers;
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PASSPHRASE: &str = "pass \u{2602}";
const SUITES: [[&str; 2]; 6] = [
    ["aes256-ocb", "sha256"],
    ["aes256-ocb", "blake3"],
    ["chacha20-poly1305", "sha256"],
    ["chacha20-poly1305", "blake3"],
    ["authenticated-sha256", "sha256"],
    ["authenticated-blake3", "blake3"],
];
const DEFAULTS: [&str; 4] = ["-C", "auto,zstd,5", "--chunker-params", "fixed,4096"];
const CONFIRMATION: &str = "BORG_DELETE_I_KNOW_WHAT_I_AM_DOING";

#[test]
fn a_repository_of_either_program_is_one_for_the_other_in_every_suite() {
    let Some(peer) = peer("a_repository_of_either_program_is_one_for_the_other_in_every_suite") else { return };
    let ours = Program::portaborg();
    for suite in SUITES {
        for place in ["repokey", "keyfile"] {
            let [made_by_us, made_by_peer] = [&ours, &peer].map(|maker| {
                let home = Home::new();
                let [encryption, id_hash] = suite;
                let options = ["repo-create", "-e", encryption, "-i", id_hash, "--key-location", place];
                ok(home.call(maker, &options).args(&DEFAULTS));
                home
            });
            for home in [&made_by_us, &made_by_peer] {
                let info = ok(home.call(&peer, &["repo-info", "--json"]));
                assert_eq!(ok(home.call(&ours, &["repo-info", "--json"])), info, "{suite:?} {place}");
                assert!(info.contains("\"auto,zstd,5\"") && info.contains("\"fixed,4096,0\""), "{info}");
            }
            assert_eq!(files(&made_by_us.repository()), files(&made_by_peer.repository()), "{suite:?} {place}");
            for kept in [".config/borg/keys", ".local/share/borg/security"] {
                let [ours, theirs] = [&made_by_us, &made_by_peer].map(|home| files(&home.base().join(kept)));
                assert_eq!(ours, theirs, "{suite:?} {place}");
            }

            ok(made_by_us.call(&peer, &["check"]));
            ok(made_by_us.call(&peer, &["create", "archive", "/proc/self/comm"]));
            assert!(ok(made_by_us.call(&ours, &["list", "archive"])).contains("proc/self/comm"));
            ok(made_by_peer.call(&ours, &["check"]));
        }
    }
}

#[test]
fn without_defaults_there_are_none_and_the_costs_of_keys_are_borgs() {
    let Some(peer) = peer("without_defaults_there_are_none_and_the_costs_of_keys_are_borgs") else { return };
    let home = Home::new();
    let create = ["repo-create", "-e", "aes256-ocb", "--chunker-params", "default"];
    let created = home.call(&Program::portaborg(), &create).env("BORG_TESTONLY_WEAKEN_KDF", "0").run();
    assert_eq!(created.code, Some(0), "{}", created.err);
    assert!(created.err.contains("borg key export -r REPOSITORY"), "{}", created.err);
    let info = ok(home.call(&peer, &["repo-info"]).env("BORG_TESTONLY_WEAKEN_KDF", "0"));
    assert!(info.contains("Encrypted: Yes (repokey, aes256-ocb, sha256)\n"), "{info}");
    assert!(info.contains("compression: lz4 (built-in)\n") && info.contains("params: fastcdc,19,23,21,2 (built-in)\n"));
}

#[test]
fn the_umask_decides_who_may_enter() {
    let home = Home::new();
    ok(home.create(&["--umask", "0027"]));
    for folder in ["", "packs", "packs/ff", "keys"] {
        let mode = fs::metadata(home.repository().join(folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o750, "{folder}");
    }
    let config = fs::metadata(home.repository().join("config/config")).unwrap();
    assert_eq!(config.permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_in_the_way_is_told_and_left_alone() {
    let home = Home::new();
    ok(home.create(&[]));
    let at = |name: &str| home.scratch.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("folder/file"), "x").unwrap();
    fs::create_dir(at("leftover")).unwrap();
    for name in ["archives", "config", "index", "packs"] {
        fs::create_dir(at("leftover").join(name)).unwrap();
    }
    fs::create_dir(at("borg1")).unwrap();
    fs::write(at("borg1/config"), "[repository]\nversion = 1\n").unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    let before = files(home.scratch.path());
    for (place, code, told) in [
        ("repository", 10, "A repository already exists at /"),
        ("folder", 11, "/folder has no repository config, but it is not empty"),
        ("leftover", 11, "\"borg repo-delete --force\" removes it"),
        ("borg1", 11, "borg 1.x"),
        ("folder/file", 19, "There is already something at /"),
        ("dangling", 19, "There is already something at /"),
        ("folder/file/new/repository", 18, "/folder/file/new/repository] does not exist"),
        ("", 11, " has no repository config"),
    ] {
        let refused = home.create(&[]).env("BORG_REPO", at(place)).run();
        assert_eq!((refused.code, refused.err.contains(told)), (Some(code), true), "{place}: {}", refused.err);
        assert_eq!(files(home.scratch.path()), before, "{place}");
    }
    if machine::here().root {
        println!("SKIPPED a parent that can not be written: root can write everywhere");
    } else {
        fs::create_dir(at("closed")).unwrap();
        fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o500)).unwrap();
        assert_eq!(home.create(&[]).env("BORG_REPO", at("closed/repository")).run().code, Some(21));
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let home = Home::new();
    for args in [
        &["-e", "none"][..],
        &["-e", "authenticated-sha256", "-i", "blake3"],
        &["-e", "aes256-ocb", "-C", "zstd,99"],
        &["-e", "aes256-ocb", "--chunker-params", "fixed,1"],
        &["-e", "aes256-ocb", "--other-repo", "/somewhere"],
        &["-i", "sha256"],
    ] {
        let refused = home.call(&Program::portaborg(), &["repo-create"]).args(args).run();
        assert_eq!(refused.code, Some(2), "{args:?}");
        assert!(!home.repository().exists(), "{args:?}");
    }
}

#[test]
fn a_failure_leaves_nothing_behind() {
    let home = Home::new();
    let file = home.scratch.path().join("file");
    fs::write(&file, "not a key").unwrap();
    let below = home.scratch.path().join("some/parents/repository");
    let empty = home.scratch.folder("empty");
    for (place, stays) in [(&below, false), (&empty, true)] {
        let keyfile = home.create(&["--key-location", "keyfile"]).env("BORG_REPO", place);
        let failed = keyfile.env("BORG_KEYS_DIR", file.join("keys")).run();
        assert_eq!((failed.code, failed.err.contains("can not create")), (Some(2), true), "{}", failed.err);
        let keyfile = home.create(&["--key-location", "keyfile"]).env("BORG_REPO", place);
        let refused = keyfile.env("BORG_KEY_FILE", &file).run();
        assert_eq!((refused.code, refused.err.contains("already exists")), (Some(2), true), "{}", refused.err);
        let two = home.create(&[]).env("BORG_REPO", place).env("BORG_PASSCOMMAND", "true").run();
        assert_eq!(two.code, Some(2));
        assert_eq!((place.exists(), home.scratch.path().join("some").exists()), (stays, false));
    }
    assert!(fs::read_dir(&empty).unwrap().next().is_none());
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a key");
    ok(home.create(&[]).env("BORG_REPO", &empty));
}

#[test]
fn an_interrupted_creation_leaves_nothing_behind() {
    for (signal, code) in [("INT", 3), ("TERM", 143), ("HUP", 129)] {
        let home = Home::new();
        let place = home.scratch.path().join("some/parents/repository");
        let mut child = Command::new(Program::portaborg().path())
            .args(["repo-create", "-e", "chacha20-poly1305", "--key-location", "keyfile"])
            .env("BORG_REPO", &place)
            .env("BORG_BASE_DIR", home.base())
            .env("BORG_PASSCOMMAND", "sh -c 'sleep 2; echo pass'")
            .env_remove("BORG_PASSPHRASE")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Instant::now() + Duration::from_secs(20);
        while !place.join("packs/ff").exists() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(ended(&mut child), Some(code), "SIG{signal}");
        assert!(!home.scratch.path().join("some").exists(), "SIG{signal}");
        let keys = home.base().join(".config/borg/keys");
        assert!(fs::read_dir(keys).map_or(true, |mut keys| keys.next().is_none()), "SIG{signal}");
    }
}

#[test]
fn deleting_asks_and_removes_what_was_kept_of_the_repository() {
    let Some(peer) = peer("deleting_asks_and_removes_what_was_kept_of_the_repository") else { return };
    let ours = Program::portaborg();
    let home = Home::new();
    ok(home.create(&["--key-location", "keyfile"]));
    ok(home.call(&peer, &["create", "one", "/proc/self/comm"]));
    ok(home.call(&peer, &["create", "two", "/proc/self/comm"]));
    let [cache, security] = [".cache/borg", ".local/share/borg/security"].map(|name| home.only_folder(name));

    for args in [&["repo-delete"][..], &["repo-delete", "--list"], &["repo-delete", "-n", "-v"]] {
        for answer in ["no", "yes", "", "YES "] {
            let [by_us, by_peer] =
                [&ours, &peer].map(|program| home.call(program, args).env(CONFIRMATION, answer).run());
            assert_eq!((by_us.code, by_us.err), (Some(3), by_peer.err), "{args:?} {answer:?}");
            assert_eq!(by_peer.code, Some(3));
        }
    }
    for args in [&["repo-delete", "-n", "-v"][..], &["repo-delete", "-n", "-v", "--keep-security-info"]] {
        let [by_us, by_peer] = [&ours, &peer].map(|program| home.call(program, args).env(CONFIRMATION, "YES").run());
        assert_eq!((by_us.code, &by_us.err), (Some(0), &by_peer.err), "{args:?}");
        assert!(by_us.err.contains("*including* 2 archives"), "{}", by_us.err);
    }
    assert!(home.repository().exists() && cache.exists() && security.exists());

    ok(home.call(&ours, &["repo-delete", "--cache-only"]));
    assert!(home.repository().exists() && !cache.exists() && security.exists());
    ok(home.call(&peer, &["create", "three", "/proc/self/comm"]));
    assert!(cache.exists());
    let deleted = home.call(&ours, &["repo-delete", "-v"]).env(CONFIRMATION, "YES").run();
    assert!(deleted.err.ends_with("Repository deleted.\nCache deleted.\n"), "{}", deleted.err);
    assert!(!home.repository().exists() && !cache.exists() && !security.exists());
    assert_eq!(fs::read_dir(home.base().join(".config/borg/keys")).unwrap().count(), 1, "key files stay");

    ok(home.create(&[]));
    ok(home.call(&ours, &["repo-delete", "--force", "--keep-security-info"]));
    assert!(home.only_folder(".local/share/borg/security").exists());
}

#[test]
fn deleting_needs_the_key_and_the_lock() {
    let home = Home::new();
    ok(home.create(&[]));
    let ours = Program::portaborg();
    let wrong = home.call(&ours, &["repo-delete", "--force"]).env("BORG_PASSPHRASE", "wrong").run();
    assert_eq!(wrong.code, Some(52));
    fs::write(home.repository().join("locks").join("0".repeat(64)), "someone's").unwrap();
    assert_eq!(home.call(&ours, &["--lock-wait", "0", "repo-delete", "--force"]).run().code, Some(73));
    assert!(home.repository().join("config/config").exists());
}

#[test]
fn only_what_looks_like_a_repository_is_deleted() {
    let home = Home::new();
    let ours = Program::portaborg();
    let delete = |args: &[&str]| home.call(&ours, &["repo-delete", "-v"]).args(args).run();
    assert_eq!(delete(&["--force"]).code, Some(13));

    fs::create_dir(home.repository()).unwrap();
    fs::write(home.repository().join("file"), "data").unwrap();
    for args in [&["--force"][..], &[], &["--cache-only"]] {
        assert_eq!(delete(args).code, Some(2), "{args:?}");
    }
    fs::write(home.repository().join("config"), "[repository]\nversion = 1\n").unwrap();
    assert_eq!(delete(&["--force"]).code, Some(29));
    assert_eq!(fs::read_dir(home.repository()).unwrap().count(), 2);
    fs::remove_dir_all(home.repository()).unwrap();

    ok(home.create(&[]));
    fs::remove_file(home.repository().join("config/config")).unwrap();
    let refused = delete(&[]);
    assert_eq!((refused.code, refused.err.contains("requires the --force option")), (Some(2), true));
    let dry = delete(&["--force", "-n"]);
    assert_eq!((dry.code, &*dry.err), (Some(0), "Would destroy the store (it has no repository config).\n"));
    let done = delete(&["--force"]);
    assert_eq!((done.code, &*done.err), (Some(0), "Store destroyed (it had no repository config).\n"));
    assert!(!home.repository().exists());
}

#[test]
fn what_is_no_part_of_a_repository_outlives_it() {
    let home = Home::new();
    ok(home.create(&[]));
    let elsewhere = home.scratch.folder("elsewhere");
    fs::write(elsewhere.join("file"), "data").unwrap();
    fs::remove_dir(home.repository().join("cache")).unwrap();
    symlink(&elsewhere, home.repository().join("cache")).unwrap();
    symlink(&elsewhere, home.repository().join("packs/00/link")).unwrap();
    fs::write(home.repository().join("notes"), "data").unwrap();
    let deleted = home.call(&Program::portaborg(), &["repo-delete", "--force"]).run();
    assert_eq!((deleted.code, deleted.err.contains("stays")), (Some(0), true), "{}", deleted.err);
    assert_eq!(files(&home.repository()).into_keys().collect::<Vec<_>>(), ["", "notes"]);
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "data");
}

/// A user's folders.
struct Home {
    scratch: Scratch,
}

impl Home {
    fn new() -> Home {
        Home { scratch: Scratch::new("repo") }
    }

    fn repository(&self) -> PathBuf {
        self.scratch.path().join("repository")
    }

    fn base(&self) -> PathBuf {
        self.scratch.path().join("base")
    }

    fn call(&self, program: &Program, args: &[&str]) -> Call {
        let mut command = Command::new(program.path());
        command.args(args).current_dir(self.scratch.path()).stdin(Stdio::null());
        let call = Call(command).env("BORG_REPO", self.repository()).env("BORG_PASSPHRASE", PASSPHRASE);
        let call = call.env("BORG_BASE_DIR", self.base()).env("BORG_HOST_ID", "fixture-host@1");
        call.env("BORG_TESTONLY_WEAKEN_KDF", "1").env("BORG_SELFTEST", "disabled")
    }

    /// Our `repo-create`, with these options besides the encryption.
    fn create(&self, args: &[&str]) -> Call {
        self.call(&Program::portaborg(), &["repo-create", "-e", "aes256-ocb"]).args(args)
    }

    /// The one folder in a folder of the client's.
    fn only_folder(&self, name: &str) -> PathBuf {
        let entries = fs::read_dir(self.base().join(name)).unwrap().map(|entry| entry.unwrap().path());
        let folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        assert_eq!(folders.len(), 1, "{name}: {folders:?}");
        folders[0].clone()
    }
}

/// The real client; `None`, and said so, where it isn't.
fn peer(test: &str) -> Option<Program> {
    let peer = peers::borg2();
    if peer.is_none() {
        println!("SKIPPED {test}: {}", peers::MISSING);
    }
    peer
}

/// A command about to be run.
struct Call(Command);

impl Call {
    fn args(mut self, args: &[&str]) -> Call {
        self.0.args(args);
        self
    }

    fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.0.env(name, value);
        self
    }

    fn run(mut self) -> Ran {
        let output = self.0.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// What a command did.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

/// What a command prints that succeeds.
fn ok(call: Call) -> String {
    let words = format!("{:?}", call.0.get_args().collect::<Vec<_>>());
    let ran = call.run();
    assert_eq!(ran.code, Some(0), "{words}: {}", ran.err);
    ran.out
}

/// Every path below a folder, with ids and hashes written as `*`, and the file's mode and length.
fn files(folder: &Path) -> BTreeMap<String, (u32, u64)> {
    let mut found = BTreeMap::new();
    let mut to_do = vec![(String::new(), folder.to_owned())];
    while let Some((name, path)) = to_do.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            for entry in fs::read_dir(&path).unwrap() {
                let entry = entry.unwrap();
                let own = entry.file_name().into_string().unwrap();
                let own = if own.len() == 64 { "*".into() } else { own };
                to_do.push((format!("{name}{}{own}", if name.is_empty() { "" } else { "/" }), entry.path()));
            }
        }
        // Where the repository lies is nothing to compare.
        let len = if metadata.is_file() && !name.ends_with("/location") { metadata.len() } else { 0 };
        found.insert(name, (metadata.permissions().mode(), len));
    }
    found
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
