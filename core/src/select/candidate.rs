//! What selecting needs to know about an archive.

use crate::id::ArchiveId;
use crate::time::Timestamp;

/// An archive that may be selected. Names are raw bytes, as the archive's metadata holds them (data layer, section 9.1).
pub trait Candidate {
    /// The archive's id.
    fn id(&self) -> ArchiveId;

    /// Its series name; for a damaged entry what Borg shows instead (`archive-does-not-exist`, ...).
    fn name(&self) -> &[u8];

    /// The user who created it; empty if unknown.
    fn user(&self) -> &[u8];

    /// The host it was created on; empty if unknown.
    fn host(&self) -> &[u8];

    /// Its tags, in any order.
    fn tags(&self) -> impl Iterator<Item = &[u8]>;

    /// Its nominal time.
    fn time(&self) -> Timestamp;

    /// The offset from UTC, in seconds, that its nominal time is written with: spans of months from it are counted on the
    /// calendar of that offset.
    fn utc_offset_secs(&self) -> i32 {
        0
    }
}
