//! Where the real client is: `BORG_PEERS`, else `~/.cache/borg-peers` (put there by `tests/peers/install.sh`).

use std::path::PathBuf;

use crate::program::Program;

/// The folder of the real clients.
#[must_use]
pub fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("BORG_PEERS") {
        return PathBuf::from(folder);
    }
    PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/borg-peers")
}

/// The real Borg 2.0.0b25, if it is installed.
#[must_use]
pub fn borg2() -> Option<Program> {
    let path = folder().join("borg2");
    path.exists().then(|| Program::peer(path))
}

/// Why a test that needs the real client is skipped.
pub const MISSING: &str = "the real client is not installed (tests/peers/install.sh installs it)";
