//! Keys that one program makes and changes, used by the other. Needs the real client.

use portaborg_tests::peers;
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ADMIN: &str = "admin pass \u{2602}";

#[test]
fn keys_in_the_repository_are_made_by_one_program_and_open_with_the_other() {
    both_ways("keys_in_the_repository_are_made_by_one_program_and_open_with_the_other", "repokey", "keyfile");
}

#[test]
fn keys_in_files_are_made_by_one_program_and_open_with_the_other() {
    both_ways("keys_in_files_are_made_by_one_program_and_open_with_the_other", "keyfile", "repokey");
}

fn both_ways(name: &str, place: &str, other_place: &str) {
    let Some(setup) = Setup::new(name, place) else { return };
    for (maker, user) in [(&setup.ours, &setup.peer), (&setup.peer, &setup.ours)] {
        let opens = |passphrase: &str| user.run(passphrase, &["repo-list"]).code;
        maker.env("BORG_NEW_PASSPHRASE", "bob 1").ok(ADMIN, &["key", "add", "--label", "bob"]);
        assert_eq!([opens("bob 1"), opens(ADMIN)], [0, 0]);
        assert_eq!(setup.row("bob 1", "bob"), ["*", place]);

        maker.env("BORG_NEW_PASSPHRASE", "").ok("bob 1", &["key", "change-passphrase"]);
        assert_eq!([opens("bob 1"), opens(""), opens(ADMIN)], [52, 0, 0]);
        maker.env("BORG_NEW_PASSPHRASE", "bob 2").ok("", &["key", "change-passphrase"]);
        assert_eq!([opens(""), opens("bob 2"), opens(ADMIN)], [52, 0, 0]);
        assert_eq!(setup.row("bob 2", "bob"), ["*", place]);

        maker.ok("bob 2", &["key", "change-location", other_place]);
        assert_eq!(opens("bob 2"), 0);
        assert_eq!(setup.row("bob 2", "bob"), ["*", other_place]);
        maker.ok("bob 2", &["key", "change-location", place, "--keep"]);
        assert_eq!(setup.list(&setup.ours, ADMIN).matches("bob").count(), 2);
        maker.ok("bob 2", &["key", "remove", "--passphrase"]);
        assert_eq!(opens("bob 2"), 0);

        let backup = setup.scratch.path().join("backup");
        maker.ok(ADMIN, &["key", "export", "--label", "bob", &backup.display().to_string()]);
        let paper = maker.ok(ADMIN, &["key", "export", "--label", "bob", "--paper"]);
        maker.ok(ADMIN, &["key", "remove", "--label", "bob"]);
        assert_eq!([opens("bob 2"), opens(ADMIN)], [52, 0]);

        // Into a file, the real client imports over any other key of the repository that is in one.
        let import_place = if std::ptr::eq(user, &setup.ours) { place } else { "repokey" };
        user.ok("", &["key", "import", "--key-location", import_place, &backup.display().to_string()]);
        assert_eq!(opens("bob 2"), 0);
        assert_eq!(setup.row("bob 2", "bob"), ["*", import_place]);
        maker.ok("bob 2", &["key", "remove", "--passphrase"]);

        let lines: String =
            paper.lines().skip(3).map(|line| line.split_once(": ").unwrap().1.to_owned() + "\n").collect();
        user.input(&lines).ok("", &["key", "import", "--paper"]);
        assert_eq!(setup.row("bob 2", "bob"), ["*", "repokey"]);
        maker.ok("bob 2", &["key", "remove", "--passphrase"]);
        assert_eq!(setup.row(ADMIN, "admin"), ["*", place]);
    }
}

#[test]
fn what_must_not_be_done_to_keys_is_refused_in_borgs_words() {
    let name = "what_must_not_be_done_to_keys_is_refused_in_borgs_words";
    let Some(setup) = Setup::new(name, "repokey") else { return };
    let (foreign, none) = (setup.file("foreign", "BORG_KEY a0a0a0\n"), setup.file("none", "something\n"));
    let same = |args: &[&str], code: i32| {
        let [ours, peer] = [&setup.ours, &setup.peer].map(|program| program.run(ADMIN, args));
        assert_eq!((ours.code, &ours.err), (code, &peer.err), "{args:?}");
        assert_eq!(peer.code, code, "{args:?}: {}", peer.err);
    };
    same(&["key", "remove", "--label", "admin"], 2);
    setup.ours.env("BORG_NEW_PASSPHRASE", "bob").ok(ADMIN, &["key", "add", "--label", "bo'b"]);
    same(&["key", "remove", "--label", "admin"], 2);
    same(&["key", "remove", "--key", ""], 2);
    same(&["key", "remove", "--label", "alice"], 2);
    same(&["key", "add", "--label", "admin"], 2);
    same(&["key", "add", "--label", "bo'b"], 2);
    same(&["key", "add", "--label", ""], 2);
    same(&["key", "export"], 4);
    same(&["key", "import"], 4);
    same(&["key", "import", "--paper", &none], 4);
    same(&["key", "import", "/nowhere/at/all"], 4);
    same(&["key", "import", &none], 43);
    same(&["key", "import", &foreign], 45);
    let kept = setup.list(&setup.peer, ADMIN);
    assert!(kept.lines().count() == 3 && kept.contains("bo'b"), "{kept}");
    let located = setup.ours.run(ADMIN, &["key", "change-location", "repokey"]);
    assert_eq!((located.code, &*located.out), (0, "The borg key is already stored as repokey, nothing to do.\n"));
}

#[test]
fn messages_name_the_key_in_use_and_files_are_for_their_owner() {
    let name = "messages_name_the_key_in_use_and_files_are_for_their_owner";
    let Some(setup) = Setup::new(name, "keyfile") else { return };
    let repository = setup.repository().display().to_string();
    let place = |done: Ran, before: &str| {
        let text = done.err.lines().find_map(|line| line.strip_prefix(before));
        text.unwrap_or_else(|| panic!("{}", done.err)).to_owned()
    };
    let add = setup.ours.env("BORG_NEW_PASSPHRASE", "bob");
    let file = place(add.run(ADMIN, &["-v", "key", "add", "--label", "bob"]), "Key location: ");
    assert!(fs::read_to_string(&file).unwrap().starts_with("BORG_KEY "));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place(setup.ours.run("bob", &["-v", "key", "change-location", "repokey"]), "Key moved to "), repository);
    assert!(!Path::new(&file).exists());
    let change = setup.ours.env("BORG_NEW_PASSPHRASE", "bob 2");
    assert_eq!(place(change.run("bob", &["-v", "key", "change-passphrase"]), "Key location: "), repository);
    let copy = place(setup.ours.run("bob 2", &["-v", "key", "change-location", "keyfile", "--keep"]), "Key copied to ");
    assert_eq!(Path::new(&copy).parent(), Some(&*setup.keys()));
    let removed = setup.ours.run("bob 2", &["-v", "key", "remove", "--passphrase"]);
    assert!(removed.err.contains(" (label 'bob') removed.\n"), "{}", removed.err);
    assert!(!Path::new(&copy).exists());

    fs::remove_dir_all(setup.keys()).unwrap();
    setup.ours.ok("bob 2", &["key", "change-location", "keyfile"]);
    assert_eq!(fs::metadata(setup.keys()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(setup.keys()).unwrap().count(), 1);
}

#[test]
fn the_explicit_key_file_is_kept_where_it_is_and_never_taken_from_others() {
    let name = "the_explicit_key_file_is_kept_where_it_is_and_never_taken_from_others";
    let Some(setup) = Setup::new(name, "repokey") else { return };
    let file = setup.scratch.path().join("explicit.key");
    let explicit = setup.ours.env("BORG_KEY_FILE", &file.display().to_string());
    explicit.ok(ADMIN, &["key", "change-location", "keyfile"]);
    assert_eq!(setup.ours.run(ADMIN, &["repo-list"]).code, 44);
    let peer = setup.peer.env("BORG_KEY_FILE", &file.display().to_string());
    peer.ok(ADMIN, &["repo-list"]);
    explicit.env("BORG_NEW_PASSPHRASE", "new").ok(ADMIN, &["key", "change-passphrase"]);
    peer.ok("new", &["repo-list"]);
    let refused = explicit.run("new", &["key", "add", "--label", "bob"]);
    assert_eq!((refused.code, refused.err.contains("BORG_KEY_FILE points to a single keyfile")), (2, true));

    // Another key in the repository does not get over this one.
    let backup = setup.file("backup", &fs::read_to_string(&file).unwrap());
    setup.ours.ok("", &["key", "import", &backup]);
    let other = setup.file("other", &format!("BORG_KEY {}\nAAAA\n", "0".repeat(64)));
    let elsewhere = setup.ours.env("BORG_KEY_FILE", &other);
    let refused = elsewhere.run("", &["key", "import", "--key-location", "keyfile", &backup]);
    assert_eq!(refused.code, 41, "{}", refused.err);
    fs::write(&other, "").unwrap();
    elsewhere.ok("", &["key", "import", "--key-location", "keyfile", &backup]);
    assert_eq!(fs::read(&other).unwrap(), fs::read(&backup).unwrap());
}

#[test]
fn new_passphrases_come_from_their_own_variables_first_and_are_asked_for_twice() {
    let name = "new_passphrases_come_from_their_own_variables_first_and_are_asked_for_twice";
    let Some(setup) = Setup::new(name, "repokey") else { return };
    let change = ["key", "change-passphrase"];
    let opens = |passphrase: &str| assert_eq!(setup.peer.run(passphrase, &["repo-list"]).code, 0, "{passphrase}");
    setup.ours.env("BORG_NEW_PASSCOMMAND", "printf 'by command\\n'").ok(ADMIN, &change);
    opens("by command");
    setup.ours.env("BORG_NEW_PASSPHRASE_FD", "0").input("by fd\n\n").ok("by command", &change);
    opens("by fd");
    setup.ours.ok("by fd", &change);
    opens("by fd");
    let two = setup.ours.env("BORG_NEW_PASSPHRASE", "x").env("BORG_NEW_PASSCOMMAND", "true").run("by fd", &change);
    assert_eq!((two.code, two.err.contains("BORG_NEW_PASSPHRASE, BORG_NEW_PASSCOMMAND")), (2, true));
    let failing = setup.ours.env("BORG_NEW_PASSCOMMAND", "false").run("by fd", &change);
    assert_eq!((failing.code, failing.err.contains("supplied in BORG_NEW_PASSCOMMAND failed")), (51, true));
    // What a pipe gave cannot be read again.
    let twice = setup.ours.env("BORG_PASSPHRASE_FD", "0").input("by fd\n").without_passphrase();
    assert_eq!(twice.run("", &change).code, 50);
    opens("by fd");

    let asked = setup.ours.without_passphrase().without_terminal();
    let typed = asked
        .input("by fd\none\ntwo\ntyped \u{e4}\ntyped \u{e4}\nwhat\ny\n")
        .run("", &["-v", "key", "change-passphrase"]);
    assert_eq!(typed.code, 0, "{}", typed.err);
    opens("typed \u{e4}");
    for told in [
        "Enter new passphrase: Enter same passphrase again: Passphrases do not match\nEnter new passphrase: ",
        "Enter same passphrase again: Do you want your passphrase to be displayed for verification? [yN]: Invalid answer",
        "Your passphrase (between double-quotes): \"typed \u{e4}\"\n",
        "Your passphrase (UTF-8 encoding in hex): 747970656420c3a4\n",
        "Remember your passphrase. Your data will be inaccessible without it.\n",
    ] {
        assert!(typed.err.contains(told), "{told:?} in {}", typed.err);
    }
    let silent = setup.ours.env("BORG_DISPLAY_PASSPHRASE", "n").without_passphrase().without_terminal();
    let silent = silent.input("typed \u{e4}\n\n\n").run("", &change);
    assert_eq!((silent.code, silent.err.contains("double-quotes")), (0, false), "{}", silent.err);
    opens("");
    assert_eq!(asked.input(&format!("\n{}", "a\nb\n".repeat(10))).run("", &change).code, 53);
}

#[test]
fn damaged_keys_are_shown_and_removed_and_do_not_count_as_the_last() {
    let name = "damaged_keys_are_shown_and_removed_and_do_not_count_as_the_last";
    let Some(setup) = Setup::new(name, "repokey") else { return };
    let text = setup.ours.ok(ADMIN, &["key", "export"]);
    let first_line = text.lines().next().unwrap();
    let damaged = setup.file("damaged", &format!("{first_line}\nAAAA\n"));
    let imported = setup.ours.run("", &["key", "import", &damaged]);
    assert_eq!((imported.code, imported.err.contains("opens nothing")), (0, true), "{}", imported.err);
    let listed = setup.list(&setup.ours, ADMIN);
    assert_eq!(listed, setup.list(&setup.peer, ADMIN));
    let id = listed.lines().find(|line| line.ends_with("(corrupted)")).unwrap()[2..14].to_owned();

    let stray = setup.file("stray", &format!("{first_line}\n!!!!\n"));
    assert_eq!(setup.ours.run("", &["key", "import", &stray]).code, 40);
    setup.ours.ok(ADMIN, &["key", "remove", "--key", &id]);
    assert_eq!(setup.list(&setup.ours, ADMIN).lines().count(), 2);
}

#[test]
fn secrets_that_nobody_knows_are_not_stored() {
    let name = "secrets_that_nobody_knows_are_not_stored";
    let Some(setup) = Setup::new(name, "repokey") else { return };
    let second = setup.scratch.path().join("second");
    let on = |program: &Client| program.env("BORG_REPO", &second.display().to_string());
    on(&setup.peer).ok(ADMIN, &["repo-create", "-e", "authenticated-blake3"]);
    let lost = on(&setup.ours).env("BORG_WORKAROUNDS", "authenticated_no_key");
    lost.ok("whatever", &["repo-list"]);
    let add = ["key", "add", "--label", "bob"];
    for args in [&["key", "change-passphrase"][..], &["key", "change-location", "keyfile"], &add] {
        let refused = lost.run("whatever", args);
        assert_eq!(
            (refused.code, refused.err.contains("authenticated_no_key")),
            (2, true),
            "{args:?}: {}",
            refused.err
        );
    }
    on(&setup.ours).env("BORG_NEW_PASSPHRASE", "bob").ok(ADMIN, &add);
    on(&setup.peer).ok("bob", &["repo-list"]);
}

/// A repository of the real client's, and both programs with one home.
struct Setup {
    scratch: Scratch,
    ours: Client,
    peer: Client,
}

impl Setup {
    /// `None`, and said so, where this can't be tried.
    fn new(name: &str, place: &str) -> Option<Setup> {
        let Some(peer) = peers::borg2() else {
            println!("SKIPPED {name}: {}", peers::MISSING);
            return None;
        };
        let scratch = Scratch::new("keys");
        let client = |program: &Path| {
            Client { program: program.into(), home: scratch.path().into(), ..Client::default() }
                .env("BORG_REPO", &scratch.path().join("repository").display().to_string())
        };
        let (ours, peer) = (client(Program::portaborg().path()), client(peer.path()));
        peer.ok(ADMIN, &["repo-create", "-e", "aes256-ocb", "--key-location", place]);
        Some(Setup { scratch, ours, peer })
    }

    fn repository(&self) -> PathBuf {
        self.scratch.path().join("repository")
    }

    fn keys(&self) -> PathBuf {
        self.scratch.path().join("base/.config/borg/keys")
    }

    fn file(&self, name: &str, content: &str) -> String {
        let file = self.scratch.path().join(name);
        fs::write(&file, content).unwrap();
        file.display().to_string()
    }

    fn list(&self, program: &Client, passphrase: &str) -> String {
        program.ok(passphrase, &["key", "list"])
    }

    /// Marker and place of the one key with this label, on which both programs agree.
    fn row(&self, passphrase: &str, label: &str) -> [String; 2] {
        let listed = self.list(&self.ours, passphrase);
        assert_eq!(listed, self.list(&self.peer, passphrase));
        let rows: Vec<&str> = listed.lines().filter(|line| line[24..].split(' ').next() == Some(label)).collect();
        assert_eq!(rows.len(), 1, "{label} in {listed}");
        [rows[0][..1].into(), rows[0][15..23].trim_end().into()]
    }
}

/// A program, and how it is run.
#[derive(Default, Clone)]
struct Client {
    program: PathBuf,
    home: PathBuf,
    environment: Vec<(String, String)>,
    input: String,
    no_passphrase: bool,
    no_terminal: bool,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Client {
    fn env(&self, name: &str, value: &str) -> Client {
        let mut client = self.clone();
        client.environment.push((name.into(), value.into()));
        client
    }

    fn input(&self, text: &str) -> Client {
        Client { input: text.into(), ..self.clone() }
    }

    fn without_passphrase(&self) -> Client {
        Client { no_passphrase: true, ..self.clone() }
    }

    /// Questions are answered by standard input.
    fn without_terminal(&self) -> Client {
        Client { no_terminal: true, ..self.clone() }
    }

    fn run(&self, passphrase: &str, args: &[&str]) -> Ran {
        let mut command = if self.no_terminal {
            let mut command = Command::new("setsid");
            command.arg("--wait").arg(&self.program);
            command
        } else {
            Command::new(&self.program)
        };
        command.args(args).env("BORG_BASE_DIR", self.home.join("base")).env("BORG_HOST_ID", "fixture-host@1");
        command.env("BORG_TESTONLY_WEAKEN_KDF", "1").env("BORG_SELFTEST", "disabled").current_dir(&self.home);
        if !self.no_passphrase {
            command.env("BORG_PASSPHRASE", passphrase);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(self.input.as_bytes()); // who needs no input may be gone
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// What it prints, if it succeeds.
    fn ok(&self, passphrase: &str, args: &[&str]) -> String {
        let ran = self.run(passphrase, args);
        assert_eq!(ran.code, 0, "{} {args:?}: {}", self.program.display(), ran.err);
        ran.out
    }
}
