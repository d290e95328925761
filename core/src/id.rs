//! Identifiers, one type per meaning.

use crate::bytes::{Hex, from_hex};
use core::fmt;
use core::str::FromStr;

/// A text that is not an identifier of 64 lowercase hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier of 64 hexadecimal digits")]
pub struct NotAnId;

macro_rules! id_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 32]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Hex(&self.0).fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), Hex(&self.0))
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                from_hex(text).map(Self).ok_or(NotAnId)
            }
        }
    )*};
}

id_types! {
    /// Names a chunk of any type: the keyed hash of its plaintext (data layer, section 5).
    ChunkId;
    /// Names an archive: the [`ChunkId`] of its metadata object (data layer, section 9.1).
    ArchiveId;
    /// Names a pack: the [`StoreHash`] of the whole pack file (repository layer, section 5.3).
    PackId;
    /// Names a file in the files cache: the keyed hash of its item's path (data layer, section 13).
    PathHash;
    /// Names a repository: 32 random bytes, fixed at creation (repository layer, section 2.1).
    RepositoryId;
    /// Names an object by its stored bytes: unkeyed BLAKE3 (repository layer, section 1.1).
    StoreHash;
}

impl From<ArchiveId> for ChunkId {
    fn from(id: ArchiveId) -> Self {
        ChunkId(id.0)
    }
}

impl From<StoreHash> for PackId {
    fn from(hash: StoreHash) -> Self {
        PackId(hash.0)
    }
}
