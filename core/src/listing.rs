//! A list of a repository's files, for web servers that just hand out files: whoever reads from one has to know their names,
//! and names that are hashes can't be guessed.
//!
//! It lies beside the repository's folders and is no part of the format: clients that know nothing of it never meet it. The
//! npm package reads it (`sources.http`).
//!
//! ```text
//! { "files": [["config/config", 123], ["packs/ab/abcd...", 4567], ...] }
//! ```

use crate::name::{Entry, Namespace};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The list's own name, below the repository.
pub const LISTING_NAME: &str = "portaborg-listing.json";

/// Files of a repository: paths below its folder, with lengths in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    files: Vec<(String, u64)>,
}

impl Listing {
    /// Adds a file of a namespace.
    pub fn add(&mut self, namespace: Namespace, entry: &Entry) {
        self.files.push((entry.path(namespace), entry.size));
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The content of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers have no reason to fail")
    }
}
