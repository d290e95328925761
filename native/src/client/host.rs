//! Who and where we are: the identity in locks and archives (repository layer, section 6.4).

use portaborg_core::lock::Owner;
use std::env;
use std::process;

/// The owner of our locks.
pub fn owner() -> Owner {
    Owner { host: host_id(), process: process::id().into(), thread: 0 }
}

/// Whether a process of this machine is alive.
pub fn is_alive(process: u64) -> bool {
    let pid = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // A process of another user answers that we may not ask.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// `BORG_HOSTNAME`, or the machine's name up to the first dot.
pub fn hostname() -> String {
    setting("BORG_HOSTNAME").unwrap_or_else(|| node_name().split('.').next().unwrap_or_default().into())
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

/// `BORG_USERNAME`, or the login name.
pub fn username() -> String {
    setting("BORG_USERNAME").unwrap_or_else(|| {
        let uid = rustix::process::getuid().as_raw();
        uzers::get_user_by_uid(uid).map_or_else(|| uid.to_string(), |user| user.name().to_string_lossy().into_owned())
    })
}

/// The flag that asks for the canonical name; it has this value on all systems that we build for.
const AI_CANONNAME: i32 = 2;

fn host_id() -> String {
    setting("BORG_HOST_ID").unwrap_or_else(|| format!("{}@{}", fqdn(), hardware_number()))
}

fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The first hardware address as a number: of the interfaces that have an IPv4 address, in the system's order, the first with
/// an address that is not zero. A machine without one gets a random number with the bit that no hardware has.
fn hardware_number() -> u64 {
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
    with_ipv4
        .filter_map(|interface| hardware(&interface.interface_name))
        .next()
        .unwrap_or_else(|| (getrandom::u64().unwrap_or_default() & 0xffff_ffff_ffff) | 0x0100_0000_0000)
}

fn setting(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}
