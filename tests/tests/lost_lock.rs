//! A `create` that loses its lock to `break-lock` of either program makes no archive, and harms nothing.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use portaborg_tests::client::{Client, Pair};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::scratch::Scratch;

fn main() -> ExitCode {
    harness::main(|| vec![Trial::new("lost-lock/create", create_commits_nothing)])
}

fn create_commits_nothing(findings: &mut Findings) {
    let scratch = Scratch::new("lost-lock");
    let Some(Pair { ours, peer }) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        return findings.skip(peers::MISSING);
    };
    let folder = scratch.folder("source");
    fs::write(folder.join("file"), "content").expect("a scratch folder can be written");
    ours.ok(&["repo-create", "--encryption", "aes256-ocb"]);
    let kept = ours.create(&[], scratch.path(), "source");
    for breaker in [&ours, &peer] {
        let (code, said) = create_while(&ours, &folder, || drop(breaker.ok(&["break-lock"])));
        let is_told = code == Some(LOCK_TIMEOUT) && said.to_lowercase().contains("lock");
        findings.check(is_told, || format!("after break-lock of {}: {code:?}: {said}", breaker.name()));
        for client in [&ours, &peer] {
            let archives = client.archives();
            findings.check(archives == [kept.clone()].into(), || format!("{}: {archives:?}", client.name()));
            client.verify();
        }
    }
    let (code, said) = create_while(&ours, &folder, || {});
    findings.check(code == Some(0) && peer.archives().len() == 2, || format!("then: {code:?}: {said}"));
    peer.verify();
}

/// Exit code of a lock that is gone (command line, section 3.2).
const LOCK_TIMEOUT: i32 = 73;

/// Archives what a command prints that waits in the middle of it, and does something meanwhile.
fn create_while(client: &Client, folder: &Path, meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    let (waits, go) = (folder.join("waits"), folder.join("go"));
    let script = "head -c 3000000 /dev/urandom; : >waits; until test -e go; do sleep 0.05; done; echo end";
    let args =
        ["create", "--content-from-command", "--chunker-params", "fastcdc,10,16,13,2", "piped", "--", "sh", "-c"];
    let mut child =
        client.call(args).args([script]).within(folder).command().spawn().expect("it can be done in a scratch folder");
    let end = Instant::now() + Duration::from_secs(60);
    while !waits.exists() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
    meanwhile();
    fs::write(&go, "").expect("it can be done in a scratch folder");
    let mut said = String::new();
    child
        .stderr
        .take()
        .expect("it can be done in a scratch folder")
        .read_to_string(&mut said)
        .expect("it can be done in a scratch folder");
    let code = child.wait().expect("it can be done in a scratch folder").code();
    fs::remove_file(waits).expect("it can be done in a scratch folder");
    fs::remove_file(go).expect("it can be done in a scratch folder");
    (code, said)
}
