//! Linux and macOS.

pub mod attributes;
pub mod child;
pub mod folder;
pub mod host;
pub mod process;
pub mod signals;
pub mod stat;
pub mod terminal;
pub mod xattr;

pub use std::os::unix::{ffi, fs};
