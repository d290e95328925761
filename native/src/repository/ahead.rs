//! What comes next in an archive: decoded, and its chunks wanted, before its turn.

use portaborg_core::extract::{Want, Window};
use portaborg_core::item::ChunkEntry;
use std::collections::VecDeque;

/// Items that are known ahead.
const ITEMS_AHEAD: usize = 4096;
/// Chunks that are wanted ahead; how many of them are fetched is for the window to say.
const CHUNKS_AHEAD: usize = 8192;

/// Something that comes next, and may need chunks.
pub trait Wanting {
    /// Wants more of its chunks; `true` if all are wanted.
    fn want(&mut self, window: &mut Window) -> bool;
}

/// What comes next, in the archive's order.
pub struct Ahead<N> {
    nexts: VecDeque<N>,
    /// How many of them have all their chunks wanted.
    wanted: usize,
}

impl<N> Default for Ahead<N> {
    fn default() -> Self {
        Ahead { nexts: VecDeque::new(), wanted: 0 }
    }
}

impl<N: Wanting> Ahead<N> {
    /// Whether more should be known ahead.
    pub fn has_room(&self) -> bool {
        self.nexts.len() < ITEMS_AHEAD
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.nexts.is_empty()
    }

    /// Adds what comes last.
    pub fn push(&mut self, next: N) {
        self.nexts.push_back(next);
    }

    /// Takes out what comes first, and wants chunks.
    pub fn pop(&mut self, window: &mut Window) -> Option<N> {
        self.want(window);
        let next = self.nexts.pop_front()?;
        self.wanted = self.wanted.saturating_sub(1);
        Some(next)
    }

    /// Wants chunks of what comes after `current`, all of whose chunks come first.
    pub fn want_after(&mut self, current: &mut impl Wanting, window: &mut Window) {
        if current.want(window) {
            self.want(window);
        }
    }

    fn want(&mut self, window: &mut Window) {
        while let Some(next) = self.nexts.get_mut(self.wanted) {
            if !next.want(window) {
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
