//! The files cache: what a client remembers of the files that it has archived, so that it need not read them again (data
//! layer, section 13; repository layer, sections 8.2 and 8.3).
//!
//! It is a file of the client's own: entries one after another, without a head. Whether it is whole is known by a digest in
//! another file, the cache's config.

mod config;
mod entry;
mod integrity;
mod mode;

pub use config::{CacheConfig, CacheConfigError};
pub use entry::{Entries, Entry, FileState, encode};
pub use integrity::{Integrity, IntegrityHasher};
pub use mode::{Mode, ModeError};

use crate::bytes::Hex;
use crate::crypto::store_hash;
use alloc::string::String;

/// Name of the file that holds the entries for archives of this name; `suffix` (`BORG_FILES_CACHE_SUFFIX`) stands in for the
/// archive name, unless it is empty.
pub fn file_name(archive_name: &str, suffix: &str) -> String {
    match suffix {
        "" => alloc::format!("files.{}", Hex(&store_hash(archive_name.as_bytes()).0)),
        suffix => alloc::format!("files.{suffix}"),
    }
}
