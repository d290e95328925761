//! How what lies at a path differs.

use crate::archive::ArchiveMeta;
use crate::id::ChunkId;
use crate::item::{FileType, Item};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// One thing that differs. What it was and is stands in the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The content.
    Content(Content),
    /// Something of a kind is there that was not.
    Added(Kind),
    /// Something of a kind is not there any more.
    Removed(Kind),
    /// Where a symbolic link points.
    Target,
    /// The owner, or the group.
    Owner,
    /// The owner.
    User,
    /// The group.
    Group,
    /// The mode: permissions, or the type.
    Mode,
    /// The type.
    Type,
    /// The time of the inode's last change.
    Ctime,
    /// The time of the content's last change.
    Mtime,
}

/// How a content differs. Bytes are those of whole chunks, so that a file that lost a byte has others in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A file with so many bytes is there that was not.
    Added {
        /// How many.
        bytes: u64,
    },
    /// A file with so many bytes is not there any more.
    Removed {
        /// How many.
        bytes: u64,
    },
    /// It has other chunks.
    Modified {
        /// Bytes of those that it had not before.
        added: u64,
        /// Bytes of those that it has no more.
        removed: u64,
    },
    /// It has another length, and was cut into chunks in another way, so that nobody knows what is the same.
    Other,
    /// It was cut in another way, and has the same length: whoever reads both knows if it is different, and then it is
    /// [`Content::Other`].
    Unread,
}

/// Kinds of objects that just come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Directories.
    Directory,
    /// Symbolic links.
    Link,
    /// Block devices.
    BlockDevice,
    /// Character devices.
    CharDevice,
    /// Named pipes.
    Fifo,
}

/// What is compared, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareRule {
    /// Files of both archives were cut into chunks in the same way, so that equal contents have equal chunks: see
    /// [`compares_chunks`].
    pub chunks: bool,
    /// Owners are numbers, not names.
    pub numeric_ids: bool,
}

/// Whether equal contents have equal chunks in both archives. Those that don't say how they were cut are like no other.
pub fn compares_chunks(left: &ArchiveMeta, right: &ArchiveMeta) -> bool {
    left.chunker_params.is_some() && left.chunker_params == right.chunker_params
}

/// What differs between the item at a path in the first archive and in the second, if there is one; nothing if they are
/// equal, which is about content, type, permissions, owners and times. Of what became something of another type, as in
/// Borg, neither content nor target is compared.
pub fn compare(left: Option<&Item>, right: Option<&Item>, rule: CompareRule) -> Vec<Change> {
    let mut changes = Vec::new();
    if let (Some(left), Some(right)) = (left, right)
        && has_other_type(left, right)
    {
        attributes(left, right, rule, &mut changes);
        return changes;
    }
    presence(Kind::Link, left, right, &mut changes);
    if let (Some(left), Some(right)) = (left, right)
        && let (Some(before), Some(after)) = (&left.target, &right.target)
        && before != after
    {
        changes.push(Change::Target);
    }
    changes.extend(content(left, right, rule).map(Change::Content));
    for kind in [Kind::Directory, Kind::BlockDevice, Kind::CharDevice, Kind::Fifo] {
        presence(kind, left, right, &mut changes);
    }
    if let (Some(left), Some(right)) = (left, right) {
        attributes(left, right, rule, &mut changes);
    }
    changes
}

fn has_other_type(left: &Item, right: &Item) -> bool {
    left.mode.is_some() && right.mode.is_some() && left.file_type() != right.file_type()
}

fn presence(kind: Kind, left: Option<&Item>, right: Option<&Item>, changes: &mut Vec<Change>) {
    let [was, is] = [left, right].map(|item| item.is_some_and(|item| kind.is_of(item)));
    match (was, is) {
        (false, true) => changes.push(Change::Added(kind)),
        (true, false) => changes.push(Change::Removed(kind)),
        _ => {}
    }
}

fn content(left: Option<&Item>, right: Option<&Item>, rule: CompareRule) -> Option<Content> {
    let has_content = |item: Option<&Item>| item.is_some_and(|item| item.chunks.is_some());
    if !has_content(left) && !has_content(right) {
        return None;
    }
    let (left, right) = match (left, right) {
        (None, Some(right)) => return Some(Content::Added { bytes: right.content_size() }),
        (Some(left), None) => return Some(Content::Removed { bytes: left.content_size() }),
        (left, right) => (left?, right?),
    };
    let (before, after) = (left.chunks.as_deref().unwrap_or_default(), right.chunks.as_deref().unwrap_or_default());
    if before == after {
        return None;
    }
    if !rule.chunks {
        let is_as_long = left.content_size() == right.content_size();
        return Some(if is_as_long { Content::Unread } else { Content::Other });
    }
    let [had, has] = [before, after].map(|chunks| chunks.iter().map(|chunk| chunk.id).collect::<BTreeSet<ChunkId>>());
    let bytes = |chunks: &[crate::item::ChunkEntry], others: &BTreeSet<ChunkId>| {
        let other = chunks.iter().filter(|chunk| !others.contains(&chunk.id));
        other.fold(0_u64, |sum, chunk| sum.saturating_add(chunk.size))
    };
    Some(Content::Modified { added: bytes(after, &had), removed: bytes(before, &has) })
}

fn attributes(left: &Item, right: &Item, rule: CompareRule, changes: &mut Vec<Change>) {
    let [user, group] = match rule.numeric_ids {
        true => [left.uid != right.uid, left.gid != right.gid],
        false => [left.user != right.user, left.group != right.group],
    };
    let differ = |a: Option<_>, b: Option<_>| a.is_some() && b.is_some() && a != b;
    let has_modes = left.mode.is_some() && right.mode.is_some();
    let differs = [
        (Change::Owner, user || group),
        (Change::User, user),
        (Change::Group, group),
        (Change::Mode, has_modes && left.mode != right.mode),
        (Change::Type, has_other_type(left, right)),
        (Change::Ctime, differ(left.ctime, right.ctime)),
        (Change::Mtime, left.mtime != right.mtime),
    ];
    changes.extend(differs.into_iter().filter(|(_, differs)| *differs).map(|(change, _)| change));
}

impl Kind {
    /// Borg's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Directory => "directory",
            Kind::Link => "link",
            Kind::BlockDevice => "blkdev",
            Kind::CharDevice => "chrdev",
            Kind::Fifo => "fifo",
        }
    }

    fn is_of(self, item: &Item) -> bool {
        item.file_type()
            == Some(match self {
                Kind::Directory => FileType::Directory,
                Kind::Link => FileType::Symlink,
                Kind::BlockDevice => FileType::BlockDevice,
                Kind::CharDevice => FileType::CharDevice,
                Kind::Fifo => FileType::Fifo,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::ChunkEntry;

    fn file(chunks: &[(u8, u64)]) -> Item {
        let entry = |&(id, size): &(u8, u64)| ChunkEntry { id: ChunkId([id; 32]), size };
        Item { mode: Some(0o100_644), chunks: Some(chunks.iter().map(entry).collect()), ..Item::default() }
    }

    fn changes(left: &Item, right: &Item, chunks: bool) -> Vec<Change> {
        compare(Some(left), Some(right), CompareRule { chunks, numeric_ids: false })
    }

    #[test]
    fn contents_are_told_apart_by_their_chunks_where_these_were_cut_in_one_way() {
        let (left, right) = (file(&[(1, 10), (2, 20), (2, 20)]), file(&[(1, 10), (3, 40)]));
        let modified = Change::Content(Content::Modified { added: 40, removed: 40 });
        assert_eq!(changes(&left, &right, true), [modified]);
        assert_eq!(changes(&left, &right, false), [Change::Content(Content::Unread)]);
        assert_eq!(changes(&left, &file(&[(3, 41)]), false), [Change::Content(Content::Other)]);
        assert_eq!(changes(&left, &left, false), []);
        let rule = CompareRule { chunks: true, numeric_ids: false };
        assert_eq!(compare(None, Some(&left), rule), [Change::Content(Content::Added { bytes: 50 })]);
        assert_eq!(compare(Some(&left), None, rule), [Change::Content(Content::Removed { bytes: 50 })]);
    }

    #[test]
    fn owners_are_names_or_numbers_and_other_types_are_not_compared_any_further() {
        let owned = Item { user: Some(b"me".to_vec()), uid: Some(7), ..file(&[]) };
        let other = Item { user: Some(b"you".to_vec()), ..owned.clone() };
        assert_eq!(changes(&owned, &other, true), [Change::Owner, Change::User]);
        let numeric = CompareRule { chunks: true, numeric_ids: true };
        assert_eq!(compare(Some(&owned), Some(&other), numeric), []);
        let folder = Item { mode: Some(0o040_755), ..Item::default() };
        assert_eq!(changes(&file(&[(1, 1)]), &folder, true), [Change::Mode, Change::Type]);
        assert_eq!(compare(None, Some(&folder), numeric), [Change::Added(Kind::Directory)]);
    }
}
