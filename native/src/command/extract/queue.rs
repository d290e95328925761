//! The items that are extracted next: decoded, chosen, and their chunks wanted, ahead of the extraction.

use super::{Reading, is_match, strip};
use crate::repository::ahead::{Ahead, Next, Wanting, want_chunks};
use crate::restore::Restorer;
use portaborg_core::extract::Window;
use portaborg_core::item::{FileType, Item};
use portaborg_core::pattern::PatternMatcher;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

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
    items: Ahead<Queued>,
    linked: Linked,
}

/// Tells further names of hard links from first ones.
#[derive(Default)]
struct Linked {
    /// Hashes of the hard link ids that were met.
    ids: HashSet<u64>,
    hasher: RandomState,
}

impl<'a> Queue<'a> {
    /// With nothing in it.
    pub fn new(matcher: &'a mut PatternMatcher, strip_components: usize, lists: bool) -> Self {
        Queue { matcher, strip_components, lists, items: Ahead::default(), linked: Linked::default() }
    }

    /// The next one; `None` at the end. `restorer` is where files are made, if they are.
    pub fn next(
        &mut self,
        pipeline: &mut Reading<'_, '_, '_>,
        mut restorer: Option<&mut Restorer>,
    ) -> Option<Next<Queued>> {
        let Queue { matcher, strip_components, lists, items, linked } = self;
        items.next(pipeline, |mut item| {
            let is_match = is_match(&item, matcher)?;
            if !strip(&mut item, *strip_components) || !(is_match || *lists) {
                return Ok(None);
            }
            let is_fetched =
                is_match && restorer.as_deref_mut().is_none_or(|restorer| linked.is_needed(&item, restorer));
            Ok(Some(Queued { item, is_match, is_fetched, wanted: 0 }))
        })
    }

    /// Wants chunks of what comes after `current`, all of whose chunks come first.
    pub fn want_after(&mut self, current: &mut Queued, window: &mut Window) {
        self.items.want_after(current, window);
    }
}

impl Linked {
    /// Whether an item's content will be needed, as far as can be told now.
    fn is_needed(&mut self, item: &Item, restorer: &mut Restorer) -> bool {
        let is_link = item.hlid.as_ref().is_some_and(|id| !self.ids.insert(self.hasher.hash_one(id)));
        item.file_type() == Some(FileType::Regular) && !is_link && !restorer.is_there(item)
    }
}

impl Wanting for Queued {
    fn want(&mut self, window: &mut Window) -> bool {
        let chunks = self.item.chunks.as_deref().filter(|_| self.is_fetched).unwrap_or_default();
        want_chunks(chunks, &mut self.wanted, window)
    }
}
