//! Options that several commands share.

pub mod archive_filters;
pub mod archive_name;
pub mod common;
pub mod exclusions;
pub mod format;
#[allow(dead_code, reason = "the command that uses it is still to come")]
pub mod source;
pub mod tag_files;
