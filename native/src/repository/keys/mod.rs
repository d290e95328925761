//! The keys of a repository: where they are, which of them opens, and how they change (repository layer, sections 3.4 and
//! 3.5).

mod create;
mod file;
mod find;
mod key_store;
mod unlock;

pub use create::{NewKey, create_key};
pub use file::explicit_file;
pub use find::{FoundKey, find_keys};
pub use key_store::KeyStore;
pub use unlock::{UnlockedKey, unlock_any};
