//! The items that are extracted next: decoded, chosen, and their chunks wanted, ahead of the extraction.

use super::{Reading, is_match, strip};
use crate::failure::Failure;
use crate::repository::ahead::{Ahead, Wanting, want_chunks};
use crate::restore::Restorer;
use portaborg_core::extract::Window;
use portaborg_core::item::{FileType, Item};
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::ItemProblem;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// What comes next in an archive.
pub enum Next {
    /// An item.
    Item(Box<Queued>),
    /// Something that is no item.
    Problem(ItemProblem),
    /// It can't go on.
    Failure(Failure),
}

/// An item, and what is known of it already.
pub struct Queued {
    /// The item, stripped of leading components.
    pub item: Item,
    /// Whether it is asked for.
    pub is_match: bool,
    /// Whether its chunks are read ahead. Else, if they are needed nevertheless, they have to be read one by one.
    pub is_fetched: bool,
    /// How many of its chunks are wanted so far.
    pub wanted: usize,
}

/// Items in the archive's order.
pub struct Queue<'a> {
    matcher: &'a mut PatternMatcher,
    strip_components: usize,
    /// Whether items that are not asked for are of interest.
    lists: bool,
    items: Ahead<Next>,
    /// Hashes of the hard link ids that were met.
    linked: HashSet<u64>,
    hasher: RandomState,
}

impl<'a> Queue<'a> {
    /// With nothing in it.
    pub fn new(matcher: &'a mut PatternMatcher, strip_components: usize, lists: bool) -> Self {
        Queue {
            matcher,
            strip_components,
            lists,
            items: Ahead::default(),
            linked: HashSet::new(),
            hasher: RandomState::new(),
        }
    }

    /// The next one; `None` at the end. `restorer` is where files are made, if they are.
    pub fn next(&mut self, pipeline: &mut Reading<'_, '_, '_>, mut restorer: Option<&mut Restorer>) -> Option<Next> {
        while self.items.has_room() {
            let next = if self.items.is_empty() { pipeline.next_items() } else { pipeline.ready_items() };
            match next {
                None => break,
                Some(Err(problem)) => self.items.push(Next::Problem(problem)),
                Some(Ok(items)) => items.into_iter().for_each(|item| self.add(item, restorer.as_deref_mut())),
            }
        }
        pipeline.read_on();
        self.items.pop(&mut pipeline.content)
    }

    /// Wants chunks of what comes after `current`, all of whose chunks come first.
    pub fn want_after(&mut self, current: &mut Queued, window: &mut Window) {
        self.items.want_after(current, window);
    }

    fn add(&mut self, item: Result<Item, ItemProblem>, restorer: Option<&mut Restorer>) {
        let mut item = match item {
            Ok(item) => item,
            Err(problem) => return self.items.push(Next::Problem(problem)),
        };
        let is_match = match is_match(&item, self.matcher) {
            Ok(is_match) => is_match,
            Err(failure) => return self.items.push(Next::Failure(failure)),
        };
        if strip(&mut item, self.strip_components) && (is_match || self.lists) {
            let is_fetched = is_match && restorer.is_none_or(|restorer| self.is_needed(&item, restorer));
            self.items.push(Next::Item(Box::new(Queued { item, is_match, is_fetched, wanted: 0 })));
        }
    }

    /// Whether an item's content will be needed, as far as can be told now.
    fn is_needed(&mut self, item: &Item, restorer: &mut Restorer) -> bool {
        let is_link = item.hlid.as_ref().is_some_and(|id| !self.linked.insert(self.hasher.hash_one(id)));
        item.file_type() == Some(FileType::Regular) && !is_link && !restorer.is_there(item)
    }
}

impl Wanting for Queued {
    fn want(&mut self, window: &mut Window) -> bool {
        let chunks = self.item.chunks.as_deref().filter(|_| self.is_fetched).unwrap_or_default();
        want_chunks(chunks, &mut self.wanted, window)
    }
}

impl Wanting for Next {
    fn want(&mut self, window: &mut Window) -> bool {
        match self {
            Next::Item(item) => item.want(window),
            Next::Problem(_) | Next::Failure(_) => true,
        }
    }
}
