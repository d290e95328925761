//! `fail`: blocks of one size, some of which can't be read; for tests (data layer, section 3.6).

use alloc::vec::Vec;

/// A read error that the map of `fail` asks for. It stands for the operating system's `EIO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("simulated I/O error")]
pub struct InjectedFault;

pub(super) struct Fail {
    block_size: usize,
    /// Whether a block fails; the last entry is for all that follow.
    map: Vec<bool>,
    /// Blocks so far, of all files.
    blocks: usize,
}

impl Fail {
    pub(super) fn new(block_size: usize, map: &str) -> Fail {
        let map = map.bytes().map(|letter| letter.eq_ignore_ascii_case(&b'E')).collect();
        Fail { block_size, map, blocks: 0 }
    }

    pub(super) fn max_size(&self) -> usize {
        self.block_size
    }

    pub(super) fn cut(&mut self, ahead: &[u8]) -> Result<usize, InjectedFault> {
        let fails = self.map.get(self.blocks).or(self.map.last()).is_some_and(|&fails| fails);
        self.blocks = self.blocks.saturating_add(1);
        if fails { Err(InjectedFault) } else { Ok(self.block_size.min(ahead.len())) }
    }
}
