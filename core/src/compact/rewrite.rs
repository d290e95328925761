//! Rewriting a pack: objects stay, go or change, and whatever else lies in it stays too (repository layer, sections 5.9, 7.1).

use super::plan::{PackObject, PackObjects, PlannedPack};
use super::remove_pack;
use crate::crypto::{store_hash, store_hash_on};
use crate::id::{ChunkId, PackId};
use crate::index::{ChunkIndex, Location};
use crate::name::Key;
use crate::object::{HEADER_BYTES, Header, ObjectError, ObjectWriteError, Opener};
use crate::repo::ChunkReader;
use crate::store::{Store, StoreError, StoreMut};
use crate::tuning::Help;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

/// Why packs can't be rewritten. What was done before is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// The index says of two objects that they lie in the same place, or of one that it lies beyond the pack's end.
    #[error("pack {pack}: the index has an impossible object at offset {offset}")]
    Index {
        /// The pack.
        pack: PackId,
        /// Where the object should be.
        offset: u64,
    },
    /// An object can't be read.
    #[error("pack {pack}, chunk {id}: {source}")]
    Read {
        /// The pack.
        pack: PackId,
        /// The chunk.
        id: ChunkId,
        /// Why.
        source: ObjectError,
    },
    /// An object can't be made anew.
    #[error("pack {pack}, chunk {id}: {source}")]
    Write {
        /// The pack.
        pack: PackId,
        /// The chunk.
        id: ChunkId,
        /// Why.
        source: ObjectWriteError,
    },
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Something about a pack that does not end the work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackProblem {
    /// It is gone.
    #[error("pack {pack} was already gone")]
    Gone {
        /// The pack.
        pack: PackId,
    },
    /// Its content is not what its name says: it is damaged, and stays as it is, since a copy would have a right name.
    #[error("pack {pack} is damaged: its content does not match its name")]
    Damaged {
        /// The pack.
        pack: PackId,
    },
    /// Bytes of it that the index doesn't know are no objects either; they are kept.
    #[error("pack {pack}: {bytes} bytes at offset {offset} are not in the index and no valid objects, keeping them")]
    Gap {
        /// The pack.
        pack: PackId,
        /// Where they begin.
        offset: u64,
        /// How many.
        bytes: u64,
    },
}

/// What becomes of an object.
pub(super) enum Wanted {
    AsItIs,
    Not,
    Instead(Vec<u8>),
}

/// Tells what becomes of objects.
pub(super) trait Wants {
    /// A pack is about to be rewritten that has these objects.
    fn begin(&mut self, _content: &Arc<Vec<u8>>, _objects: &[PackObject]) {}

    /// What becomes of the next object of the pack.
    fn next(&mut self, id: ChunkId, opener: &mut Opener<'_>) -> Result<Wanted, RewriteError>;

    /// What other threads may do for a pack as a whole.
    fn help(&self) -> Help {
        Help::NONE
    }
}

/// Rewrites one pack.
pub(super) struct Rewriter<'o> {
    pack: PackId,
    bytes: u64,
    objects: Vec<PackObject>,
    doubtful: &'o BTreeSet<PackId>,
}

/// A pack in the making.
#[derive(Default)]
pub(super) struct Draft {
    content: Vec<u8>,
    locations: Vec<(ChunkId, usize, usize)>,
    dropped: Vec<ChunkId>,
    is_changed: bool,
}

impl Draft {
    /// Whether it differs from the pack.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }
}

impl<'o> Rewriter<'o> {
    /// `bytes` is the pack's length by a listing, `objects` all that the index has in it. `doubtful` packs are missing or
    /// damaged: that the index has a chunk there is no reason to give up another copy.
    pub fn new(pack: PackId, bytes: u64, objects: Vec<PackObject>, doubtful: &'o BTreeSet<PackId>) -> Self {
        Rewriter { pack, bytes, objects, doubtful }
    }

    /// What the pack should be; `None` if it has to stay as it is. `wants` is asked for each object.
    pub async fn draft<S: StoreMut>(
        &self,
        reader: &mut ChunkReader<'_, S>,
        wants: &mut impl Wants,
        tell: &mut dyn FnMut(&PackProblem),
    ) -> Result<Option<Draft>, RewriteError> {
        check_index(self.pack, self.bytes, &self.objects)?;
        let store = &reader.repository.store;
        let Some(content) = read_intact(store, self.pack, self.bytes, wants.help(), tell).await? else {
            return Ok(None);
        };
        let content = Arc::new(content);
        let superseded = self.superseded(&content, &reader.index, &mut reader.opener, tell);
        wants.begin(&content, &self.objects);
        self.assemble(&content, superseded, &mut |id| wants.next(id, &mut reader.opener)).map(Some)
    }

    /// Stores the draft in place of the pack, and moves its objects in the index and in `objects`. Gives the bytes freed.
    pub async fn replace<S: StoreMut>(
        &self,
        draft: Draft,
        reader: &mut ChunkReader<'_, S>,
        objects: &mut PackObjects,
        help: Help,
    ) -> Result<u64, RewriteError> {
        let id = PackId::from(store_hash_on(&draft.content, &help.tuning, &help.exec()));
        if !draft.is_changed || id == self.pack {
            return Ok(0);
        }
        if !draft.content.is_empty() {
            reader.repository.store.write(&Key::Pack(id), &draft.content).await?;
            reader.repository.store.sync().await?;
        }
        objects.join(id, draft.locations.iter().map(|(chunk, offset, size)| (*chunk, *offset as u64, *size as u64)));
        let index = Arc::make_mut(&mut reader.index);
        for (chunk, offset, size) in draft.locations {
            index.insert(chunk, Location { pack: id, offset: offset as u32, size: size as u32 });
        }
        draft.dropped.iter().for_each(|chunk| index.remove(chunk));
        remove_pack(reader, self.pack).await?;
        Ok(self.bytes.saturating_sub(draft.content.len() as u64))
    }

    /// What no entry of the index covers, in order.
    fn gaps(&self) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut from = 0;
        for object in &self.objects {
            gaps.push(from..object.offset);
            from = object.offset + object.size;
        }
        gaps.push(from..self.bytes);
        gaps.retain(|gap| !gap.is_empty());
        gaps
    }

    /// Objects in gaps whose chunks the index has elsewhere: equal ids mean equal plaintexts, so these copies are not needed.
    fn superseded(
        &self,
        content: &[u8],
        index: &ChunkIndex,
        opener: &mut Opener<'_>,
        tell: &mut dyn FnMut(&PackProblem),
    ) -> Vec<Range<u64>> {
        let mut superseded = Vec::new();
        for gap in self.gaps() {
            let mut at = gap.start;
            while at < gap.end {
                let rest = &content[at as usize..gap.end as usize];
                let header = Header::parse(rest).ok().filter(|header| header.is_plausible(rest.len() as u64));
                let Some(header) = header else {
                    tell(&PackProblem::Gap { pack: self.pack, offset: at, bytes: gap.end - at });
                    break;
                };
                let object = &rest[..header.total() as usize];
                if index.get(&header.id).is_some_and(|elsewhere| !self.doubtful.contains(&elsewhere.pack)) {
                    let head = HEADER_BYTES + header.meta_size as usize;
                    if opener.open_meta(&mut object[..head].to_vec(), header.id).is_ok() {
                        superseded.push(at..at + header.total());
                    } else {
                        tell(&PackProblem::Gap { pack: self.pack, offset: at, bytes: header.total() });
                    }
                }
                at += header.total();
            }
        }
        superseded
    }

    fn assemble(
        &self,
        content: &[u8],
        superseded: Vec<Range<u64>>,
        wanted: &mut dyn FnMut(ChunkId) -> Result<Wanted, RewriteError>,
    ) -> Result<Draft, RewriteError> {
        let mut draft = Draft { is_changed: !superseded.is_empty(), ..Draft::default() };
        let known = self.objects.iter().map(|object| (object.offset..object.offset + object.size, Some(object.id)));
        let mut parts: Vec<(Range<u64>, Option<ChunkId>)> = superseded.into_iter().map(|part| (part, None)).collect();
        parts.extend(known);
        parts.sort_unstable_by_key(|(part, _)| part.start);
        let mut from = 0;
        for (part, id) in parts {
            let part = part.start as usize..part.end as usize;
            draft.content.extend_from_slice(&content[from..part.start]);
            from = part.end;
            let Some(id) = id else { continue };
            let object = &content[part];
            let replaced;
            let kept = match wanted(id)? {
                Wanted::AsItIs => object,
                Wanted::Not => {
                    draft.is_changed = true;
                    draft.dropped.push(id);
                    continue;
                }
                Wanted::Instead(bytes) => {
                    draft.is_changed = true;
                    replaced = bytes;
                    &replaced
                }
            };
            draft.locations.push((id, draft.content.len(), kept.len()));
            draft.content.extend_from_slice(kept);
        }
        draft.content.extend_from_slice(&content[from..]);
        Ok(draft)
    }
}

/// Makes one pack of several, whole, in their order.
pub(super) async fn merge<S: StoreMut>(
    reader: &mut ChunkReader<'_, S>,
    packs: Vec<PlannedPack>,
    objects: &mut PackObjects,
    tell: &mut dyn FnMut(&PackProblem),
) -> Result<(), RewriteError> {
    let mut content = Vec::new();
    let mut locations = Vec::new();
    let mut merged = Vec::new();
    for pack in &packs {
        check_index(pack.id, pack.bytes, objects.of(pack.id))?;
        let Some(part) = read_intact(&reader.repository.store, pack.id, pack.bytes, Help::NONE, tell).await? else {
            continue;
        };
        let base = content.len() as u64;
        locations.extend(objects.of(pack.id).iter().map(|object| (object.id, base + object.offset, object.size)));
        content.extend_from_slice(&part);
        merged.push(pack.id);
    }
    let id = PackId::from(store_hash(&content));
    if merged.len() < 2 {
        return Ok(());
    }
    reader.repository.store.write(&Key::Pack(id), &content).await?;
    reader.repository.store.sync().await?;
    objects.join(id, locations.iter().copied());
    let index = Arc::make_mut(&mut reader.index);
    for (chunk, offset, size) in locations {
        index.insert(chunk, Location { pack: id, offset: offset as u32, size: size as u32 });
    }
    let sources: BTreeSet<PackId> = merged.into_iter().filter(|pack| *pack != id).collect();
    for pack in sources {
        remove_pack(reader, pack).await?;
    }
    Ok(())
}

fn check_index(pack: PackId, bytes: u64, objects: &[PackObject]) -> Result<(), RewriteError> {
    let mut covered = 0;
    for object in objects {
        let end = object.offset + object.size;
        if object.offset < covered || end > bytes {
            return Err(RewriteError::Index { pack, offset: object.offset });
        }
        covered = end;
    }
    Ok(())
}

/// A whole pack, if it is there and its content is what its name says.
async fn read_intact<S: Store>(
    store: &S,
    pack: PackId,
    bytes: u64,
    help: Help,
    tell: &mut dyn FnMut(&PackProblem),
) -> Result<Option<Vec<u8>>, StoreError> {
    // Offsets have 32 bits, so a longer one is none of ours; nothing is allocated for a claim.
    let len = usize::try_from(bytes.min(u32::MAX.into())).unwrap_or(usize::MAX);
    let content = match store.read(&Key::Pack(pack), 0, len).await {
        Ok(content) => content,
        Err(error) if error.is_not_found() => {
            tell(&PackProblem::Gone { pack });
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let hash = || store_hash_on(&content, &help.tuning, &help.exec());
    if content.len() as u64 == bytes && PackId::from(hash()) == pack {
        return Ok(Some(content));
    }
    tell(&PackProblem::Damaged { pack });
    Ok(None)
}
