//! Programs that are run for the user: none can be started here, and whoever tries is told so.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};

/// There is none.
pub fn output(_child: &mut Child) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There is nothing to be ended.
pub fn terminate(_child: &Child) {}

/// The code that there would be.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_default()
}
