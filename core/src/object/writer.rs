//! Making objects of chunks.

use super::{HEADER_BYTES, ID_END, MAGIC, ObjectMeta, ObjectType, VERSION, context};
use crate::codec::{Compression, EncodeError, Engine, Payload, Scratch};
use crate::crypto::{Keys, Sealer, Sessions, Ticket};
use crate::id::ChunkId;
use crate::limits::MAX_DATA_SIZE;
use crate::msgpack::Writer;
use crate::random::fraction;
use crate::tuning::Help;
use alloc::vec::Vec;

/// The longest metadata that is written: seven short entries.
const MAX_META_BYTES: usize = 128;
/// What is authenticated with an envelope beside its own header: the context and the chunk's id.
const AAD_BYTES: usize = ID_END + 1 + 32;

/// What sealing one object takes of a session, and the random number that its padding may need. It is consumed by it.
#[derive(Debug)]
pub struct ObjectTicket {
    data: Ticket,
    meta: Ticket,
    fraction: f64,
}

impl ObjectTicket {
    /// For an object of at most `plaintext_bytes`, compressed so.
    pub fn issue(sealer: &mut Sealer<'_>, plaintext_bytes: usize, compression: &Compression) -> Self {
        // Compression never lengthens a payload, but padding does.
        let payload_bytes = if compression.obfuscation.is_some() { MAX_DATA_SIZE } else { plaintext_bytes };
        ObjectTicket {
            data: sealer.ticket(payload_bytes, AAD_BYTES),
            meta: sealer.ticket(MAX_META_BYTES, AAD_BYTES),
            // A draw costs a call to the system.
            fraction: if compression.obfuscation.is_some() { fraction(sealer.random()) } else { 0.0 },
        }
    }

    /// The two messages' rights.
    pub fn tickets(&self) -> [&Ticket; 2] {
        [&self.data, &self.meta]
    }
}

/// Why a chunk can't be made an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectWriteError {
    /// The engine can't compress so.
    #[error("{0}")]
    Encode(#[from] EncodeError),
    /// No object may be so long.
    #[error("an object of {found} bytes would be longer than the limit of {MAX_DATA_SIZE} bytes")]
    TooLong {
        /// Its length.
        found: usize,
    },
}

/// Makes objects: a worker's keys, engine, and all that it reuses from one object to the next.
pub struct ObjectWriter<'k> {
    keys: &'k Keys,
    engine: &'k dyn Engine,
    sessions: Sessions,
    scratch: Scratch,
    payload: Vec<u8>,
    help: Help,
}

impl<'k> ObjectWriter<'k> {
    /// With nothing ready yet.
    pub fn new(keys: &'k Keys, engine: &'k dyn Engine) -> Self {
        let (sessions, scratch, payload) = (Sessions::new(), Scratch::default(), Vec::new());
        ObjectWriter { keys, engine, sessions, scratch, payload, help: Help::NONE }
    }

    /// From now on other threads may do so much.
    pub fn set_help(&mut self, help: Help) {
        self.sessions.set_help(help);
        self.help = help;
    }

    /// What other threads may do.
    pub fn help(&self) -> Help {
        self.help
    }

    /// Compresses a chunk, seals it and appends the object to `out`, which stays as it was on an error.
    pub fn write(
        &mut self,
        id: ChunkId,
        kind: ObjectType,
        plaintext: &[u8],
        compression: &Compression,
        ticket: ObjectTicket,
        out: &mut Vec<u8>,
    ) -> Result<ObjectMeta, ObjectWriteError> {
        let mut payload = core::mem::take(&mut self.payload);
        let is_content = kind == ObjectType::Content;
        let encoded = compression.encode(
            self.engine,
            plaintext,
            is_content.then_some(&mut || ticket.fraction),
            self.help,
            &mut self.scratch,
            &mut payload,
        );
        let written = encoded.map_err(ObjectWriteError::from).and_then(|encoded| {
            let meta = ObjectMeta { kind: Some(kind), payload: encoded };
            self.seal(id, &meta, &payload, [ticket.data, ticket.meta], out).map(|()| meta)
        });
        self.payload = payload;
        written
    }

    fn seal(
        &mut self,
        id: ChunkId,
        meta: &ObjectMeta,
        payload: &[u8],
        [data_ticket, meta_ticket]: [Ticket; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), ObjectWriteError> {
        let meta = meta.encode();
        let overhead = self.keys.suite().overhead();
        let (meta_bytes, data_bytes) = (meta.len() + overhead, payload.len() + overhead);
        let found = HEADER_BYTES + meta_bytes + data_bytes;
        if found > MAX_DATA_SIZE {
            return Err(ObjectWriteError::TooLong { found });
        }
        let start = out.len();
        out.reserve(found);
        out.extend_from_slice(MAGIC);
        out.push(VERSION);
        out.extend_from_slice(&id.0);
        // Both fit, since the sum does.
        out.extend_from_slice(&(meta_bytes as u32).to_le_bytes());
        out.extend_from_slice(&(data_bytes as u32).to_le_bytes());
        let head = out[start..].to_vec();
        self.keys.seal_into(&mut self.sessions, meta_ticket, &meta, &context(&head, b'M'), &id.0, out);
        self.keys.seal_into(&mut self.sessions, data_ticket, payload, &context(&head, b'D'), &id.0, out);
        Ok(())
    }
}

impl ObjectMeta {
    /// The plaintext of the metadata, its entries in the order in which Borg writes them.
    fn encode(&self) -> Vec<u8> {
        let Payload { size, algorithm, level, csize, psize, olevel } = self.payload;
        let entries = [
            ("size", size.map(|size| size as u64)),
            ("ctype", Some(algorithm.ctype().into())),
            ("clevel", Some(level.into())),
            ("csize", Some(csize as u64)),
            ("psize", psize.map(|psize| psize as u64)),
            ("olevel", olevel.and_then(|olevel| u64::try_from(olevel).ok())),
        ];
        let mut writer = Writer::new();
        writer.map(1 + entries.iter().filter(|(_, value)| value.is_some()).count());
        writer.str("type");
        writer.str(self.kind.expect("what is written has a type").letter().encode_utf8(&mut [0; 4]));
        for (key, value) in entries {
            if let Some(value) = value {
                writer.str(key);
                writer.uint(value);
            }
        }
        writer.into_bytes()
    }
}
