//! The secrets of a repository, and what is derived from them (repository layer, section 3.1).

use super::hash::{IdHash, sha256};
use super::session::{AES256_OCB, SessionId};
use super::suite::{Mode, Suite};
use crate::exec::Exec;
use crate::id::ChunkId;
use crate::tuning::Tuning;
use core::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Length of the secret that encryption and tags derive from.
pub const CRYPT_KEY_BYTES: usize = 64;
/// Length of the secret that ids and chunkers derive from.
pub const ID_KEY_BYTES: usize = 32;
/// Random bytes that new secrets are made of.
pub const SECRET_BYTES: usize = CRYPT_KEY_BYTES + ID_KEY_BYTES + size_of::<i32>();

/// The unlocked secrets of a repository (repository layer, section 3.1) with the suite they serve.
///
/// It prints nothing, compares with nothing and is wiped when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Keys {
    #[zeroize(skip)]
    suite: Suite,
    crypt_key: [u8; CRYPT_KEY_BYTES],
    id_key: [u8; ID_KEY_BYTES],
    chunk_seed: i32,
    tag_key: [u8; 32],
    verifies: bool,
}

impl Keys {
    /// Takes the secrets over.
    pub fn new(suite: Suite, crypt_key: [u8; CRYPT_KEY_BYTES], id_key: [u8; ID_KEY_BYTES], chunk_seed: i32) -> Self {
        let domain: &[u8] = match suite.id_hash {
            IdHash::Sha256 => b"borg-repoobj-mac-hmac-sha256",
            IdHash::Blake3 => b"borg-repoobj-mac-blake3",
        };
        let tag_key = sha256(&[&crypt_key, domain]);
        Keys { suite, crypt_key, id_key, chunk_seed, tag_key, verifies: true }
    }

    /// New secrets, made of random bytes that serve nothing else.
    pub fn generate(suite: Suite, random: &[u8; SECRET_BYTES]) -> Self {
        let (crypt_key, rest) = random.split_first_chunk().expect("the sum of the parts");
        let (id_key, seed) = rest.split_first_chunk().expect("the sum of the parts");
        let seed = seed.try_into().expect("the sum of the parts");
        Keys::new(suite, *crypt_key, *id_key, i32::from_be_bytes(seed))
    }

    /// The secrets, of which [`Keys::generate`] makes the same keys: for someone who helps with the same repository where no memory
    /// is shared.
    pub fn secrets(&self) -> Zeroizing<[u8; SECRET_BYTES]> {
        let mut secrets = Zeroizing::new([0; SECRET_BYTES]);
        let (crypt_key, rest) = secrets.split_at_mut(CRYPT_KEY_BYTES);
        let (id_key, seed) = rest.split_at_mut(ID_KEY_BYTES);
        crypt_key.copy_from_slice(&self.crypt_key);
        id_key.copy_from_slice(&self.id_key);
        seed.copy_from_slice(&self.chunk_seed.to_be_bytes());
        secrets
    }

    /// Keys of an authenticated repository whose key is lost: all zero, and no tag or id is verified
    /// (`authenticated_no_key`, repository layer, section 3.10). `None` for encrypted suites, which can't be read so.
    pub fn lost(suite: Suite) -> Option<Self> {
        match suite.mode {
            Mode::Encrypted(_) => None,
            Mode::Authenticated => {
                let mut keys = Keys::new(suite, [0; CRYPT_KEY_BYTES], [0; ID_KEY_BYTES], 0);
                keys.verifies = false;
                Some(keys)
            }
        }
    }

    /// The suite that the secrets serve.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// Whether tags and ids can be verified: always, but for [`Keys::lost`].
    pub fn verifies(&self) -> bool {
        self.verifies
    }

    /// The id of a chunk with this plaintext (data layer, section 5).
    pub fn chunk_id(&self, plaintext: &[u8]) -> ChunkId {
        ChunkId(self.suite.id_hash.mac(&self.id_key, &[plaintext]))
    }

    /// The same with the help of other threads, where that pays.
    pub fn chunk_id_on(&self, plaintext: &[u8], tuning: &Tuning, exec: &impl Exec) -> ChunkId {
        ChunkId(self.suite.id_hash.mac_on(&self.id_key, &[plaintext], tuning, exec))
    }

    /// The secret that chunk ids and the tables of chunkers derive from. Hashed, it tells apart repositories whose chunk
    /// lists can't be compared: that is what `list --format {fingerprint}` shows (data layer, section 18).
    pub fn id_key(&self) -> &[u8; ID_KEY_BYTES] {
        &self.id_key
    }

    /// The secret that encryption and tags derive from, to be wrapped.
    pub(crate) fn crypt_key(&self) -> &[u8; CRYPT_KEY_BYTES] {
        &self.crypt_key
    }

    /// Seed of the 32-bit buzhash chunker.
    pub fn chunk_seed(&self) -> i32 {
        self.chunk_seed
    }

    /// The key with which AES-256 is applied to what [`Keys::begin`] gives of a session.
    pub fn block_key(&self, session: &SessionId) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.session_key(session, AES256_OCB))
    }

    pub(super) fn session_key(&self, session: &[u8; 24], cipher_name: &str) -> [u8; 32] {
        sha256(&[&self.crypt_key, session, b"borg-session-key-", cipher_name.as_bytes()])
    }

    pub(super) fn tag_key(&self) -> &[u8; 32] {
        &self.tag_key
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("suite", &self.suite).finish_non_exhaustive()
    }
}
