//! Times by a `strftime` format, as Python has it on Linux.

use crate::time::Timestamp;
use alloc::string::String;
use jiff::fmt::strtime::{BrokenDownTime, Config, PosixCustom};
use jiff::tz::TimeZone;

/// The time in the zone, in the C locale; `None` outside the calendar. What is no conversion stays as it is.
pub fn strftime(time: Timestamp, zone: &TimeZone, format: &str) -> Option<String> {
    let zoned = time.to_jiff()?.to_zoned_datetime(zone.clone());
    let config = Config::new().custom(PosixCustom::new()).lenient(true);
    BrokenDownTime::from(&zoned).to_string_with_config(&config, translate(format)).ok()
}

/// Keeps what both libraries know, and escapes what only the calendar library does.
fn translate(format: &str) -> String {
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    while let Some(percent) = rest.find('%') {
        out.push_str(&rest[..percent]);
        rest = &rest[percent + 1..];
        let options = rest.find(|c: char| !"-_0^#".contains(c) && !c.is_ascii_digit()).unwrap_or(rest.len());
        let (options, after) = rest.split_at(options);
        // Alternative forms are those of the C locale, which has none.
        let after = after.strip_prefix(['E', 'O']).filter(|after| after.starts_with(CONVERSIONS)).unwrap_or(after);
        out.push('%');
        match after.chars().next() {
            Some('f') if options.is_empty() => out.push_str("6f"),
            Some(conversion) if CONVERSIONS.contains(&conversion) => {
                out.push_str(options);
                out.push(conversion);
            }
            _ => {
                // No conversion: a literal percent sign, and on with what follows it.
                out.push('%');
                continue;
            }
        }
        rest = &after[1..];
    }
    out.push_str(rest);
    out
}

/// The conversions of glibc.
const CONVERSIONS: &[char] = &[
    '%', 'A', 'B', 'C', 'D', 'F', 'G', 'H', 'I', 'M', 'P', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b', 'c',
    'd', 'e', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'u', 'w', 'x', 'y', 'z',
];

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::Offset;

    /// Seen from Python's `datetime.strftime` under glibc.
    #[test]
    fn formats_give_what_python_gives() {
        let time = Timestamp::parse_iso("2025-03-02T04:05:06.007089-03:30").unwrap();
        let zone = TimeZone::fixed(Offset::from_seconds(-12_600).unwrap());
        for (format, expected) in [
            ("%a %A %b %B %c", "Sun Sunday Mar March Sun Mar  2 04:05:06 2025"),
            ("%d %e %H %I %j", "02  2 04 04 061"),
            ("%m %M %p %S %U %w %W", "03 05 AM 06 09 0 08"),
            ("%x %X %y %Y %z", "03/02/25 04:05:06 25 2025 -0330"),
            ("%G %V %u %f %%", "2025 09 7 007089 %"),
            ("%D %F %R %T %r", "03/02/25 2025-03-02 04:05 04:05:06 04:05:06 AM"),
            ("%h %C %g %k %l", "Mar 20 25  4  4"),
            ("%s %n %t", "1740900906 \n \t"),
            ("%P %E %Q %+", "am %E %Q %+"),
            ("%-d %_d %^a", "2  2 SUN"),
            ("%:z %3f %.f %", "%:z %3f %.f %"),
            ("%Ey %Od", "25 02"),
            ("%L %N %q %i", "%L %N %q %i"),
            ("ä%ä%", "ä%ä%"),
        ] {
            assert_eq!(strftime(time, &zone, format).as_deref(), Some(expected), "{format}");
        }
    }
}
