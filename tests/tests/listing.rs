//! `portaborg listing`: the file beside a repository, and that neither program minds it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use portaborg_tests::client::{Client, Pair};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::scratch::Scratch;
use serde_json::Value;

const LISTING: &str = "portaborg-listing.json";

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Trial::new("listing/files", every_file_but_locks_and_leftovers),
            Trial::new("listing/refused", where_nothing_may_be_written_or_nothing_is),
            Trial::new("listing/minded", neither_program_minds_it),
        ]
    })
}

fn every_file_but_locks_and_leftovers(_: &mut Findings) {
    let scratch = Scratch::new("listing");
    let ours = repository(&scratch);
    let deleted = ours.create(&[], scratch.path(), "files");
    ours.ok(&["delete", &format!("aid:{deleted}")]);
    let root = ours.repository().to_owned();
    fs::write(root.join("locks/left"), "x").unwrap();
    fs::write(root.join("index/left.0123.tmp"), "x").unwrap();
    let readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(root.join("config/config"), readable).unwrap();
    // The repository can be an argument of its own, and takes precedence.
    let call = ours.call(["listing", root.to_str().unwrap()]).env("BORG_REPO", "/nowhere");
    ours.succeeds(call);
    let mut there = files(&root);
    there.retain(|name, _| name != LISTING && !name.starts_with("locks/") && !name.ends_with(".tmp"));
    assert!(there.keys().any(|name| name.ends_with(".del")), "{there:?}");
    assert_eq!(listed(&root), there);
    let mode = fs::metadata(root.join(LISTING)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "whoever can read the config can read it");

    ours.create(&[], scratch.path(), "files");
    ours.ok(&["listing"]);
    let again = listed(&root);
    assert!(again.len() > there.len(), "{again:?}");
    let temporary: Vec<_> = files(&root).into_keys().filter(|name| name.contains("listing.json.")).collect();
    assert!(temporary.is_empty(), "{temporary:?}");
}

fn where_nothing_may_be_written_or_nothing_is(_: &mut Findings) {
    let scratch = Scratch::new("listing");
    let ours = repository(&scratch);
    let refused = ours.call(["listing"]).env("BORG_REPO_PERMISSIONS", "read-only").run();
    assert_eq!(refused.code, Some(24), "{}", refused.summary());
    let nothing = ours.call(["listing", scratch.folder("empty").to_str().unwrap()]).run();
    assert_eq!(nothing.code, Some(15), "{}", nothing.summary());
    assert!(!ours.repository().join(LISTING).exists());
    assert!(!scratch.path().join("empty").join(LISTING).exists());
    let help = ours.ok(&["listing", "--help"]).out();
    assert!(help.contains("web server") && help.contains(LISTING), "{help}");
}

fn neither_program_minds_it(findings: &mut Findings) {
    let scratch = Scratch::new("listing");
    let Some(pair) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        return findings.skip(peers::MISSING);
    };
    make_files(&scratch);
    let Pair { ours, peer } = &pair;
    peer.ok(&["repo-create", "-e", "aes256-ocb"]);
    let id = peer.create(&[], scratch.path(), "files");
    ours.ok(&["listing"]);
    let listing = fs::read(ours.repository().join(LISTING)).unwrap();
    for client in [peer, ours] {
        client.ok(&["check", "--verify-data"]);
        let other = client.create(&[], scratch.path(), "files");
        client.ok(&["delete", &format!("aid:{other}")]);
        client.ok(&["compact", "--threshold", "0"]);
        client.ok(&["check", "--verify-data"]);
        client.ok(&["list", &format!("aid:{id}")]);
        client.ok(&["repo-info"]);
        assert_eq!(fs::read(ours.repository().join(LISTING)).unwrap(), listing, "{}", client.name());
    }
    // It goes with the repository.
    let call = ours.call(["repo-delete"]).env("BORG_DELETE_I_KNOW_WHAT_I_AM_DOING", "YES");
    ours.succeeds(call);
    assert!(!ours.repository().exists());
}

fn repository(scratch: &Scratch) -> Client {
    make_files(scratch);
    let ours = Client::ours(scratch, &scratch.path().join("repository"));
    ours.ok(&["repo-create", "-e", "aes256-ocb"]);
    ours.create(&[], scratch.path(), "files");
    ours
}

fn make_files(scratch: &Scratch) {
    let folder = scratch.folder("files");
    for number in 0..20 {
        fs::write(folder.join(number.to_string()), vec![number; 1000]).unwrap();
    }
}

fn listed(root: &Path) -> BTreeMap<String, u64> {
    let listing: Value = serde_json::from_slice(&fs::read(root.join(LISTING)).unwrap()).unwrap();
    let pair = |file: &Value| (file[0].as_str().unwrap().to_owned(), file[1].as_u64().unwrap());
    listing["files"].as_array().unwrap().iter().map(pair).collect()
}

/// All files below a folder, with their lengths.
fn files(root: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::metadata(&path).unwrap().len());
            }
        }
    }
    found
}
