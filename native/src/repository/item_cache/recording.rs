//! Items that go into the cache.

use super::SegmentCipher;
use super::folder::{Folder, MOST_BYTES, NewFile};
use crate::client::random;
use crate::repository::session::Session;
use portaborg_core::id::ArchiveId;
use portaborg_core::item_cache::{HEAD_BYTES, Packing, Segment};
use std::fs::File;
use std::io::{self, Write};

/// Puts the items of an archive into the cache while they are read. Unless it is finished, there is nothing of them there.
pub struct Recording {
    packing: Packing,
    cipher: SegmentCipher,
    file: File,
    new: NewFile,
    bytes: u64,
}

impl Recording {
    /// Of the items of an archive; `None` where no file can be made.
    pub(super) fn create(session: &Session, folder: &Folder, archive: ArchiveId) -> Option<Recording> {
        let nonce = random::bytes().ok()?;
        let packing = Packing::new(&session.keys, session.repository.id(), archive, &nonce)?;
        let (mut file, new) = folder.create(archive).ok()?;
        file.write_all(packing.head()).ok()?;
        let cipher = SegmentCipher::new(packing.key());
        Some(Recording { packing, cipher, file, new, bytes: HEAD_BYTES as u64 })
    }

    /// Goes on with a block; `None` if that can't be.
    pub fn with(mut self, block: &[u8]) -> Option<Recording> {
        for segment in self.packing.add(block) {
            self.bytes += store(&self.cipher, &mut self.file, segment).ok()?;
        }
        (self.bytes <= MOST_BYTES).then_some(self)
    }

    /// All items were read, and all are right.
    pub fn finish(self) -> io::Result<()> {
        let Recording { packing, cipher, mut file, new, .. } = self;
        store(&cipher, &mut file, packing.finish())?;
        new.finish()
    }
}

/// Seals a segment and stores it behind the others.
fn store(cipher: &SegmentCipher, file: &mut File, segment: Segment) -> io::Result<u64> {
    let Segment { nonce, plaintext: mut bytes } = segment;
    cipher.seal(&nonce, &mut bytes);
    file.write_all(&bytes)?;
    Ok(bytes.len() as u64)
}
