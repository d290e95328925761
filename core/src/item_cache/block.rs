//! Items that follow each other, in compact form.

use super::common::{is_same, put_common, take_common};
use super::number::{Cursor, put, put_bytes, put_signed};
use super::row::{Base, LEAST_BYTES, Row, put_row};
use super::{CacheError, MAX_BLOCK_BYTES};
use crate::item::Item;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// What the paths of a block may take together, and what its items have in common if each had it for itself, in bytes: a block
/// must not unfold to much more than what could be in an archive.
const MAX_UNFOLDED_BYTES: usize = 64 << 20;

/// Items that follow each other, in compact form. Paths are told apart from the rest, so that they can be looked through alone.
///
/// ```text
/// count base_secs base_inode            numbers of items, of what times and inodes are told from
/// commons                               their number; each with its length: what many items have in common
/// paths                                 their length; of each item: how much of the path before it begins this one, and the rest
/// rows                                  of each item: flags, the number of its common, times, inode, size, chunks, ...
/// ```
///
/// Numbers have seven bits in each byte, lowest first; signed ones are folded to the left of them. Bytes follow their number.
#[derive(Debug)]
pub struct Block {
    bytes: Vec<u8>,
    base: Base,
    commons: Vec<Item>,
    paths: Range<usize>,
    /// Where each row begins.
    rows: Vec<u32>,
}

/// The items of a block, one after another.
#[derive(Debug)]
pub struct BlockItems {
    block: Block,
    /// Where the next path is told.
    at: usize,
    path: Vec<u8>,
    /// How many paths were taken.
    taken: usize,
}

impl Block {
    /// The block of these items, with its length before it; `None` if it would be too long for one.
    pub fn encode(items: &[Item]) -> Option<Vec<u8>> {
        let base = items
            .first()
            .map_or(Base::default(), |first| Base { secs: first.mtime.secs, inode: first.inode.unwrap_or_default() });
        let mut commons = Commons::default();
        let (mut paths, mut rows) = (Vec::new(), Vec::new());
        let mut before: &[u8] = &[];
        let mut unfolded = 0_usize;
        for item in items {
            let (common, common_bytes) = commons.number_of(item);
            put_row(&mut rows, item, common, &base);
            let shared = before.iter().zip(&item.path).take_while(|(a, b)| a == b).count();
            put(&mut paths, shared as u64);
            put_bytes(&mut paths, &item.path[shared..]);
            before = &item.path;
            unfolded = unfolded.saturating_add(item.path.len()).saturating_add(common_bytes);
        }
        let mut out = [0; super::LENGTH_BYTES].to_vec();
        put(&mut out, items.len() as u64);
        put_signed(&mut out, base.secs);
        put(&mut out, base.inode);
        put(&mut out, commons.lens.len() as u64);
        out.extend_from_slice(&commons.encoded);
        put_bytes(&mut out, &paths);
        out.extend_from_slice(&rows);
        let (length, content) = out.split_first_chunk_mut()?;
        if content.len() > MAX_BLOCK_BYTES || unfolded > MAX_UNFOLDED_BYTES {
            return None;
        }
        *length = (content.len() as u32).to_le_bytes();
        Some(out)
    }

    /// Looks a block through, which is here without its length.
    pub fn parse(content: Vec<u8>) -> Result<Block, CacheError> {
        Block::parts(content).ok_or(CacheError::Block)
    }

    fn parts(bytes: Vec<u8>) -> Option<Block> {
        if bytes.len() > MAX_BLOCK_BYTES {
            return None;
        }
        let mut cursor = Cursor::new(&bytes);
        let count: usize = cursor.int()?;
        let base = Base { secs: cursor.signed()?, inode: cursor.number()? };
        let commons_count: usize = cursor.int()?;
        if count > bytes.len() / LEAST_BYTES || commons_count > count {
            return None;
        }
        let mut commons = Vec::with_capacity(commons_count);
        let mut lens = Vec::with_capacity(commons_count);
        for _ in 0..commons_count {
            let common = cursor.bytes()?;
            let mut inside = Cursor::new(common);
            commons.push(take_common(&mut inside)?);
            lens.push(common.len());
            if !inside.rest().is_empty() {
                return None;
            }
        }
        let paths = cursor.bytes()?;
        let end = bytes.len() - cursor.rest().len();
        let mut unfolded = paths_bytes(paths, count)?;
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            rows.push((bytes.len() - cursor.rest().len()) as u32);
            let row = Row::take(&mut cursor, &base)?;
            unfolded = unfolded.saturating_add(*lens.get(row.common)?);
        }
        if !cursor.rest().is_empty() || unfolded > MAX_UNFOLDED_BYTES {
            return None;
        }
        let paths = end - paths.len()..end;
        Some(Block { base, commons, paths, rows, bytes })
    }

    /// How many items it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its items.
    pub fn items(self) -> BlockItems {
        BlockItems { at: self.paths.start, block: self, path: Vec::new(), taken: 0 }
    }
}

impl BlockItems {
    /// The path of the next item, which [`BlockItems::item`] then is.
    pub fn next_path(&mut self) -> Option<&[u8]> {
        if self.taken == self.block.len() {
            return None;
        }
        let told = &self.block.bytes[self.at..self.block.paths.end];
        let mut cursor = Cursor::new(told);
        next_path(&mut cursor, &mut self.path)?;
        self.at += told.len() - cursor.rest().len();
        self.taken += 1;
        Some(&self.path)
    }

    /// The item whose path was taken last.
    pub fn item(&self) -> Option<Item> {
        let start = *self.block.rows.get(self.taken.checked_sub(1)?)?;
        let row = Row::take(&mut Cursor::new(&self.block.bytes[start as usize..]), &self.block.base)?;
        let common = self.block.commons.get(row.common)?;
        Some(row.item(common, &self.path))
    }
}

impl Iterator for BlockItems {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.next_path()?;
        self.item()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.block.len() - self.taken;
        (left, Some(left))
    }
}

impl ExactSizeIterator for BlockItems {}

/// What the items of a new block have in common.
#[derive(Default)]
struct Commons<'a> {
    encoded: Vec<u8>,
    lens: Vec<usize>,
    numbers: BTreeMap<Vec<u8>, usize>,
    /// The last item, and its number: mostly the next one is like it.
    last: Option<(&'a Item, usize)>,
}

impl<'a> Commons<'a> {
    /// The number of what an item has in common with others, and its length in bytes.
    fn number_of(&mut self, item: &'a Item) -> (usize, usize) {
        let number = match self.last {
            Some((last, number)) if is_same(last, item) => number,
            _ => {
                let mut common = Vec::new();
                put_common(&mut common, item);
                match self.numbers.get(&common) {
                    Some(&number) => number,
                    None => {
                        put_bytes(&mut self.encoded, &common);
                        self.lens.push(common.len());
                        self.numbers.insert(common, self.lens.len() - 1);
                        self.lens.len() - 1
                    }
                }
            }
        };
        self.last = Some((item, number));
        (number, self.lens[number])
    }
}

/// What so many paths have together, in bytes; `None` if one of them is none, or one is not as safe as items have them.
fn paths_bytes(paths: &[u8], count: usize) -> Option<usize> {
    let mut cursor = Cursor::new(paths);
    let mut path = Vec::new();
    let mut bytes = 0_usize;
    for _ in 0..count {
        let shared = next_path(&mut cursor, &mut path)?;
        bytes = bytes.saturating_add(path.len());
        if bytes > MAX_UNFOLDED_BYTES || !is_safe(&path, shared) {
            return None;
        }
    }
    cursor.rest().is_empty().then_some(bytes)
}

/// Makes the next path of the one before it, and tells how much they share.
fn next_path(cursor: &mut Cursor<'_>, path: &mut Vec<u8>) -> Option<usize> {
    let shared = cursor.int()?;
    if shared > path.len() {
        return None;
    }
    path.truncate(shared);
    path.extend_from_slice(cursor.bytes()?);
    Some(shared)
}

/// Whether a path is as [`make_path_safe`](crate::item::make_path_safe) makes paths, if the path is which so much of it is shared
/// with.
fn is_safe(path: &[u8], shared: usize) -> bool {
    if path == b"." {
        return true;
    }
    let start = path[..shared].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
    let new = &path[shared.saturating_sub(WINDOWS_PARENT_BYTES - 1)..];
    let has_windows_parent = new.windows(WINDOWS_PARENT_BYTES).any(|three| three == b"\\.." || three == b"..\\");
    path[start..].split(|&byte| byte == b'/').all(is_name) && !has_windows_parent
}

/// Of a `..` with a backslash at one of its ends.
const WINDOWS_PARENT_BYTES: usize = 3;
