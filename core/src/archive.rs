//! Archives: what a repository says of one backup (data layer, section 9.1).

mod texts;

pub use texts::{archive_name, comment, tag};

use crate::bytes::lossy;
use crate::chunk::{BUZHASH, ChunkerParams, ChunkerParamsError, FAIL};
use crate::id::ChunkId;
use crate::msgpack::{MsgpackError, Reader, Writer};
use crate::text::isoformat;
use crate::time::Timestamp;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use jiff::tz::TimeZone;

/// The version of archive metadata that is written.
const VERSION: u64 = 2;
/// The versions of archive metadata that can be read.
const READABLE_VERSIONS: core::ops::RangeInclusive<u32> = 1..=2;

/// The content of an archive's metadata object (type `A`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveMeta {
    /// Name of the archive or of the series it belongs to; not unique.
    pub name: Vec<u8>,
    /// Free text.
    pub comment: Vec<u8>,
    /// Sorted, unique.
    pub tags: Vec<Vec<u8>>,
    /// The objects that list the item stream's chunks, in order.
    pub item_ptrs: Vec<ChunkId>,
    /// The command that made it, quoted as for a shell.
    pub command_line: Vec<u8>,
    /// Where the command ran; absent in transferred archives.
    pub cwd: Option<Vec<u8>>,
    /// Where it was made.
    pub hostname: Vec<u8>,
    /// Who made it.
    pub username: Vec<u8>,
    /// The time that the archive stands for.
    pub time: Stamp,
    /// When its making began; the nominal time if that was not stored.
    pub start: Stamp,
    /// When its making ended; the nominal time if that was not stored.
    pub end: Stamp,
    /// How its files were cut: algorithm and parameters, in the order that Borg shows them.
    pub chunker_params: Option<Vec<ChunkerParam>>,
    /// Logical size in bytes; informational.
    pub size: u64,
    /// Number of items with content; informational.
    pub nfiles: u64,
    /// The command that rewrote it.
    pub recreate_command_line: Option<Vec<u8>>,
    /// Keys that this version does not know, each with its encoded value, kept as they are.
    pub unknown: Vec<(Vec<u8>, Box<[u8]>)>,
}

/// A time together with the text it was stored as, which has the writer's offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// As stored.
    pub text: String,
    /// The point in time that it means.
    pub time: Timestamp,
}

/// One element of [`ArchiveMeta::chunker_params`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkerParam {
    /// The algorithm's name, or another text.
    Text(String),
    /// A number.
    Int(i64),
}

/// Why an archive's metadata can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Not a map, or broken msgpack.
    #[error("archive metadata is not a valid map: {0}")]
    Msgpack(#[from] MsgpackError),
    /// A required key is missing.
    #[error("archive metadata has no {key}")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A known key has a value that it can't have.
    #[error("archive metadata has an invalid {key}")]
    Attribute {
        /// The key.
        key: &'static str,
    },
    /// Written by a newer program.
    #[error("archive metadata has version {found}, which this program does not know")]
    Version {
        /// The version.
        found: u32,
    },
}

impl ArchiveMeta {
    /// Decodes the plaintext of a metadata object.
    pub fn decode(data: &[u8]) -> Result<ArchiveMeta, ArchiveError> {
        let mut fields = Fields::default();
        let mut reader = Reader::new(data);
        for _ in 0..reader.map_len()? {
            let key = reader.skip()?;
            let value = reader.skip()?;
            if let Ok(key) = Reader::new(key).bytes() {
                fields.set(key, value)?;
            }
        }
        reader.finish()?;
        fields.finish()
    }

    /// The plaintext of a metadata object, byte for byte as Borg writes it.
    pub fn encode(&self) -> Vec<u8> {
        let text = |writer: &mut Writer, value: &Vec<u8>| writer.str(value);
        let mut writer = Writer::new();
        writer.sorted_map(&self.unknown, |map| {
            map.optional("chunker_params", self.chunker_params.as_ref(), |writer, params| {
                writer.array(params.len());
                for param in params {
                    match param {
                        ChunkerParam::Text(name) => writer.str(name),
                        ChunkerParam::Int(number) => writer.int(*number),
                    }
                }
            });
            map.pair("command_line", |writer| writer.str(&self.command_line));
            map.pair("comment", |writer| writer.str(&self.comment));
            map.optional("cwd", self.cwd.as_ref(), text);
            map.pair("end", |writer| writer.str(&self.end.text));
            map.pair("hostname", |writer| writer.str(&self.hostname));
            map.pair("item_ptrs", |writer| {
                writer.array(self.item_ptrs.len());
                self.item_ptrs.iter().for_each(|id| writer.bin(&id.0));
            });
            map.pair("name", |writer| writer.str(&self.name));
            map.pair("nfiles", |writer| writer.uint(self.nfiles));
            map.optional("recreate_command_line", self.recreate_command_line.as_ref(), text);
            map.pair("size", |writer| writer.uint(self.size));
            map.pair("start", |writer| writer.str(&self.start.text));
            map.pair("tags", |writer| {
                writer.array(self.tags.len());
                self.tags.iter().for_each(|tag| writer.str(tag));
            });
            map.pair("time", |writer| writer.str(&self.time.text));
            map.pair("username", |writer| writer.str(&self.username));
            map.pair("version", |writer| writer.uint(VERSION));
        });
        writer.into_bytes()
    }
}

impl Stamp {
    /// A time as archives hold it, with the offset of `zone` (data layer, section 9.1).
    pub fn new(time: Timestamp, zone: &TimeZone) -> Stamp {
        Stamp {
            text: isoformat(&time.in_zone(zone)),
            // What is stored ends at the microsecond, so that is the time that is meant.
            time: Timestamp { nanos: time.nanos / 1000 * 1000, ..time },
        }
    }

    /// The same in UTC.
    pub fn utc(time: Timestamp) -> Stamp {
        Stamp::new(time, &TimeZone::UTC)
    }
}

impl From<&ChunkerParams> for Vec<ChunkerParam> {
    fn from(params: &ChunkerParams) -> Self {
        let mut tuple = vec![ChunkerParam::Text(params.algorithm().into())];
        tuple.extend(params.numbers().into_iter().map(|number| ChunkerParam::Int(number as i64)));
        if let ChunkerParams::Fail { map, .. } = params {
            tuple.push(ChunkerParam::Text(map.clone()));
        }
        tuple
    }
}

/// Four numbers without a name, as old archives have them, are those of `buzhash`.
impl TryFrom<&[ChunkerParam]> for ChunkerParams {
    type Error = ChunkerParamsError;

    fn try_from(tuple: &[ChunkerParam]) -> Result<Self, ChunkerParamsError> {
        let numbers = |parameters: &[ChunkerParam]| -> Result<Vec<i64>, _> {
            let number = |parameter: &ChunkerParam| match parameter {
                ChunkerParam::Int(number) => Ok(*number),
                ChunkerParam::Text(_) => Err(ChunkerParamsError::Invalid),
            };
            parameters.iter().map(number).collect()
        };
        match tuple {
            [ChunkerParam::Text(name), ChunkerParam::Int(block), ChunkerParam::Text(map)] if name == FAIL => {
                ChunkerParams::fail(*block, map)
            }
            [ChunkerParam::Text(name), parameters @ ..] => ChunkerParams::from_numbers(name, &numbers(parameters)?),
            _ => ChunkerParams::from_numbers(BUZHASH, &numbers(tuple)?),
        }
    }
}

#[derive(Default)]
struct Fields {
    version: Option<u32>,
    name: Option<Vec<u8>>,
    comment: Option<Vec<u8>>,
    tags: Option<Vec<Vec<u8>>>,
    item_ptrs: Option<Vec<ChunkId>>,
    command_line: Option<Vec<u8>>,
    cwd: Option<Vec<u8>>,
    hostname: Option<Vec<u8>>,
    username: Option<Vec<u8>>,
    time: Option<Stamp>,
    start: Option<Stamp>,
    end: Option<Stamp>,
    chunker_params: Option<Vec<ChunkerParam>>,
    size: Option<u64>,
    nfiles: Option<u64>,
    recreate_command_line: Option<Vec<u8>>,
    unknown: Vec<(Vec<u8>, Box<[u8]>)>,
}

impl Fields {
    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), ArchiveError> {
        let mut reader = Reader::new(value);
        let reader = &mut reader;
        let raw = |reader: &mut Reader<'_>| reader.bytes().map(Vec::from).ok();
        let (key, valid) = match key {
            b"version" => ("version", put(&mut self.version, reader.int().ok())),
            b"name" => ("name", put(&mut self.name, raw(reader))),
            b"comment" => ("comment", put(&mut self.comment, raw(reader))),
            b"tags" => ("tags", put(&mut self.tags, list(reader, |reader| reader.bytes().map(Vec::from)))),
            b"item_ptrs" => ("item_ptrs", put(&mut self.item_ptrs, list(reader, |r| r.byte_array().map(ChunkId)))),
            b"command_line" => ("command_line", put(&mut self.command_line, raw(reader))),
            b"cwd" => ("cwd", put(&mut self.cwd, raw(reader))),
            b"hostname" => ("hostname", put(&mut self.hostname, raw(reader))),
            b"username" => ("username", put(&mut self.username, raw(reader))),
            b"time" => ("time", put(&mut self.time, stamp(reader))),
            b"start" => ("start", put(&mut self.start, stamp(reader))),
            b"end" => ("end", put(&mut self.end, stamp(reader))),
            b"chunker_params" if reader.nil() => return Ok(()),
            b"chunker_params" => ("chunker_params", put(&mut self.chunker_params, list(reader, chunker_param))),
            b"size" => ("size", put(&mut self.size, reader.int().ok())),
            b"nfiles" => ("nfiles", put(&mut self.nfiles, reader.int().ok())),
            b"recreate_command_line" => ("recreate_command_line", put(&mut self.recreate_command_line, raw(reader))),
            _ => {
                self.unknown.push((key.into(), value.into()));
                return Ok(());
            }
        };
        if valid { Ok(()) } else { Err(ArchiveError::Attribute { key }) }
    }

    fn finish(self) -> Result<ArchiveMeta, ArchiveError> {
        let version = required(self.version, "version")?;
        if !READABLE_VERSIONS.contains(&version) {
            return Err(ArchiveError::Version { found: version });
        }
        let time = required(self.time, "time")?;
        Ok(ArchiveMeta {
            name: required(self.name, "name")?,
            comment: self.comment.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            item_ptrs: required(self.item_ptrs, "item_ptrs")?,
            command_line: self.command_line.unwrap_or_default(),
            cwd: self.cwd,
            hostname: self.hostname.unwrap_or_default(),
            username: self.username.unwrap_or_default(),
            start: self.start.unwrap_or_else(|| time.clone()),
            end: self.end.unwrap_or_else(|| time.clone()),
            time,
            chunker_params: self.chunker_params,
            size: self.size.unwrap_or_default(),
            nfiles: self.nfiles.unwrap_or_default(),
            recreate_command_line: self.recreate_command_line,
            unknown: self.unknown,
        })
    }
}

fn put<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}

fn required<T>(value: Option<T>, key: &'static str) -> Result<T, ArchiveError> {
    value.ok_or(ArchiveError::Missing { key })
}

fn stamp(reader: &mut Reader<'_>) -> Option<Stamp> {
    let text = reader.text().ok()?;
    Some(Stamp { text: text.into(), time: Timestamp::parse_iso(text)? })
}

fn chunker_param(reader: &mut Reader<'_>) -> Result<ChunkerParam, MsgpackError> {
    let mut ahead = reader.clone();
    match ahead.bytes() {
        Ok(text) => {
            *reader = ahead;
            Ok(ChunkerParam::Text(lossy(text).0.into_owned()))
        }
        Err(_) => reader.int().map(ChunkerParam::Int),
    }
}

fn list<'a, T>(
    reader: &mut Reader<'a>,
    mut element: impl FnMut(&mut Reader<'a>) -> Result<T, MsgpackError>,
) -> Option<Vec<T>> {
    let count = reader.array_len().ok()?;
    let mut elements = Vec::new();
    for _ in 0..count {
        elements.push(element(reader).ok()?);
    }
    Some(elements)
}
