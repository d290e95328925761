//! A program at work: one repository, files of its own, and an environment that stays the same from command to command.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::peers;
use crate::program::{Call, Outcome, Program};
use crate::scratch::Scratch;
use crate::tree::{self, Tree};

/// Opens the repositories that tests make.
pub const PASSPHRASE: &str = "in turns";

/// A program with a repository to work on.
#[derive(Debug, Clone)]
pub struct Client {
    program: Program,
    repository: PathBuf,
    base: PathBuf,
    environment: Vec<(&'static str, String)>,
}

/// Both programs, with the same repository.
#[derive(Debug)]
pub struct Pair {
    /// The program under test.
    pub ours: Client,
    /// The real client.
    pub peer: Client,
}

impl Pair {
    /// Both with files of their own below `scratch`; `None` where the real client is missing.
    #[must_use]
    pub fn new(scratch: &Scratch, repository: &Path) -> Option<Self> {
        let peer = Client::new(peers::borg2()?, repository, &scratch.folder("base-of-peer"));
        Some(Self { ours: Client::ours(scratch, repository), peer })
    }

    /// The same, with one more variable.
    #[must_use]
    pub fn env(self, name: &'static str, value: &str) -> Self {
        Self { ours: self.ours.env(name, value), peer: self.peer.env(name, value) }
    }
}

impl Client {
    /// A program that keeps its own files in `base`.
    #[must_use]
    pub fn new(program: Program, repository: &Path, base: &Path) -> Self {
        let (repository, base) = (repository.to_owned(), base.to_owned());
        Self { program, repository, base, environment: vec![("BORG_TESTONLY_WEAKEN_KDF", "1".to_owned())] }
    }

    /// The program under test, with its files below `scratch`.
    #[must_use]
    pub fn ours(scratch: &Scratch, repository: &Path) -> Self {
        Self::new(Program::portaborg().patient(), repository, &scratch.folder("base-of-ours"))
    }

    /// The same, with one more variable.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// The same, with its own files in the same place as another client's.
    #[must_use]
    pub fn beside(&self, other: &Client) -> Self {
        Self { base: other.base.clone(), ..self.clone() }
    }

    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &Path {
        &self.repository
    }

    /// Who it is, for messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.program.is_ours() { "ours" } else { "the real client" }
    }

    /// A command about to be run.
    #[must_use]
    pub fn call<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Call {
        let call = self.program.on(&self.repository, PASSPHRASE).base(&self.base).args(args);
        self.environment.iter().fold(call, |call, (name, value)| call.env(name, value))
    }

    /// Runs a command that must succeed.
    pub fn ok(&self, args: &[&str]) -> Outcome {
        self.succeeds(self.call(args))
    }

    /// Runs a call that must succeed.
    pub fn succeeds(&self, call: Call) -> Outcome {
        let outcome = call.run();
        assert!(outcome.code == Some(0), "{}: {}", self.name(), outcome.summary());
        outcome
    }

    /// Makes an archive of the folder `name` below `parent`, and gives its id.
    pub fn create(&self, options: &[&str], parent: &Path, name: &str) -> String {
        let args = [&["create", "--json"], options, &["series", name]].concat();
        let outcome = self.succeeds(self.call(args).within(parent));
        let json: Value = serde_json::from_slice(&outcome.stdout).unwrap_or_default();
        let id = json["archive"]["id"].as_str();
        id.unwrap_or_else(|| panic!("{}: {}: no archive id", self.name(), outcome.words)).to_owned()
    }

    /// What `list --json-lines` prints for an archive.
    pub fn list(&self, id: &str) -> String {
        self.ok(&["list", "--json-lines", &aid(id)]).out()
    }

    /// Extracts an archive into a new folder `into`, and reads what comes out below `name`.
    pub fn extract(&self, id: &str, into: &Path, name: &str) -> Tree {
        fs::create_dir_all(into).unwrap_or_else(|error| panic!("{}: {error}", into.display()));
        self.succeeds(self.call(["extract", &aid(id)]).within(into));
        tree::read(&into.join(name))
    }

    /// The ids of all archives.
    pub fn archives(&self) -> BTreeSet<String> {
        self.ok(&["repo-list", "--short"]).out().lines().map(str::to_owned).collect()
    }

    /// Verifies everything.
    pub fn verify(&self) {
        let _ = self.ok(&["check", "--verify-data"]);
    }
}

/// An archive's id as an argument.
#[must_use]
pub fn aid(id: &str) -> String {
    format!("aid:{id}")
}
