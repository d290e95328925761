//! Whether a file of the cache is whole.

use crate::bytes::{Hex, from_hex};
use alloc::string::String;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The digest of a file, its name and its length (repository layer, section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integrity(pub [u8; 32]);

/// Computes the digest of a file that is given in pieces.
#[derive(Debug, Clone)]
pub struct IntegrityHasher {
    hasher: Sha256,
    content_bytes: u64,
}

#[derive(Deserialize)]
struct Json<'a> {
    algorithm: &'a str,
    digests: Digests<'a>,
}

#[derive(Deserialize)]
struct Digests<'a> {
    #[serde(rename = "final")]
    last: &'a str,
}

impl Integrity {
    /// What the cache's config has of the file; `None` if that is nothing that this version could compare.
    pub fn parse(text: &str) -> Option<Integrity> {
        let json: Json<'_> = serde_json::from_str(text).ok()?;
        (json.algorithm == ALGORITHM).then_some(())?;
        from_hex(json.digests.last).map(Integrity)
    }

    /// What the cache's config gets of the file.
    pub fn encode(&self) -> String {
        let hex = Hex(&self.0);
        alloc::format!(r#"{{"algorithm": "{ALGORITHM}", "digests": {{"{FINAL}": "{hex}"}}}}"#)
    }
}

impl IntegrityHasher {
    /// For a file of this name.
    pub fn new(file_name: &str) -> Self {
        let mut hasher = Sha256::new();
        update_with_text(&mut hasher, file_name);
        IntegrityHasher { hasher, content_bytes: 0 }
    }

    /// Takes the next piece of the file's content.
    pub fn update(&mut self, data: &[u8]) {
        self.hasher.update(data);
        self.content_bytes += data.len() as u64;
    }

    /// The digest of the whole file.
    pub fn finish(mut self) -> Integrity {
        update_with_text(&mut self.hasher, FINAL);
        self.hasher.update(alloc::format!("{}", self.content_bytes));
        Integrity(self.hasher.finalize().into())
    }
}

fn update_with_text(hasher: &mut Sha256, text: &str) {
    hasher.update(alloc::format!("{:>10}", text.len()));
    hasher.update(text);
}

const ALGORITHM: &str = "SHA256";
/// Borg's name of the only part that its files have.
const FINAL: &str = "final";
