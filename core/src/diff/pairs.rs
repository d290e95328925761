//! Bringing together the items of two archives that have the same path.

use crate::item::Item;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// What lies at a path in one archive, in the other, or in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pair {
    /// In the second archive alone.
    Added(Box<Item>),
    /// In the first archive alone.
    Removed(Box<Item>),
    /// In both, the first one's in front.
    Both(Box<Item>, Box<Item>),
}

/// Takes the items of two archives, one from each in turns, and gives pairs as soon as both are there; at the end, what is
/// in the second archive alone, and then what is in the first alone. That is the order in which Borg compares.
///
/// An item is kept until the one with its path comes. Of archives whose common paths come in the same order, which is how a
/// folder is archived twice, no more than what was added and removed is kept, once more at most; of others, it may be all.
#[derive(Debug, Default)]
pub struct Pairs {
    left: Waiting,
    right: Waiting,
    ready: VecDeque<Pair>,
}

/// Items of one archive that wait for theirs.
#[derive(Debug, Default)]
struct Waiting {
    /// With their places in the order of the archive.
    items: BTreeMap<Vec<u8>, (usize, Box<Item>)>,
    count: usize,
}

impl Pairs {
    /// Nothing has come yet.
    pub fn new() -> Self {
        Pairs::default()
    }

    /// Takes the next item of each archive; `None` of one that has ended.
    pub fn add(&mut self, left: Option<Item>, right: Option<Item>) {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) if left.path == right.path => {
                self.ready.push_back(Pair::Both(left.into(), right.into()));
                return;
            }
            other => other,
        };
        if let Some(left) = left {
            match self.right.take(&left.path) {
                Some(right) => self.ready.push_back(Pair::Both(left.into(), right)),
                None => self.left.keep(left),
            }
        }
        if let Some(right) = right {
            match self.left.take(&right.path) {
                Some(left) => self.ready.push_back(Pair::Both(left, right.into())),
                None => self.right.keep(right),
            }
        }
    }

    /// Both archives have ended: what waits is in one of them alone.
    pub fn finish(&mut self) {
        self.ready.extend(self.right.drain().map(Pair::Added));
        self.ready.extend(self.left.drain().map(Pair::Removed));
    }

    /// The next pair that is there.
    pub fn next_ready(&mut self) -> Option<Pair> {
        self.ready.pop_front()
    }
}

impl Waiting {
    fn take(&mut self, path: &[u8]) -> Option<Box<Item>> {
        self.items.remove(path).map(|(_, item)| item)
    }

    /// A path that comes twice is what it was last.
    fn keep(&mut self, item: Item) {
        let place = self.items.get(&item.path).map_or(self.count, |(place, _)| *place);
        self.items.insert(item.path.clone(), (place, item.into()));
        self.count += 1;
    }

    fn drain(&mut self) -> impl Iterator<Item = Box<Item>> + use<> {
        let mut items: Vec<(usize, Box<Item>)> = core::mem::take(&mut self.items).into_values().collect();
        items.sort_unstable_by_key(|(place, _)| *place);
        items.into_iter().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn pairs(left: &str, right: &str) -> (String, usize) {
        let item = |path: &str| Item { path: path.into(), ..Item::default() };
        let (mut left, mut right) = (left.split_whitespace(), right.split_whitespace());
        let (mut pairs, mut most, mut shown) = (Pairs::new(), 0, Vec::new());
        let mut at_end = false;
        while !at_end {
            match (left.next(), right.next()) {
                (None, None) => {
                    pairs.finish();
                    at_end = true;
                }
                (left, right) => pairs.add(left.map(item), right.map(item)),
            }
            most = most.max(pairs.left.items.len() + pairs.right.items.len());
            while let Some(pair) = pairs.next_ready() {
                let (sign, item) = match &pair {
                    Pair::Added(item) => ("+", item),
                    Pair::Removed(item) => ("-", item),
                    Pair::Both(left, right) => {
                        assert_eq!(left.path, right.path);
                        ("", left)
                    }
                };
                shown.push(alloc::format!("{sign}{}", String::from_utf8_lossy(&item.path)));
            }
        }
        (shown.join(" "), most)
    }

    #[test]
    fn what_has_the_same_path_comes_together_whatever_the_order() {
        assert_eq!(pairs("a b c", "a b c"), ("a b c".into(), 0));
        assert_eq!(pairs("a b d", "a b c d"), ("a b d +c".into(), 2));
        assert_eq!(pairs("c b a", "a b c"), ("b a c".into(), 2));
        assert_eq!(pairs("a x y", "p a q"), ("a +p +q -x -y".into(), 4));
        assert_eq!(pairs("", "b a"), ("+b +a".into(), 2));
        assert_eq!(pairs("b a", ""), ("-b -a".into(), 2));
    }

    #[test]
    fn no_more_is_kept_than_what_differs() {
        let numbers = |from: u32| (from..from + 1000).map(|n| alloc::format!("{n} ")).collect::<String>();
        let (_, most) = pairs(&numbers(0), &numbers(10));
        assert!(most <= 20, "{most}");
    }
}
