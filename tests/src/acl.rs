//! ACLs as Borg writes them (one entry a line, the number as a fourth field) and as the kernel keeps them in the
//! attributes `system.posix_acl_access` and `system.posix_acl_default`.

use crate::machine;

/// Sorted entries: tag, number (0 where the tag has none), permissions.
pub type Acl = Vec<(u16, u32, u16)>;

/// Name of the attribute that holds the access ACL.
pub const ACCESS: &str = "system.posix_acl_access";
/// Name of the attribute that holds a folder's default ACL.
pub const DEFAULT: &str = "system.posix_acl_default";

const USER_OBJ: u16 = 1;
const USER: u16 = 2;
const GROUP_OBJ: u16 = 4;
const GROUP: u16 = 8;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

/// Reads Borg's text. A name that this machine has goes before the number.
#[must_use]
pub fn from_text(text: &str) -> Acl {
    let mut acl: Acl = text.lines().filter(|line| !line.is_empty()).map(entry).collect();
    acl.sort_unstable();
    acl
}

fn entry(line: &str) -> (u16, u32, u16) {
    let fields: Vec<&str> = line.split(':').collect();
    let [kind, name, permissions] = fields[..3] else { panic!("no ACL entry: {line}") };
    let number = || fields.get(3).unwrap_or(&name).parse().unwrap_or_else(|_| panic!("no number in {line}"));
    let (tag, id) = match (kind, name) {
        ("user", "") => (USER_OBJ, 0),
        ("user", name) => (USER, machine::uid_of(name).unwrap_or_else(number)),
        ("group", "") => (GROUP_OBJ, 0),
        ("group", name) => (GROUP, machine::gid_of(name).unwrap_or_else(number)),
        ("mask", _) => (MASK, 0),
        ("other", _) => (OTHER, 0),
        _ => panic!("no ACL entry: {line}"),
    };
    let bits = permissions.bytes().zip([4, 2, 1]).filter(|(letter, _)| *letter != b'-').map(|(_, bit)| bit).sum();
    (tag, id, bits)
}

/// Reads the kernel's form, version 2.
#[must_use]
pub fn from_xattr(value: &[u8]) -> Acl {
    let mut acl: Acl = value
        .get(4..)
        .unwrap_or_default()
        .chunks_exact(8)
        .map(|entry| {
            let tag = u16::from_le_bytes([entry[0], entry[1]]);
            let permissions = u16::from_le_bytes([entry[2], entry[3]]);
            let id = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
            (tag, if matches!(tag, USER | GROUP) { id } else { 0 }, permissions)
        })
        .collect();
    acl.sort_unstable();
    acl
}

/// It says no more than the mode does, so the kernel keeps no attribute for it.
#[must_use]
pub fn is_minimal(acl: &Acl) -> bool {
    acl.iter().all(|(tag, _, _)| matches!(*tag, USER_OBJ | GROUP_OBJ | OTHER))
}
