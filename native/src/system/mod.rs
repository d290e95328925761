//! Where operating systems differ: the same names in a folder for each, behind which it is done as the system can.
//!
//! | module | what |
//! | - | - |
//! | `ffi`, `fs` | the standard library's traits that not every system has |
//! | `attributes` | owners, modes, extended attributes, and objects that are no files |
//! | `child` | programs that are run for the user |
//! | `folder` | what is in a folder, and what a crash leaves of it |
//! | `host` | the machine, and who uses it |
//! | `process` | this process and others |
//! | `signals` | what asks a command to end |
//! | `stat` | what the system says of an object |
//! | `terminal` | questions to a user |
//! | `xattr` | reading extended attributes |
//!
//! Everything else is the same program everywhere, and asks no system's name, but for differences between Linux and macOS.

#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(target_os = "wasi", path = "wasi/mod.rs")]
mod here;

pub use here::*;
