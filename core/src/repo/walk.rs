//! Packs from header to header (repository layer, section 5.8).

use crate::id::PackId;
use crate::name::Key;
use crate::object::{HEADER_BYTES, Header, MAGIC, Opener};
use crate::store::{Store, StoreError};
use alloc::vec::Vec;

/// How much is read for a header and its metadata: small objects come several at once, large ones cost little more.
const WINDOW_BYTES: usize = 4096;
/// How much is read at once in search of the next object.
const SEARCH_BYTES: usize = 1 << 20;
/// Metadata larger than this is none (repository layer, section 5.8).
const MAX_META_BYTES: usize = 65_536;
/// How many bytes of would-be metadata are authenticated in search of objects, in all: a crafted pack could be full of them.
const MAX_SEARCH_EFFORT: u64 = 1 << 30;

/// What a pack holds at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walked {
    /// An object whose metadata is authentic for its id, so that its length is right.
    Object {
        /// First byte.
        offset: u64,
        /// Its header.
        header: Header,
    },
    /// Bytes that are no such object: damaged or forged.
    Skipped {
        /// First byte.
        offset: u64,
        /// How many.
        bytes: u64,
    },
}

/// Goes through a pack from object to object, without an index (repository layer, section 5.8). After damage it goes on
/// with the next object that can be found.
pub struct PackWalk {
    pack: PackId,
    pack_bytes: u64,
    offset: u64,
    window: Vec<u8>,
    window_offset: u64,
    effort: u64,
}

impl PackWalk {
    /// At the beginning of a pack of this length.
    pub fn new(pack: PackId, pack_bytes: u64) -> Self {
        PackWalk { pack, pack_bytes, offset: 0, window: Vec::new(), window_offset: 0, effort: 0 }
    }

    /// What comes next; `None` at the end. Less than a header at the end is nothing.
    pub async fn next<S: Store>(&mut self, store: &S, opener: &mut Opener<'_>) -> Option<Result<Walked, StoreError>> {
        let offset = self.offset;
        if self.pack_bytes.saturating_sub(offset) < HEADER_BYTES as u64 {
            return None;
        }
        Some(match self.object_at(store, opener, offset).await {
            Ok(Some(header)) => {
                self.offset += header.total();
                Ok(Walked::Object { offset, header })
            }
            Ok(None) => self.search(store, opener).await.map(|next| {
                self.offset = next;
                Walked::Skipped { offset, bytes: next - offset }
            }),
            Err(error) => Err(error),
        })
    }

    /// The header of the object at a place, if one is there.
    async fn object_at<S: Store>(
        &mut self,
        store: &S,
        opener: &mut Opener<'_>,
        offset: u64,
    ) -> Result<Option<Header>, StoreError> {
        let Ok(header) = Header::parse(self.bytes(store, offset, HEADER_BYTES).await?) else { return Ok(None) };
        let meta_bytes = header.meta_size as usize;
        if !header.is_plausible(self.pack_bytes - offset) || meta_bytes > MAX_META_BYTES {
            return Ok(None);
        }
        let mut head = self.bytes(store, offset, HEADER_BYTES + meta_bytes).await?.to_vec();
        Ok(opener.open_meta(&mut head, header.id).is_ok().then_some(header))
    }

    /// Where the next object begins, or the end of the pack.
    async fn search<S: Store>(&mut self, store: &S, opener: &mut Opener<'_>) -> Result<u64, StoreError> {
        let mut from = self.offset + 1;
        while from + (HEADER_BYTES as u64) <= self.pack_bytes {
            let piece = store.read(&Key::Pack(self.pack), from, SEARCH_BYTES).await?;
            for (at, _) in piece.windows(MAGIC.len()).enumerate().filter(|(_, bytes)| bytes == MAGIC) {
                let candidate = from + at as u64;
                let claimed = Header::parse(&piece[at..]).map_or(0, |header| header.meta_size);
                self.effort += HEADER_BYTES as u64 + u64::from(claimed);
                if self.effort > MAX_SEARCH_EFFORT {
                    return Ok(self.pack_bytes);
                }
                if self.object_at(store, opener, candidate).await?.is_some() {
                    return Ok(candidate);
                }
            }
            if piece.len() < SEARCH_BYTES {
                break;
            }
            // A magic may lie across the border.
            from += (SEARCH_BYTES - (MAGIC.len() - 1)) as u64;
        }
        Ok(self.pack_bytes)
    }

    /// `len` bytes of the pack, or fewer at its end.
    async fn bytes<S: Store>(&mut self, store: &S, offset: u64, len: usize) -> Result<&[u8], StoreError> {
        let start = offset.checked_sub(self.window_offset).and_then(|start| usize::try_from(start).ok());
        if start.is_none_or(|start| start.saturating_add(len) > self.window.len()) {
            self.window = store.read(&Key::Pack(self.pack), offset, len.max(WINDOW_BYTES)).await?;
            self.window_offset = offset;
        }
        let start = (offset - self.window_offset) as usize;
        Ok(&self.window[start..self.window.len().min(start + len)])
    }
}
