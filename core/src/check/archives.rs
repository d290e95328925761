//! Checking an archive: its items, and whether their chunks are there.

use crate::archive::ArchiveMeta;
use crate::id::ChunkId;
use crate::index::ChunkIndex;
use crate::item::Item;
use crate::repo::{ChunkReader, ItemProblem, ItemStream};
use crate::store::Store;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

/// Distinct missing chunks that are kept for the report: a lost disk must not exhaust the memory.
const MAX_MISSING_CHUNKS: usize = 1000;
/// Files kept for each missing chunk.
const MAX_FILES_PER_CHUNK: usize = 10;

/// What the check of an archive meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveFinding<'a> {
    /// A part of the item stream is damaged.
    Items(&'a ItemProblem),
    /// A chunk of a file is missing that wasn't known to be missing yet, of this size by the item.
    Missing(ChunkId, u64),
    /// An item states a size that its chunks don't add up to; the file is as its chunks are.
    Size {
        /// The item.
        item: &'a Item,
        /// As stated.
        stated: u64,
        /// Sum of the chunks.
        chunks: u64,
    },
    /// An item is done.
    Item,
    /// An item has keys that this version doesn't know: a newer one wrote it. They are no error.
    UnknownKey(&'a [u8]),
}

/// Chunks that files refer to but that the repository doesn't have, with the files.
#[derive(Debug, Clone, Default)]
pub struct MissingChunks {
    /// In order of their ids.
    pub chunks: BTreeMap<ChunkId, MissingChunk>,
    /// Whether there are more than are kept.
    pub truncated: bool,
    /// References from files, all counted.
    pub references: u64,
}

/// A missing chunk.
#[derive(Debug, Clone, Default)]
pub struct MissingChunk {
    /// Its size by the first item that refers to it.
    pub size: u64,
    /// Paths of files that refer to it, with the names of their archives.
    pub files: BTreeMap<Vec<u8>, Vec<String>>,
    /// Whether there are more files than are kept.
    pub truncated: bool,
}

/// Reads an archive's items and looks whether every chunk they refer to is indexed. `true` if all is well, as far as it came
/// before the observer stopped it.
pub async fn check_archive<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    meta: &ArchiveMeta,
    name: &str,
    missing: &mut MissingChunks,
    observe: &mut dyn FnMut(ArchiveFinding<'_>) -> ControlFlow<()>,
) -> bool {
    let mut check = ArchiveCheck { archive: name, missing, clean: true };
    let mut stream = ItemStream::new(&meta.item_ptrs);
    while let Some(next) = stream.next(reader).await {
        if check.next(next, &reader.index, observe).is_break() {
            break;
        }
    }
    check.clean
}

/// The check of an archive whose items are read by whomever.
pub struct ArchiveCheck<'a> {
    /// The archive's name.
    pub archive: &'a str,
    /// Where missing chunks are added to.
    pub missing: &'a mut MissingChunks,
    /// Whether all is well so far.
    pub clean: bool,
}

impl ArchiveCheck<'_> {
    /// Checks the next item.
    pub fn next(
        &mut self,
        next: Result<Item, ItemProblem>,
        index: &ChunkIndex,
        observe: &mut dyn FnMut(ArchiveFinding<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let item = match next {
            Ok(item) => item,
            Err(problem) => {
                self.clean = false;
                return observe(ArchiveFinding::Items(&problem));
            }
        };
        for chunk in item.chunks.iter().flatten().filter(|chunk| index.get(&chunk.id).is_none()) {
            self.clean = false;
            if self.missing.record(chunk.id, chunk.size, &item.path, self.archive) {
                observe(ArchiveFinding::Missing(chunk.id, chunk.size))?;
            }
        }
        for (key, _) in &item.unknown {
            observe(ArchiveFinding::UnknownKey(key))?;
        }
        let chunks = item.content_size();
        if let Some(stated) = item.size.filter(|&stated| item.chunks.is_some() && stated != chunks) {
            observe(ArchiveFinding::Size { item: &item, stated, chunks })?;
        }
        observe(ArchiveFinding::Item)
    }
}

impl MissingChunks {
    /// Remembers a reference; `true` if the chunk is met for the first time.
    fn record(&mut self, id: ChunkId, size: u64, path: &[u8], archive: &str) -> bool {
        self.references += 1;
        let known = self.chunks.contains_key(&id);
        if !known && self.chunks.len() >= MAX_MISSING_CHUNKS {
            self.truncated = true;
            return false;
        }
        let chunk = self.chunks.entry(id).or_insert_with(|| MissingChunk { size, ..Default::default() });
        if chunk.files.len() >= MAX_FILES_PER_CHUNK && !chunk.files.contains_key(path) {
            chunk.truncated = true;
        } else {
            let archives = chunk.files.entry(path.into()).or_default();
            if !archives.iter().any(|name| name == archive) {
                archives.push(archive.into());
            }
        }
        !known
    }
}
