//! Many items in one message: their texts and numbers as JSON, all that is raw bytes in one buffer beside it.
//!
//! The package makes an object of an item only when that item is asked for, and of its chunks only when they are.

use crate::sink::{Sink, Stopped};
use portaborg_core::bytes::{Hex, lossy};
use portaborg_core::id::ChunkId;
use portaborg_core::item::{ChunkEntry, FileType, Item};
use portaborg_core::time::Timestamp;
use serde::Serialize;

/// What a chunk takes in the buffer: its id, and its size as eight bytes, little end first.
pub const CHUNK_BYTES: usize = size_of::<ChunkId>() + 8;

/// Items that are on their way.
#[derive(Default, Serialize)]
pub struct Batch {
    items: Vec<Row>,
    /// Where each item's content is, if contents are given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contents: Vec<Place>,
    #[serde(skip)]
    bytes: Vec<u8>,
}

/// A place in the buffer: first byte, number of bytes.
type Place = (usize, usize);

/// An item. Absent attributes are left out; numbers that may be too long for a double are texts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<Place>,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    mtime: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    atime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    birthtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inode: Option<String>,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hlid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bytes: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rdev: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xattrs: Option<Vec<(String, Place)>>,
    #[serde(skip_serializing_if = "Acl::is_empty")]
    acl: Acl,
}

#[derive(Serialize)]
struct Acl {
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nfs4: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extended: Option<String>,
}

impl Batch {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Adds an item.
    pub fn add(&mut self, item: &Item) {
        let (path, path_bytes) = self.text(&item.path);
        let (target, target_bytes) = item.target.as_ref().map(|target| self.text(target)).unzip();
        let xattrs = item.xattrs.as_ref().map(|xattrs| {
            let pair = |(name, value): &(Vec<u8>, Vec<u8>)| (shown(name), self.place(value));
            xattrs.iter().map(pair).collect()
        });
        let row = Row {
            path,
            path_bytes,
            r#type: type_name(item),
            mode: item.mode,
            uid: item.uid,
            gid: item.gid,
            user: item.user.as_deref().map(shown),
            group: item.group.as_deref().map(shown),
            mtime: nanos(item.mtime),
            atime: item.atime.map(nanos),
            ctime: item.ctime.map(nanos),
            birthtime: item.birthtime.map(nanos),
            inode: item.inode.map(|inode| inode.to_string()),
            size: item.chunks.as_ref().map_or(item.size.unwrap_or_default(), |_| item.content_size()),
            chunks: item.chunks.as_ref().map(|chunks| self.chunks(chunks)),
            hlid: item.hlid.as_ref().map(|hlid| Hex(hlid).to_string()),
            target,
            target_bytes: target_bytes.flatten(),
            rdev: item.rdev.map(|rdev| rdev.to_string()),
            flags: item.bsdflags,
            xattrs,
            acl: Acl {
                access: item.acl.access.as_deref().map(shown),
                default: item.acl.default.as_deref().map(shown),
                nfs4: item.acl.nfs4.as_deref().map(shown),
                extended: item.acl.extended.as_deref().map(shown),
            },
        };
        self.items.push(row);
    }

    /// What lies in the buffer beside the items.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }

    /// Gives what was added to the sink, if anything was.
    pub async fn flush(&mut self, sink: &Sink) -> Result<(), Stopped> {
        if self.items.is_empty() {
            return Ok(());
        }
        let bytes = self.take_bytes();
        sink.give(&core::mem::take(self), Some(&bytes)).await
    }

    /// Adds an item with its whole content.
    pub fn add_whole(&mut self, item: &Item, content: &[u8]) {
        self.add(item);
        let place = self.place(content);
        self.contents.push(place);
    }

    /// How many bytes there are beside the items.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The paths of what was added.
    #[cfg(test)]
    pub fn paths(&self) -> Vec<String> {
        self.items.iter().map(|row| row.path.clone()).collect()
    }

    /// A text, and where its bytes are if they are no text.
    fn text(&mut self, raw: &[u8]) -> (String, Option<Place>) {
        let (text, is_lossy) = lossy(raw);
        (text.into_owned(), is_lossy.then(|| self.place(raw)))
    }

    fn place(&mut self, bytes: &[u8]) -> Place {
        let place = (self.bytes.len(), bytes.len());
        self.bytes.extend_from_slice(bytes);
        place
    }

    fn chunks(&mut self, chunks: &[ChunkEntry]) -> Place {
        let start = self.bytes.len();
        for chunk in chunks {
            self.bytes.extend_from_slice(&chunk.id.0);
            self.bytes.extend_from_slice(&chunk.size.to_le_bytes());
        }
        (start, self.bytes.len() - start)
    }
}

/// The chunks in a buffer; `None` if it has half a chunk.
pub fn parse_chunks(bytes: &[u8]) -> Option<Vec<ChunkEntry>> {
    let (chunks, rest) = bytes.as_chunks::<CHUNK_BYTES>();
    let chunk = |bytes: &[u8; CHUNK_BYTES]| {
        let (id, size) = bytes.split_first_chunk().expect("a chunk's size");
        ChunkEntry { id: ChunkId(*id), size: u64::from_le_bytes(size.try_into().expect("the rest of it")) }
    };
    rest.is_empty().then(|| chunks.iter().map(chunk).collect())
}

impl Acl {
    fn is_empty(&self) -> bool {
        let Acl { access, default, nfs4, extended } = self;
        [access, default, nfs4, extended].into_iter().all(Option::is_none)
    }
}

fn type_name(item: &Item) -> &'static str {
    match item.file_type() {
        Some(FileType::Regular) => "file",
        None if item.chunks.is_some() => "file",
        Some(FileType::Directory) => "directory",
        Some(FileType::Symlink) => "symlink",
        Some(FileType::Fifo) => "fifo",
        Some(FileType::CharDevice) => "character device",
        Some(FileType::BlockDevice) => "block device",
        Some(FileType::Other(_)) | None => "other",
    }
}

fn nanos(time: Timestamp) -> String {
    time.as_nanos().to_string()
}

fn shown(raw: &[u8]) -> String {
    lossy(raw).0.into_owned()
}
