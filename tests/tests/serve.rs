//! `web` as its users start it: what it refuses, what it says, and the npm package as its client.
//!
//! `serve/program` and `serve/npm` need the page in the program: without `cargo dist-web` before the build they are skipped.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use portaborg_tests::fixture::{self, Unpacked};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::program::Program;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::web;
use rustix::process::{Pid, Signal, kill_process};

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Trial::new("serve/refusals", refusals),
            Trial::new("serve/export", export),
            Trial::new("serve/program", program),
            Trial::new("serve/npm", npm),
        ]
    })
}

/// What the command line must not lead to, with or without the page in the program.
fn refusals(findings: &mut Findings) {
    let unpacked = fixture::named(USED).unpack();
    let pem = unpacked.scratch().path().join("nothing.pem");
    let pem = pem.to_str().expect("a folder for tests has a plain name");
    for (args, code, said) in [
        (vec!["--listen", "0.0.0.0"], 4, "without TLS anyone on the way could forge the page"),
        (vec!["--listen", "::"], 4, "give --cert and --key"),
        (vec!["--listen", "192.0.2.1", "--port", "0"], 4, "192.0.2.1 is reached from other machines"),
        (vec!["--listen", "0.0.0.0", "--cert", pem], 2, "--key"),
        (vec!["--listen", "0.0.0.0", "--cert", pem, "--key", pem], 2, "nothing.pem"),
        (vec!["--listen", "not a name"], 2, "argument --listen"),
        (vec!["--export", "x", "--port", "1"], 2, "cannot be used with"),
        (vec!["--port", "65536"], 2, "65536"),
    ] {
        let outcome = Program::portaborg().on(&unpacked.repository(), "").args(["web", "--no-open"]).args(args).run();
        findings.check(outcome.code == Some(code) && outcome.err().contains(said), || outcome.summary());
    }
    if !has_page() {
        let outcome = Program::portaborg().on(&unpacked.repository(), "").args(["web", "--no-open"]).run();
        let says = outcome.err().contains("run cargo dist-web, then build it again");
        findings.check(outcome.code == Some(4) && says, || outcome.summary());
        return;
    }
    let nothing = unpacked.scratch().path().join("nothing");
    let outcome = Program::portaborg().on(&nothing, "").args(["web", "--no-open"]).run();
    findings.check(outcome.code == Some(13), || outcome.summary());
}

/// The page as files.
fn export(findings: &mut Findings) {
    if !has_page() {
        return findings.skip(NO_PAGE);
    }
    let scratch = Scratch::new("export");
    let folder = scratch.path().join("a/site");
    let export =
        || Program::portaborg().on(Path::new("/nonexistent"), "").args(["web", "--export"]).args([&folder]).run();
    let outcome = export();
    findings.check(outcome.code == Some(0), || outcome.summary());
    let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    for part in ["nginx", "Caddy", "AllowedOrigins", "Cross-Origin-Embedder-Policy: require-corp"] {
        findings.check(readme.contains(part), || format!("README.md does not have {part}"));
    }
    findings.check(folder.join("index.html").is_file(), || "there is no index.html".into());
    let outcome = export();
    findings.check(outcome.code == Some(4) && outcome.err().contains("is not empty"), || outcome.summary());
}

/// Address, token, and a good end.
fn program(findings: &mut Findings) {
    if !has_page() {
        return findings.skip(NO_PAGE);
    }
    let unpacked = fixture::named(USED).unpack();
    let scratch = Scratch::new("serve");
    let served = Served::start(&unpacked, &scratch);
    findings.check(served.token.len() == 43, || format!("the token is {:?}", served.token));
    for (path, authorization, wanted) in [
        ("/", "", "200"),
        ("/repository/config/config", "", "401"),
        ("/repository/config/config", "Bearer x", "401"),
        ("/repository/config/config", served.bearer().as_str(), "200"),
    ] {
        let said = served.get(path, authorization);
        findings.check(said.split(' ').nth(1) == Some(wanted), || format!("{path}: {said}"));
    }
    let before = Path::new("/proc").join(served.child.id().to_string()).join("cmdline");
    let line = fs::read_to_string(before).unwrap_or_default();
    findings.check(!line.contains(&served.token), || "the token is on the command line".into());
    let token = served.token.clone();
    let (code, err) = served.end(Signal::INT);
    findings.check(code == Some(0), || format!("after Ctrl-C: {code:?}: {err}"));
    findings.check(!err.contains(&token), || format!("the token is logged: {err}"));
    let (code, err) = Served::start(&unpacked, &scratch).end(Signal::TERM);
    findings.check(code == Some(143), || format!("after SIGTERM: {code:?}: {err}"));
}

/// The page's own client reads a whole repository.
fn npm(findings: &mut Findings) {
    if !has_page() {
        return findings.skip(NO_PAGE);
    }
    if let Some(obstacle) = web::obstacle() {
        return findings.skip(obstacle);
    }
    let scratch = Scratch::new("serve-npm");
    let folder = scratch.folder("package");
    if let Err(error) = web::build().and_then(|package| web::install(&package, &folder)) {
        return findings.wrong(error);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/served.mjs");
    fs::copy(&script, folder.join("served.mjs")).expect("a new folder can be written");
    let unpacked = fixture::named(USED).unpack();
    let served = Served::start(&unpacked, &scratch);
    let mut node = Command::new("node");
    node.arg("served.mjs").arg(format!("{}repository/", served.page)).arg(&served.token);
    node.arg(fixture::folder().join(format!("{USED}.expected.json")));
    match node.current_dir(&folder).stdin(Stdio::null()).output() {
        Ok(output) => {
            let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            findings.extend(said.iter().flat_map(|text| text.lines()).map(str::to_owned));
            findings.check(output.status.success(), || format!("served.mjs: {}", output.status));
        }
        Err(error) => findings.wrong(format!("node: {error}")),
    }
}

/// The program, serving.
struct Served {
    child: Child,
    page: String,
    token: String,
}

impl Served {
    fn start(unpacked: &Unpacked, scratch: &Scratch) -> Served {
        let call = Program::portaborg().on(Path::new("/nonexistent"), "").base(&scratch.folder("base"));
        let call = call.args(["web", "--no-open", "--port", "0"]).args([unpacked.repository()]);
        let mut child = call.command().spawn().expect("the program starts");
        let mut url = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
        while let Some(Ok(line)) = lines.next() {
            if line.trim().starts_with("http://127.0.0.1:") {
                line.trim().clone_into(&mut url);
            } else if line.contains("Ctrl-C") {
                break;
            }
        }
        let (page, fragment) = url.split_once('#').expect("the address is printed, with a fragment");
        let token = fragment.split('&').find_map(|field| field.strip_prefix("token=")).expect("the token is in it");
        assert!(fragment.starts_with("repository=/repository/&"), "{fragment}");
        Served { page: page.into(), token: token.into(), child }
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// The answer to a request, as text.
    fn get(&self, path: &str, authorization: &str) -> String {
        let host = self.page.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host).expect("it listens");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: {authorization}\r\n\
             Accept: application/vnd.x.borgstore.rest.v1\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut said = Vec::new();
        stream.read_to_end(&mut said).expect("it answers");
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Sends a signal, and waits for the end.
    fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
        let mut err = String::new();
        let _ = self.child.stderr.take().expect("it is a pipe").read_to_string(&mut err);
        (self.child.wait().expect("a child can be waited for").code(), err)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the page was there when the program was built.
fn has_page() -> bool {
    let scratch = Scratch::new("has-page");
    let folder = scratch.path().join("site");
    let call = Program::portaborg().on(Path::new("/nonexistent"), "").args(["web", "--export"]);
    call.args([folder]).run().code == Some(0)
}

const NO_PAGE: &str = "the program was built without the page (cargo dist-web)";
const USED: &str = "mode-aes256-ocb-sha256-repokey";
