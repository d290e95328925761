//! What each item has for itself, besides its path.

use super::common::{put_pairs, take_pairs};
use super::number::{Cursor, put, put_bytes, put_signed};
use crate::id::ChunkId;
use crate::item::{ChunkEntry, Item};
use crate::time::{NANOS_PER_SEC, Timestamp};
use alloc::vec::Vec;

const CTIME: u64 = 1 << 0;
const INODE: u64 = 1 << 1;
const CHUNKS: u64 = 1 << 2;
/// The size is the sum of the chunks' sizes.
const SIZE_IS_SUM: u64 = 1 << 3;
const SIZE: u64 = 1 << 4;
const ATIME: u64 = 1 << 5;
const TARGET: u64 = 1 << 6;
const BIRTHTIME: u64 = 1 << 7;
const HLID: u64 = 1 << 8;
const RDEV: u64 = 1 << 9;
const DIGESTS: u64 = 1 << 10;
const ALL: u64 = (1 << 11) - 1;

/// Flags, the number of what it has in common with others, a time of one second and four bytes.
pub(super) const LEAST_BYTES: usize = 1 + 1 + TIME_LEAST_BYTES;
const TIME_LEAST_BYTES: usize = 1 + size_of::<u32>();

/// What the items of a block are told from, so that their numbers are short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) secs: i64,
    pub(super) inode: u64,
}

/// A row, borrowed from its block. [`Row::item`] makes an item of it.
#[derive(Debug)]
pub(super) struct Row<'a> {
    /// The number of what it has in common with others.
    pub(super) common: usize,
    mtime: Timestamp,
    ctime: Option<Timestamp>,
    atime: Option<Timestamp>,
    birthtime: Option<Timestamp>,
    inode: Option<u64>,
    size: Option<u64>,
    size_is_sum: bool,
    chunks: Option<Chunks<'a>>,
    target: Option<&'a [u8]>,
    hlid: Option<&'a [u8]>,
    rdev: Option<u64>,
    digests: Option<Cursor<'a>>,
}

/// Ids one after another, and sizes one after another.
#[derive(Debug)]
struct Chunks<'a> {
    ids: &'a [[u8; size_of::<ChunkId>()]],
    sizes: Cursor<'a>,
}

/// Appends the row of an item.
pub(super) fn put_row(out: &mut Vec<u8>, item: &Item, common: usize, base: &Base) {
    let size_is_sum = item.chunks.is_some() && item.size == Some(item.content_size());
    let present = [
        (CTIME, item.ctime.is_some()),
        (INODE, item.inode.is_some()),
        (CHUNKS, item.chunks.is_some()),
        (SIZE_IS_SUM, size_is_sum),
        (SIZE, item.size.is_some() && !size_is_sum),
        (ATIME, item.atime.is_some()),
        (TARGET, item.target.is_some()),
        (BIRTHTIME, item.birthtime.is_some()),
        (HLID, item.hlid.is_some()),
        (RDEV, item.rdev.is_some()),
        (DIGESTS, item.digests.is_some()),
    ];
    put(out, present.into_iter().filter(|(_, is_there)| *is_there).fold(0, |flags, (flag, _)| flags | flag));
    put(out, common as u64);
    put_time(out, item.mtime, base.secs);
    for time in [item.ctime, item.atime, item.birthtime].into_iter().flatten() {
        put_time(out, time, item.mtime.secs);
    }
    if let Some(inode) = item.inode {
        put_signed(out, inode.wrapping_sub(base.inode) as i64);
    }
    if let Some(size) = item.size.filter(|_| !size_is_sum) {
        put(out, size);
    }
    if let Some(chunks) = &item.chunks {
        put(out, chunks.len() as u64);
        chunks.iter().for_each(|chunk| out.extend_from_slice(&chunk.id.0));
        chunks.iter().for_each(|chunk| put(out, chunk.size));
    }
    [&item.target, &item.hlid].into_iter().flatten().for_each(|bytes| put_bytes(out, bytes));
    if let Some(rdev) = item.rdev {
        put(out, rdev);
    }
    if let Some(digests) = &item.digests {
        put_pairs(out, digests);
    }
}

impl<'a> Row<'a> {
    /// Takes the next row; `None` if it is none.
    pub(super) fn take(cursor: &mut Cursor<'a>, base: &Base) -> Option<Row<'a>> {
        let flags = cursor.number()?;
        let has = |flag| flags & flag != 0;
        let sizes_agree = !has(SIZE_IS_SUM) || has(CHUNKS) && !has(SIZE);
        if flags & !ALL != 0 || !sizes_agree {
            return None;
        }
        let common = cursor.int()?;
        let mtime = take_time(cursor, base.secs)?;
        let mut time = |flag| if has(flag) { take_time(cursor, mtime.secs).map(Some) } else { Some(None) };
        let (ctime, atime, birthtime) = (time(CTIME)?, time(ATIME)?, time(BIRTHTIME)?);
        let mut row = Row {
            common,
            mtime,
            ctime,
            atime,
            birthtime,
            inode: None,
            size: None,
            size_is_sum: has(SIZE_IS_SUM),
            chunks: None,
            target: None,
            hlid: None,
            rdev: None,
            digests: None,
        };
        if has(INODE) {
            row.inode = Some(base.inode.wrapping_add(cursor.signed()? as u64));
        }
        if has(SIZE) {
            row.size = Some(cursor.number()?);
        }
        if has(CHUNKS) {
            row.chunks = Some(Chunks::take(cursor)?);
        }
        if has(TARGET) {
            row.target = Some(cursor.bytes()?);
        }
        if has(HLID) {
            row.hlid = Some(cursor.bytes()?);
        }
        if has(RDEV) {
            row.rdev = Some(cursor.number()?);
        }
        if has(DIGESTS) {
            row.digests = Some(cursor.clone());
            let count: usize = cursor.int()?;
            for _ in 0..count {
                cursor.bytes()?;
                cursor.bytes()?;
            }
        }
        Some(row)
    }

    /// The item that it tells of, with what it has in `common` with others.
    pub(super) fn item(self, common: &Item, path: &[u8]) -> Item {
        let mut item = Item {
            path: path.to_vec(),
            mtime: self.mtime,
            ctime: self.ctime,
            atime: self.atime,
            birthtime: self.birthtime,
            inode: self.inode,
            size: self.size,
            chunks: self.chunks.map(Chunks::entries),
            target: self.target.map(Vec::from),
            hlid: self.hlid.map(Vec::from),
            rdev: self.rdev,
            digests: self.digests.and_then(|mut digests| take_pairs(&mut digests)),
            ..common.clone()
        };
        if self.size_is_sum {
            item.size = Some(item.content_size());
        }
        item
    }
}

impl<'a> Chunks<'a> {
    fn take(cursor: &mut Cursor<'a>) -> Option<Self> {
        let count: usize = cursor.int()?;
        let (ids, _) = cursor.take(count.checked_mul(size_of::<ChunkId>())?)?.as_chunks();
        let sizes = cursor.clone();
        for _ in 0..count {
            cursor.number()?;
        }
        Some(Chunks { ids, sizes })
    }

    fn entries(mut self) -> Vec<ChunkEntry> {
        let entry = |id: &[u8; 32]| ChunkEntry { id: ChunkId(*id), size: self.sizes.number().unwrap_or_default() };
        self.ids.iter().map(entry).collect()
    }
}

fn put_time(out: &mut Vec<u8>, time: Timestamp, base: i64) {
    put_signed(out, time.secs.wrapping_sub(base));
    out.extend_from_slice(&time.nanos.to_le_bytes());
}

fn take_time(cursor: &mut Cursor<'_>, base: i64) -> Option<Timestamp> {
    let secs = base.wrapping_add(cursor.signed()?);
    let nanos = u32::from_le_bytes(*cursor.array()?);
    (nanos < NANOS_PER_SEC).then_some(Timestamp { secs, nanos })
}
