//! Options that several commands share.

pub mod archive_filters;
pub mod chunker_params;
pub mod common;
pub mod exclusions;
pub mod format;
pub mod item_cache;
pub mod key_location;
pub mod source;
pub mod tag_files;
pub mod timestamp;
