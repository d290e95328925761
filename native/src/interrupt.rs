//! Signals: the first Ctrl-C ends a command at the next good moment, the second at once (command line, section 0).

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a wait goes on after a signal, at most.
const PATIENCE: Duration = Duration::from_millis(50);

static SIGNALS: LazyLock<[(i32, Arc<AtomicBool>); 3]> =
    LazyLock::new(|| [SIGINT, SIGTERM, SIGHUP].map(|signal| (signal, Arc::default())));

/// Watches for signals from now on.
pub fn watch() -> io::Result<()> {
    for (signal, arrived) in &*SIGNALS {
        // The second one finds the flag set, and ends the program at once.
        flag::register_conditional_shutdown(*signal, 128 + *signal, Arc::clone(arrived))?;
        flag::register(*signal, Arc::clone(arrived))?;
    }
    Ok(())
}

/// Whether a signal asks to end.
pub fn requested() -> bool {
    SIGNALS.iter().any(|(_, arrived)| arrived.load(Ordering::Relaxed))
}

/// Whether it is the user who asks to end, with Ctrl-C.
pub fn is_cancelled() -> bool {
    SIGNALS.iter().any(|(signal, arrived)| *signal == SIGINT && arrived.load(Ordering::Relaxed))
}

/// Fails if a signal asks to end.
pub fn check() -> Result<(), Failure> {
    let arrived = SIGNALS.iter().find(|(_, arrived)| arrived.load(Ordering::Relaxed));
    Err(match arrived.map(|(signal, _)| *signal) {
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
