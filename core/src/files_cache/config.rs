//! The config of a repository's cache.

use super::integrity::Integrity;
use crate::id::RepositoryId;
use crate::ini::{self, NotIni, Setting};
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt::Write;

/// What the file `config` in a cache says (repository layer, section 8.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheConfig {
    /// Whose cache it is.
    pub repository: RepositoryId,
    /// What is known of the cache's files, by their names in lower case, which is how Borg stores them; texts of other
    /// versions are kept.
    integrity: BTreeMap<String, String>,
}

/// Why a cache can't be used. It can be made anew, since it holds nothing that is not elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheConfigError {
    /// Not the config of a cache.
    #[error("does not look like a Borg cache.")]
    NotACache,
    /// A cache of another Borg.
    #[error("has unexpected cache version {found} (wanted: {VERSION}).")]
    Version {
        /// As stored.
        found: String,
    },
}

impl CacheConfig {
    /// Of a cache without files.
    pub fn new(repository: RepositoryId) -> Self {
        CacheConfig { repository, integrity: BTreeMap::new() }
    }

    /// Parses the stored text, an INI dialect.
    pub fn parse(text: &str) -> Result<CacheConfig, CacheConfigError> {
        let (mut version, mut repository, mut integrity) = (None, None, BTreeMap::new());
        for setting in ini::settings(text) {
            let Setting { section, key, value } = setting.map_err(|NotIni| CacheConfigError::NotACache)?;
            let key = key.to_ascii_lowercase();
            match (section, &*key) {
                (CACHE, "version") => version = Some(value),
                (CACHE, "repository") => repository = value.parse().ok(),
                (INTEGRITY, _) => {
                    integrity.insert(key, value.into());
                }
                _ => {}
            }
        }
        match version.ok_or(CacheConfigError::NotACache)? {
            VERSION => {}
            other => return Err(CacheConfigError::Version { found: other.into() }),
        }
        Ok(CacheConfig { repository: repository.ok_or(CacheConfigError::NotACache)?, integrity })
    }

    /// The text that is stored.
    pub fn encode(&self) -> String {
        let mut text = alloc::format!("[{CACHE}]\nversion = {VERSION}\nrepository = {}\n\n", self.repository);
        text.push_str(&alloc::format!("[{INTEGRITY}]\n"));
        for (name, value) in &self.integrity {
            writeln!(text, "{name} = {value}").expect("a String takes everything");
        }
        text.push('\n');
        text
    }

    /// The digest that the file of this name must have; `None` if none is known, and the file must not be relied on.
    pub fn integrity(&self, file_name: &str) -> Option<Integrity> {
        self.integrity.get(&file_name.to_ascii_lowercase()).and_then(|text| Integrity::parse(text))
    }

    /// Sets the digest of a file that was written.
    pub fn set_integrity(&mut self, file_name: &str, integrity: Integrity) {
        self.integrity.insert(file_name.to_ascii_lowercase(), integrity.encode());
    }
}

const CACHE: &str = "cache";
const INTEGRITY: &str = "integrity";
const VERSION: &str = "1";
