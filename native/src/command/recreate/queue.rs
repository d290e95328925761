//! The items that come next: decoded, chosen, and their chunks wanted where they are cut anew.

use super::tagged::TaggedDirs;
use super::work::Reading;
use crate::failure::Failure;
use crate::repository::ahead::{Ahead, Next, Wanting, want_chunks};
use portaborg_core::extract::Window;
use portaborg_core::item::Item;
use portaborg_core::pattern::PatternMatcher;

/// An item, and what is known of it already.
pub struct Queued {
    /// The item.
    pub item: Item,
    /// Whether it stays.
    pub is_included: bool,
    /// Whether its content is read.
    is_read: bool,
    /// How many of its chunks are wanted so far.
    wanted: usize,
}

/// Items in the archive's order.
pub struct Queue<'a> {
    /// Which items stay.
    pub matcher: &'a mut PatternMatcher,
    /// Which of them don't.
    pub tagged: &'a TaggedDirs,
    /// Whether contents are read.
    pub reads: bool,
    /// What is known ahead.
    pub ahead: Ahead<Queued>,
}

impl Queue<'_> {
    /// The next one; `None` at the end.
    pub fn next(&mut self, pipeline: &mut Reading<'_, '_, '_>) -> Option<Next<Queued>> {
        let Queue { matcher, tagged, reads, ahead } = self;
        ahead.next(pipeline, |item| {
            let is_matched = matcher.match_path(&item.path).map_err(Failure::command)?.included;
            let is_included = is_matched && !tagged.excludes(&item.path);
            Ok(Some(Queued { item, is_included, is_read: is_included && *reads, wanted: 0 }))
        })
    }
}

impl Wanting for Queued {
    fn want(&mut self, window: &mut Window) -> bool {
        let chunks = self.item.chunks.as_deref().filter(|_| self.is_read).unwrap_or_default();
        want_chunks(chunks, &mut self.wanted, window)
    }
}
