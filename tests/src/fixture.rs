//! The fixtures: found by name, unpacked with their times kept (the age of a lock matters).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::expected::{Expected, to_hex};
use crate::scratch::Scratch;
use sha2::{Digest, Sha256};

/// One repository of the kit.
#[derive(Debug)]
pub struct Fixture {
    /// Its name, as in `NAME.tar`.
    pub name: String,
    /// What must come out.
    pub expected: Expected,
    tar: PathBuf,
}

/// All fixtures, by name.
#[must_use]
pub fn all() -> Vec<Fixture> {
    let mut found: Vec<Fixture> = fs::read_dir(folder())
        .expect("the fixtures are part of the source")
        .map(|entry| entry.expect("the folder of fixtures can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tar"))
        .map(Fixture::at)
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The fixture of this name.
#[must_use]
pub fn named(name: &str) -> Fixture {
    Fixture::at(folder().join(format!("{name}.tar")))
}

/// Where they are.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/borg2")
}

impl Fixture {
    fn at(tar: PathBuf) -> Self {
        let name = tar.file_stem().expect("a tar has a name").to_string_lossy().into_owned();
        let json = tar.with_extension("expected.json");
        let text = fs::read(&json).unwrap_or_else(|error| panic!("{}: {error}", json.display()));
        let expected = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", json.display()));
        Self { name, expected, tar }
    }

    /// Unpacks it into a folder of its own.
    #[must_use]
    pub fn unpack(&self) -> Unpacked {
        let scratch = Scratch::new(&self.name);
        self.unpack_into(scratch.path());
        Unpacked { scratch }
    }

    /// Names of the files in one namespace of its repository.
    #[must_use]
    pub fn files_below(&self, namespace: &str) -> Vec<String> {
        let files = self.unpack().files();
        files.keys().filter_map(|name| Some(name.strip_prefix(namespace)?.strip_prefix('/')?.to_owned())).collect()
    }

    /// Unpacks it into `folder`.
    pub fn unpack_into(&self, folder: &Path) {
        let file = fs::File::open(&self.tar).unwrap_or_else(|error| panic!("{}: {error}", self.tar.display()));
        let mut archive = tar::Archive::new(file);
        let unpacked: std::io::Result<()> = archive.entries().and_then(|entries| {
            for entry in entries {
                let mut entry = entry?;
                entry.unpack_in(folder)?;
                let path = folder.join(entry.path()?);
                if path.is_file() {
                    // The tar crate makes time 0 to 1; a lock object with time 0 has no time, one with 1 is old.
                    let time = UNIX_EPOCH + Duration::from_secs(entry.header().mtime()?);
                    fs::File::options().write(true).open(&path)?.set_modified(time)?;
                }
            }
            Ok(())
        });
        unpacked.unwrap_or_else(|error| panic!("{}: {error}", self.tar.display()));
    }
}

/// A fixture's files in a folder of their own.
#[derive(Debug)]
pub struct Unpacked {
    scratch: Scratch,
}

impl Unpacked {
    /// The repository.
    #[must_use]
    pub fn repository(&self) -> PathBuf {
        self.scratch.path().join("repo")
    }

    /// The second repository of `keys-related`.
    #[must_use]
    pub fn second_repository(&self) -> PathBuf {
        self.scratch.path().join("repo2")
    }

    /// The client's key files, where the fixture has any.
    #[must_use]
    pub fn keys(&self) -> Option<PathBuf> {
        Some(self.scratch.path().join("keys")).filter(|path| path.is_dir())
    }

    /// The folder around all.
    #[must_use]
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Every file of the repository with its SHA-256.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        let root = self.repository();
        let mut found = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(content) = fs::read(&path) {
                    let name = path.strip_prefix(&root).expect("it was found below").to_string_lossy().into_owned();
                    found.insert(name, to_hex(&Sha256::digest(&content)));
                }
            }
        }
        found
    }
}
