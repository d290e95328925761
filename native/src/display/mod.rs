//! How sizes, times, durations, modes and names look to people (command line, section 4.3).

pub(crate) mod duration;
pub(crate) mod mode;
pub(crate) mod size;
pub(crate) mod strftime;
pub(crate) mod terminal;
pub(crate) mod time;
