//! Items: what an archive says of one file system object (data layer, section 8).

mod path;

pub use path::{UnsafePath, make_path_safe};

use crate::id::ChunkId;
use crate::msgpack::{MsgpackError, Reader, Writer};
use crate::time::Timestamp;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The bits of `mode` that tell an object's type.
const S_IFMT: u32 = 0o170_000;

/// A file, directory, link or device in an archive, with every attribute that was stored.
///
/// Names and texts are raw bytes, as they were on disk. An absent attribute was not stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// Relative path, sanitised by [`make_path_safe`].
    pub path: Vec<u8>,
    /// Type and permission bits, as in `st_mode`.
    pub mode: Option<u32>,
    /// Numeric owner.
    pub uid: Option<i64>,
    /// Numeric group.
    pub gid: Option<i64>,
    /// Name of the owner.
    pub user: Option<Vec<u8>>,
    /// Name of the group.
    pub group: Option<Vec<u8>>,
    /// Last change of the content.
    pub mtime: Timestamp,
    /// Last access.
    pub atime: Option<Timestamp>,
    /// Last change of the inode.
    pub ctime: Option<Timestamp>,
    /// Creation.
    pub birthtime: Option<Timestamp>,
    /// Inode number at the source.
    pub inode: Option<u64>,
    /// Sum of the chunk sizes in bytes, as the writer stated it.
    pub size: Option<u64>,
    /// The content in order; present (maybe empty) for whatever has content.
    pub chunks: Option<Vec<ChunkEntry>>,
    /// Equal for the names of one hard-linked object; means nothing outside the archive.
    pub hlid: Option<Vec<u8>>,
    /// Text of a symbolic link.
    pub target: Option<Vec<u8>>,
    /// Device number of a device, as in `st_rdev`.
    pub rdev: Option<u64>,
    /// Extended attributes; Borg sorts them by name.
    pub xattrs: Option<Pairs>,
    /// File flags with BSD's values (section 8.2).
    pub bsdflags: Option<u32>,
    /// Access control lists.
    pub acl: Acl,
    /// Digests of the whole content by algorithm name.
    pub digests: Option<Pairs>,
    /// Keys that this version does not know, each with its encoded value, kept as they are.
    pub unknown: Vec<(Vec<u8>, Box<[u8]>)>,
}

/// Names and values as raw bytes, in stored order.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Access control lists as the text that Borg stores (data layer, section 8.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acl {
    /// POSIX access list.
    pub access: Option<Vec<u8>>,
    /// POSIX default list of a directory.
    pub default: Option<Vec<u8>>,
    /// FreeBSD's NFSv4 list.
    pub nfs4: Option<Vec<u8>>,
    /// macOS's list.
    pub extended: Option<Vec<u8>>,
}

/// One piece of a file's content. The size is what the item claims, unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Which chunk.
    pub id: ChunkId,
    /// Length of its plaintext in bytes.
    pub size: u64,
}

/// What kind of object an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A socket, or bits that mean nothing (in octal); never written by Borg.
    Other(u32),
}

impl FileType {
    /// What the type bits of a mode say.
    pub fn of_mode(mode: u32) -> FileType {
        match mode & S_IFMT {
            0o100_000 => FileType::Regular,
            0o040_000 => FileType::Directory,
            0o120_000 => FileType::Symlink,
            0o010_000 => FileType::Fifo,
            0o020_000 => FileType::CharDevice,
            0o060_000 => FileType::BlockDevice,
            other => FileType::Other(other),
        }
    }
}

/// Why an encoded item can't be used. The text of the path is there if it could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    /// The value is not a map at all.
    #[error("is not a map")]
    NotAMap,
    /// There is no path.
    #[error("has no path")]
    NoPath,
    /// The path would leave the place where it is extracted.
    #[error("has an unsafe path: {}", crate::bytes::lossy(path).0)]
    UnsafePath {
        /// The path as stored.
        path: Vec<u8>,
    },
    /// A known attribute has a value that it can't have.
    #[error("{}has an invalid attribute {key}: {source}", path_prefix(path))]
    Attribute {
        /// The path, if it was read before.
        path: Option<Vec<u8>>,
        /// The attribute's key.
        key: &'static str,
        /// What is wrong with it.
        source: MsgpackError,
    },
    /// The encoding itself is broken.
    #[error("is not valid msgpack: {0}")]
    Msgpack(#[from] MsgpackError),
}

fn path_prefix(path: &Option<Vec<u8>>) -> alloc::string::String {
    path.as_ref().map(|path| alloc::format!("{} ", crate::bytes::lossy(path).0)).unwrap_or_default()
}

impl Item {
    /// Decodes one item from its whole encoding.
    pub fn decode(data: &[u8]) -> Result<Item, ItemError> {
        let mut reader = Reader::new(data);
        let pairs = reader.map_len().map_err(|error| match error {
            MsgpackError::Unexpected { .. } => ItemError::NotAMap,
            other => other.into(),
        })?;
        let mut item = Item::default();
        let mut has_path = false;
        for _ in 0..pairs {
            let key = reader.skip()?;
            let Ok(key) = Reader::new(key).bytes() else {
                reader.skip()?; // a key that is no string names nothing that we could know or write back
                continue;
            };
            let value = reader.skip()?;
            has_path |= key == b"path";
            item.set(key, value)?;
        }
        reader.finish()?;
        if !has_path {
            return Err(ItemError::NoPath);
        }
        item.path = make_path_safe(&item.path).map_err(|UnsafePath| ItemError::UnsafePath { path: item.path })?;
        Ok(item)
    }

    /// Appends the item's encoding, byte for byte as Borg writes it: its attributes in order, shortest forms.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::after(core::mem::take(out));
        let uint = |writer: &mut Writer, value: u64| writer.uint(value);
        let text = |writer: &mut Writer, value: &Vec<u8>| writer.str(value);
        let bin = |writer: &mut Writer, value: &Vec<u8>| writer.bin(value);
        writer.sorted_map(&self.unknown, |map| {
            map.optional("acl_access", self.acl.access.as_ref(), bin);
            map.optional("acl_default", self.acl.default.as_ref(), bin);
            map.optional("acl_extended", self.acl.extended.as_ref(), bin);
            map.optional("acl_nfs4", self.acl.nfs4.as_ref(), bin);
            map.optional("atime", self.atime, Writer::timestamp);
            map.optional("birthtime", self.birthtime, Writer::timestamp);
            map.optional("bsdflags", self.bsdflags.map(u64::from), uint);
            map.optional("chunks", self.chunks.as_ref(), |writer, chunks| write_chunks(writer, chunks));
            map.optional("ctime", self.ctime, Writer::timestamp);
            map.optional("digests", self.digests.as_ref(), |writer, digests| {
                write_pairs(writer, digests, |writer, name| writer.str(name));
            });
            map.optional("gid", self.gid, Writer::int);
            map.optional("group", self.group.as_ref(), text);
            map.optional("hlid", self.hlid.as_ref(), bin);
            map.optional("inode", self.inode, uint);
            map.optional("mode", self.mode.map(u64::from), uint);
            map.pair("mtime", |writer| writer.timestamp(self.mtime));
            map.pair("path", |writer| writer.str(&self.path));
            map.optional("rdev", self.rdev, uint);
            map.optional("size", self.size, uint);
            map.optional("target", self.target.as_ref(), text);
            map.optional("uid", self.uid, Writer::int);
            map.optional("user", self.user.as_ref(), text);
            map.optional("xattrs", self.xattrs.as_ref(), |writer, xattrs| write_pairs(writer, xattrs, Writer::bin));
        });
        *out = writer.into_bytes();
    }

    /// What kind of object it is; `None` if no mode was stored.
    pub fn file_type(&self) -> Option<FileType> {
        self.mode.map(FileType::of_mode)
    }

    /// Length of the content by its chunks, in bytes. A sum that overflows saturates.
    pub fn content_size(&self) -> u64 {
        self.chunks.iter().flatten().fold(0, |sum: u64, chunk| sum.saturating_add(chunk.size))
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), ItemError> {
        let mut reader = Reader::new(value);
        let reader = &mut reader;
        let (key, done) = match key {
            b"path" => ("path", raw(reader).map(|v| self.path = v)),
            b"mode" => ("mode", reader.int().map(|v| self.mode = Some(v))),
            b"uid" => ("uid", optional(reader, Reader::int).map(|v| self.uid = v)),
            b"gid" => ("gid", optional(reader, Reader::int).map(|v| self.gid = v)),
            b"user" => ("user", optional(reader, raw).map(|v| self.user = v)),
            b"group" => ("group", optional(reader, raw).map(|v| self.group = v)),
            b"mtime" => ("mtime", reader.timestamp().map(|v| self.mtime = v)),
            b"atime" => ("atime", reader.timestamp().map(|v| self.atime = Some(v))),
            b"ctime" => ("ctime", reader.timestamp().map(|v| self.ctime = Some(v))),
            b"birthtime" => ("birthtime", reader.timestamp().map(|v| self.birthtime = Some(v))),
            b"inode" => ("inode", reader.int().map(|v| self.inode = Some(v))),
            b"size" => ("size", reader.int().map(|v| self.size = Some(v))),
            b"chunks" => ("chunks", optional(reader, chunks).map(|v| self.chunks = v)),
            b"hlid" => ("hlid", raw(reader).map(|v| self.hlid = Some(v))),
            b"target" | b"source" => ("target", raw(reader).map(|v| self.target = Some(v))),
            b"rdev" => ("rdev", reader.int().map(|v| self.rdev = Some(v))),
            b"xattrs" => ("xattrs", byte_map(reader).map(|v| self.xattrs = Some(v))),
            b"bsdflags" => ("bsdflags", reader.int().map(|v| self.bsdflags = Some(v))),
            b"acl_access" => ("acl_access", raw(reader).map(|v| self.acl.access = Some(v))),
            b"acl_default" => ("acl_default", raw(reader).map(|v| self.acl.default = Some(v))),
            b"acl_nfs4" => ("acl_nfs4", raw(reader).map(|v| self.acl.nfs4 = Some(v))),
            b"acl_extended" => ("acl_extended", raw(reader).map(|v| self.acl.extended = Some(v))),
            b"digests" => ("digests", byte_map(reader).map(|v| self.digests = Some(v))),
            _ => {
                self.unknown.push((key.into(), value.into()));
                return Ok(());
            }
        };
        done.map_err(|source| ItemError::Attribute {
            path: Some(self.path.clone()).filter(|path| !path.is_empty()),
            key,
            source,
        })
    }
}

fn optional<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, MsgpackError>,
) -> Result<Option<T>, MsgpackError> {
    if reader.nil() { Ok(None) } else { read(reader).map(Some) }
}

fn raw(reader: &mut Reader<'_>) -> Result<Vec<u8>, MsgpackError> {
    reader.bytes().map(Vec::from)
}

/// `[[id, size], ...]`; Borg 1.x wrote a third element, which is dropped.
pub(crate) fn chunks(reader: &mut Reader<'_>) -> Result<Vec<ChunkEntry>, MsgpackError> {
    let count = reader.array_len()?;
    // Each entry takes 34 bytes at least, so the claim is checked against what is there.
    let mut entries = Vec::with_capacity(count.min(reader.rest().len() / 34));
    for _ in 0..count {
        let elements = reader.array_len()?;
        if !(2..=3).contains(&elements) {
            return Err(MsgpackError::OutOfRange);
        }
        entries.push(ChunkEntry { id: ChunkId(reader.byte_array()?), size: reader.int()? });
        if elements == 3 {
            reader.skip()?;
        }
    }
    Ok(entries)
}

/// `[[id, size], ...]`, in items and in the files cache.
pub(crate) fn write_chunks(writer: &mut Writer, chunks: &[ChunkEntry]) {
    writer.array(chunks.len());
    for chunk in chunks {
        writer.array(2);
        writer.bin(&chunk.id.0);
        writer.uint(chunk.size);
    }
}

/// A map of byte strings, in order of its keys.
pub(crate) fn write_pairs(writer: &mut Writer, pairs: &Pairs, write_key: impl Fn(&mut Writer, &[u8])) {
    let mut sorted: Vec<&(Vec<u8>, Vec<u8>)> = pairs.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    writer.map(sorted.len());
    for (key, value) in sorted {
        write_key(writer, key);
        writer.bin(value);
    }
}

/// A map of byte strings, in stored order.
pub(crate) fn byte_map(reader: &mut Reader<'_>) -> Result<Pairs, MsgpackError> {
    let count = reader.map_len()?;
    let mut pairs = Vec::new();
    for _ in 0..count {
        let name = raw(reader)?;
        // Borg 1.x stored an empty value as nil.
        pairs.push((name, optional(reader, raw)?.unwrap_or_default()));
    }
    Ok(pairs)
}
