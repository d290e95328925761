//! The values that format keys stand for.

use crate::display::time;
use jiff::ZonedDateTime;
use std::borrow::Cow;

/// The value of a format key.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    /// Not known; Python's `None`.
    None,
    /// A text.
    Text(Cow<'a, str>),
    /// An integer.
    Int(i128),
    /// A point in time, in the zone in which it is shown.
    Time(ZonedDateTime),
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
    pub(crate) fn write_plain(&self, out: &mut Vec<u8>) {
        match self {
            Value::None => out.extend_from_slice(b"None"),
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
            Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Time(time) => out.extend_from_slice(time::display(time).as_bytes()),
        }
    }

    /// The text that a conversion (`!s`, `!r` or `!a`) makes of the value; `None` for another conversion.
    pub(crate) fn converted(&self, conversion: char) -> Option<String> {
        let text = match self {
            Value::Time(time) if conversion == 's' => return Some(time::iso(time)),
            Value::Time(_) => "<OutputTimestamp>".into(), // Python shows an address in memory
            Value::None => "None".into(),
            Value::Int(number) => number.to_string(),
            Value::Text(text) if conversion == 's' => text.to_string(),
            Value::Text(text) => quoted(text, conversion == 'a'),
        };
        matches!(conversion, 's' | 'r' | 'a').then_some(text)
    }
}

/// Python's `repr()` of a text, or its `ascii()`.
fn quoted(text: &str, ascii: bool) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if !ascii && crate::display::terminal::is_printable(c) => out.push(c),
            c => match u32::from(c) {
                code @ ..0x100 => out.push_str(&format!("\\x{code:02x}")),
                code @ ..0x1_0000 => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_python_quotes_them() {
        let value = Value::from("it's\té\u{1b}💾\\");
        assert_eq!(value.converted('r').unwrap(), r#""it's\té\x1b💾\\""#);
        assert_eq!(value.converted('a').unwrap(), r#""it's\t\xe9\x1b\U0001f4be\\""#);
        assert_eq!(value.converted('x'), None);
        assert_eq!(Value::from("both ' and \"").converted('r').unwrap(), r#"'both \' and "'"#);
    }
}
