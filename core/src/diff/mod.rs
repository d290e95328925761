//! What differs between two archives, path by path (command line, section 1.2: `diff`).
//!
//! [`Pairs`] brings together what has the same path, [`compare()`] tells how it differs. Neither reads anything.

mod compare;
mod pairs;

pub use compare::{Change, CompareRule, Content, Kind, compare, compares_chunks};
pub use pairs::{Pair, Pairs};
