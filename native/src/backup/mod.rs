//! Creation: goes through a file system and makes items of what is there (data layer, section 10).
//!
//! A [`Walk`] decides which objects are meant and shows each to a [`Visitor`](walk::Visitor): a [`DryRun`], which only counts, or a
//! [`Collector`], which reads them and hands items and contents to a [`Sink`]. An [`Observer`] is told what happens. Nothing
//! here knows of archives or repositories.
//!
//! Everything below a root is reached from an open directory without following symbolic links, and what was opened must be
//! what was looked at.
#![forbid(unsafe_code)]

mod ahead;
mod attributes;
mod collect;
mod dry_run;
mod entries;
mod hardlinks;
mod levels;
mod map;
mod object;
mod order;
mod path;
mod patient;
mod pipe;
mod problem;
pub mod read;
mod sink;
mod sparse;
mod status;
#[cfg(test)]
mod tests;
pub mod walk;

pub use ahead::{Event, Outcome, Task, Tried};
pub use attributes::Selection;
pub use collect::Collector;
pub use dry_run::DryRun;
pub use map::Mapped;
pub use order::Order;
pub use pipe::Pipe;
pub use problem::{Cause, Fault, Problem};
pub use read::{FilesChanged, Input};
pub use sink::{Known, Observer, Part, Sink};
pub use status::Status;
pub use walk::Walk;
