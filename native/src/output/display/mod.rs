//! How sizes, times, durations, modes and names look to people (command line, section 4.3).

pub mod duration;
pub mod mode;
pub mod size;
pub mod terminal;
pub mod time;
