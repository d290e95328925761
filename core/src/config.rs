//! A repository's config: what it is and how it is protected (repository layer, section 2.1).

use crate::crypto::Suite;
use crate::id::RepositoryId;
use crate::ini::{self, NotIni, Setting};
use crate::limits::REPOSITORY_VERSION;
use alloc::string::String;

/// For people who look into the file.
const HEAD: &str = "# This is a Borg Backup repository.\n# See https://borgbackup.readthedocs.io/\n";
/// The section that holds the settings.
const SECTION: &str = "repository";

/// What `config/config` says. It is neither secret nor authenticated: a wrong suite or id shows when the key or the first
/// object is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The repository's id.
    pub id: RepositoryId,
    /// How it is protected; `None` if the config doesn't say, and nothing can be read then.
    pub suite: Option<Suite>,
}

/// Why a config can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not the config of a Borg repository.
    #[error("is not the config of a Borg repository")]
    NotAConfig,
    /// A repository of another Borg.
    #[error("repository version {found}, only version {REPOSITORY_VERSION} is supported")]
    Version {
        /// As stored.
        found: String,
    },
    /// No id, or one that is no id.
    #[error("has no valid repository id")]
    Id,
    /// Only one of the two that belong together is there.
    #[error("has only one of encryption and id_hash")]
    HalfSuite,
    /// A suite that doesn't exist.
    #[error("names an unknown encryption {encryption:?} with id hash {id_hash:?}")]
    UnknownSuite {
        /// As stored.
        encryption: String,
        /// As stored.
        id_hash: String,
    },
}

impl Config {
    /// The text that is stored.
    pub fn encode(&self) -> String {
        let Config { id, suite } = self;
        let suite = suite.map(|suite| {
            alloc::format!("encryption = {}\nid_hash = {}\n", suite.encryption_name(), suite.id_hash.name())
        });
        alloc::format!(
            "{HEAD}\n[{SECTION}]\nversion = {REPOSITORY_VERSION}\nid = {id}\n{}\n",
            suite.unwrap_or_default()
        )
    }

    /// Parses the stored text, an INI dialect.
    pub fn parse(stored: &[u8]) -> Result<Config, ConfigError> {
        let text = core::str::from_utf8(stored).map_err(|_| ConfigError::NotAConfig)?;
        let (mut version, mut id, mut encryption, mut id_hash) = (None, None, None, None);
        for setting in ini::settings(text) {
            let Setting { section, key, value } = setting.map_err(|NotIni| ConfigError::NotAConfig)?;
            match (section, key) {
                (SECTION, "version") => version = Some(value),
                (SECTION, "id") => id = Some(value),
                (SECTION, "encryption") => encryption = Some(value),
                (SECTION, "id_hash") => id_hash = Some(value),
                _ => {}
            }
        }
        let version = version.ok_or(ConfigError::NotAConfig)?;
        if version.parse() != Ok(REPOSITORY_VERSION) {
            return Err(ConfigError::Version { found: version.into() });
        }
        let id = id.and_then(|id| id.to_ascii_lowercase().parse().ok()).ok_or(ConfigError::Id)?;
        let suite =
            match (encryption, id_hash) {
                (None, None) => None,
                (Some(encryption), Some(id_hash)) => Some(Suite::from_names(encryption, id_hash).ok_or_else(|| {
                    ConfigError::UnknownSuite { encryption: encryption.into(), id_hash: id_hash.into() }
                })?),
                _ => return Err(ConfigError::HalfSuite),
            };
        Ok(Config { id, suite })
    }
}
