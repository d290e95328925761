//! Repository objects: a chunk as it is stored (repository layer, sections 5.1 and 5.2).
//!
//! ```text
//! "BORG_OBJ"(8) version(1)=2 chunk id(32) meta_size(4) data_size(4) metadata envelope, data envelope
//! ```

mod writer;

pub use writer::{ObjectTicket, ObjectWriteError, ObjectWriter};

use crate::codec::{Algorithm, DecodeError, Engine, Payload, Scratch};
use crate::crypto::{EnvelopeError, Keys, SessionId, Sessions};
use crate::id::ChunkId;
use crate::limits::MAX_DATA_SIZE;
use crate::msgpack::{MsgpackError, Reader};
use crate::tuning::Help;
use alloc::vec::Vec;
use core::ops::Range;

/// What every object begins with.
pub const MAGIC: &[u8; 8] = b"BORG_OBJ";
const VERSION: u8 = 2;
const ID_END: usize = MAGIC.len() + 1 + 32;
/// Length of the header. Its first 41 bytes are authenticated with each envelope, the two sizes are not.
pub const HEADER_BYTES: usize = ID_END + 4 + 4;

/// Shorter buffers are not kept.
const SPARE_BYTES: usize = 128 << 10;
/// How many buffers are kept: for what is stored, and for what becomes of it.
const SPARE_BUFFERS: usize = 3;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectType {
    /// `A`: metadata of an archive.
    Archive,
    /// `C`: ids of item-stream chunks.
    ItemPtrs,
    /// `S`: a piece of an item stream.
    Items,
    /// `F`: a piece of a file's content.
    Content,
}

impl ObjectType {
    /// The letter in the metadata.
    pub fn letter(self) -> char {
        match self {
            ObjectType::Archive => 'A',
            ObjectType::ItemPtrs => 'C',
            ObjectType::Items => 'S',
            ObjectType::Content => 'F',
        }
    }

    fn from_letter(letter: &[u8]) -> Option<Self> {
        match letter {
            b"A" => Some(ObjectType::Archive),
            b"C" => Some(ObjectType::ItemPtrs),
            b"S" => Some(ObjectType::Items),
            b"F" => Some(ObjectType::Content),
            _ => None,
        }
    }
}

/// The header of an object. Nothing in it can be trusted before an envelope is opened, and the sizes not even then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which chunk it claims to be.
    pub id: ChunkId,
    /// Length of the metadata envelope.
    pub meta_size: u32,
    /// Length of the data envelope.
    pub data_size: u32,
}

/// The metadata of an object: what it holds, and how its payload was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectMeta {
    /// What it holds; `None` for a type that doesn't exist.
    pub kind: Option<ObjectType>,
    /// Its payload, padding included.
    pub payload: Payload,
}

/// Why an object is not accepted. All of them mean damage or forgery, or a writer's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// It doesn't begin with a header of a known version.
    #[error("no object header")]
    Header,
    /// The sizes in the header don't add up to the object's length.
    #[error("header says {claimed} bytes, object has {found}")]
    Length {
        /// By the header.
        claimed: u64,
        /// Bytes that are there.
        found: usize,
    },
    /// The metadata is not authentic.
    #[error("metadata: {0}")]
    MetaEnvelope(EnvelopeError),
    /// The data is not authentic.
    #[error("data: {0}")]
    DataEnvelope(EnvelopeError),
    /// The metadata is no map, or broken.
    #[error("metadata: {0}")]
    Meta(#[from] MsgpackError),
    /// An entry of the metadata is missing or impossible.
    #[error("metadata has an invalid {key}")]
    Attribute {
        /// The entry.
        key: &'static str,
    },
    /// It holds something else than was wanted.
    #[error("type {wanted:?} wanted, found {found:?}")]
    Type {
        /// What was asked for.
        wanted: ObjectType,
        /// What is there.
        found: Option<ObjectType>,
    },
    /// The payload does not have the length that the metadata says.
    #[error("payload of {found} bytes, metadata says {claimed}")]
    PayloadSize {
        /// By the metadata.
        claimed: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// The payload can't be decompressed.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// The content is authentic, but it is not what the id stands for.
    #[error("content does not match the chunk id")]
    Id,
}

impl Header {
    /// Parses the beginning of an object.
    pub fn parse(stored: &[u8]) -> Result<Header, ObjectError> {
        let header = stored.first_chunk::<HEADER_BYTES>().ok_or(ObjectError::Header)?;
        if !header.starts_with(MAGIC) || header[MAGIC.len()] != VERSION {
            return Err(ObjectError::Header);
        }
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let id = header[MAGIC.len() + 1..ID_END].try_into().expect("an id's size");
        Ok(Header { id: ChunkId(id), meta_size: word(ID_END), data_size: word(ID_END + 4) })
    }

    /// Length of the whole object by its header.
    pub fn total(&self) -> u64 {
        HEADER_BYTES as u64 + u64::from(self.meta_size) + u64::from(self.data_size)
    }

    /// Whether an object can have these sizes: one that is whole and no larger than any writer makes it.
    pub fn is_plausible(&self, bytes_left: u64) -> bool {
        self.total() <= bytes_left.min(MAX_DATA_SIZE as u64)
    }
}

/// A worker's long buffers between uses: to get their memory from the system anew each time costs as much as decompressing.
#[derive(Default)]
pub struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// A buffer for about so many bytes, with anything in it.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        if bytes < SPARE_BYTES || self.0.is_empty() {
            return Vec::new();
        }
        let fitting = (0..self.0.len()).filter(|&at| self.0[at].capacity() >= bytes);
        let at = fitting.min_by_key(|&at| self.0[at].capacity()).unwrap_or(self.0.len() - 1);
        let mut buffer = self.0.swap_remove(at);
        if buffer.capacity() < bytes {
            buffer.clear(); // what is in it need not move when it grows
        }
        buffer
    }

    /// Keeps a buffer, if it is worth it.
    pub fn give(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() >= SPARE_BYTES && self.0.len() < SPARE_BUFFERS {
            self.0.push(buffer);
        }
    }
}

/// An object whose metadata is opened, and whose payload is prepared for a block cipher elsewhere.
#[derive(Debug)]
pub struct Begun {
    meta: ObjectMeta,
    id: ChunkId,
    /// Where the data's envelope begins.
    envelope: usize,
    /// The session whose key it takes, and the part of the object that is to be decrypted; `None` if nothing is left to others.
    pub blocks: Option<(SessionId, Range<usize>)>,
}

/// Opens objects: a worker's keys, engine, and all that it reuses from one object to the next.
pub struct Opener<'k> {
    /// The repository's secrets.
    pub keys: &'k Keys,
    /// Long buffers that nobody needs at the moment.
    pub spare: Spare,
    engine: &'k dyn Engine,
    sessions: Sessions,
    scratch: Scratch,
    help: Help,
}

impl<'k> Opener<'k> {
    /// With nothing ready yet.
    pub fn new(keys: &'k Keys, engine: &'k dyn Engine) -> Self {
        let (spare, sessions, scratch) = (Spare::default(), Sessions::new(), Scratch::default());
        Opener { keys, spare, engine, sessions, scratch, help: Help::NONE }
    }

    /// From now on other threads may do so much.
    pub fn set_help(&mut self, help: Help) {
        self.sessions.set_help(help);
        self.help = help;
    }

    /// The sessions met so far, for store objects.
    pub fn sessions(&mut self) -> &mut Sessions {
        &mut self.sessions
    }

    /// Opens the metadata alone. `stored` holds the object's beginning, at least as far as the metadata goes.
    pub fn open_meta(&mut self, stored: &mut [u8], id: ChunkId) -> Result<(Header, ObjectMeta), ObjectError> {
        let header = Header::parse(stored)?;
        let found = stored.len();
        let (head, rest) = stored.split_at_mut(HEADER_BYTES);
        let envelope = rest.get_mut(..header.meta_size as usize);
        let envelope = envelope.ok_or(ObjectError::Length { claimed: header.total(), found })?;
        let payload = self.keys.open(&mut self.sessions, envelope, &context(head, b'M'), &id.0);
        let meta = ObjectMeta::decode(payload.map_err(ObjectError::MetaEnvelope)?)?;
        let csize = meta.payload.csize;
        if csize + self.keys.suite().overhead() != header.data_size as usize {
            return Err(ObjectError::PayloadSize { claimed: csize, found: header.data_size as usize });
        }
        Ok((header, meta))
    }

    /// Opens an object whole: authenticates, decrypts and decompresses it into `plaintext`, which is empty on an error.
    ///
    /// The result is what the holder of the keys stored under `id`; that it has this id is for [`Opener::assert_id`] to say.
    pub fn open(
        &mut self,
        stored: &mut [u8],
        id: ChunkId,
        wanted: Option<ObjectType>,
        plaintext: &mut Vec<u8>,
    ) -> Result<ObjectMeta, ObjectError> {
        plaintext.clear();
        let (meta, payload) = self.decrypt(stored, id, wanted)?;
        self.decompress(&meta, &stored[payload], plaintext)?;
        Ok(meta)
    }

    /// Authenticates and decrypts an object in place. Gives its metadata, and where its payload lies now, without padding.
    pub fn decrypt(
        &mut self,
        stored: &mut [u8],
        id: ChunkId,
        wanted: Option<ObjectType>,
    ) -> Result<(ObjectMeta, Range<usize>), ObjectError> {
        let (header, meta) = self.open_meta_of(stored, id, wanted)?;
        let (head, rest) = stored.split_at_mut(HEADER_BYTES);
        let envelope = &mut rest[header.meta_size as usize..];
        let payload = self.keys.open(&mut self.sessions, envelope, &context(head, b'D'), &id.0);
        let padded = payload.map_err(ObjectError::DataEnvelope)?.len();
        Ok((meta, payload_place(&meta, stored.len() - padded)))
    }

    /// Does what [`Opener::decrypt`] does, but leaves the blocks of the payload to whoever can decrypt them faster, if the cipher is
    /// AES-256-OCB and they have `from_bytes` and more: see [`Keys::begin`]. Then [`Opener::finish`].
    pub fn begin(
        &mut self,
        stored: &mut [u8],
        id: ChunkId,
        wanted: Option<ObjectType>,
        from_bytes: usize,
    ) -> Result<Begun, ObjectError> {
        let (header, meta) = self.open_meta_of(stored, id, wanted)?;
        let start = HEADER_BYTES + header.meta_size as usize;
        let begun = self.keys.begin(&mut self.sessions, &mut stored[start..], from_bytes);
        let blocks = begun.map(|(session, place)| (session, start + place.start..start + place.end));
        Ok(Begun { meta, id, envelope: start, blocks })
    }

    /// Ends what [`Opener::begin`] has begun, and gives what [`Opener::decrypt`] does.
    pub fn finish(&mut self, stored: &mut [u8], begun: Begun) -> Result<(ObjectMeta, Range<usize>), ObjectError> {
        let (head, _) = stored.split_at_mut(HEADER_BYTES);
        let context = context(head, b'D');
        let (keys, envelope) = (self.keys, &mut stored[begun.envelope..]);
        let payload = match begun.blocks {
            Some(_) => keys.finish(&mut self.sessions, envelope, &context, &begun.id.0),
            None => keys.open(&mut self.sessions, envelope, &context, &begun.id.0),
        };
        let padded = payload.map_err(ObjectError::DataEnvelope)?.len();
        Ok((begun.meta, payload_place(&begun.meta, stored.len() - padded)))
    }

    /// Opens the metadata of a whole object of this type.
    fn open_meta_of(
        &mut self,
        stored: &mut [u8],
        id: ChunkId,
        wanted: Option<ObjectType>,
    ) -> Result<(Header, ObjectMeta), ObjectError> {
        let header = Header::parse(stored)?;
        if header.total() != stored.len() as u64 {
            return Err(ObjectError::Length { claimed: header.total(), found: stored.len() });
        }
        let (header, meta) = self.open_meta(stored, id)?;
        match wanted.filter(|&wanted| meta.kind != Some(wanted)) {
            Some(wanted) => Err(ObjectError::Type { wanted, found: meta.kind }),
            None => Ok((header, meta)),
        }
    }

    /// Decompresses what [`Opener::decrypt`] gave into `plaintext`, which is empty on an error.
    pub fn decompress(
        &mut self,
        meta: &ObjectMeta,
        payload: &[u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<(), ObjectError> {
        let Payload { algorithm, size, .. } = meta.payload;
        Ok(self.engine.decode(algorithm, payload, size, &mut self.scratch, plaintext)?)
    }

    /// Requires that `plaintext` is what `id` stands for. Keys that can't verify accept anything.
    pub fn assert_id(&self, id: ChunkId, plaintext: &[u8]) -> Result<(), ObjectError> {
        let found = || self.keys.chunk_id_on(plaintext, &self.help.tuning, &self.help.exec());
        if !self.keys.verifies() || found() == id { Ok(()) } else { Err(ObjectError::Id) }
    }
}

impl ObjectMeta {
    fn decode(payload: &[u8]) -> Result<ObjectMeta, ObjectError> {
        let invalid = |key| ObjectError::Attribute { key };
        let (mut kind, mut ctype, mut level, mut csize) = (None, None, None, None);
        let (mut size, mut psize, mut olevel) = (None, None, None);
        let mut reader = Reader::new(payload);
        for _ in 0..reader.map_len()? {
            match reader.bytes()? {
                b"type" => kind = ObjectType::from_letter(reader.bytes()?),
                b"size" => size = Some(reader.integer()?),
                b"ctype" => ctype = Some(reader.int().map_err(|_| invalid("ctype"))?),
                b"clevel" => level = Some(reader.int().map_err(|_| invalid("clevel"))?),
                b"csize" => csize = Some(reader.int().map_err(|_| invalid("csize"))?),
                b"psize" => psize = Some(reader.integer()?),
                b"olevel" => olevel = Some(reader.int().map_err(|_| invalid("olevel"))?),
                _ => drop(reader.skip()?),
            }
        }
        reader.finish()?;
        let csize: usize = csize.ok_or(invalid("csize"))?;
        let bounded = |value: Option<i128>, limit: usize, key| match value.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(value)) if value <= limit => Ok(Some(value)),
            Some(_) => Err(invalid(key)),
        };
        if csize > MAX_DATA_SIZE {
            return Err(invalid("csize"));
        }
        let payload = Payload {
            size: bounded(size, MAX_DATA_SIZE, "size")?,
            algorithm: Algorithm::from_ctype(ctype.ok_or(invalid("ctype"))?).ok_or(invalid("ctype"))?,
            level: level.unwrap_or(u8::MAX),
            csize,
            psize: bounded(psize, csize, "psize")?,
            olevel,
        };
        Ok(ObjectMeta { kind, payload })
    }
}

/// Where the payload is in an object whose padded payload begins at `start`.
fn payload_place(meta: &ObjectMeta, start: usize) -> Range<usize> {
    start..start + meta.payload.psize.unwrap_or(meta.payload.csize)
}

/// The part of the header that is authenticated, and which of the two envelopes it is.
fn context(head: &[u8], slot: u8) -> [u8; ID_END + 1] {
    let mut context = [slot; ID_END + 1];
    context[..ID_END].copy_from_slice(&head[..ID_END]);
    context
}
