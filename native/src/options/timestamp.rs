//! `--timestamp`: the time that an archive stands for (command line, section 4.3).

use crate::failure::Failure;
use crate::system::fs::MetadataExt;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use portaborg_core::time::Timestamp;
use std::fs;

/// A time, and the zone whose offset is stored with it.
#[derive(Debug, Clone)]
pub struct Nominal {
    /// The time.
    pub time: Timestamp,
    /// The zone.
    pub zone: TimeZone,
}

/// Reads the option's value: an existing path means the time of its last change, in UTC; else it is an ISO 8601 time, in the
/// local zone if it has none of its own.
pub fn parse(text: &str, local: &TimeZone) -> Result<Nominal, Failure> {
    if let Ok(metadata) = fs::metadata(text) {
        let time = Timestamp { secs: metadata.mtime(), nanos: metadata.mtime_nsec() as u32 };
        return Ok(Nominal { time, zone: TimeZone::UTC });
    }
    let invalid = || Failure::argument("--timestamp", format_args!("Invalid isoformat string: '{text}'"));
    // A space instead of the T is fine, and so is a time without seconds, or none at all.
    if let Ok(pieces) = jiff::fmt::temporal::Pieces::parse(text)
        && let Some(offset) = pieces.to_numeric_offset()
    {
        let zone = TimeZone::fixed(offset);
        let civil = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        let time = zone.to_timestamp(civil).map_err(|_| invalid())?;
        return Ok(Nominal { time: time.into(), zone });
    }
    let civil: DateTime = text.parse().map_err(|_| invalid())?;
    let time = local.to_timestamp(civil).map_err(|_| invalid())?;
    Ok(Nominal { time: time.into(), zone: local.clone() })
}
