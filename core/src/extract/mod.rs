//! Reading ahead: many chunks in flight, given out strictly in order (the pipelines of `extract`, `check` and `list`).

mod errand;
mod fetch;
mod window;

pub use fetch::{Begun, Fetch, Opened, Stored, Unpacked};
pub use window::{Buffer, Outcome, Plain, Purpose, ReadAhead, Want, Window};
