//! Items that come from the cache.

use super::SegmentCipher;
use super::folder::Folder;
use crate::repository::session::Session;
use portaborg_core::id::ArchiveId;
use portaborg_core::item_cache::{CacheError, CacheStep, HEAD_BYTES, Place, Unpacking};
use portaborg_core::repo::EncodedItems;
use std::fs::File;
use std::io::Read;
use std::time::SystemTime;

/// The items of an archive, from a file of the cache.
pub struct CachedItems {
    archive: ArchiveId,
    folder: Folder,
    file: File,
    unpacking: Unpacking,
    cipher: SegmentCipher,
    segment: Vec<u8>,
}

impl CachedItems {
    /// Those of an archive; `None` if there is no file for it that could be one.
    pub(super) fn open(session: &Session, folder: &Folder, archive: ArchiveId) -> Option<CachedItems> {
        let (mut file, bytes) = folder.open(archive)?;
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head).ok()?;
        let unpacking = Unpacking::new(&session.keys, session.repository.id(), archive, &head, bytes).ok()?;
        // Who may read it and not say so has used it all the same.
        let _ = file.set_modified(SystemTime::now());
        let cipher = SegmentCipher::new(unpacking.key());
        Some(CachedItems { archive, folder: folder.clone(), file, unpacking, cipher, segment: Vec::new() })
    }

    /// The next items; `None` at the end of all that the archive has. After an error, which removes the file, those that came
    /// before it are still right.
    pub fn next(&mut self) -> Result<Option<EncodedItems>, CacheError> {
        let next = self.try_next();
        if next.is_err() {
            self.folder.remove(self.archive);
        }
        next
    }

    fn try_next(&mut self) -> Result<Option<EncodedItems>, CacheError> {
        loop {
            match self.unpacking.step()? {
                CacheStep::Block(block) => return Ok(Some(block.into())),
                CacheStep::Open(place) => self.open_segment(&place)?,
                CacheStep::End => return Ok(None),
            }
        }
    }

    /// Segments follow each other, and are asked for so.
    fn open_segment(&mut self, &Place { segment, len, nonce, .. }: &Place) -> Result<(), CacheError> {
        let error = CacheError::Tag { segment };
        self.segment.resize(len, 0);
        self.file.read_exact(&mut self.segment).map_err(|_| error)?;
        self.unpacking.feed(self.cipher.open(&nonce, &mut self.segment).ok_or(error)?);
        Ok(())
    }
}
