//! The commands, one file each.

#[cfg_attr(target_os = "wasi", path = "no_benchmark.rs")]
pub mod benchmark;
pub mod break_lock;
pub mod check;
pub mod compact;
pub mod create;
pub mod debug;
pub mod delete;
pub mod extract;
pub mod help;
pub mod info;
pub mod key;
pub mod list;
pub mod listing;
pub mod recreate;
pub mod repo_compress;
pub mod repo_create;
pub mod repo_delete;
pub mod repo_info;
pub mod repo_list;
pub mod undelete;
pub mod version;
#[cfg(not(target_os = "wasi"))]
pub mod web;
