//! Verifying a repository: its files, its data, its archives (repository layer, section 7.2), without changing it.
//!
//! What is found is told to an observer as it is found; wording it is for the face. The observer may also ask to stop.

mod archives;
mod data;
mod packs;
mod records;

pub use archives::{ArchiveCheck, ArchiveFinding, MissingChunk, MissingChunks, check_archive};
pub use data::{DataFinding, DataSummary, Verification, verify_data};
pub use packs::{PackCheck, PackFinding, PackSummary, Packs, check_packs, is_intact};
pub use records::{CheckedPacks, Record, RecordsError};
