//! The item cache of this client: the items of archives that were listed before need not be read from the repository again.
//!
//! It lies beside the files cache. What is wrong with it costs nothing but time: then the archive is read.

mod cached;
mod folder;
mod recording;

pub use cached::CachedItems;
pub use recording::Recording;

use crate::client::dirs;
use crate::repository::session::Session;
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};
use folder::Folder;
use portaborg_core::id::ArchiveId;
use portaborg_core::item_cache::{FileKey, SEGMENT_NONCE_BYTES, TAG_BYTES};

/// The folder in the cache folder of a repository.
const FOLDER: &str = "items";

/// Items of a repository's archives.
pub struct ItemCache<'s> {
    session: &'s Session,
    folder: Folder,
}

/// What the cache does for one reading of an archive's items.
#[derive(Default)]
pub struct CacheUse {
    /// Gives them.
    pub cached: Option<CachedItems>,
    /// Takes them.
    pub recording: Option<Recording>,
}

impl<'s> ItemCache<'s> {
    /// The cache of a repository; `None` if its key is lost.
    pub fn of(session: &'s Session) -> Option<ItemCache<'s>> {
        let folder = Folder::new(dirs::cache(session.repository.id()).join(FOLDER));
        session.keys.verifies().then_some(ItemCache { session, folder })
    }

    /// Takes an archive's items from the cache, if it has them.
    pub fn reading(&self, archive: ArchiveId) -> CacheUse {
        CacheUse { cached: CachedItems::open(self.session, &self.folder, archive), recording: None }
    }

    /// Takes an archive's items from the cache, or puts them there.
    pub fn reading_or_recording(&self, archive: ArchiveId) -> CacheUse {
        match self.reading(archive) {
            CacheUse { cached: None, .. } => {
                CacheUse { cached: None, recording: Recording::create(self.session, &self.folder, archive) }
            }
            reading => reading,
        }
    }
}

/// Opens and seals segments of one file.
struct SegmentCipher(Aes256Gcm);

impl SegmentCipher {
    fn new(key: &FileKey) -> Self {
        SegmentCipher(Aes256Gcm::new(key.bytes().into()))
    }

    /// The plaintext of a segment, which is decrypted in place; `None` if it is not authentic.
    fn open<'s>(&self, nonce: &[u8; SEGMENT_NONCE_BYTES], sealed: &'s mut [u8]) -> Option<&'s [u8]> {
        let (data, tag) = sealed.split_last_chunk_mut::<TAG_BYTES>()?;
        let tag = &*tag;
        self.0.decrypt_inout_detached(nonce.into(), &[], (&mut *data).into(), tag.into()).ok()?;
        Some(data)
    }

    /// Encrypts a segment in place, and appends its tag.
    fn seal(&self, nonce: &[u8; SEGMENT_NONCE_BYTES], segment: &mut Vec<u8>) {
        let tag = self.0.encrypt_inout_detached(nonce.into(), &[], segment.as_mut_slice().into());
        segment.extend_from_slice(&tag.expect("segments are far below the cipher's limit"));
    }
}
