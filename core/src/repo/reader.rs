//! Reading chunks by their ids.

use super::index::load_index;
use super::open::Repository;
use crate::codec::Engine;
use crate::crypto::Keys;
use crate::id::{ChunkId, PackId};
use crate::index::{ChunkIndex, Location};
use crate::limits::MAX_DATA_SIZE;
use crate::name::{Key, Namespace};
use crate::object::{ObjectError, ObjectMeta, ObjectType, Opener};
use crate::store::{Store, StoreError};
use crate::tuning::Tuning;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How many chunks of zeros are remembered.
const KNOWN_ZEROS: usize = 64;

/// Gives chunks by their ids: finds, reads, authenticates, decrypts and decompresses them.
pub struct ChunkReader<'r, S> {
    /// The repository that is read.
    pub repository: &'r Repository<S>,
    /// Where its chunks lie. Readers can share it; what one of them changes or loads again is its own.
    pub index: Arc<ChunkIndex>,
    /// What opens its objects.
    pub opener: Opener<'r>,
    part: Part,
    object: Vec<u8>,
    plaintext: Vec<u8>,
    zeros: Vec<(ChunkId, usize)>,
    tuning: Tuning,
    assert_ids: bool,
    lockless: Lockless,
}

/// The plaintext of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// Bytes.
    Data(&'a [u8]),
    /// This many zero bytes.
    Zeros(usize),
}

impl<'a> Content<'a> {
    /// The bytes, zeros in pieces.
    pub fn pieces(self) -> impl Iterator<Item = &'a [u8]> {
        static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
        let (data, zeros) = match self {
            Content::Data(bytes) => (Some(bytes), 0),
            Content::Zeros(len) => (None, len),
        };
        let pieces = (0..zeros).step_by(ZEROS.len()).map(move |from| &ZEROS[..ZEROS.len().min(zeros - from)]);
        data.into_iter().chain(pieces)
    }
}

/// Why a chunk can't be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The index doesn't have it.
    #[error("not in the index")]
    NotIndexed,
    /// The pack that should have it is missing.
    #[error("pack {pack} is missing")]
    PackMissing {
        /// The pack.
        pack: PackId,
    },
    /// The pack ends before it.
    #[error("pack {pack} is truncated: {found} of {expected} bytes")]
    Truncated {
        /// The pack.
        pack: PackId,
        /// Bytes wanted.
        expected: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// It is there, but damaged or forged.
    #[error("{0}")]
    Object(#[from] ObjectError),
    /// An item says that it has more bytes than any chunk. It is not even looked for.
    #[error("{claimed} bytes expected, more than any chunk has")]
    TooLarge {
        /// By the item.
        claimed: u64,
    },
    /// Its plaintext is not as long as the item says.
    #[error("{found} bytes, {expected} expected")]
    Size {
        /// By the item.
        expected: u64,
        /// Bytes that are there.
        found: usize,
    },
    /// Without a lock: it is missing, and was so after the index had been loaded again.
    #[error("the repository changed while it was read")]
    Changed,
    /// The storage failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl ReadError {
    /// Whether the chunk is not where the index says, so that [`ChunkReader`] should be asked for it: it loads the index again
    /// where that may help, and knows chunks that can be had without being there.
    pub fn may_have_moved(&self) -> bool {
        matches!(self, ReadError::NotIndexed | ReadError::PackMissing { .. })
    }
}

/// What is read without a lock may vanish; the index is loaded again once.
#[derive(Debug, PartialEq, Eq)]
enum Lockless {
    No,
    Yes,
    /// The packs that the new index names, but that were missing even then: they are lost, not moved.
    Reloaded {
        missing: BTreeSet<PackId>,
    },
}

/// The part of a pack that was read last.
#[derive(Default)]
struct Part {
    pack: Option<PackId>,
    offset: u64,
    bytes: Vec<u8>,
}

impl<'r, S: Store> ChunkReader<'r, S> {
    /// Reads with an index that is loaded already.
    pub fn new(
        repository: &'r Repository<S>,
        keys: &'r Keys,
        engine: &'r dyn Engine,
        index: impl Into<Arc<ChunkIndex>>,
    ) -> Self {
        ChunkReader {
            repository,
            index: index.into(),
            opener: Opener::new(keys, engine),
            part: Part::default(),
            object: Vec::new(),
            plaintext: Vec::new(),
            zeros: Vec::new(),
            tuning: Tuning::default(),
            assert_ids: false,
            lockless: Lockless::No,
        }
    }

    /// Verify each chunk's id as well (data layer, section 5.1). Without that, what the keys' holder stored is believed.
    pub fn assert_ids(&mut self, assert_ids: bool) {
        self.assert_ids = assert_ids;
    }

    /// Whether each chunk's id is verified.
    pub fn asserts_ids(&self) -> bool {
        self.assert_ids
    }

    /// Nothing keeps other clients from removing what is read: load the index again once when something has vanished.
    pub fn without_lock(&mut self) {
        self.lockless = Lockless::Yes;
    }

    /// A chunk of a type. The result is valid until the next call.
    pub async fn read(&mut self, id: ChunkId, wanted: ObjectType) -> Result<&[u8], ReadError> {
        self.fetch(id, Some(wanted)).await?;
        Ok(&self.plaintext)
    }

    /// A chunk of any type, with its metadata.
    pub async fn read_any(&mut self, id: ChunkId) -> Result<(ObjectMeta, &[u8]), ReadError> {
        let meta = self.fetch(id, None).await?;
        Ok((meta, &self.plaintext))
    }

    /// A chunk's object as it is stored, neither opened nor verified.
    pub async fn read_object(&mut self, id: ChunkId) -> Result<&[u8], ReadError> {
        self.locate_or_reload(id).await?;
        Ok(&self.object)
    }

    /// A chunk of a file that must have `size` bytes. A missing chunk whose id proves that it holds nothing but zeros is
    /// not missed.
    pub async fn read_content(&mut self, id: ChunkId, size: u64) -> Result<Content<'_>, ReadError> {
        if let Some(&(_, found)) = self.zeros.iter().find(|(zeros, _)| *zeros == id) {
            return same_size(size, found).map(|()| Content::Zeros(found));
        }
        match self.fetch(id, Some(ObjectType::Content)).await {
            Ok(_) => {}
            Err(ReadError::NotIndexed) if self.is_zeros(id, size) => {
                self.remember_zeros(id, size as usize);
                return Ok(Content::Zeros(size as usize));
            }
            Err(error) => return Err(error),
        }
        same_size(size, self.plaintext.len())?;
        if self.plaintext.iter().all(|&byte| byte == 0) {
            self.remember_zeros(id, self.plaintext.len());
            return Ok(Content::Zeros(self.plaintext.len()));
        }
        Ok(Content::Data(&self.plaintext))
    }

    fn remember_zeros(&mut self, id: ChunkId, size: usize) {
        self.zeros.truncate(KNOWN_ZEROS - 1);
        self.zeros.insert(0, (id, size));
    }

    fn is_zeros(&self, id: ChunkId, size: u64) -> bool {
        let keys = self.opener.keys;
        size <= MAX_DATA_SIZE as u64 && keys.verifies() && keys.chunk_id(&alloc::vec![0; size as usize]) == id
    }

    async fn fetch(&mut self, id: ChunkId, wanted: Option<ObjectType>) -> Result<ObjectMeta, ReadError> {
        self.locate_or_reload(id).await?;
        let meta = self.opener.open(&mut self.object, id, wanted, &mut self.plaintext)?;
        if self.assert_ids {
            self.opener.assert_id(id, &self.plaintext)?;
        }
        Ok(meta)
    }

    async fn locate_or_reload(&mut self, id: ChunkId) -> Result<(), ReadError> {
        let error = match self.locate(id).await {
            Err(error @ (ReadError::NotIndexed | ReadError::PackMissing { .. })) => error,
            other => return other,
        };
        match (&mut self.lockless, error) {
            (Lockless::Yes, _) => {}
            (Lockless::Reloaded { missing }, ReadError::PackMissing { pack }) if !missing.contains(&pack) => {
                return Err(ReadError::Changed);
            }
            (_, error) => return Err(error),
        }
        let before = self.index.get(&id);
        let index = load_index(self.repository, &mut self.opener, &mut |_| {}).await;
        self.index = Arc::new(index.map_err(|_| ReadError::Changed)?);
        self.part = Part::default();
        let mut missing: BTreeSet<PackId> = self.index.packs().iter().copied().collect();
        for entry in self.repository.store.list(Namespace::Packs).await? {
            if !entry.deleted
                && let Ok(pack) = entry.name.parse()
            {
                missing.remove(&pack);
            }
        }
        self.lockless = Lockless::Reloaded { missing };
        match self.locate(id).await {
            Err(ReadError::NotIndexed | ReadError::PackMissing { .. }) if self.index.get(&id) != before => {
                Err(ReadError::Changed)
            }
            other => other,
        }
    }

    /// Reads a chunk's object into `self.object`.
    async fn locate(&mut self, id: ChunkId) -> Result<(), ReadError> {
        let Location { pack, offset, size } = self.index.get(&id).ok_or(ReadError::NotIndexed)?;
        let (offset, expected) = (u64::from(offset), size as usize);
        if expected > MAX_DATA_SIZE {
            // No writer makes one; nothing is allocated for the claim.
            return Err(ObjectError::Length { claimed: expected as u64, found: 0 }.into());
        }
        if self.part.get(pack, offset, expected).is_none() {
            let follows = self.part.pack == Some(pack) && self.part.offset <= offset;
            let len = self.tuning.read_bytes(expected, follows);
            let bytes = match self.repository.store.read(&Key::Pack(pack), offset, len).await {
                Err(error) if error.is_not_found() => return Err(ReadError::PackMissing { pack }),
                other => other?,
            };
            self.part = Part { pack: Some(pack), offset, bytes };
        }
        let stored = self.part.get(pack, offset, expected);
        let stored = stored.ok_or(ReadError::Truncated { pack, expected, found: self.part.bytes.len() })?;
        self.object.clear();
        self.object.extend_from_slice(stored);
        Ok(())
    }
}

impl Part {
    fn get(&self, pack: PackId, offset: u64, len: usize) -> Option<&[u8]> {
        let at = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(at..at.checked_add(len)?).filter(|_| self.pack == Some(pack))
    }
}

fn same_size(expected: u64, found: usize) -> Result<(), ReadError> {
    if expected == found as u64 { Ok(()) } else { Err(ReadError::Size { expected, found }) }
}
