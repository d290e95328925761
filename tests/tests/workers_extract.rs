//! Many workers: whatever their number and luck, every byte comes out, in order, and so does everything that is told.

use portaborg_tests::program::{Call, Program};
use portaborg_tests::scratch::Scratch;
use portaborg_tests::tree;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Extractions of each repository with many workers.
const ROUNDS: usize = 5;

#[test]
fn every_byte_comes_out_of_every_compression_with_many_workers_every_time() {
    for compression in ["lz4", "zlib", "lzma,1", "zstd,3", "none"] {
        let made = Made::new(compression);
        let expected = tree::read(&made.source);
        for round in 0..ROUNDS {
            let target = made.scratch.folder(&format!("out-{round}"));
            let (code, _, err) = run(made.on("8").args(["extract", "one"]).within(&target));
            assert_eq!((code, &*err), (Some(0), ""), "{compression}, round {round}");
            let found = tree::read(&target);
            assert_eq!(found.len(), expected.len(), "{compression}, round {round}");
            for (path, node) in &expected {
                let name = String::from_utf8_lossy(path);
                let other = &found[path];
                assert_eq!(other.sha256, node.sha256, "{name}, {compression}, round {round}");
                assert_eq!(
                    (other.mode, other.size, &other.target, &other.linked_to),
                    (node.mode, node.size, &node.target, &node.linked_to),
                    "{name}, {compression}, round {round}"
                );
                assert!(name == "." || other.mtime_ns == node.mtime_ns, "{name}, {compression}, round {round}");
            }
            fs::remove_dir_all(&target).unwrap();
        }
    }
}

#[test]
fn what_is_told_is_the_same_and_in_the_same_order_with_any_number_of_workers() {
    let made = Made::new("lz4");
    let damaged = made.damage_a_pack();
    let all = ["0", "1", "2", "8", "8"].map(|workers| {
        let told = |args: &[&str], target: &Path| {
            let (code, out, err) = run(made.on(workers).args(args).within(target));
            (code, out, err.replace(&*target.to_string_lossy(), "TARGET"))
        };
        let [whole, again] = ["whole", "again"].map(|name| made.scratch.folder(&format!("{name}-{workers}")));
        let outcomes = [
            told(&["extract", "--list", "one"], &whole),
            told(&["extract", "--list", "--continue", "one"], &whole),
            told(&["extract", "--dry-run", "--list", "one"], &again),
            told(&["extract", "--stdout", "one", "many"], &again),
            told(&["list", "one"], &again),
            told(&["list", "--json-lines", "--format", "{path}{size}{sha256}", "one", "many/3"], &again),
            told(&["check", "--verify-data"], &again),
        ];
        let found = tree::read(&whole);
        fs::remove_dir_all(&whole).unwrap();
        fs::remove_dir_all(&again).unwrap();
        let contents: Vec<_> = found.into_iter().map(|(path, node)| (path, node.mode, node.sha256)).collect();
        (outcomes, contents)
    });
    let (first, _) = &all[0];
    assert!(damaged && first[0].2.contains("replaced by all-zero data"), "{}", first[0].2);
    assert!(first[0].2.lines().count() > 1000 && first[3].1.len() > 100_000);
    for other in &all[1..] {
        for (one, other) in first.iter().zip(&other.0) {
            assert_eq!(one.0, other.0);
            assert!(one.1 == other.1, "stdout differs");
            assert_eq!(one.2, other.2);
        }
        assert!(all[0].1 == other.1, "files differ");
    }
}

#[test]
fn an_interrupted_extraction_leaves_whole_files_only() {
    let made = Made::new("lz4");
    for wait in [20, 60, 150, 300] {
        let target = made.scratch.folder(&format!("out-{wait}"));
        let base = made.scratch.folder("signalled");
        let mut command = made.on("8").args(["extract", "one"]).base(&base).within(&target).command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(wait));
        let signalled = Instant::now();
        let _may_be_over = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 2)), "{code:?}");
        assert!(signalled.elapsed() < Duration::from_secs(5), "{:?}", signalled.elapsed());
        let expected = tree::read(&made.source);
        for (path, node) in tree::read(&target).into_iter().filter(|(_, node)| node.size.is_some()) {
            let name = String::from_utf8_lossy(&path).into_owned();
            assert_eq!(node.sha256, expected[&path].sha256, "{name} after {wait} ms");
        }
        fs::remove_dir_all(&target).unwrap();
    }
}

/// A repository with one archive, and what it was made of.
struct Made {
    scratch: Scratch,
    program: Program,
    source: PathBuf,
    repository: PathBuf,
}

impl Made {
    fn new(compression: &str) -> Made {
        let scratch = Scratch::new("workers");
        let source = scratch.folder("source");
        make_tree(&source);
        let repository = scratch.path().join("repo");
        let made = Made { scratch, program: Program::portaborg(), source, repository };
        for args in [
            &["repo-create", "--encryption", "aes256-ocb", "--id-hash", "blake3"][..],
            &["create", "-C", compression, "one", "."],
        ] {
            let (code, _, err) = run(made.on("1").args(args).within(&made.source));
            assert_eq!(code, Some(0), "{err}");
        }
        made
    }

    fn on(&self, workers: &str) -> Call {
        let call = self.program.on(&self.repository, "passphrase");
        call.env("BORG_EXTRACT_WORKERS", workers).env("BORG_TESTONLY_WEAKEN_KDF", "1").base(self.scratch.path())
    }

    /// Changes bytes in the middle of the largest pack.
    fn damage_a_pack(&self) -> bool {
        let mut packs = Vec::new();
        let mut folders = vec![self.repository.join("packs")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                match entry.metadata().unwrap() {
                    metadata if metadata.is_dir() => folders.push(entry.path()),
                    metadata => packs.push((metadata.len(), entry.path())),
                }
            }
        }
        packs.sort();
        let Some((len, path)) = packs.pop() else { return false };
        let mut mode = fs::metadata(&path).unwrap().permissions();
        mode.set_mode(0o600);
        fs::set_permissions(&path, mode).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        (1..4).all(|part| file.write_all_at(&[0x5a; 64], len * part / 4).is_ok())
    }
}

/// Exit code, stdout, stderr.
fn run(call: Call) -> (Option<i32>, String, String) {
    let output = call.command().output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Many small files, some of several chunks, one large one, holes, links, and folders in folders.
fn make_tree(root: &Path) {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut text = |len: usize| -> Vec<u8> {
        let word = |number: usize| format!("{:x} ", number % 5000 * 7919).into_bytes();
        let mut text = Vec::new();
        while text.len() < len {
            text.extend(word(random()));
        }
        text.truncate(len);
        text
    };
    for number in 0..1200usize {
        let folder = root.join(format!("many/{}/{}", number / 100, number % 100 / 20));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("file-{number}")), text(number * 13 % 3000)).unwrap();
    }
    fs::create_dir(root.join("large")).unwrap();
    fs::write(root.join("large/3-mb"), text(3 << 20)).unwrap();
    fs::write(root.join("large/12-mb"), text(12 << 20)).unwrap();
    let holes = File::create(root.join("large/holes")).unwrap();
    holes.write_all_at(&text(1000), 9 << 20).unwrap();
    holes.set_len(17 << 20).unwrap();
    fs::write(root.join("large/empty"), "").unwrap();
    fs::create_dir(root.join("links")).unwrap();
    fs::hard_link(root.join("large/3-mb"), root.join("links/hard")).unwrap();
    fs::hard_link(root.join("many/0/0/file-7"), root.join("links/small")).unwrap();
    symlink("../large/empty", root.join("links/soft")).unwrap();
    fs::set_permissions(root.join("many/3"), fs::Permissions::from_mode(0o555)).unwrap();
}
