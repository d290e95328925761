//! What many items have in common.

use super::number::{Cursor, put, put_bytes, put_signed};
use crate::item::{Acl, Item, Pairs};
use alloc::boxed::Box;
use alloc::vec::Vec;

const MODE: u64 = 1 << 0;
const UID: u64 = 1 << 1;
const GID: u64 = 1 << 2;
const USER: u64 = 1 << 3;
const GROUP: u64 = 1 << 4;
const XATTRS: u64 = 1 << 5;
const BSDFLAGS: u64 = 1 << 6;
const ACCESS: u64 = 1 << 7;
const DEFAULT: u64 = 1 << 8;
const NFS4: u64 = 1 << 9;
const EXTENDED: u64 = 1 << 10;
const UNKNOWN: u64 = 1 << 11;
const ALL: u64 = (1 << 12) - 1;

/// Whether two items have in common what is encoded here.
pub(super) fn is_same(a: &Item, b: &Item) -> bool {
    a.mode == b.mode
        && (a.uid, a.gid) == (b.uid, b.gid)
        && (&a.user, &a.group) == (&b.user, &b.group)
        && a.bsdflags == b.bsdflags
        && a.xattrs == b.xattrs
        && a.acl == b.acl
        && a.unknown == b.unknown
}

/// Appends mode, owners, extended attributes, flags, access control lists and what is unknown of an item, as they are.
pub(super) fn put_common(out: &mut Vec<u8>, item: &Item) {
    let Acl { access, default, nfs4, extended } = &item.acl;
    let texts = [
        (USER, &item.user),
        (GROUP, &item.group),
        (ACCESS, access),
        (DEFAULT, default),
        (NFS4, nfs4),
        (EXTENDED, extended),
    ];
    let present = [
        (MODE, item.mode.is_some()),
        (UID, item.uid.is_some()),
        (GID, item.gid.is_some()),
        (XATTRS, item.xattrs.is_some()),
        (BSDFLAGS, item.bsdflags.is_some()),
        (UNKNOWN, !item.unknown.is_empty()),
    ];
    let flags = present.into_iter().chain(texts.map(|(flag, text)| (flag, text.is_some())));
    put(out, flags.filter(|(_, is_there)| *is_there).fold(0, |flags, (flag, _)| flags | flag));
    item.mode.iter().chain(&item.bsdflags).for_each(|&number| put(out, number.into()));
    item.uid.iter().chain(&item.gid).for_each(|&number| put_signed(out, number));
    texts.iter().filter_map(|(_, text)| text.as_ref()).for_each(|text| put_bytes(out, text));
    if let Some(xattrs) = &item.xattrs {
        put_pairs(out, xattrs);
    }
    if !item.unknown.is_empty() {
        put_pairs(out, &item.unknown);
    }
}

/// Takes what was put: an item with nothing else.
pub(super) fn take_common(cursor: &mut Cursor<'_>) -> Option<Item> {
    let flags = cursor.number()?;
    if flags & !ALL != 0 {
        return None;
    }
    let has = |flag| flags & flag != 0;
    let mode = optional(has(MODE), || cursor.int())?;
    let bsdflags = optional(has(BSDFLAGS), || cursor.int())?;
    let uid = optional(has(UID), || cursor.signed())?;
    let gid = optional(has(GID), || cursor.signed())?;
    let mut text = |flag| optional(has(flag), || cursor.bytes().map(Vec::from));
    let (user, group) = (text(USER)?, text(GROUP)?);
    let acl = Acl { access: text(ACCESS)?, default: text(DEFAULT)?, nfs4: text(NFS4)?, extended: text(EXTENDED)? };
    let xattrs: Option<Pairs> = optional(has(XATTRS), || take_pairs(cursor))?;
    let unknown: Vec<(Vec<u8>, Box<[u8]>)> = optional(has(UNKNOWN), || take_pairs(cursor))?.unwrap_or_default();
    Some(Item { mode, uid, gid, user, group, bsdflags, acl, xattrs, unknown, ..Item::default() })
}

/// `None` if what should be there is not.
fn optional<T>(is_there: bool, take: impl FnOnce() -> Option<T>) -> Option<Option<T>> {
    if is_there { take().map(Some) } else { Some(None) }
}

/// Appends names and values in their order.
pub(super) fn put_pairs<V: AsRef<[u8]>>(out: &mut Vec<u8>, pairs: &[(Vec<u8>, V)]) {
    put(out, pairs.len() as u64);
    for (name, value) in pairs {
        put_bytes(out, name);
        put_bytes(out, value.as_ref());
    }
}

/// Takes names and values.
pub(super) fn take_pairs<V: From<Vec<u8>>>(cursor: &mut Cursor<'_>) -> Option<Vec<(Vec<u8>, V)>> {
    let count: usize = cursor.int()?;
    // Each takes two bytes at least, so the claim is checked against what is there.
    let mut pairs = Vec::with_capacity(count.min(cursor.rest().len() / 2));
    for _ in 0..count {
        pairs.push((cursor.bytes()?.to_vec(), cursor.bytes()?.to_vec().into()));
    }
    Some(pairs)
}
