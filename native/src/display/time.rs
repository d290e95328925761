//! Points in time as Borg shows them: in the local zone (command line, section 4.3).

use super::strftime;
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;
use portaborg_core::time::{NANOS_PER_SEC, Timestamp};

/// The newest time of a file that is shown as it is; later ones look like this one (Borg's bound, in the year 2262).
const MAX_FILE_SECS: i64 = (i64::MAX / NANOS_PER_SEC as i64) - 48 * 3600;

/// The time in a zone. Times that the calendar doesn't reach become its nearest end.
pub(crate) fn in_zone(time: Timestamp, zone: &TimeZone) -> ZonedDateTime {
    let nearest = if time.secs < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    time.to_jiff().unwrap_or(nearest).to_zoned_datetime(zone.clone())
}

/// A file's time as it is shown: bounded to 1970 and 2262, since file systems are full of nonsense.
pub(crate) fn bounded(time: Timestamp) -> Timestamp {
    let (min, max) = (Timestamp { secs: 0, nanos: 0 }, Timestamp { secs: MAX_FILE_SECS, nanos: 0 });
    time.clamp(min, max)
}

/// `Thu, 2026-08-28 08:59:56 +0200`.
pub(crate) fn display(time: &ZonedDateTime) -> String {
    let mut out = Vec::new();
    strftime::format(time, "%a, %Y-%m-%d %H:%M:%S %z", &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// `2026-08-28T08:59:56.123456+02:00`: ISO 8601 with microseconds, as in JSON.
pub(crate) fn iso(time: &ZonedDateTime) -> String {
    let base = iso_base(time);
    format!("{base}.{:06}{}", time.subsec_nanosecond() / 1000, iso_offset(time))
}

/// `2026-08-28T08:59:56.123456789+02:00`: ISO 8601 with nanoseconds, as `diff` shows it.
pub(crate) fn iso_nanos(time: &ZonedDateTime) -> String {
    format!("{}.{:09}{}", iso_base(time), time.subsec_nanosecond(), iso_offset(time))
}

/// `2026-08-28T08:59:56`: what placeholders show, without an offset.
pub(crate) fn iso_base(time: &ZonedDateTime) -> String {
    let (year, month, day) = (time.year(), time.month(), time.day());
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())
}

fn iso_offset(time: &ZonedDateTime) -> String {
    let secs = time.offset().seconds();
    let sign = if secs < 0 { '-' } else { '+' };
    let secs = secs.unsigned_abs();
    let rest = if secs.is_multiple_of(60) { String::new() } else { format!(":{:02}", secs % 60) };
    format!("{sign}{:02}:{:02}{rest}", secs / 3600, secs / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table was made by Python's `isoformat()` and `strftime()`.
    #[test]
    fn times_look_as_in_python() {
        let cases: serde_json::Value = serde_json::from_str(include_str!("testdata/times.json")).unwrap();
        let cases: Vec<_> = cases.as_array().unwrap().iter().filter(|case| !case["iso"].is_null()).collect();
        assert!(cases.len() > 40);
        for case in cases {
            let nanos: i128 = case["t"].as_str().unwrap().parse().unwrap();
            let zone = TimeZone::get(case["z"].as_str().unwrap()).unwrap();
            let time = in_zone(Timestamp::from_nanos(nanos), &zone);
            assert_eq!(iso(&time), case["iso"].as_str().unwrap());
            assert_eq!(display(&time), case["d"].as_str().unwrap());
        }
    }

    #[test]
    fn file_times_are_bounded() {
        let late = Timestamp { secs: i64::MAX, nanos: 5 };
        assert_eq!(bounded(late).as_nanos(), 9_223_199_236_000_000_000);
        assert_eq!(bounded(Timestamp { secs: -7, nanos: 5 }), Timestamp::default());
        let time = in_zone(late, &TimeZone::UTC);
        assert_eq!(time.year(), 9999);
    }

    #[test]
    fn nanoseconds_are_kept_for_diff() {
        let time = in_zone(Timestamp { secs: 1_700_000_000, nanos: 7 }, &TimeZone::UTC);
        assert_eq!(iso_nanos(&time), "2023-11-14T22:13:20.000000007+00:00");
    }
}
