//! Date expressions of `date:` patterns.

use crate::text::Repr;
use crate::time::Timestamp;
use alloc::string::String;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, ToSpan};
use thiserror::Error;

/// The points in time that a date expression means: an interval as long as the finest unit that is given, or with a
/// fraction of a second that very point (data layer, section 15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// The first point.
    pub start: Timestamp,
    /// The first point after the interval; `None` if only `start` is meant.
    pub end: Option<Timestamp>,
}

/// Time zones, which core does not know by itself.
pub trait Zones {
    /// The zone for expressions without one.
    fn local(&self) -> TimeZone;

    /// The zone of an IANA name such as `Europe/Berlin`; `None` if there is none. The name is what the user wrote.
    fn named(&self, name: &str) -> Option<TimeZone>;
}

/// Why a text is not a date expression. The messages are those of Borg.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DateError {
    /// It has not the form of one.
    #[error("unrecognised date: {}", Repr(.0.as_bytes()))]
    Unrecognised(String),
    /// A zone after `@` seconds, which are UTC.
    #[error("Unix timestamps must not have timezone suffixes")]
    ZoneAfterEpoch,
    /// An offset with more than 23 hours or 59 minutes.
    #[error("invalid UTC offset format")]
    OffsetFormat,
    /// An offset outside -12:00 to +14:00.
    #[error("UTC offset outside ISO-8601 bounds")]
    OffsetBounds,
    /// A zone name that is not known.
    #[error("invalid timezone format")]
    UnknownZone,
    /// A year outside 1 to 9999, also for the end of the interval.
    #[error("year {0} is out of range")]
    Year(u16),
    /// A month outside 1 to 12.
    #[error("month must be in 1..12")]
    Month,
    /// A day that the month does not have.
    #[error("day is out of range for month")]
    Day,
    /// An hour above 23.
    #[error("hour must be in 0..23")]
    Hour,
    /// A minute above 59.
    #[error("minute must be in 0..59")]
    Minute,
    /// A second above 59.
    #[error("second must be in 0..59")]
    Second,
    /// A time beyond the calendar.
    #[error("date value out of range")]
    OutOfRange,
}

impl DateRange {
    /// Reads an expression, without `date:`.
    ///
    /// # Errors
    /// It is none, or names a time that does not exist.
    pub fn parse(text: &str, zones: &(impl Zones + ?Sized)) -> Result<DateRange, DateError> {
        let form = Form::read(text).ok_or_else(|| DateError::Unrecognised(text.into()))?;
        let zone = match form.zone {
            "" => None,
            written => Some(parse_zone(written, zones)?),
        };
        let fields = match form.date {
            Date::Epoch { .. } if zone.is_some() => return Err(DateError::ZoneAfterEpoch),
            Date::Epoch { secs } => {
                let start = Timestamp { secs, nanos: form.fraction_nanos.unwrap_or(0) };
                let end = Timestamp { secs: secs + 1, nanos: 0 };
                return Ok(DateRange { start, end: form.fraction_nanos.is_none().then_some(end) });
            }
            Date::EpochBeyondCalendar => return Err(DateError::OutOfRange),
            Date::Civil(fields) => fields,
        };
        let civil = fields.first_instant(form.fraction_nanos.unwrap_or(0))?;
        let zone = zone.unwrap_or_else(|| zones.local());
        let instant =
            |civil: DateTime| zone.to_timestamp(civil).map(Timestamp::from).map_err(|_| DateError::OutOfRange);
        let end = match form.fraction_nanos {
            Some(_) => None,
            None => Some(instant(fields.first_instant_after(civil)?)?),
        };
        Ok(DateRange { start: instant(civil)?, end })
    }

    /// Whether the point is meant.
    pub fn contains(&self, time: Timestamp) -> bool {
        match self.end {
            Some(end) => self.start <= time && time < end,
            None => self.start == time,
        }
    }
}

/// An expression taken apart, its numbers unchecked.
struct Form<'a> {
    date: Date,
    fraction_nanos: Option<u32>,
    zone: &'a str,
}

enum Date {
    Epoch { secs: i64 },
    EpochBeyondCalendar,
    Civil(Fields),
}

/// Year, month, day, hour, minute and second, as many as are given.
struct Fields {
    values: [u16; 6],
    given: usize,
}

impl<'a> Form<'a> {
    fn read(text: &'a str) -> Option<Form<'a>> {
        let (date, rest, may_have_fraction) = match text.strip_prefix('@') {
            Some(epoch) => {
                let digits = epoch.bytes().take_while(u8::is_ascii_digit).count();
                let (number, rest) = epoch.split_at(digits);
                let date = match number.parse::<i64>() {
                    _ if digits == 0 => return None,
                    Ok(secs) if secs <= CALENDAR_END_SECS => Date::Epoch { secs },
                    _ => Date::EpochBeyondCalendar,
                };
                (date, rest, true)
            }
            None => {
                let (fields, rest) = Fields::read(text)?;
                let has_seconds = fields.given == 6;
                (Date::Civil(fields), rest, has_seconds)
            }
        };
        let (fraction_nanos, zone) = match rest.strip_prefix('.') {
            None => (None, rest),
            Some(fraction) if may_have_fraction => {
                let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
                if !(1..=6).contains(&digits) {
                    return None;
                }
                let value: u32 = fraction[..digits].parse().ok()?;
                (Some(value * 10_u32.pow(9 - digits as u32)), &fraction[digits..])
            }
            Some(_) => return None,
        };
        has_zone_form(zone).then_some(Form { date, fraction_nanos, zone })
    }
}

impl Fields {
    /// Reads as many fields as there are, each with its separator before it.
    fn read(text: &str) -> Option<(Fields, &str)> {
        let mut fields = Fields { values: [0, 1, 1, 0, 0, 0], given: 0 };
        let mut rest = text;
        for (at, (separators, digits)) in FIELD_FORMS.into_iter().enumerate() {
            let Some(after) = (if at == 0 { Some(rest) } else { rest.strip_prefix(separators) }) else { break };
            let number = after.get(..digits).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
            // What is no field may still be a zone: `2025-01:00` is no month, and then no offset either.
            let Some(number) = number else { break };
            fields.values[at] = number.parse().ok()?;
            fields.given = at + 1;
            rest = &after[digits..];
            if at > 0 && separators == ['-'] && rest.starts_with(':') {
                // The minus began the offset `-HH:MM`.
                fields.values[at] = 1;
                fields.given = at;
                rest = &text[text.len() - rest.len() - digits - 1..];
                break;
            }
        }
        (fields.given > 0).then_some((fields, rest))
    }

    fn first_instant(&self, nanos: u32) -> Result<DateTime, DateError> {
        let [year, month, day, hour, minute, second] = self.values;
        if year == 0 {
            return Err(DateError::Year(0));
        }
        for (value, valid, error) in [
            (month, 1..=12, DateError::Month),
            (day, 1..=31, DateError::Day),
            (hour, 0..=23, DateError::Hour),
            (minute, 0..=59, DateError::Minute),
            (second, 0..=59, DateError::Second),
        ] {
            if !valid.contains(&value) {
                return Err(error);
            }
        }
        let [month, day, hour, minute, second] = [month, day, hour, minute, second].map(|value| value as i8);
        // Only the day can still be wrong.
        DateTime::new(year as i16, month, day, hour, minute, second, nanos as i32).map_err(|_| DateError::Day)
    }

    /// The first instant after the unit that begins at `start`.
    fn first_instant_after(&self, start: DateTime) -> Result<DateTime, DateError> {
        let unit: Span = match self.given {
            1 => 1.year(),
            2 => 1.month(),
            3 => 1.day(),
            4 => 1.hour(),
            5 => 1.minute(),
            _ => 1.second(),
        };
        match start.checked_add(unit) {
            Ok(end) if end.year() <= LAST_YEAR => Ok(end),
            _ if self.given <= 2 => Err(DateError::Year(LAST_YEAR as u16 + 1)),
            _ => Err(DateError::OutOfRange),
        }
    }
}

/// `Z`, `+HH:MM`, `-HH:MM`, `[NAME]` or nothing.
fn has_zone_form(text: &str) -> bool {
    match text.as_bytes() {
        b"" | b"Z" => true,
        [b'+' | b'-', hour @ .., b':', _, _] if hour.len() == 2 => {
            text.bytes().enumerate().all(|(at, byte)| matches!(at, 0 | 3) || byte.is_ascii_digit())
        }
        [b'[', name @ .., b']'] => !name.is_empty() && !name.contains(&b']'),
        _ => false,
    }
}

/// The zone of a text that has the form of one.
fn parse_zone(text: &str, zones: &(impl Zones + ?Sized)) -> Result<TimeZone, DateError> {
    if let Some(name) = text.strip_prefix('[') {
        return zones.named(name.trim_end_matches(']')).ok_or(DateError::UnknownZone);
    }
    let minutes = match text.split_once(':') {
        None => 0,
        Some((signed_hours, minutes)) => {
            let hours: i32 = signed_hours[1..].parse().map_err(|_| DateError::OffsetFormat)?;
            let minutes: i32 = minutes.parse().map_err(|_| DateError::OffsetFormat)?;
            if hours > 23 || minutes > 59 {
                return Err(DateError::OffsetFormat);
            }
            (hours * 60 + minutes) * if signed_hours.starts_with('-') { -1 } else { 1 }
        }
    };
    if !OFFSET_MINUTES.contains(&minutes) {
        return Err(DateError::OffsetBounds);
    }
    Ok(TimeZone::fixed(Offset::from_seconds(minutes * 60).map_err(|_| DateError::OffsetBounds)?))
}

/// Per field: what stands before it, and its digits.
const FIELD_FORMS: [(&[char], usize); 6] =
    [(&[], 4), (&['-'], 2), (&['-'], 2), (&[' ', 'T'], 2), (&[':'], 2), (&[':'], 2)];

/// The last year of Borg's calendar.
const LAST_YEAR: i16 = 9999;

/// The last second of [`LAST_YEAR`], less the one that an interval lasts.
const CALENDAR_END_SECS: i64 = 253_402_300_798;

/// The offsets in use on Earth.
const OFFSET_MINUTES: core::ops::RangeInclusive<i32> = -12 * 60..=14 * 60;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::Value;

    /// UTC as the local zone, and New York by its rules of 2007.
    pub(in super::super) struct TestZones;

    impl Zones for TestZones {
        fn local(&self) -> TimeZone {
            TimeZone::UTC
        }
        fn named(&self, name: &str) -> Option<TimeZone> {
            (name == "America/New_York").then(|| TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap())
        }
    }

    #[test]
    fn expressions_mean_what_borg_takes_them_for() {
        let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
        let cases = vectors["date_patterns"].as_array().unwrap();
        assert_eq!(cases.len(), 17);
        for case in cases {
            let text = case["expr"].as_str().unwrap();
            let range = DateRange::parse(text, &TestZones);
            if case["error"] == true {
                assert!(range.is_err(), "{text}");
                continue;
            }
            let time = |key: &str| case[key].as_str().map(|iso| Timestamp::parse_iso(iso).unwrap());
            let expected = DateRange { start: time("start").unwrap(), end: time("end_exclusive") };
            assert_eq!(range, Ok(expected), "{text}");
            assert_eq!(case["exact"].as_bool().unwrap(), expected.end.is_none());
        }
    }

    /// Each error is what the real client says.
    #[test]
    fn what_is_no_date_is_told_as_by_borg() {
        use alloc::string::ToString;
        for (text, message) in [
            ("2025-13", "month must be in 1..12"),
            ("2025-00", "month must be in 1..12"),
            ("it's", "unrecognised date: \"it's\""),
            ("@1Z", "Unix timestamps must not have timezone suffixes"),
            ("2025-01+15:00", "UTC offset outside ISO-8601 bounds"),
            ("0000", "year 0 is out of range"),
            ("9999", "year 10000 is out of range"),
            ("9999-12-31", "date value out of range"),
            ("2025[No/Where]", "invalid timezone format"),
            ("2025-02-30", "day is out of range for month"),
            ("2025-01-01T24", "hour must be in 0..23"),
            ("2025-01-01T23:60", "minute must be in 0..59"),
            ("2025-01-01T23:59:60", "second must be in 0..59"),
            ("@999999999999", "date value out of range"),
            ("2025+25:00", "invalid UTC offset format"),
            ("2025-01+12:99", "invalid UTC offset format"),
        ] {
            assert_eq!(DateRange::parse(text, &TestZones).unwrap_err().to_string(), message, "{text}");
        }
        for text in [
            "",
            "@",
            "@1.",
            "2025-1",
            "2025-",
            "2025-01-01T",
            "2025-01.5",
            "2025z",
            "2025[]",
            "2025-01-01T1:2",
            "äöü-ä",
        ] {
            let error = DateRange::parse(text, &TestZones).unwrap_err();
            assert_eq!(error, DateError::Unrecognised(text.into()));
        }
    }

    #[test]
    fn a_minus_begins_a_field_or_an_offset() {
        let parse = |text| DateRange::parse(text, &TestZones).unwrap().start;
        assert_eq!(parse("2025-03:00"), parse("2025-01-01T03Z"));
        assert_eq!(parse("2025-02-03:00"), parse("2025-02-01T03Z"));
        assert_eq!(parse("2025-02-03-04:00"), parse("2025-02-03T04Z"));
    }

    #[test]
    fn a_day_of_a_zone_lasts_from_midnight_to_midnight() {
        let range = DateRange::parse("2025-03-09[America/New_York]", &TestZones).unwrap();
        let hours = (range.end.unwrap().secs - range.start.secs) / 3600;
        assert_eq!(hours, 23);
    }
}
