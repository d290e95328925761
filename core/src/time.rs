//! Points in time, to the nanosecond, over the whole range that msgpack timestamps have.

use core::fmt;
use jiff::ZonedDateTime;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

/// Nanoseconds in a second.
pub const NANOS_PER_SEC: u32 = 1_000_000_000;

/// Latest time that is stored of an object, in nanoseconds since 1970; the earliest is 1970 itself (data layer, section 8).
const MAX_STORABLE_NANOS: i128 = 9_223_199_236_000_000_000;

/// A point in time: whole seconds since 1970-01-01T00:00:00Z, and the nanoseconds after them (below [`NANOS_PER_SEC`]).
///
/// Times before 1970 have negative `secs` and still count `nanos` forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    /// Seconds since the epoch.
    pub secs: i64,
    /// Nanoseconds after `secs`.
    pub nanos: u32,
}

impl Timestamp {
    /// The point `nanos` nanoseconds after the epoch.
    pub fn from_nanos(nanos: i128) -> Self {
        let per_sec = i128::from(NANOS_PER_SEC);
        Timestamp {
            secs: nanos.div_euclid(per_sec).clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            nanos: nanos.rem_euclid(per_sec) as u32,
        }
    }

    /// Nanoseconds since the epoch.
    pub fn as_nanos(self) -> i128 {
        i128::from(self.secs) * i128::from(NANOS_PER_SEC) + i128::from(self.nanos)
    }

    /// The nearest time that Borg stores of an object (data layer, section 8).
    pub fn storable(self) -> Self {
        Timestamp::from_nanos(self.as_nanos().clamp(0, MAX_STORABLE_NANOS))
    }

    /// This time as the calendar library has it; `None` outside the years -9999 to 9999.
    pub fn to_jiff(self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::new(self.secs, self.nanos as i32).ok()
    }

    /// This time in a zone. Times that the calendar doesn't reach become its nearest end.
    pub fn in_zone(self, zone: &TimeZone) -> ZonedDateTime {
        let nearest = if self.secs < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        self.to_jiff().unwrap_or(nearest).to_zoned_datetime(zone.clone())
    }

    /// Parses what archives hold: `YYYY-MM-DDTHH:MM:SS[.ffffff][+HH:MM]` (data layer, section 9.1); without an offset it is UTC.
    pub fn parse_iso(text: &str) -> Option<Self> {
        if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
            return Some(stamp.into());
        }
        let civil: DateTime = text.parse().ok()?;
        Some(TimeZone::fixed(Offset::UTC).to_timestamp(civil).ok()?.into())
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(stamp: jiff::Timestamp) -> Self {
        Timestamp::from_nanos(stamp.as_nanosecond())
    }
}

/// Seconds since the epoch with all nine decimals.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.secs, self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_the_epoch_count_nanoseconds_forward() {
        let stamp = Timestamp::from_nanos(-1);
        assert_eq!(stamp, Timestamp { secs: -1, nanos: 999_999_999 });
        assert_eq!(stamp.as_nanos(), -1);
    }

    #[test]
    fn what_is_stored_begins_in_1970_and_ends_in_2262() {
        assert_eq!(Timestamp::from_nanos(-1).storable(), Timestamp::default());
        assert_eq!(Timestamp { secs: i64::MAX, nanos: 1 }.storable(), Timestamp { secs: 9_223_199_236, nanos: 0 });
        assert_eq!(Timestamp { secs: 7, nanos: 8 }.storable(), Timestamp { secs: 7, nanos: 8 });
    }

    #[test]
    fn times_beyond_the_calendar_become_its_end() {
        assert_eq!(Timestamp { secs: i64::MAX, nanos: 5 }.in_zone(&TimeZone::UTC).year(), 9999);
        assert_eq!(Timestamp { secs: i64::MIN, nanos: 0 }.in_zone(&TimeZone::UTC).year(), -9999);
    }

    #[test]
    fn archive_times_are_read_with_and_without_an_offset() {
        let with = Timestamp::parse_iso("2025-03-02T04:05:06.000007+05:30").unwrap();
        assert_eq!(with, Timestamp { secs: 1_740_868_506, nanos: 7_000 });
        let without = Timestamp::parse_iso("2025-03-01T22:35:06.000007").unwrap();
        assert_eq!(with, without);
        assert_eq!(Timestamp::parse_iso("yesterday"), None);
    }
}
