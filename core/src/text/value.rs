//! The values that format keys stand for.

use super::repr::{Ascii, Repr};
use super::time::{isoformat, strftime};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jiff::ZonedDateTime;

/// The value of a format key.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// Not known; Python's `None`.
    None,
    /// A text.
    Text(Cow<'a, str>),
    /// An integer.
    Int(i128),
    /// A point in time.
    Time {
        /// It, in the zone in which it is shown.
        time: ZonedDateTime,
        /// The `strftime` format that an empty specification means.
        plain: &'static str,
    },
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

impl<T: Into<i128>> From<Option<T>> for Value<'_> {
    fn from(number: Option<T>) -> Self {
        number.map_or(Value::None, |number| Value::Int(number.into()))
    }
}

impl Value<'_> {
    /// Appends the value as an empty specification shows it.
    pub fn write_plain(&self, out: &mut Vec<u8>) {
        match self {
            Value::None => out.extend_from_slice(b"None"),
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
            Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Time { time, plain } => strftime(time, plain, out),
        }
    }

    /// The text that a conversion (`!s`, `!r` or `!a`) makes of the value; `None` for another conversion.
    pub fn converted(&self, conversion: char) -> Option<String> {
        let text = match self {
            Value::Time { time, .. } if conversion == 's' => isoformat(time),
            Value::Time { .. } => "<OutputTimestamp>".into(), // Python shows an address in memory
            Value::None => "None".into(),
            Value::Int(number) => number.to_string(),
            Value::Text(text) if conversion == 's' => text.to_string(),
            Value::Text(text) if conversion == 'a' => Ascii(text.as_bytes()).to_string(),
            Value::Text(text) => Repr(text.as_bytes()).to_string(),
        };
        matches!(conversion, 's' | 'r' | 'a').then_some(text)
    }
}
