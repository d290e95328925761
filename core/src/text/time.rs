//! Points in time as Python's `strftime` and `isoformat` show them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jiff::ZonedDateTime;

/// Appends the time in the given format, as Python has it on Linux: glibc's directives in the C locale, and Python's `%f`
/// (command line, section 4.1). What is no directive stays as it stands.
pub fn strftime(time: &ZonedDateTime, format: &str, out: &mut Vec<u8>) {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let (directive, end) = Directive::parse(&rest[at..]);
        let text = directive.expand(time);
        let width = directive.width.unwrap_or(0).min(MAX_WIDTH_CHARS);
        let fill = if directive.pad == Some('0') { b'0' } else { b' ' };
        out.extend(core::iter::repeat_n(fill, width.saturating_sub(text.chars().count())));
        out.extend_from_slice(text.as_bytes());
        rest = &rest[at + end..];
    }
    out.extend_from_slice(rest.as_bytes());
}

/// `2026-08-28T08:59:56.123456+02:00`: ISO 8601 with microseconds, as in JSON.
pub fn isoformat(time: &ZonedDateTime) -> String {
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let (micros, offset) = (time.subsec_nanosecond() / 1000, offset(time, ":"));
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}{offset}")
}

/// `%[flags][width][modifier]letter`.
struct Directive<'a> {
    /// All of it, from the percent sign on.
    text: &'a str,
    pad: Option<char>,
    upper: bool,
    swap: bool,
    width: Option<usize>,
    modifier: Option<char>,
    /// `None` at the end of the format.
    letter: Option<char>,
}

impl<'a> Directive<'a> {
    /// Parses what begins with a percent sign; also tells where it ends.
    fn parse(text: &'a str) -> (Self, usize) {
        let mut directive =
            Directive { text, pad: None, upper: false, swap: false, width: None, modifier: None, letter: None };
        let mut end = text.len();
        let mut flags = true;
        for (at, c) in text.char_indices().skip(1) {
            match c {
                '_' | '-' | '0' if flags => directive.pad = Some(c),
                '^' if flags => directive.upper = true,
                '#' if flags => directive.swap = true,
                '0'..='9' if directive.modifier.is_none() => {
                    flags = false;
                    let digit = c as usize - '0' as usize;
                    directive.width = Some(directive.width.unwrap_or(0).saturating_mul(10).saturating_add(digit));
                }
                'E' | 'O' if directive.modifier.is_none() => {
                    flags = false;
                    directive.modifier = Some(c);
                }
                letter => {
                    directive.letter = Some(letter);
                    end = at + letter.len_utf8();
                    break;
                }
            }
        }
        directive.text = &text[..end];
        (directive, end)
    }

    fn expand(&self, time: &ZonedDateTime) -> String {
        let Some(text) = self.plain(time) else { return self.text.into() };
        if self.upper && self.letter != Some('P') { text.to_uppercase() } else { text }
    }

    /// The text before its case is changed; `None` if this is no directive.
    fn plain(&self, time: &ZonedDateTime) -> Option<String> {
        let letter = self.letter?;
        let allowed = match self.modifier {
            None => true,
            Some('E') => matches!(letter, 'c' | 'C' | 'x' | 'X' | 'y' | 'Y' | 's'),
            Some(_) => {
                matches!(
                    letter,
                    'd' | 'e' | 'H' | 'I' | 'k' | 'l' | 'm' | 'M' | 'S' | 'u' | 'U' | 'V' | 'w' | 'W' | 'y'
                )
            }
        };
        if !allowed {
            return None;
        }
        let weekday = usize::from(time.weekday().to_sunday_zero_offset().unsigned_abs()) % 7;
        let month = usize::from(time.month().unsigned_abs()).clamp(1, 12) - 1;
        let hour12 = i64::from(time.hour() + 11) % 12 + 1;
        let week = time.date().iso_week_date();
        let yday = i64::from(time.day_of_year()) - 1;
        let sub = |format: &str| {
            let mut out = Vec::new();
            strftime(time, format, &mut out);
            Some(String::from_utf8_lossy(&out).into_owned())
        };
        match letter {
            'a' => self.name(&DAYS[weekday][..3]),
            'A' => self.name(DAYS[weekday]),
            'b' | 'h' => self.name(&MONTHS[month][..3]),
            'B' => self.name(MONTHS[month]),
            'c' => sub("%a %b %e %H:%M:%S %Y"),
            'C' => self.number(i64::from(time.year()).div_euclid(100), 2, '0'),
            'd' => self.number(time.day(), 2, '0'),
            'D' | 'x' => sub("%m/%d/%y"),
            'e' => self.number(time.day(), 2, '_'),
            'F' => sub("%Y-%m-%d"),
            'g' => self.number(i64::from(week.year()).rem_euclid(100), 2, '0'),
            'G' => self.number(week.year(), 1, '0'),
            'H' => self.number(time.hour(), 2, '0'),
            'I' => self.number(hour12, 2, '0'),
            'j' => self.number(yday + 1, 3, '0'),
            'k' => self.number(time.hour(), 2, '_'),
            'l' => self.number(hour12, 2, '_'),
            'm' => self.number(time.month(), 2, '0'),
            'M' => self.number(time.minute(), 2, '0'),
            'n' => Some("\n".into()),
            'p' => {
                let text = if time.hour() < 12 { "AM" } else { "PM" };
                Some(if self.swap { text.to_lowercase() } else { text.into() })
            }
            'P' => Some(if time.hour() < 12 { "am" } else { "pm" }.into()),
            'r' => sub("%I:%M:%S %p"),
            'R' => sub("%H:%M"),
            's' => Some(time.timestamp().as_second().to_string()),
            'S' => self.number(time.second(), 2, '0'),
            't' => Some("\t".into()),
            'T' | 'X' => sub("%H:%M:%S"),
            'u' => self.number(time.weekday().to_monday_one_offset(), 1, '0'),
            'U' => self.number((yday + 7 - weekday as i64) / 7, 2, '0'),
            'V' => self.number(week.week(), 2, '0'),
            'w' => self.number(weekday as i64, 1, '0'),
            'W' => self.number((yday + 7 - (weekday as i64 + 6) % 7) / 7, 2, '0'),
            'y' => self.number(i64::from(time.year()).rem_euclid(100), 2, '0'),
            'Y' => self.number(time.year(), 1, '0'),
            'z' => Some(offset(time, "")),
            'Z' => Some(zone_name(time)),
            'f' if self.text == "%f" => Some(format!("{:06}", time.subsec_nanosecond() / 1000)),
            '%' => Some("%".into()),
            _ => None,
        }
    }

    fn name(&self, name: &str) -> Option<String> {
        Some(if self.swap { name.to_uppercase() } else { name.into() })
    }

    /// A number of at least `digits` digits; flags and width change what stands before it.
    fn number(&self, number: impl Into<i64>, digits: usize, default_pad: char) -> Option<String> {
        let number = number.into();
        let digits = self.width.unwrap_or(0).min(MAX_WIDTH_CHARS).max(digits);
        let sign = if number < 0 { "-" } else { "" };
        let magnitude = number.unsigned_abs();
        Some(match self.pad.unwrap_or(default_pad) {
            '-' => format!("{number}"),
            '_' => format!("{number:>digits$}"),
            _ => format!("{sign}{magnitude:0>width$}", width = digits - sign.len()),
        })
    }
}

/// `+0100`, or with a separator `+01:00`; with seconds if there are any.
fn offset(time: &ZonedDateTime, separator: &str) -> String {
    let secs = time.offset().seconds();
    let sign = if secs < 0 { '-' } else { '+' };
    let secs = secs.unsigned_abs();
    let rest = if secs.is_multiple_of(60) { String::new() } else { format!("{separator}{:02}", secs % 60) };
    format!("{sign}{:02}{separator}{:02}{rest}", secs / 3600, secs / 60 % 60)
}

fn zone_name(time: &ZonedDateTime) -> String {
    time.time_zone().to_offset_info(time.timestamp()).abbreviation().into()
}

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Widths beyond this many characters are cut to it.
const MAX_WIDTH_CHARS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;
    use jiff::tz::{Offset, TimeZone};

    fn shown(time: &ZonedDateTime, format: &str) -> String {
        let mut out = Vec::new();
        strftime(time, format, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// The table was made by Python's `strftime()` and `isoformat()` on Linux.
    #[test]
    fn times_look_as_in_python() {
        let cases: serde_json::Value = serde_json::from_str(include_str!("testdata/times.json")).unwrap();
        let (mut formats, mut plain) = (0, 0);
        for case in cases.as_array().unwrap() {
            let nanos: i128 = case["t"].as_str().unwrap().parse().unwrap();
            let zone = TimeZone::get(case["z"].as_str().unwrap()).unwrap();
            let time = Timestamp::from_nanos(nanos).in_zone(&zone);
            match case["s"].as_str() {
                Some(format) => {
                    formats += 1;
                    assert_eq!(shown(&time, format), case["r"].as_str().unwrap(), "{case}");
                }
                None => {
                    plain += 1;
                    assert_eq!(isoformat(&time), case["iso"].as_str().unwrap());
                    assert_eq!(shown(&time, "%a, %Y-%m-%d %H:%M:%S %z"), case["d"].as_str().unwrap());
                }
            }
        }
        assert!(formats > 200 && plain > 40);
    }

    /// Seen from Python's `datetime.strftime` under glibc.
    #[test]
    fn formats_give_what_python_gives() {
        let time = Timestamp::parse_iso("2025-03-02T04:05:06.007089-03:30").unwrap();
        let time = time.in_zone(&TimeZone::fixed(Offset::from_seconds(-12_600).unwrap()));
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
            assert_eq!(shown(&time, format), expected, "{format}");
        }
    }
}
