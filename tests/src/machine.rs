//! What this machine and its file systems can keep, and the names of its users.
//!
//! A test as an ordinary user, or on a file system without flags, compares what is possible and says what it left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{
    CWD, FileType, IFlags, Mode, OFlags, XattrFlags, ioctl_getflags, ioctl_setflags, lsetxattr, mknodat, open,
};

use crate::scratch::Scratch;

/// What can be kept here.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// The tests run as root, so owners are kept.
    pub root: bool,
    /// Device nodes can be made.
    pub devices: bool,
    /// Immutable and append-only.
    pub flags: bool,
    /// `trusted.*`.
    pub trusted_xattrs: bool,
    /// `user.*`.
    pub user_xattrs: bool,
    /// ACLs.
    pub acls: bool,
}

/// Tries it once, in the folder for temporary files.
#[must_use]
pub fn here() -> Machine {
    static HERE: OnceLock<Machine> = OnceLock::new();
    *HERE.get_or_init(|| {
        let scratch = Scratch::new("machine");
        let file = scratch.path().join("file");
        fs::write(&file, "x").expect("the folder for temporary files can be written");
        Machine {
            root: rustix::process::geteuid().is_root(),
            devices: mknodat(CWD, scratch.path().join("dev"), FileType::CharacterDevice, Mode::RUSR, 0x103).is_ok(),
            flags: can_set_flags(&file),
            trusted_xattrs: lsetxattr(&file, "trusted.x", b"x", XattrFlags::empty()).is_ok(),
            user_xattrs: lsetxattr(&file, "user.x", b"x", XattrFlags::empty()).is_ok(),
            acls: lsetxattr(&file, "system.posix_acl_access", MINIMAL_ACL, XattrFlags::empty()).is_ok(),
        }
    })
}

impl Machine {
    /// What can't be kept, in words.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let all = [
            (self.root, "owners (not root)"),
            (self.devices, "devices"),
            (self.flags, "inode flags"),
            (self.trusted_xattrs, "trusted.* xattrs"),
            (self.user_xattrs, "user.* xattrs"),
            (self.acls, "ACLs"),
        ];
        all.iter().filter(|(can, _)| !can).map(|(_, what)| *what).collect()
    }
}

fn can_set_flags(file: &Path) -> bool {
    let Ok(file) = open(file, OFlags::RDONLY, Mode::empty()) else { return false };
    let Ok(before) = ioctl_getflags(&file) else { return false };
    let can = ioctl_setflags(&file, before | IFlags::IMMUTABLE | IFlags::APPEND).is_ok();
    can && ioctl_setflags(&file, before).is_ok()
}

/// Version 2; owner, group and others may read.
const MINIMAL_ACL: &[u8] =
    &[2, 0, 0, 0, 1, 0, 4, 0, 255, 255, 255, 255, 4, 0, 4, 0, 255, 255, 255, 255, 0x20, 0, 4, 0, 255, 255, 255, 255];

/// The number of a user of this name.
#[must_use]
pub fn uid_of(name: &str) -> Option<u32> {
    static USERS: OnceLock<BTreeMap<String, u32>> = OnceLock::new();
    USERS.get_or_init(|| read_table("/etc/passwd")).get(name).copied()
}

/// The number of a group of this name.
#[must_use]
pub fn gid_of(name: &str) -> Option<u32> {
    static GROUPS: OnceLock<BTreeMap<String, u32>> = OnceLock::new();
    GROUPS.get_or_init(|| read_table("/etc/group")).get(name).copied()
}

fn read_table(path: &str) -> BTreeMap<String, u32> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            Some((name.to_owned(), fields.nth(1)?.parse().ok()?))
        })
        .collect()
}
