//! Who and where we are: the identity in locks and archives (repository layer, section 6.4).

use crate::system::{host, process};
use portaborg_core::lock::Owner;
use std::env;

pub use crate::system::host::fqdn;
pub use crate::system::process::is_alive;

/// The owner of our locks.
pub fn owner() -> Owner {
    Owner { host: host_id(), process: process::id().into(), thread: 0 }
}

/// `BORG_HOSTNAME`, or the machine's name up to the first dot.
pub fn hostname() -> String {
    setting("BORG_HOSTNAME").unwrap_or_else(|| host::node_name().split('.').next().unwrap_or_default().into())
}

/// `BORG_USERNAME`, or the login name.
pub fn username() -> String {
    setting("BORG_USERNAME").unwrap_or_else(host::login)
}

fn host_id() -> String {
    setting("BORG_HOST_ID").unwrap_or_else(|| format!("{}@{}", fqdn(), hardware_number()))
}

/// The first hardware address as a number. A machine without one gets a random number with the bit that no hardware has.
fn hardware_number() -> u64 {
    let random = || (getrandom::u64().unwrap_or_default() & 0xffff_ffff_ffff) | 0x0100_0000_0000;
    host::hardware_number().unwrap_or_else(random)
}

fn setting(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}
