//! Options that several commands share.

pub mod archive_filters;
pub mod archive_name;
pub mod chunker_params;
pub mod common;
pub mod exclusions;
pub mod format;
pub mod key_location;
