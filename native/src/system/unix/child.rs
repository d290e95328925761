//! Programs that are run for the user.

use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

/// What it writes, of which nothing was taken yet.
pub fn output(child: &mut Child) -> io::Result<OwnedFd> {
    Ok(child.stdout.take().expect("it is piped").into())
}

/// Asks it to end. If it is gone already, all the better.
pub fn terminate(child: &Child) {
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
}

/// Its exit code. As in Python, a signal is a negative code.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| -signal)).unwrap_or_default()
}
