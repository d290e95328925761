//! Repositories as commands use them: reached, locked and unlocked, with their archives.

pub mod ahead;
pub mod archives;
#[cfg_attr(target_os = "wasi", path = "engine/pure.rs")]
pub mod engine;
pub mod files_cache;
pub mod folder;
pub mod item_cache;
pub mod items;
pub mod keys;
pub mod lender;
pub mod location;
pub mod permissions;
pub mod pipeline;
pub mod security;
pub mod session;
pub mod store_stats;
pub mod writing;
pub mod zeros;
