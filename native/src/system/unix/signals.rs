//! Signals that ask a command to end.

pub use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

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

/// The signals that have come.
pub fn arrived() -> impl Iterator<Item = i32> {
    SIGNALS.iter().filter(|(_, arrived)| arrived.load(Ordering::Relaxed)).map(|(signal, _)| *signal)
}
