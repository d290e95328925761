//! The items that come next: decoded, chosen, and their chunks wanted where they are cut anew.

use super::tagged::TaggedDirs;
use super::work::Reading;
use crate::failure::Failure;
use crate::repository::ahead::{Ahead, Wanting, want_chunks};
use portaborg_core::extract::Window;
use portaborg_core::item::Item;
use portaborg_core::pattern::PatternMatcher;
use portaborg_core::repo::ItemProblem;

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
    pub ahead: Ahead<Next>,
}

impl Queue<'_> {
    /// The next one; `None` at the end.
    pub fn next(&mut self, pipeline: &mut Reading<'_, '_, '_>) -> Option<Next> {
        while self.ahead.has_room() {
            let next = if self.ahead.is_empty() { pipeline.next_items() } else { pipeline.ready_items() };
            match next {
                None => break,
                Some(Err(problem)) => self.ahead.push(Next::Problem(problem)),
                Some(Ok(items)) => items.into_iter().for_each(|item| self.add(item)),
            }
        }
        pipeline.read_on();
        self.ahead.pop(&mut pipeline.content)
    }

    fn add(&mut self, item: Result<Item, ItemProblem>) {
        let item = match item {
            Ok(item) => item,
            Err(problem) => return self.ahead.push(Next::Problem(problem)),
        };
        let is_included = match self.matcher.match_path(&item.path) {
            Ok(matched) => matched.included && !self.tagged.excludes(&item.path),
            Err(failure) => return self.ahead.push(Next::Failure(Failure::command(failure))),
        };
        let is_read = is_included && self.reads;
        self.ahead.push(Next::Item(Box::new(Queued { item, is_included, is_read, wanted: 0 })));
    }
}

impl Wanting for Queued {
    fn want(&mut self, window: &mut Window) -> bool {
        let chunks = self.item.chunks.as_deref().filter(|_| self.is_read).unwrap_or_default();
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
