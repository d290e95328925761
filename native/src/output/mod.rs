//! Everything that a user or a program reads: documents and lists on stdout, messages, progress and questions on stderr.

pub mod archive_progress;
pub mod archive_report;
pub mod archive_stats;
pub mod display;
pub mod format;
pub mod json;
pub mod log;
pub mod progress;
pub mod prompt;
pub mod stdout;
pub mod steps;
