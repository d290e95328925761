//! What a system without owners and the like can't restore: counted, and told once, since it is no one item's fault.

use super::Options;
use portaborg_core::bytes::lossy;
use portaborg_core::item::{FileType, Item};
use std::fmt;

/// What the items of an extraction have, is asked for, and was not restored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Items at all: each has an owner and permissions.
    items: u64,
    xattrs: u64,
    acls: u64,
    flags: u64,
    /// Named pipes and devices, and the first one's path.
    nodes: u64,
    first_node: Vec<u8>,
}

impl LeftOut {
    /// Takes note of an item.
    pub fn note(&mut self, item: &Item, asked_for: &Options) {
        let has_acls = item.acl.access.is_some() || item.acl.default.is_some();
        self.items += 1;
        self.xattrs += u64::from(asked_for.xattrs && item.xattrs.as_ref().is_some_and(|pairs| !pairs.is_empty()));
        self.acls += u64::from(asked_for.acls && has_acls);
        self.flags += u64::from(asked_for.flags && item.bsdflags.is_some_and(|bits| bits != 0));
        if matches!(item.file_type(), Some(FileType::Fifo | FileType::CharDevice | FileType::BlockDevice)) {
            if self.nodes == 0 {
                self.first_node.clone_from(&item.path);
            }
            self.nodes += 1;
        }
    }

    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Whether it is more than owners and permissions, which clients without privileges don't restore either.
    pub fn counts(&self) -> bool {
        self.xattrs + self.acls + self.flags + self.nodes > 0
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not restored, since there are none here: owners and permissions")?;
        for (count, what) in [(self.xattrs, "extended attributes"), (self.acls, "ACLs"), (self.flags, "file flags")] {
            if count > 0 {
                write!(f, ", {what} (of {count} items)")?;
            }
        }
        if self.nodes > 0 {
            write!(f, ", named pipes and devices ({}, the first is {})", self.nodes, lossy(&self.first_node).0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(path: &str, mode: u32) -> Item {
        Item { path: path.into(), mode: Some(mode), ..Item::default() }
    }

    #[test]
    fn what_is_not_asked_for_is_not_missed() {
        let rich =
            Item { xattrs: Some(vec![(b"user.a".to_vec(), b"b".to_vec())]), bsdflags: Some(1), ..item("f", 0o100_600) };
        let mut all = LeftOut::default();
        assert!(all.is_empty());
        all.note(&item("d", 0o040_700), &Options::default());
        assert!(!all.is_empty() && !all.counts());
        all.note(&rich, &Options::default());
        all.note(&item("dev/null", 0o020_666), &Options::default());
        all.note(&item("pipe", 0o010_600), &Options::default());
        assert!(all.counts());
        assert_eq!(
            all.to_string(),
            "not restored, since there are none here: owners and permissions, extended attributes (of 1 items), \
             file flags (of 1 items), named pipes and devices (2, the first is dev/null)"
        );
        let mut few = LeftOut::default();
        few.note(&rich, &Options { xattrs: false, flags: false, ..Options::default() });
        assert!(!few.counts());
    }
}
