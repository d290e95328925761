//! Everything that a user or a program reads: documents and lists on stdout, messages, progress and questions on stderr.

pub mod display;
pub mod format;
pub mod json;
pub mod log;
pub mod progress;
pub mod prompt;
pub mod stdout;
