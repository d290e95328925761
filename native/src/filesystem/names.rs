//! Owners: which local user and group an item belongs to, and what they are called.

use crate::system::host;
use portaborg_core::item::Item;
use std::collections::HashMap;

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
        look_up(&mut self.users, name, host::user_id)
    }

    /// Number of the local group of that name.
    pub fn group(&mut self, name: &[u8]) -> Option<u32> {
        look_up(&mut self.groups, name, host::group_id)
    }

    /// Name of the local user with that number.
    pub fn user_name(&mut self, id: u32) -> Option<&[u8]> {
        name_of(&mut self.user_names, id, host::user_name)
    }

    /// Name of the local group with that number.
    pub fn group_name(&mut self, id: u32) -> Option<&[u8]> {
        name_of(&mut self.group_names, id, host::group_name)
    }

    /// Who shall own the item: the local owner of the stored name unless `numeric_ids`, else the stored number; `None`
    /// leaves it as it is (data layer, section 11.3).
    pub fn owner(&mut self, item: &Item, numeric_ids: bool) -> (Option<u32>, Option<u32>) {
        let by_name = !numeric_ids;
        let user = item.user.as_deref().filter(|_| by_name).and_then(|name| self.user(name));
        let group = item.group.as_deref().filter(|_| by_name).and_then(|name| self.group(name));
        (
            user.or_else(|| stored(item.uid)).filter(|&id| id != UNCHANGED),
            group.or_else(|| stored(item.gid)).filter(|&id| id != UNCHANGED),
        )
    }
}

fn look_up(
    known: &mut HashMap<Vec<u8>, Option<u32>>,
    name: &[u8],
    ask: impl FnOnce(&[u8]) -> Option<u32>,
) -> Option<u32> {
    if name.is_empty() {
        return None;
    }
    if let Some(&id) = known.get(name) {
        return id;
    }
    let id = ask(name);
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
        Names::default().owner(item, numeric_ids)
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
