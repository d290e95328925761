//! The machine, and who uses it.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The machine's own name.
pub fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The machine's name as the resolver completes it.
pub fn fqdn() -> String {
    let name = node_name();
    let hints = dns_lookup::AddrInfoHints { flags: AI_CANONNAME, ..Default::default() };
    let canonical = dns_lookup::getaddrinfo(Some(&name), None, Some(hints))
        .ok()
        .and_then(|mut answers| answers.find_map(|answer| answer.ok()?.canonname));
    canonical.unwrap_or(name)
}

/// The first hardware address as a number: of the interfaces that have an IPv4 address, in the system's order, the first with
/// an address that is not zero.
pub fn hardware_number() -> Option<u64> {
    let interfaces: Vec<_> = nix::ifaddrs::getifaddrs().map(Iterator::collect).unwrap_or_default();
    let hardware = |name: &str| {
        interfaces.iter().filter(|interface| interface.interface_name == name).find_map(|interface| {
            let octets = interface.address.as_ref()?.as_link_addr()?.addr()?;
            Some(octets.iter().fold(0, |number, &octet| number << 8 | u64::from(octet))).filter(|&number| number != 0)
        })
    };
    let with_ipv4 = interfaces
        .iter()
        .filter(|interface| interface.address.as_ref().is_some_and(|address| address.as_sockaddr_in().is_some()));
    with_ipv4.filter_map(|interface| hardware(&interface.interface_name)).next()
}

/// The user's home folder.
pub fn home() -> PathBuf {
    env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// Whether a path lies in a home that there is not.
pub fn is_nowhere(_path: &Path) -> bool {
    false
}

/// The login name of who runs this process.
pub fn login() -> String {
    let uid = rustix::process::getuid().as_raw();
    uzers::get_user_by_uid(uid).map_or_else(|| uid.to_string(), |user| user.name().to_string_lossy().into_owned())
}

/// Number of the local user of that name.
pub fn user_id(name: &[u8]) -> Option<u32> {
    uzers::get_user_by_name(OsStr::from_bytes(name)).map(|user| user.uid())
}

/// Number of the local group of that name.
pub fn group_id(name: &[u8]) -> Option<u32> {
    uzers::get_group_by_name(OsStr::from_bytes(name)).map(|group| group.gid())
}

/// Name of the local user with that number.
pub fn user_name(id: u32) -> Option<Vec<u8>> {
    uzers::get_user_by_uid(id).map(|user| user.name().as_bytes().to_vec())
}

/// Name of the local group with that number.
pub fn group_name(id: u32) -> Option<Vec<u8>> {
    uzers::get_group_by_gid(id).map(|group| group.name().as_bytes().to_vec())
}

/// The flag that asks for the canonical name; it has this value on all systems that we build for.
const AI_CANONNAME: i32 = 2;
