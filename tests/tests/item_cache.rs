//! The item cache of the native program: what is listed is the same with it, without it, and whatever lies in its place.

use portaborg_tests::fixture::{self, Unpacked};
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Items of every kind, and thousands of them.
const ODD: &str = "oddtree";
const MANY: &str = "many-items";
/// The client's own variable for it.
const VARIABLE: &str = "PORTABORG_ITEM_CACHE";

#[test]
fn a_list_is_the_same_from_the_cache() {
    for name in [ODD, MANY, "oddtree-authenticated-sha256"] {
        let setup = Setup::new(name);
        for archive in setup.archives() {
            for options in [&["--json-lines"][..], &["--depth", "1", "-e", "sh:**/*1*"]] {
                let list = |more: &[&str]| setup.said(&[&["list"], options, more, &[&archive]].concat());
                let without = list(&["--no-item-cache"]);
                setup.forget();
                assert_eq!([list(&[]), list(&[])], [without.clone(), without], "{name}: {archive} {options:?}");
            }
        }
    }
}

#[test]
fn what_was_listed_is_used_and_nobody_can_read_it() {
    let setup = Setup::new(ODD);
    let archive = &setup.archives()[0];
    setup.said(&["list", archive]);
    let [file] = &setup.files()[..] else { panic!("{:?}", setup.files()) };
    assert_eq!(file.file_name().unwrap().to_str().unwrap(), &archive["aid:".len()..]);
    let mode = |path: &Path| std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
    assert_eq!([mode(file) & 0o777, mode(file.parent().unwrap()) & 0o777], [0o600, 0o700]);
    let content = fs::read(file).unwrap();
    assert!(!content.windows(5).any(|bytes| bytes == b"etc/p" || bytes == b"user."));
    for command in [&["list"][..], &["extract", "--dry-run"]] {
        Setup::age(file);
        setup.said(&[command, &[archive.as_str()]].concat());
        assert!(!Setup::is_old(file), "{command:?}");
        assert!(fs::read(file).unwrap() == content, "{command:?}");
    }
}

#[test]
fn whoever_does_not_want_a_cache_has_none() {
    let setup = Setup::new(ODD);
    let archive = &setup.archives()[0];
    let call = |args: &[&str], variable: &str, value: &str| {
        let output = setup.command(args).env(variable, value).output().unwrap();
        assert!(output.status.success());
    };
    let without: [(&[&str], &str, &str); 3] = [
        (&["--no-item-cache"], "UNUSED", ""),
        (&[], VARIABLE, "no"),
        // Who wants every chunk to be verified when it is read does not want what was read before.
        (&[], "BORG_ASSERT_ID", "read"),
    ];
    for (options, variable, value) in without {
        call(&[&["list", archive], options].concat(), variable, value);
        assert!(setup.files().is_empty(), "{options:?} {variable}");
    }
    setup.said(&["list", archive]);
    for (options, variable, value) in without {
        for command in [&["list"][..], &["extract", "--dry-run"]] {
            Setup::age(&setup.files()[0]);
            call(&[command, &[archive], options].concat(), variable, value);
            assert!(Setup::is_old(&setup.files()[0]), "{command:?} {options:?} {variable}");
        }
    }
}

#[test]
fn whatever_lies_in_its_place_does_nothing() {
    let setup = Setup::new(MANY);
    let archive = &setup.archives()[0];
    let list = || setup.said(&["list", "--json-lines", archive]);
    let right = list();
    let file = setup.files().remove(0);
    let content = fs::read(&file).unwrap();
    assert!(content.len() > 150_000, "{}: more than a segment", content.len());
    let flipped = |at: usize| {
        let mut content = content.clone();
        content[at] ^= 1;
        content
    };
    let last = content.len() - 1;
    let places = [0, 8, 12, 44, 140_000, last];
    let mut wrong: Vec<Vec<u8>> = places.into_iter().map(flipped).collect();
    wrong.extend([0, 44, 131_132, 150_000, last].map(|len| content[..len].to_vec()));
    wrong.push([&content[..], b"more"].concat());
    wrong.push(vec![0; 1 << 20]);
    for (number, wrong) in wrong.iter().enumerate() {
        fs::write(&file, wrong).unwrap();
        assert!(list() == right, "{number}");
        assert!(fs::read(&file).map_or(true, |now| now != *wrong), "{number}: it stays");
        assert!(list() == right, "{number}");
    }
    // What is no file at all.
    let folder = file.parent().unwrap();
    fs::remove_file(&file).unwrap();
    for put in [
        &|| fs::create_dir(&file).unwrap(),
        &|| assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
        &|| std::os::unix::fs::symlink("/dev/zero", &file).unwrap(),
    ] as [&dyn Fn(); 3]
    {
        put();
        assert!(list() == right);
        let _ = fs::remove_dir(&file);
        let _ = fs::remove_file(&file);
    }
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "a file").unwrap();
    assert!(list() == right);
}

#[test]
fn a_file_of_another_archive_does_nothing() {
    let setup = Setup::new(ODD);
    let archives = setup.archives();
    let lists: Vec<String> = archives.iter().map(|archive| setup.said(&["list", archive])).collect();
    let files = setup.files();
    assert!(files.len() > 1 && lists[0] != lists[1]);
    for turn in 1..files.len() {
        let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        for (at, file) in files.iter().enumerate() {
            fs::write(file, &contents[(at + turn) % contents.len()]).unwrap();
        }
        // The first list removes what is wrong, and the second one puts what is right in its place.
        for (archive, list) in archives.iter().chain(&archives).zip(lists.iter().chain(&lists)) {
            assert_eq!(setup.said(&["list", archive]), *list);
        }
    }
}

#[test]
fn a_damaged_archive_is_not_kept() {
    for (name, code) in [("item-chunk-missing", None), ("item-chunk-flip", None), ("path-escape", Some(109))] {
        let setup = Setup::new(name);
        for archive in setup.archives() {
            let outputs = [(); 2].map(|()| setup.command(&["list", &archive]).output().unwrap());
            assert!(outputs[0] == outputs[1], "{name}: {archive}");
            let is_kept = setup.files().iter().any(|file| file.ends_with(&archive["aid:".len()..]));
            assert_eq!(is_kept, outputs[0].status.success(), "{name}: {archive}");
            assert!(code.is_none() || is_kept || outputs[0].status.code() == code, "{name}: {archive}");
        }
        assert!(setup.files().len() < setup.archives().len(), "{name}");
    }
}

#[test]
fn many_programs_share_a_cache() {
    let setup = Setup::new(MANY);
    let archive = &setup.archives()[0];
    let right = setup.said(&["list", "--no-item-cache", archive]);
    for _ in 0..3 {
        let children: Vec<_> = (0..6).map(|_| setup.command(&["list", archive]).spawn().unwrap()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success() && output.stdout == right.as_bytes());
        }
        assert_eq!(setup.files().len(), 1);
        setup.forget();
    }
}

/// A repository, and a home.
struct Setup {
    home: Scratch,
    repository: Unpacked,
    passphrase: String,
}

impl Setup {
    fn new(name: &str) -> Setup {
        let fixture = fixture::named(name);
        let passphrase = fixture.expected.passphrase.clone();
        Setup { home: Scratch::new("item-cache"), repository: fixture.unpack(), passphrase }
    }

    fn command(&self, args: &[&str]) -> Command {
        let call = Program::portaborg().on(&self.repository.repository(), &self.passphrase).args(args);
        call.base(self.home.path()).within(&self.home.folder("empty")).command()
    }

    /// What a command prints, which has nothing to complain of.
    fn said(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && err.is_empty(), "{args:?}: {} {err}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// All archives, as commands take them.
    fn archives(&self) -> Vec<String> {
        let output = self.command(&["repo-list", "--format", "{id}{NL}"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).lines().map(|id| format!("aid:{id}")).collect()
    }

    /// What lies in the cache.
    fn files(&self) -> Vec<PathBuf> {
        let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let caches = entries(self.home.path().join(".cache/borg"));
        caches.flat_map(|cache| entries(cache.join("items"))).collect()
    }

    fn forget(&self) {
        self.files().iter().for_each(|file| fs::remove_file(file).unwrap());
    }

    fn age(file: &Path) {
        let long_ago = SystemTime::now() - Duration::from_secs(1_000_000);
        File::open(file).unwrap().set_modified(long_ago).unwrap();
    }

    fn is_old(file: &Path) -> bool {
        fs::metadata(file).unwrap().modified().unwrap().elapsed().unwrap() > Duration::from_secs(900_000)
    }
}
