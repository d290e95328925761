//! What the standard library has for files on Unix, and not yet here.

use rustix::io::{pread, pwrite, retry_on_intr};
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io;
use std::time::{Duration, UNIX_EPOCH};

/// Reading and writing at a place.
pub trait FileExt {
    /// Reads what there is at a place, at most so much as there is room for.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of it to a place.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

/// The time of the last change.
pub trait MetadataExt {
    /// Its seconds since 1970.
    fn mtime(&self) -> i64;
    /// And its nanoseconds.
    fn mtime_nsec(&self) -> i64;
}

/// Permissions of new files. There are none here: whoever lends the folder decides.
pub trait OpenOptionsExt {
    /// Does nothing.
    fn mode(&mut self, bits: u32) -> &mut Self;
}

/// Permissions of new folders. There are none here: whoever lends the folder decides.
pub trait DirBuilderExt {
    /// Does nothing.
    fn mode(&mut self, bits: u32) -> &mut Self;
}

/// What is neither a file nor a folder.
pub trait FileTypeExt {
    /// Whether it is a block device. There is none here.
    fn is_block_device(&self) -> bool;
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(pread(self, buffer, offset)?)
    }

    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match retry_on_intr(|| pwrite(self, bytes, offset))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => {
                    bytes = &bytes[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}

impl MetadataExt for Metadata {
    fn mtime(&self) -> i64 {
        since_epoch(self).0
    }

    fn mtime_nsec(&self) -> i64 {
        since_epoch(self).1
    }
}

/// The time of the last change in seconds and nanoseconds; 0 if it is not known.
fn since_epoch(metadata: &Metadata) -> (i64, i64) {
    let parts = |time: Duration| (time.as_secs().try_into().unwrap_or(i64::MAX), i64::from(time.subsec_nanos()));
    match metadata.modified().map(|time| time.duration_since(UNIX_EPOCH)) {
        Ok(Ok(after)) => parts(after),
        // No time here lies before 1970.
        Ok(Err(_)) | Err(_) => (0, 0),
    }
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, _bits: u32) -> &mut Self {
        self
    }
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _bits: u32) -> &mut Self {
        self
    }
}

impl FileTypeExt for FileType {
    fn is_block_device(&self) -> bool {
        false
    }
}
