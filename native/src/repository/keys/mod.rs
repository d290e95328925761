//! The keys of a repository: where they are, which of them opens, and how they change (repository layer, sections 3.4 and
//! 3.5).

pub mod create;
mod file;
mod find;
mod key_store;
mod unlock;

pub use file::explicit_file;
pub use find::{FoundKey, find_keys};
pub use key_store::KeyStore;
pub use unlock::{UnlockedKey, unlock_any};
