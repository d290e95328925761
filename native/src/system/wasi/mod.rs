//! WASI, preview 1: a sandbox that sees a few folders of some system, without users, processes, signals and threads.

pub mod attributes;
pub mod child;
pub mod folder;
pub mod fs;
pub mod host;
pub mod process;
pub mod signals;
pub mod stat;
pub mod terminal;
pub mod xattr;

pub use std::os::wasi::ffi;
