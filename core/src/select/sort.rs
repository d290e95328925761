//! Sorting archives.

use super::candidate::Candidate;
use alloc::string::String;
use alloc::vec::Vec;
use thiserror::Error;

/// What archives are sorted by, always ascending (command line, section 0.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// `timestamp`: the nominal time.
    Timestamp,
    /// `name` or `archive`: the series name, by code points.
    Name,
    /// `id`.
    Id,
    /// `tags`: the sorted list of tags, tag by tag.
    Tags,
    /// `host`.
    Host,
    /// `user`.
    User,
}

/// A text that is no sort key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Invalid sort key: {0}")]
pub struct InvalidSortKey(pub String);

impl SortKey {
    /// Reads a `--sort-by` argument: keys between commas, the first one primary.
    ///
    /// # Errors
    /// The first of them that is none.
    pub fn parse_list(text: &str) -> Result<Vec<SortKey>, InvalidSortKey> {
        text.split(',').map(SortKey::parse).collect()
    }

    fn parse(text: &str) -> Result<SortKey, InvalidSortKey> {
        Ok(match text {
            "timestamp" | "ts" => SortKey::Timestamp,
            "archive" | "name" => SortKey::Name,
            "id" => SortKey::Id,
            "tags" => SortKey::Tags,
            "host" => SortKey::Host,
            "user" => SortKey::User,
            _ => return Err(InvalidSortKey(text.into())),
        })
    }
}

/// Sorts by several keys, the first one primary; what they leave equal keeps its order.
pub(super) fn sort<T: Candidate>(archives: &mut [T], keys: &[SortKey]) {
    for key in keys.iter().rev() {
        match key {
            SortKey::Timestamp => archives.sort_by_key(Candidate::time),
            SortKey::Name => archives.sort_by(|a, b| a.name().cmp(b.name())),
            SortKey::Id => archives.sort_by_key(Candidate::id),
            SortKey::Host => archives.sort_by(|a, b| a.host().cmp(b.host())),
            SortKey::User => archives.sort_by(|a, b| a.user().cmp(b.user())),
            SortKey::Tags => archives.sort_by_cached_key(|archive| {
                let mut tags: Vec<Vec<u8>> = archive.tags().map(<[u8]>::to_vec).collect();
                tags.sort_unstable();
                tags
            }),
        }
    }
}
