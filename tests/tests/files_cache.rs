//! The files cache, by what `create --list` says. The repositories are the real client's, and each test needs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use portaborg_tests::peers;
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;

#[test]
fn a_cache_serves_both_programs() {
    let Some(setup) = Setup::new("a_cache_serves_both_programs") else { return };
    setup.write("a", "1");
    setup.write("b", "2");
    sleep(SETTLED);
    assert_eq!(setup.ours("home", &[]), "A src/a\nA src/b\n");
    assert_eq!(setup.peer("home", &[]), "U src/a\nU src/b\n");
    setup.write("a", "11");
    assert_eq!(setup.peer("home", &[]), "M src/a\nU src/b\n");
    // The real client forgets the newest of the files that it read.
    assert_eq!(setup.ours("home", &[]), "A src/a\nU src/b\n");
    sleep(SETTLED);
    setup.write("b", "22");
    assert_eq!(setup.ours("home", &[]).lines().next_back(), Some("M src/b"));
    assert_eq!(setup.ours("other", &[]), "A src/a\nA src/b\n");
}

/// The newest file was written long before it was read.
#[test]
fn a_file_that_has_not_changed_for_long_need_not_be_read_again() {
    let Some(setup) = Setup::new("a_file_that_has_not_changed_for_long_need_not_be_read_again") else { return };
    setup.write("a", "1");
    sleep(SETTLED);
    assert_eq!(setup.ours("home", &[]), "A src/a\n");
    assert_eq!(setup.ours("home", &[]), "U src/a\n");
}

#[test]
fn a_cache_that_is_lost_or_damaged_is_made_from_the_last_archive() {
    let name = "a_cache_that_is_lost_or_damaged_is_made_from_the_last_archive";
    let Some(setup) = Setup::new(name) else { return };
    setup.write("a", "1");
    sleep(SETTLED);
    setup.write("b", "2");
    sleep(SETTLED);
    assert_eq!(setup.ours("home", &[]), "A src/a\nA src/b\n");
    // The newest file of an archive may have changed once more in the same moment, if that archive is of a snapshot.
    fs::remove_file(setup.cache_file("files.")).unwrap();
    assert_eq!(setup.ours("home", &[]), "U src/a\nA src/b\n");
    let file = setup.cache_file("files.");
    let mut content = fs::read(&file).unwrap();
    *content.last_mut().unwrap() ^= 1;
    fs::write(&file, content).unwrap();
    assert_eq!(setup.ours("home", &[]), "U src/a\nA src/b\n");
    assert_eq!(setup.ours("home", &[]), "U src/a\nU src/b\n");

    let config = setup.cache_file("config");
    let text = fs::read_to_string(&config).unwrap();
    let id = text.lines().find_map(|line| line.strip_prefix("repository = ")).unwrap();
    fs::write(&config, text.replace(id, &"0".repeat(64))).unwrap();
    let told = setup.ours("home", &[]);
    let told: Vec<&str> = told.lines().collect();
    assert!(told[0].ends_with("is another repository's; it is made anew."), "{told:?}");
    assert_eq!(told[1..], ["U src/a", "A src/b"]);
    fs::write(&config, "[cache]\nversion = 2\n").unwrap();
    let told = setup.ours("home", &[]);
    assert!(told.contains("unexpected cache version 2") && told.ends_with("U src/a\nA src/b\n"), "{told}");
    assert_eq!(setup.ours("home", &[]), "U src/a\nU src/b\n");
}

#[test]
fn modes_compare_what_they_say() {
    let Some(setup) = Setup::new("modes_compare_what_they_say") else { return };
    let file = setup.write("a", "1");
    sleep(SETTLED);
    let mode = |mode: &str| setup.ours("home", &["--files-cache", mode]);
    assert_eq!(mode("disabled"), "A src/a\n");
    assert_eq!(mode("rechunk,ctime"), "A src/a\n");
    assert_eq!(mode("rechunk,ctime"), "A src/a\n");
    assert_eq!(mode("mtime,size,inode"), "U src/a\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(mode("mtime,size,inode"), "U src/a\n");
    // The changed time was remembered, but is too new to be relied on.
    assert_eq!(mode("ctime,size"), "A src/a\n");
    sleep(SETTLED);
    assert_eq!(mode("ctime,size"), "A src/a\n");
    assert_eq!(mode("disabled"), "A src/a\n");
    assert_eq!(mode("size"), "U src/a\n");
    setup.write("a", "2");
    assert_eq!(mode("size"), "U src/a\n"); // who asks for this gets it
    assert_eq!(mode("ctime,size"), "A src/a\n");
}

/// What was not seen by an archive is remembered for the next one. A run that does not make one does not count.
#[test]
fn files_that_are_not_seen_are_forgotten_after_two_archives() {
    let name = "files_that_are_not_seen_are_forgotten_after_two_archives";
    let Some(setup) = Setup::new(name) else { return };
    setup.write("a", "1");
    setup.write("b", "2");
    sleep(SETTLED);
    let without_b: &[&str] = &["--exclude", "src/b"];
    assert_eq!(setup.ours("home", &[]), "A src/a\nA src/b\n");
    assert_eq!(setup.ours("home", without_b), "U src/a\n- src/b\n");
    for _ in 0..3 {
        setup.fails("home", &["--content-from-command", "--", "false"]);
    }
    assert_eq!(setup.ours("home", &[]), "U src/a\nU src/b\n");
    assert_eq!(setup.ours("home", without_b), "U src/a\n- src/b\n");
    assert_eq!(setup.ours("home", without_b), "U src/a\n- src/b\n");
    assert_eq!(setup.ours("home", &[]), "U src/a\nA src/b\n");
}

/// After this time, a file has not changed for long.
const SETTLED: Duration = Duration::from_millis(3200);

/// A repository, both programs with one home, and a folder `src`.
struct Setup {
    scratch: Scratch,
    ours: Program,
    peer: Program,
}

impl Setup {
    /// `None`, and said so, where there is no real client.
    fn new(name: &str) -> Option<Setup> {
        let Some(peer) = peers::borg2() else {
            println!("SKIPPED {name}: {}", peers::MISSING);
            return None;
        };
        let setup = Setup { scratch: Scratch::new("files-cache"), ours: Program::portaborg(), peer };
        let _ = setup.scratch.folder("src");
        setup.told(&setup.peer, &["repo-create", "-e", "aes256-ocb"]);
        Some(setup)
    }

    /// Writes a file in the folder.
    fn write(&self, name: &str, content: &str) -> PathBuf {
        let file = self.scratch.path().join("src").join(name);
        fs::write(&file, content).unwrap();
        file
    }

    /// What our program lists of the files of a new archive.
    fn ours(&self, name: &str, options: &[&str]) -> String {
        self.create(&self.ours, name, options)
    }

    /// What the real client lists.
    fn peer(&self, name: &str, options: &[&str]) -> String {
        self.create(&self.peer, name, options)
    }

    fn create(&self, program: &Program, name: &str, options: &[&str]) -> String {
        let told = self.told(program, &[&["create", "--list"], options, &[name, "src"]].concat());
        let mut lines: Vec<&str> = told.lines().filter(|line| *line != "d src").collect();
        lines.sort_by_key(|line| line.split_once(" src/").map(|(_, name)| name)); // they come by inode
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn told(&self, program: &Program, args: &[&str]) -> String {
        let output = self.run(program, args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {told}");
        told
    }

    /// Makes no archive.
    fn fails(&self, name: &str, args: &[&str]) {
        let output = self.run(&self.ours, &[&["create", name], args].concat());
        assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn run(&self, program: &Program, args: &[&str]) -> Output {
        let scratch = self.scratch.path();
        let mut command = Command::new(program.path());
        command.args(args).current_dir(scratch).stdin(Stdio::null()).env("BORG_REPO", scratch.join("repository"));
        command.env("BORG_BASE_DIR", scratch.join("base")).env("BORG_PASSPHRASE", "pass");
        command.env("BORG_TESTONLY_WEAKEN_KDF", "1").env("BORG_SELFTEST", "disabled").output().unwrap()
    }

    /// The only file of the repository's cache whose name begins so.
    fn cache_file(&self, begin: &str) -> PathBuf {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let in_caches = entries(&self.scratch.path().join("base/.cache/borg")).flat_map(|cache| entries(&cache));
        let begins = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin));
        let found: Vec<PathBuf> = in_caches.filter(begins).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }
}
