//! The client's surroundings: its machine and user, its own files, and how it comes by passphrases.

pub mod child;
pub mod command_line;
pub mod dirs;
pub mod host;
pub mod passphrase;
pub mod random;
