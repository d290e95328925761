//! The machine, and who uses it: what nobody tells here, unless in the environment.

use std::env;
use std::path::{Path, PathBuf};

/// The home of who has none, as some systems call it.
const NOWHERE: &str = "/nonexistent";

/// What stands for the machine's name.
pub fn node_name() -> String {
    env::var("HOSTNAME").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "wasi".into())
}

/// The same.
pub fn fqdn() -> String {
    node_name()
}

/// There is no hardware to be seen.
pub fn hardware_number() -> Option<u64> {
    None
}

/// The folder that `HOME` names, if one is lent.
pub fn home() -> PathBuf {
    env::var_os("HOME").filter(|home| !home.is_empty()).map_or_else(|| NOWHERE.into(), PathBuf::from)
}

/// Whether a path lies in the home that there is not. It must not be made in a folder that was lent for something else.
pub fn is_nowhere(path: &Path) -> bool {
    path.starts_with(NOWHERE)
}

/// What stands for the login name.
pub fn login() -> String {
    env::var("USER").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "wasi".into())
}

/// There are no users.
pub fn user_id(_name: &[u8]) -> Option<u32> {
    None
}

/// There are no groups.
pub fn group_id(_name: &[u8]) -> Option<u32> {
    None
}

/// There are no users.
pub fn user_name(_id: u32) -> Option<Vec<u8>> {
    None
}

/// There are no groups.
pub fn group_name(_id: u32) -> Option<Vec<u8>> {
    None
}
