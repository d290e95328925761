//! Placeholders in names, comments and locations (data layer, section 16).

use crate::limits::{BORG_RELEASE, BORG_VERSION};
use crate::text::{Piece, Pieces, RenderError, Template, Value};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jiff::tz::TimeZone;
use thiserror::Error;

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

/// A text whose placeholders can't be replaced. The fault of who wrote it; the messages are Borg's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlaceholderError {
    /// Braces or a format that mean nothing (Borg's `PlaceholderError`, exit code 5).
    #[error("Formatting Error: \"{text}\".format({{...}}): {}({fault})", fault.exception())]
    BadFormat {
        /// The whole text.
        text: String,
        /// What is wrong with it.
        fault: RenderError,
    },
    /// No placeholder has this name, or a `!conversion` follows it (Borg's `InvalidPlaceholder`, exit code 6).
    #[error("Invalid placeholder \"{name}\" in string: {text}")]
    Unknown {
        /// What stands between the braces, up to `!` or `:`.
        name: String,
        /// The whole text.
        text: String,
    },
}

/// The text with its placeholders replaced; `{{` and `}}` are braces.
///
/// # Errors
/// A name that is no placeholder (also with a `!conversion`), or a brace or format that means nothing.
pub fn replace(text: &str, values: &Placeholders) -> Result<String, PlaceholderError> {
    let bad_format = |fault: RenderError| PlaceholderError::BadFormat { text: text.into(), fault };
    for piece in Pieces::new(text) {
        if let Piece::Field(field) = piece.map_err(|error| bad_format(error.into()))?
            && !field.name.is_empty()
            && (field.conversion.is_some() || Placeholder::from_name(field.name).is_none())
        {
            return Err(PlaceholderError::Unknown { name: field.name.into(), text: text.into() });
        }
    }
    let template = Template::compile_lazily(text, Placeholder::from_name).map_err(|error| bad_format(error.into()))?;
    let mut out = Vec::with_capacity(text.len());
    template.render(&mut |placeholder| values.get(placeholder), &mut out).map_err(bad_format)?;
    Ok(String::from_utf8(out).expect("the template and all values are texts"))
}

impl Placeholders {
    fn get(&self, placeholder: Placeholder) -> Value<'_> {
        let [major, minor, patch] = BORG_RELEASE;
        let time = |zone| Value::Time { time: self.now.in_zone(zone), plain: "%Y-%m-%dT%H:%M:%S" };
        match placeholder {
            Placeholder::Hostname => (&*self.hostname).into(),
            Placeholder::Fqdn => (&*self.fqdn).into(),
            Placeholder::ReverseFqdn => self.fqdn.split('.').rev().collect::<Vec<_>>().join(".").into(),
            Placeholder::User => (&*self.user).into(),
            Placeholder::Pid => Value::Int(self.pid.into()),
            Placeholder::Uuid4 => (&*self.uuid4).into(),
            Placeholder::Now => time(&self.zone),
            Placeholder::UtcNow => time(&TimeZone::UTC),
            Placeholder::UnixTime => Value::Int(self.unixtime.into()),
            Placeholder::BorgVersion => BORG_VERSION.into(),
            Placeholder::BorgMajor => format!("{major}").into(),
            Placeholder::BorgMinor => format!("{major}.{minor}").into(),
            Placeholder::BorgPatch => format!("{major}.{minor}.{patch}").into(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Placeholder {
    Hostname,
    Fqdn,
    ReverseFqdn,
    User,
    Pid,
    Uuid4,
    Now,
    UtcNow,
    UnixTime,
    BorgVersion,
    BorgMajor,
    BorgMinor,
    BorgPatch,
}

impl Placeholder {
    fn from_name(name: &str) -> Option<Placeholder> {
        Some(match name {
            "hostname" => Placeholder::Hostname,
            "fqdn" => Placeholder::Fqdn,
            "reverse-fqdn" => Placeholder::ReverseFqdn,
            "user" => Placeholder::User,
            "pid" => Placeholder::Pid,
            "uuid4" => Placeholder::Uuid4,
            "now" => Placeholder::Now,
            "utcnow" => Placeholder::UtcNow,
            "unixtime" => Placeholder::UnixTime,
            "borgversion" => Placeholder::BorgVersion,
            "borgmajor" => Placeholder::BorgMajor,
            "borgminor" => Placeholder::BorgMinor,
            "borgpatch" => Placeholder::BorgPatch,
            _ => return None,
        })
    }
}

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
