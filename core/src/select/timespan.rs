//! Spans of time as `--older` and its like take them.

use crate::time::Timestamp;
use alloc::string::String;
use core::str::FromStr;
use jiff::Span;
use jiff::tz::{Offset, TimeZone};
use thiserror::Error;

/// A number of years, months, weeks, days, hours, minutes or seconds; years and months are those of the calendar (command
/// line, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    length: Length,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Months(i64),
    Secs(i64),
}

/// A text that is not a number followed by a unit.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Invalid relative time marker used: {0}, choose from y, m, w, d, H, M, S")]
pub struct InvalidTimeSpan(pub String);

impl FromStr for TimeSpan {
    type Err = InvalidTimeSpan;

    fn from_str(text: &str) -> Result<Self, InvalidTimeSpan> {
        let invalid = || InvalidTimeSpan(text.into());
        let unit = text.chars().next_back().ok_or_else(invalid)?;
        let digits = &text[..text.len() - unit.len_utf8()];
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid());
        }
        // Too many digits for the type are beyond every calendar anyway.
        let count = digits.parse::<i64>().unwrap_or(i64::MAX);
        let length = match unit {
            'y' => Length::Months(count.saturating_mul(12)),
            'm' => Length::Months(count),
            'w' => Length::Secs(count.saturating_mul(7 * DAY_SECS)),
            'd' => Length::Secs(count.saturating_mul(DAY_SECS)),
            'H' => Length::Secs(count.saturating_mul(3600)),
            'M' => Length::Secs(count.saturating_mul(60)),
            'S' => Length::Secs(count),
            _ => return Err(invalid()),
        };
        Ok(TimeSpan { length })
    }
}

impl TimeSpan {
    /// The time this long before `time`, whose calendar is that of the offset from UTC. A day that the month does not have
    /// becomes its last one; beyond the calendar it is the first time there is.
    pub fn before(self, time: Timestamp, utc_offset_secs: i32) -> Timestamp {
        self.shift(time, utc_offset_secs, -1).unwrap_or(Timestamp { secs: i64::MIN, nanos: 0 })
    }

    /// The time this long after `time`; beyond the calendar it is the last time there is.
    pub fn after(self, time: Timestamp, utc_offset_secs: i32) -> Timestamp {
        self.shift(time, utc_offset_secs, 1).unwrap_or(Timestamp { secs: i64::MAX, nanos: 999_999_999 })
    }

    fn shift(self, time: Timestamp, utc_offset_secs: i32, sign: i64) -> Option<Timestamp> {
        match self.length {
            Length::Secs(secs) => Some(Timestamp { secs: time.secs.checked_add(secs * sign)?, nanos: time.nanos }),
            Length::Months(months) => {
                let zone = TimeZone::fixed(Offset::from_seconds(utc_offset_secs).ok()?);
                let span = Span::new().try_months(months * sign).ok()?;
                let civil = zone.to_datetime(time.to_jiff()?).checked_add(span).ok()?;
                Some(zone.to_timestamp(civil).ok()?.into())
            }
        }
    }
}

const DAY_SECS: i64 = 24 * 3600;

#[cfg(test)]
mod tests {
    use super::*;

    /// Expectations from `calculate_relative_offset` of the real client.
    #[test]
    fn months_are_those_of_the_calendar() {
        for (span, from, before, after) in [
            ("1m", "2024-03-31T10:00:00", "2024-02-29T10:00:00", "2024-04-30T10:00:00"),
            ("1y", "2024-02-29T00:00:00", "2023-02-28T00:00:00", "2025-02-28T00:00:00"),
            ("13m", "2025-01-31T00:00:01", "2023-12-31T00:00:01", "2026-02-28T00:00:01"),
            ("2w", "2025-01-01T00:00:00", "2024-12-18T00:00:00", "2025-01-15T00:00:00"),
            ("25H", "2025-01-02T00:00:00", "2024-12-31T23:00:00", "2025-01-03T01:00:00"),
            ("90M", "2025-01-01T00:00:00", "2024-12-31T22:30:00", "2025-01-01T01:30:00"),
            ("0S", "2025-01-01T00:00:00", "2025-01-01T00:00:00", "2025-01-01T00:00:00"),
        ] {
            let time = |iso| Timestamp::parse_iso(iso).unwrap();
            let span: TimeSpan = span.parse().unwrap();
            assert_eq!((span.before(time(from), 0), span.after(time(from), 0)), (time(before), time(after)), "{from}");
        }
    }

    #[test]
    fn a_months_end_depends_on_the_offset() {
        let time = Timestamp::parse_iso("2024-03-31T22:00:00").unwrap();
        let span: TimeSpan = "1m".parse().unwrap();
        assert_eq!(span.after(time, 0), Timestamp::parse_iso("2024-04-30T22:00:00").unwrap());
        assert_eq!(span.after(time, 7200), Timestamp::parse_iso("2024-05-01T00:00:00+02:00").unwrap());
    }

    #[test]
    fn spans_beyond_the_calendar_reach_its_ends() {
        for span in ["99999999999999999999y", "30000y", "9223372036854775807S", "99999999999999999999w"] {
            let span: TimeSpan = span.parse().unwrap();
            let time = Timestamp { secs: -5, nanos: 0 };
            assert!(span.before(time, 0).secs < -300_000_000_000);
            assert!(span.after(time, 0).secs > 300_000_000_000);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "d", "5", "5x", "-5d", "5 d", "5D", "5.5d", "ä"] {
            assert_eq!(text.parse::<TimeSpan>(), Err(InvalidTimeSpan(text.into())));
        }
    }
}
