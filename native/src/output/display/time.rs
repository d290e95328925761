//! Points in time as Borg shows them: in the local zone (command line, section 4.3).

use jiff::tz::TimeZone;
use portaborg_core::text::{Value, isoformat, strftime};
use portaborg_core::time::{NANOS_PER_SEC, Timestamp};

/// `Thu, 2026-08-28 08:59:56 +0200`.
pub fn display(time: Timestamp, zone: &TimeZone) -> String {
    let mut out = Vec::new();
    strftime(&time.in_zone(zone), PLAIN, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// `2026-08-28T08:59:56.123456+02:00`, as in JSON.
pub fn iso(time: Timestamp, zone: &TimeZone) -> String {
    isoformat(&time.in_zone(zone))
}

/// The time for a format string.
pub fn value(time: Timestamp, zone: &TimeZone) -> Value<'static> {
    Value::Time { time: time.in_zone(zone), plain: PLAIN }
}

/// A file's time as it is shown: bounded to 1970 and 2262, since file systems are full of nonsense.
pub fn bounded(time: Timestamp) -> Timestamp {
    let (min, max) = (Timestamp { secs: 0, nanos: 0 }, Timestamp { secs: MAX_FILE_SECS, nanos: 0 });
    time.clamp(min, max)
}

const PLAIN: &str = "%a, %Y-%m-%d %H:%M:%S %z";

/// The newest time of a file that is shown as it is; later ones look like this one (Borg's bound, in the year 2262).
const MAX_FILE_SECS: i64 = (i64::MAX / NANOS_PER_SEC as i64) - 48 * 3600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_times_are_bounded() {
        let late = Timestamp { secs: i64::MAX, nanos: 5 };
        assert_eq!(bounded(late).as_nanos(), 9_223_199_236_000_000_000);
        assert_eq!(bounded(Timestamp { secs: -7, nanos: 5 }), Timestamp::default());
    }

    #[test]
    fn times_are_shown_in_their_zone() {
        let (time, zone) =
            (Timestamp { secs: 1_700_000_000, nanos: 123_456_789 }, TimeZone::get("Europe/Berlin").unwrap());
        assert_eq!(display(time, &zone), "Tue, 2023-11-14 23:13:20 +0100");
        assert_eq!(iso(time, &zone), "2023-11-14T23:13:20.123456+01:00");
    }
}
