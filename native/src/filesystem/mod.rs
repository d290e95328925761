//! What extraction and creation know of the objects of a file system, in both directions.

pub mod acl;
pub mod flags;
pub mod names;
pub mod os_error;
pub mod stat;
