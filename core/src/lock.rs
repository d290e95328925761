//! Locks: who is at work in a repository (repository layer, section 6.4).

use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// A lock that was not refreshed for so long is stale.
pub const STALE_SECS: i64 = 1800;
/// A lock is written anew when it is so old.
pub const REFRESH_SECS: i64 = 900;

/// Whose lock it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Name and hardware address of the machine, or what the user chose.
    pub host: String,
    /// Process id.
    pub process: u64,
    /// Always 0 in Borg.
    pub thread: u64,
}

/// What a lock object says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// Whether it bears no other lock beside it.
    pub exclusive: bool,
    /// Whose it is.
    pub owner: Owner,
    /// When it was written, by its owner's clock.
    pub time: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Json {
    exclusive: bool,
    hostid: String,
    processid: u64,
    threadid: u64,
    time: String,
}

impl Lock {
    /// Reads the plaintext of a lock object; `None` if it is none.
    pub fn decode(plaintext: &[u8]) -> Option<Lock> {
        let json: Json = serde_json::from_slice(plaintext).ok()?;
        Some(Lock {
            exclusive: json.exclusive,
            owner: Owner { host: json.hostid, process: json.processid, thread: json.threadid },
            time: Timestamp::parse_iso(&json.time)?,
        })
    }

    /// The plaintext of a lock object.
    pub fn encode(&self) -> Vec<u8> {
        let time = Offset::UTC.to_datetime(self.time.to_jiff().unwrap_or_default());
        let json = Json {
            exclusive: self.exclusive,
            hostid: self.owner.host.clone(),
            processid: self.owner.process,
            threadid: self.owner.thread,
            time: alloc::format!("{}", time.strftime("%Y-%m-%dT%H:%M:%S%.3f+00:00")),
        };
        serde_json::to_vec(&json).expect("a lock has only texts and numbers")
    }
}
