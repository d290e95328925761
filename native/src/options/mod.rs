//! Options that several commands share.

pub mod archive_filters;
pub mod common;
pub mod exclusions;
