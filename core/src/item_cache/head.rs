//! The beginning of a file, and the key that it leads to.

use super::CacheError;
use crate::crypto::{CRYPT_KEY_BYTES, Keys};
use crate::id::{ArchiveId, RepositoryId};
use zeroize::{Zeroize, Zeroizing};

/// Random bytes of a file.
pub const FILE_NONCE_BYTES: usize = 32;
/// What AES-256 takes.
pub const FILE_KEY_BYTES: usize = 32;
/// Bytes before the first segment.
pub const HEAD_BYTES: usize = MAGIC.len() + VERSION.len() + FILE_NONCE_BYTES;

const MAGIC: &[u8; 8] = b"portaitm";
/// To be raised with every change of the layout, and of what items are: another version's file is as good as none.
const VERSION: [u8; 4] = 1_u32.to_le_bytes();
/// What the key is for, as BLAKE3 wants it: nothing else has this.
const CONTEXT: &str = "portaborg 2026-12-01 item cache: AES-256-GCM key of a file";

/// The key of one file. It is wiped when dropped.
pub struct FileKey(Zeroizing<[u8; FILE_KEY_BYTES]>);

impl FileKey {
    /// The secret.
    pub fn bytes(&self) -> &[u8; FILE_KEY_BYTES] {
        &self.0
    }

    /// Of the file of an archive that begins with `head`; `None` if nothing can be sealed with these keys.
    pub(super) fn derive(
        keys: &Keys,
        repository: RepositoryId,
        archive: ArchiveId,
        head: &[u8; HEAD_BYTES],
    ) -> Option<FileKey> {
        if !keys.verifies() {
            return None;
        }
        // Each of these has one length only, so that none can pass for a part of another.
        let crypt_key: &[u8; CRYPT_KEY_BYTES] = keys.crypt_key();
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(crypt_key).update(&repository.0).update(&archive.0).update(head);
        let mut hash = hasher.finalize();
        hasher.zeroize();
        let key = FileKey(Zeroizing::new(*hash.as_bytes()));
        hash.zeroize();
        Some(key)
    }
}

impl core::fmt::Debug for FileKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FileKey").finish_non_exhaustive()
    }
}

/// The head of a new file.
pub(super) fn encode(nonce: &[u8; FILE_NONCE_BYTES]) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    let (magic, rest) = head.split_at_mut(MAGIC.len());
    let (version, rest) = rest.split_at_mut(VERSION.len());
    magic.copy_from_slice(MAGIC);
    version.copy_from_slice(&VERSION);
    rest.copy_from_slice(nonce);
    head
}

/// The head that a file begins with, if it is of this version.
pub(super) fn parse(file: &[u8]) -> Result<&[u8; HEAD_BYTES], CacheError> {
    let head: &[u8; HEAD_BYTES] = file.first_chunk().ok_or(CacheError::Head)?;
    let is_known = head.strip_prefix(MAGIC).is_some_and(|rest| rest.starts_with(&VERSION));
    if is_known { Ok(head) } else { Err(CacheError::Head) }
}
