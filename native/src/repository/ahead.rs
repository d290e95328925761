//! What comes next in an archive: decoded, and its chunks wanted, before its turn.

use crate::failure::Failure;
use crate::repository::pipeline::{Pipeline, Source, Work};
use portaborg_core::extract::{Want, Window};
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::repo::ItemProblem;
use std::collections::VecDeque;

/// Items that are known ahead.
const ITEMS_AHEAD: usize = 4096;
/// Chunks that are wanted ahead; how many of them are fetched is for the window to say.
const CHUNKS_AHEAD: usize = 8192;

/// What comes next in an archive.
pub enum Next<Q> {
    /// An item.
    Item(Box<Q>),
    /// Something that is no item.
    Problem(ItemProblem),
    /// It can't go on.
    Failure(Failure),
}

/// An item, and what is known of it already; it may need chunks.
pub trait Wanting {
    /// Wants more of its chunks; `true` if all are wanted.
    fn want(&mut self, window: &mut Window) -> bool;
}

/// What comes next, in the archive's order.
pub struct Ahead<Q> {
    nexts: VecDeque<Next<Q>>,
    /// How many of them have all their chunks wanted.
    wanted: usize,
}

impl<Q> Default for Ahead<Q> {
    fn default() -> Self {
        Ahead { nexts: VecDeque::new(), wanted: 0 }
    }
}

impl<Q: Wanting> Ahead<Q> {
    /// The next one; `None` at the end. Of each item that is decoded meanwhile, `judge` says what is to be known of it, or that
    /// it is passed over.
    pub fn next<S, W>(
        &mut self,
        pipeline: &mut Pipeline<'_, '_, S, W>,
        mut judge: impl FnMut(Item) -> Result<Option<Q>, Failure>,
    ) -> Option<Next<Q>>
    where
        S: Source,
        W: Work<Items = Vec<Result<Item, ItemProblem>>>,
    {
        while self.nexts.len() < ITEMS_AHEAD {
            let items = if self.nexts.is_empty() { pipeline.next_items() } else { pipeline.ready_items() };
            match items {
                None => break,
                Some(Err(problem)) => self.nexts.push_back(Next::Problem(problem)),
                Some(Ok(items)) => self.nexts.extend(items.into_iter().filter_map(|item| match item.map(&mut judge) {
                    Ok(Ok(queued)) => queued.map(|queued| Next::Item(Box::new(queued))),
                    Ok(Err(failure)) => Some(Next::Failure(failure)),
                    Err(problem) => Some(Next::Problem(problem)),
                })),
            }
        }
        pipeline.read_on();
        self.want(&mut pipeline.content);
        let next = self.nexts.pop_front()?;
        self.wanted = self.wanted.saturating_sub(1);
        Some(next)
    }

    /// Wants chunks of what comes after `current`, all of whose chunks come first.
    pub fn want_after(&mut self, current: &mut Q, window: &mut Window) {
        if current.want(window) {
            self.want(window);
        }
    }

    fn want(&mut self, window: &mut Window) {
        while let Some(next) = self.nexts.get_mut(self.wanted) {
            if let Next::Item(queued) = next
                && !queued.want(window)
            {
                break;
            }
            self.wanted += 1;
        }
    }
}

/// Wants more of an item's `chunks`, of which so many are wanted already; `true` if all are.
pub fn want_chunks(chunks: &[ChunkEntry], wanted: &mut usize, window: &mut Window) -> bool {
    while let Some(chunk) = chunks.get(*wanted) {
        if window.len() >= CHUNKS_AHEAD {
            return false;
        }
        window.want(Want { id: chunk.id, size: Some(chunk.size) });
        *wanted += 1;
    }
    true
}
