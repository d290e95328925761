//! Names of objects: seven namespaces, what lies in them, and where (repository layer, sections 1.1 to 1.3).

use crate::id::{ArchiveId, PackId, StoreHash};
use crate::time::Timestamp;
use alloc::string::String;
use core::fmt;

/// Names longer than this are none (section 1.3).
const MAX_NAME_BYTES: usize = 100;
/// What a soft-deleted object's name ends with.
pub const DELETED_SUFFIX: &str = ".del";

/// What the names of archive references begin with; the archive's id follows.
pub const REFERENCES_PREFIX: &str = "referenced-by-archive.";

/// The folders of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// Pointers to archives: empty objects named by the archive's id.
    Archives,
    /// What can be computed again.
    Cache,
    /// The config and the defaults.
    Config,
    /// Fragments of the chunk index.
    Index,
    /// Wrapped keys.
    Keys,
    /// Locks of running clients.
    Locks,
    /// Packs of chunks.
    Packs,
}

impl Namespace {
    /// All of them, in order of their names.
    pub const ALL: [Namespace; 7] = [
        Namespace::Archives,
        Namespace::Cache,
        Namespace::Config,
        Namespace::Index,
        Namespace::Keys,
        Namespace::Locks,
        Namespace::Packs,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Namespace::Archives => "archives",
            Namespace::Cache => "cache",
            Namespace::Config => "config",
            Namespace::Index => "index",
            Namespace::Keys => "keys",
            Namespace::Locks => "locks",
            Namespace::Packs => "packs",
        }
    }
}

/// The name of one object. `Display` spells its name; [`Key::path`] the nested path under which it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// `config/config`.
    Config,
    /// `config/defaults`.
    Defaults,
    /// `archives/<id>`.
    Archive(ArchiveId),
    /// `archives/<id>.del`: a soft-deleted archive.
    DeletedArchive(ArchiveId),
    /// A pack.
    Pack(PackId),
    /// A fragment of the chunk index.
    Fragment(StoreHash),
    /// A wrapped key.
    RepoKey(StoreHash),
    /// A lock.
    Lock(StoreHash),
    /// `cache/checked-packs`.
    CheckedPacks,
    /// `cache/referenced-by-archive.<id>`.
    References(ArchiveId),
    /// `cache/chunkindex-invalid`.
    IndexInvalid,
    /// A name outside the format, to see what else a folder may be.
    Foreign(&'static str),
}

impl Key {
    /// The folder that it lies in; `None` for a name outside the format.
    pub fn namespace(&self) -> Option<Namespace> {
        Some(match self {
            Key::Config | Key::Defaults => Namespace::Config,
            Key::Archive(_) | Key::DeletedArchive(_) => Namespace::Archives,
            Key::Pack(_) => Namespace::Packs,
            Key::Fragment(_) => Namespace::Index,
            Key::RepoKey(_) => Namespace::Keys,
            Key::Lock(_) => Namespace::Locks,
            Key::CheckedPacks | Key::References(_) | Key::IndexInvalid => Namespace::Cache,
            Key::Foreign(_) => return None,
        })
    }

    /// Where the object lies below the repository (section 1.2).
    pub fn path(&self) -> String {
        match self {
            Key::Pack(id) => nested(Namespace::Packs, &alloc::format!("{id}")),
            _ => alloc::format!("{self}"),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Config => f.write_str("config/config"),
            Key::Defaults => f.write_str("config/defaults"),
            Key::Archive(id) => write!(f, "archives/{id}"),
            Key::DeletedArchive(id) => write!(f, "archives/{id}{DELETED_SUFFIX}"),
            Key::Pack(id) => write!(f, "packs/{id}"),
            Key::Fragment(hash) => write!(f, "index/{hash}"),
            Key::RepoKey(hash) => write!(f, "keys/{hash}"),
            Key::Lock(hash) => write!(f, "locks/{hash}"),
            Key::CheckedPacks => f.write_str("cache/checked-packs"),
            Key::References(id) => write!(f, "cache/{REFERENCES_PREFIX}{id}"),
            Key::IndexInvalid => f.write_str("cache/chunkindex-invalid"),
            Key::Foreign(name) => f.write_str(name),
        }
    }
}

/// One object of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The last component of its name, without [`DELETED_SUFFIX`].
    pub name: String,
    /// Whether it is soft-deleted.
    pub deleted: bool,
    /// Length in bytes.
    pub size: u64,
    /// When it was last stored, by the storage's own clock; `None` where that is unknown.
    pub modified: Option<Timestamp>,
}

impl Entry {
    /// An entry for a file of this name; `None` if no object can have the name (section 1.3): leftovers and other
    /// programs' files are passed over.
    pub fn from_name(name: &str, size: u64, modified: Option<Timestamp>) -> Option<Entry> {
        let valid = name.is_ascii()
            && name.len() <= MAX_NAME_BYTES
            && !name.contains(['/', '\\', ' '])
            && !name.contains("..")
            && !name.bytes().any(|byte| byte.is_ascii_uppercase())
            && !name.ends_with(".tmp")
            && !name.ends_with(".hid");
        let plain = name.strip_suffix(DELETED_SUFFIX);
        valid.then(|| Entry { name: plain.unwrap_or(name).into(), deleted: plain.is_some(), size, modified })
    }

    /// Where the object lies below the repository, if it lies where it belongs (section 1.2).
    pub fn path(&self, namespace: Namespace) -> String {
        let mut path = nested(namespace, &self.name);
        if self.deleted {
            path.push_str(DELETED_SUFFIX);
        }
        path
    }
}

/// Packs lie in folders that are named by their first two digits.
fn nested(namespace: Namespace, name: &str) -> String {
    match (namespace, name.get(..2)) {
        (Namespace::Packs, Some(digits)) => alloc::format!("{}/{digits}/{name}", namespace.name()),
        _ => alloc::format!("{}/{name}", namespace.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_nested_by_their_first_two_digits() {
        let key = Key::Pack(PackId([0xab; 32]));
        assert_eq!(key.path(), alloc::format!("packs/ab/{}", "ab".repeat(32)));
        assert_eq!(alloc::format!("{key}"), alloc::format!("packs/{}", "ab".repeat(32)));
        let path = |name: &str, namespace| Entry::from_name(name, 0, None).unwrap().path(namespace);
        let name = "ab".repeat(32);
        assert_eq!(path(&name, Namespace::Packs), key.path());
        assert_eq!(path("abc.del", Namespace::Archives), "archives/abc.del");
    }

    #[test]
    fn leftovers_and_foreign_files_are_no_objects() {
        for name in [".DS_Store", "abc.tmp", "quota.hid", "a b", "ABC", "a..b", "ä", "a/b"] {
            assert_eq!(Entry::from_name(name, 0, None), None, "{name}");
        }
        let deleted = Entry::from_name("abc.del", 7, None).unwrap();
        assert_eq!((deleted.name.as_str(), deleted.deleted), ("abc", true));
    }
}
