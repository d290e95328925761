//! This process and others.

use rustix::fs::{Mode, RawMode};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process, umask};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{self, Read};

/// More threads than these are never started: it is libzstd's limit, too.
pub const MAX_THREADS: usize = 256;

/// The number of this process.
pub fn id() -> u32 {
    std::process::id()
}

/// Whether a process of this machine is alive.
pub fn is_alive(process: u64) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    // A process of another user answers that we may not ask.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// Sets the permissions that new objects don't get.
pub fn set_umask(bits: u32) {
    umask(Mode::from_raw_mode((bits & 0o777) as RawMode));
}

/// Processor time in seconds: of all threads, and of the one that asks.
pub fn processor_secs() -> Option<(f64, f64)> {
    let seconds = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    Some((seconds(ClockId::ProcessCPUTime), seconds(ClockId::ThreadCPUTime)))
}

/// What is open under a number.
pub fn open_fd(number: u32) -> io::Result<impl Read> {
    File::open(format!("/dev/fd/{number}"))
}
