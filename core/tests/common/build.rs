//! Repositories made by hand, for what the vectors don't have.

use super::memory::MemoryStore;
use super::msgpack::{array, bin, int, map, str};
use super::{repository_id, repository_vectors};
use portaborg_core::codec::PureRust;
use portaborg_core::config::Config;
use portaborg_core::crypto::{Keys, Sealer, SessionId, Suite, store_hash};
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::index::{ChunkIndex, Location};
use portaborg_core::random::Random;
use portaborg_core::repo::{ChunkReader, Repository};
use portaborg_core::store::Ready;

/// A repository over memory.
pub type MemoryRepository = Repository<Ready<MemoryStore>>;

/// Puts objects into one pack.
pub struct PackBuilder<'k> {
    sealer: Sealer<'k>,
    keys: &'k Keys,
    pack: Vec<u8>,
    places: Vec<(ChunkId, u32, u32)>,
}

/// The vectors' secrets with the suite that needs no cipher.
pub fn authenticated_keys() -> Keys {
    let key = &repository_vectors()["key"];
    let suite = Suite::from_names("authenticated-sha256", "sha256").unwrap();
    Keys::new(suite, super::array(key, "/crypt_key"), super::array(key, "/id_key"), 0)
}

/// A repository with nothing in it but its config.
pub fn empty_repository(keys: &Keys) -> MemoryRepository {
    let config = Config { id: repository_id(), suite: Some(keys.suite()) };
    Repository { store: Ready(MemoryStore::default()), config }
}

/// A reader with the chunks of these packs, which are stored.
pub fn reader<'r>(
    repository: &'r MemoryRepository,
    keys: &'r Keys,
    packs: Vec<PackBuilder<'_>>,
) -> ChunkReader<'r, Ready<MemoryStore>> {
    let mut index = ChunkIndex::new();
    for pack in packs {
        pack.store(&repository.store.0, &mut index);
    }
    ChunkReader::new(repository, keys, &PureRust, index)
}

impl<'k> PackBuilder<'k> {
    /// An empty pack.
    pub fn new(keys: &'k Keys) -> Self {
        PackBuilder { sealer: sealer(keys, [7; 24]), keys, pack: Vec::new(), places: Vec::new() }
    }

    /// Adds a chunk of a type, uncompressed, under its id.
    pub fn add(&mut self, letter: &str, plaintext: &[u8]) -> ChunkId {
        let id = self.keys.chunk_id(plaintext);
        self.add_as(id, &plain_meta(letter, plaintext.len()), plaintext);
        id
    }

    /// Adds an object with any metadata and payload under any id.
    pub fn add_as(&mut self, id: ChunkId, meta: &[u8], payload: &[u8]) {
        let object = object(&mut self.sealer, id, meta, payload);
        self.places.push((id, self.pack.len() as u32, object.len() as u32));
        self.pack.extend_from_slice(&object);
    }

    /// Adds the chunks of an item stream and the list of them; gives the list's id.
    pub fn add_stream(&mut self, pieces: &[&[u8]]) -> ChunkId {
        let ids: Vec<ChunkId> = pieces.iter().map(|piece| self.add("S", piece)).collect();
        self.add_pointers(&ids)
    }

    /// Adds a list of item stream chunks.
    pub fn add_pointers(&mut self, ids: &[ChunkId]) -> ChunkId {
        self.add("C", &array(&ids.iter().map(|id| bin(id.0)).collect::<Vec<_>>()))
    }

    /// Stores the pack and indexes its objects.
    pub fn store(self, store: &MemoryStore, index: &mut ChunkIndex) -> PackId {
        let pack = PackId::from(store_hash(&self.pack));
        let name = pack.to_string();
        store.put(&format!("packs/{}/{name}", &name[..2]), self.pack);
        for (id, offset, size) in self.places {
            index.insert(id, Location { pack, offset, size });
        }
        pack
    }
}

/// Seals in this session, from message 1 on.
pub fn sealer(keys: &Keys, session: SessionId) -> Sealer<'_> {
    struct Fixed(SessionId);
    impl Random for Fixed {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.iter_mut().zip(self.0.iter().cycle()).for_each(|(byte, fixed)| *byte = *fixed);
        }
    }
    Sealer::new(keys, Box::new(Fixed(session)))
}

/// Metadata of an uncompressed chunk.
pub fn plain_meta(letter: &str, size: usize) -> Vec<u8> {
    let size = size as i64;
    map(&[("type", str(letter)), ("size", int(size)), ("ctype", int(0)), ("clevel", int(255)), ("csize", int(size))])
}

/// One object: header, sealed metadata, sealed payload; the payload is sealed first, as Borg does.
pub fn object(sealer: &mut Sealer<'_>, id: ChunkId, meta: &[u8], payload: &[u8]) -> Vec<u8> {
    let head = [&b"BORG_OBJ\x02"[..], &id.0].concat();
    let data = sealer.seal(payload, &[&head[..], b"D"].concat(), &id.0);
    let meta = sealer.seal(meta, &[&head[..], b"M"].concat(), &id.0);
    let sizes = [(meta.len() as u32).to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    [head, sizes, meta, data].concat()
}
