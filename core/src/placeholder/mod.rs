//! Placeholders in names, comments and locations (data layer, section 16).

mod error;
mod spec;
mod strftime;
mod template;

pub use error::{FormatFault, PlaceholderError};
pub use spec::FormatSpec;
pub use strftime::strftime;
pub use template::{Field, Piece, Template};

use crate::limits::{BORG_RELEASE, BORG_VERSION};
use crate::time::Timestamp;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jiff::tz::TimeZone;

/// What placeholders stand for, as the face knows it.
#[derive(Debug, Clone)]
pub struct Placeholders {
    /// `{hostname}`: `BORG_HOSTNAME`, or the host's short name.
    pub hostname: String,
    /// `{fqdn}`, and with its labels reversed `{reverse-fqdn}`.
    pub fqdn: String,
    /// `{user}`: `BORG_USERNAME`, or the login name.
    pub user: String,
    /// `{pid}`.
    pub pid: u32,
    /// `{uuid4}`: a random one, in text form. Borg draws a new one for every text.
    pub uuid4: String,
    /// `{now}` and `{utcnow}`: the current time, or that of `--timestamp`.
    pub now: Timestamp,
    /// `{unixtime}`: the current time in any case, in whole seconds.
    pub unixtime: i64,
    /// The local zone, for `{now}`.
    pub zone: TimeZone,
}

/// The text with its placeholders replaced; `{{` and `}}` are braces.
///
/// # Errors
/// A name that is no placeholder (also with a `!conversion`), or a brace or format that means nothing.
pub fn replace(text: &str, values: &Placeholders) -> Result<String, PlaceholderError> {
    let bad_format = |fault| PlaceholderError::BadFormat { text: text.into(), fault };
    for piece in Template::new(text) {
        if let Piece::Field(field) = piece.map_err(bad_format)?
            && !field.name.is_empty()
            && (field.conversion.is_some() || values.get(field.name).is_none())
        {
            return Err(PlaceholderError::Unknown { name: field.name.into(), text: text.into() });
        }
    }
    expand(text, values, MAX_NESTING).map_err(bad_format)
}

/// A format may hold placeholders itself, down to `nesting` levels.
fn expand(text: &str, values: &Placeholders, nesting: usize) -> Result<String, FormatFault> {
    let nesting = nesting.checked_sub(1).ok_or(FormatFault::NestedTooDeep)?;
    let mut out = String::with_capacity(text.len());
    for piece in Template::new(text) {
        match piece? {
            Piece::Literal(literal) => out.push_str(literal),
            Piece::Field(field) => {
                if field.name.is_empty() || field.name.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(FormatFault::Positional);
                }
                let value = values.get(field.name).ok_or_else(|| FormatFault::UnknownKey(field.name.into()))?;
                let format = match field.format.contains(['{', '}']) {
                    true => Cow::Owned(expand(field.format, values, nesting)?),
                    false => Cow::Borrowed(field.format),
                };
                out.push_str(&value.format(&format)?);
            }
        }
    }
    Ok(out)
}

impl Placeholders {
    fn get(&self, name: &str) -> Option<Value<'_>> {
        let [major, minor, patch] = BORG_RELEASE;
        Some(match name {
            "hostname" => Value::text(&self.hostname),
            "fqdn" => Value::text(&self.fqdn),
            "reverse-fqdn" => Value::Text(self.fqdn.split('.').rev().collect::<Vec<_>>().join(".").into()),
            "user" => Value::text(&self.user),
            "pid" => Value::Number(self.pid.into()),
            "uuid4" => Value::text(&self.uuid4),
            "now" => Value::Time(self.now, self.zone.clone()),
            "utcnow" => Value::Time(self.now, TimeZone::UTC),
            "unixtime" => Value::Number(self.unixtime),
            "borgversion" => Value::text(BORG_VERSION),
            "borgmajor" => Value::Text(format!("{major}").into()),
            "borgminor" => Value::Text(format!("{major}.{minor}").into()),
            "borgpatch" => Value::Text(format!("{major}.{minor}.{patch}").into()),
            _ => return None,
        })
    }
}

enum Value<'a> {
    Text(Cow<'a, str>),
    Number(i64),
    Time(Timestamp, TimeZone),
}

impl<'a> Value<'a> {
    fn text(text: &'a str) -> Self {
        Value::Text(text.into())
    }

    fn format(&self, format: &str) -> Result<String, FormatFault> {
        match self {
            Value::Text(text) => FormatSpec::parse(format, "str")?.format_text(text),
            Value::Number(number) => FormatSpec::parse(format, "int")?.format_number((*number).into()),
            Value::Time(time, zone) => {
                let format = if format.is_empty() { DEFAULT_TIME_FORMAT } else { format };
                strftime(*time, zone, format).ok_or(FormatFault::TimeOutOfRange)
            }
        }
    }
}

const DEFAULT_TIME_FORMAT: &str = "%Y-%m-%dT%H:%M:%S";

/// A text, and the formats in it: Python's limit.
const MAX_NESTING: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn values() -> Placeholders {
        Placeholders {
            hostname: "host".into(),
            fqdn: "host.example.org".into(),
            user: "fixture".into(),
            pid: 4321,
            uuid4: "89b5204f-d88c-4cb6-bb6f-df3cc7cb87b4".into(),
            now: Timestamp::parse_iso("2025-03-02T04:05:06.007089-03:30").unwrap(),
            unixtime: 1_740_888_506,
            zone: TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap(),
        }
    }

    #[test]
    fn placeholders_are_replaced() {
        for (text, expected) in [
            ("", ""),
            ("{hostname}-{user}", "host-fixture"),
            ("{fqdn} {reverse-fqdn}", "host.example.org org.example.host"),
            ("{now} {utcnow}", "2025-03-02T02:35:06 2025-03-02T07:35:06"),
            ("{now:%Y-%m} {utcnow:%H:%M:%S.%f %Z}", "2025-03 07:35:06.007089 UTC"),
            ("{now:%z %Z}", "-0500 EST"),
            ("{unixtime} {pid:08} {pid:>6}", "1740888506 00004321   4321"),
            ("{uuid4:.8}", "89b5204f"),
            ("{borgversion} {borgmajor} {borgminor} {borgpatch}", "2.0.0b25 2 2.0 2.0.0"),
            ("sh:{{a,b}}-{{{user}}}", "sh:{a,b}-{fixture}"),
            ("{user:{pid}.3}|", &("fix".to_string() + &" ".repeat(4318) + "|")),
        ] {
            assert_eq!(replace(text, &values()).as_deref(), Ok(expected), "{text}");
        }
    }

    /// The texts of the real client; the dictionary that Borg prints is left out.
    #[test]
    fn what_can_not_be_replaced_is_told_as_by_borg() {
        for (text, message) in [
            ("{nope}", "Invalid placeholder \"nope\" in string: {nope}"),
            ("{0}", "Invalid placeholder \"0\" in string: {0}"),
            ("{user!r}", "Invalid placeholder \"user\" in string: {user!r}"),
            ("{user.x}", "Invalid placeholder \"user.x\" in string: {user.x}"),
            ("{user[0]}", "Invalid placeholder \"user[0]\" in string: {user[0]}"),
            ("{}", "Formatting Error: \"{}\".format({...}): ValueError(Format string contains positional fields)"),
            ("{user:{nope}}", "Formatting Error: \"{user:{nope}}\".format({...}): KeyError('nope')"),
            (
                "{pid:q}",
                "Formatting Error: \"{pid:q}\".format({...}): ValueError(Unknown format code 'q' for object of type 'int')",
            ),
            (
                "{user:{{}}}",
                "Formatting Error: \"{user:{{}}}\".format({...}): ValueError(Invalid format specifier '{}' for object of type 'str')",
            ),
            ("{", "Formatting Error: \"{\".format({...}): ValueError(Single '{' encountered in format string)"),
            (
                "{user:{pid:{pid}}}",
                "Formatting Error: \"{user:{pid:{pid}}}\".format({...}): ValueError(Max string recursion exceeded)",
            ),
        ] {
            assert_eq!(replace(text, &values()).unwrap_err().to_string(), message, "{text}");
        }
    }
}
