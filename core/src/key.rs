//! Keys at rest: secrets wrapped with a passphrase, as text and on paper (repository layer, section 3).

mod locked;
mod paper;
mod text;

pub use locked::{ALGORITHM, LockedKey, SALT_BYTES};
pub use paper::{PaperError, PaperReader, paper_text};
pub use text::{MAX_TEXT_BYTES, blob, is_key, is_key_of, key_text, repository_of};

use crate::crypto::KdfError;
use crate::id::{RepositoryId, StoreHash};
use crate::msgpack::MsgpackError;
use alloc::string::String;
use alloc::vec::Vec;

/// The label of a repository's first key, which no other key may have and which is never removed (section 3.5).
pub const ADMIN_LABEL: &str = "admin";

/// Where a key text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLocation {
    /// In the repository's `keys/`.
    Repokey,
    /// In a file of the client.
    Keyfile,
}

impl KeyLocation {
    /// The word that users know.
    pub fn name(self) -> &'static str {
        match self {
            KeyLocation::Repokey => "repokey",
            KeyLocation::Keyfile => "keyfile",
        }
    }
}

/// A key text that was found somewhere.
#[derive(Debug, Clone)]
pub struct KeySource {
    /// Where.
    pub location: KeyLocation,
    /// Under which it is stored: the store hash of the text, unless it is damaged.
    pub name: StoreHash,
    /// The text as found.
    pub text: Vec<u8>,
}

/// Why a key can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text after the first line is no base64.
    #[error("is not valid base64")]
    Base64,
    /// The decoded data is no key: damaged.
    #[error("is not a valid key: {0}")]
    Msgpack(#[from] MsgpackError),
    /// Something that a key must have is missing or impossible.
    #[error("has an invalid {key}")]
    Attribute {
        /// The entry of the map.
        key: &'static str,
    },
    /// Made by another kind of program.
    #[error("is wrapped with {algorithm:?}, which is not supported")]
    Algorithm {
        /// As stored.
        algorithm: String,
    },
    /// The passphrase is wrong, or the costs are absurd.
    #[error("{0}")]
    Kdf(#[from] KdfError),
    /// These secrets are not those of the repository: nothing may be stored of [`Keys::lost`](crate::crypto::Keys::lost).
    #[error("can not be made: the secrets are lost")]
    Lost,
    /// The secrets inside belong to another repository: the text was relabelled.
    #[error("belongs to repository {found}")]
    OtherRepository {
        /// The repository inside.
        found: RepositoryId,
    },
}

impl KeyError {
    /// Whether nothing is wrong with the key itself, as far as can be told: it is the passphrase.
    pub fn is_passphrase(&self) -> bool {
        *self == KeyError::Kdf(KdfError::Passphrase)
    }
}
