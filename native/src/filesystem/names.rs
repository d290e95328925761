//! Owners: which local user and group an item belongs to, and what they are called.

use portaborg_core::item::Item;
use rustix::fs::{Gid, Uid};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The local users and groups, by name and by number. Each is looked up once.
#[derive(Default)]
pub struct Names {
    users: HashMap<Vec<u8>, Option<u32>>,
    groups: HashMap<Vec<u8>, Option<u32>>,
    user_names: HashMap<u32, Option<Vec<u8>>>,
    group_names: HashMap<u32, Option<Vec<u8>>>,
}

impl Names {
    /// Number of the local user of that name.
    pub fn user(&mut self, name: &[u8]) -> Option<u32> {
        look_up(&mut self.users, name, |name| uzers::get_user_by_name(name).map(|user| user.uid()))
    }

    /// Number of the local group of that name.
    pub fn group(&mut self, name: &[u8]) -> Option<u32> {
        look_up(&mut self.groups, name, |name| uzers::get_group_by_name(name).map(|group| group.gid()))
    }

    /// Name of the local user with that number.
    pub fn user_name(&mut self, id: u32) -> Option<&[u8]> {
        name_of(&mut self.user_names, id, |id| uzers::get_user_by_uid(id).map(|user| user.name().as_bytes().to_vec()))
    }

    /// Name of the local group with that number.
    pub fn group_name(&mut self, id: u32) -> Option<&[u8]> {
        name_of(&mut self.group_names, id, |id| {
            uzers::get_group_by_gid(id).map(|group| group.name().as_bytes().to_vec())
        })
    }

    /// Who shall own the item: the local owner of the stored name unless `numeric_ids`, else the stored number; `None`
    /// leaves it as it is (data layer, section 11.3).
    pub fn owner(&mut self, item: &Item, numeric_ids: bool) -> (Option<Uid>, Option<Gid>) {
        let by_name = !numeric_ids;
        let user = item.user.as_deref().filter(|_| by_name).and_then(|name| self.user(name));
        let group = item.group.as_deref().filter(|_| by_name).and_then(|name| self.group(name));
        (
            user.or_else(|| stored(item.uid)).filter(|&id| id != UNCHANGED).map(Uid::from_raw),
            group.or_else(|| stored(item.gid)).filter(|&id| id != UNCHANGED).map(Gid::from_raw),
        )
    }
}

fn look_up(
    known: &mut HashMap<Vec<u8>, Option<u32>>,
    name: &[u8],
    ask: impl FnOnce(&OsStr) -> Option<u32>,
) -> Option<u32> {
    if name.is_empty() {
        return None;
    }
    if let Some(&id) = known.get(name) {
        return id;
    }
    let id = ask(OsStr::from_bytes(name));
    if known.len() >= MAX_KNOWN_NAMES {
        known.clear();
    }
    known.insert(name.into(), id);
    id
}

fn name_of(
    known: &mut HashMap<u32, Option<Vec<u8>>>,
    id: u32,
    ask: impl FnOnce(u32) -> Option<Vec<u8>>,
) -> Option<&[u8]> {
    if known.len() >= MAX_KNOWN_NAMES && !known.contains_key(&id) {
        known.clear();
    }
    known.entry(id).or_insert_with(|| ask(id).filter(|name| !name.is_empty())).as_deref()
}

fn stored(id: Option<i64>) -> Option<u32> {
    id.and_then(|id| u32::try_from(id).ok())
}

/// What the system takes as "leave the owner as it is".
const UNCHANGED: u32 = u32::MAX;

/// Bounds the memory that an archive of made-up names, or a disk of made-up owners, can take.
const MAX_KNOWN_NAMES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn item(user: Option<&str>, uid: Option<i64>) -> Item {
        let text = |name: &str| name.as_bytes().to_vec();
        Item { user: user.map(text), group: user.map(text), uid, gid: uid, ..Item::default() }
    }

    fn owner(item: &Item, numeric_ids: bool) -> (Option<u32>, Option<u32>) {
        let (user, group) = Names::default().owner(item, numeric_ids);
        (user.map(Uid::as_raw), group.map(Gid::as_raw))
    }

    #[test]
    fn a_local_name_wins_over_the_number() {
        let root = item(Some("root"), Some(4711));
        let group = if cfg!(target_os = "linux") { 0 } else { 4711 };
        assert_eq!(owner(&root, false), (Some(0), Some(group)));
        assert_eq!(owner(&root, true), (Some(4711), Some(4711)));
        assert_eq!(owner(&item(Some("no such user here"), Some(4711)), false), (Some(4711), Some(4711)));
        assert_eq!(owner(&item(Some("nul\0root"), Some(4711)), false), (Some(4711), Some(4711)));
        assert_eq!(owner(&item(Some(""), Some(4711)), false), (Some(4711), Some(4711)));
    }

    #[test]
    fn numbers_have_names_if_the_system_knows_them() {
        let mut names = Names::default();
        for _ in 0..2 {
            assert_eq!(names.user_name(0), Some(&b"root"[..]));
            assert_eq!(names.group_name(0), Some(if cfg!(target_os = "macos") { &b"wheel"[..] } else { b"root" }));
            assert_eq!(names.user_name(3_456_789_012), None);
            assert_eq!(names.group_name(3_456_789_012), None);
        }
    }

    #[test]
    fn absent_negative_and_absurd_numbers_leave_the_owner_alone() {
        for uid in [None, Some(-1), Some(i64::MIN), Some(i64::from(u32::MAX)), Some(1 << 32), Some(i64::MAX)] {
            assert_eq!(owner(&item(None, uid), false), (None, None));
        }
    }
}
