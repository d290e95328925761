//! Packs from header to header (repository layer, section 5.8).

use crate::id::PackId;
use crate::name::Key;
use crate::object::{HEADER_BYTES, Header};
use crate::store::{Store, StoreError};
use alloc::vec::Vec;

/// How much is read at once: the headers of small objects come together, large objects cost little more than their header.
const WINDOW_BYTES: usize = 4096;

/// Goes through a pack from header to header (repository layer, section 5.8), without keys: nothing it finds is authentic.
pub struct PackWalk {
    pack: PackId,
    pack_bytes: u64,
    offset: u64,
    window: Vec<u8>,
    window_offset: u64,
}

/// Why a walk ended before the pack did.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// No plausible object header where one should be.
    #[error("no valid object header at offset {offset} of pack {pack}")]
    Header {
        /// The pack.
        pack: PackId,
        /// Where in it.
        offset: u64,
    },
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl PackWalk {
    /// At the beginning of a pack of this length.
    pub fn new(pack: PackId, pack_bytes: u64) -> Self {
        PackWalk { pack, pack_bytes, offset: 0, window: Vec::new(), window_offset: 0 }
    }

    /// The next object and where it begins; `None` at the end. After an error the walk can't go on.
    pub async fn next<S: Store>(&mut self, store: &S) -> Option<Result<(u64, Header), WalkError>> {
        // Less than a header at the end is no object.
        let left = self.pack_bytes.saturating_sub(self.offset);
        if left < HEADER_BYTES as u64 {
            return None;
        }
        let header = match self.header(store).await {
            Ok(header) => header.filter(|header| header.is_plausible(left)),
            Err(error) => return Some(Err(error.into())),
        };
        let offset = self.offset;
        let Some(header) = header else {
            self.offset = self.pack_bytes;
            return Some(Err(WalkError::Header { pack: self.pack, offset }));
        };
        self.offset += header.total();
        Some(Ok((offset, header)))
    }

    async fn header<S: Store>(&mut self, store: &S) -> Result<Option<Header>, StoreError> {
        let in_window = |window: &[u8], start: u64, offset: u64| {
            let at = usize::try_from(offset.checked_sub(start)?).ok()?;
            Some(Header::parse(window.get(at..at + HEADER_BYTES)?).ok())
        };
        if let Some(header) = in_window(&self.window, self.window_offset, self.offset) {
            return Ok(header);
        }
        self.window = store.read(&Key::Pack(self.pack), self.offset, WINDOW_BYTES).await?;
        self.window_offset = self.offset;
        Ok(Header::parse(&self.window).ok())
    }
}
