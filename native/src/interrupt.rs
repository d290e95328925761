//! Signals: the first Ctrl-C ends a command at the next good moment, the second at once (command line, section 0).

use crate::failure::Failure;
use crate::system::signals::{SIGHUP, SIGINT, SIGTERM, arrived};
use std::thread;
use std::time::{Duration, Instant};

/// How long a wait goes on after a signal, at most.
const PATIENCE: Duration = Duration::from_millis(50);

pub use crate::system::signals::watch;

/// Whether a signal asks to end.
pub fn requested() -> bool {
    arrived().next().is_some()
}

/// Whether it is the user who asks to end, with Ctrl-C.
pub fn is_cancelled() -> bool {
    arrived().any(|signal| signal == SIGINT)
}

/// Fails if a signal asks to end.
pub fn check() -> Result<(), Failure> {
    Err(match arrived().next() {
        None => return Ok(()),
        Some(SIGTERM) => Failure::new(128 + SIGTERM as u8, "Signal.SIGTERM", "Received SIGTERM"),
        Some(SIGHUP) => Failure::new(128 + SIGHUP as u8, "Signal.SIGHUP", "Received SIGHUP."),
        Some(_) => Failure::error("Got Ctrl-C / SIGINT."),
    })
}

/// Sleeps, unless a signal asks to end.
pub fn sleep(time: Duration) -> Result<(), Failure> {
    let end = Instant::now() + time;
    loop {
        check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(PATIENCE));
    }
}
