//! `fixed`: a header, then blocks of one size (data layer, section 3.6).

pub(super) struct Fixed {
    pub(super) block_size: usize,
    /// Zero if there is no header.
    pub(super) header_size: usize,
}

impl Fixed {
    pub(super) fn max_size(&self) -> usize {
        self.block_size.max(self.header_size)
    }

    pub(super) fn cut(&self, offset: u64, ahead: &[u8]) -> usize {
        let size = if offset == 0 && self.header_size > 0 { self.header_size } else { self.block_size };
        size.min(ahead.len())
    }
}
