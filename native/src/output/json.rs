//! JSON as Python's `json.dumps` writes it (command line, sections 3.4 to 3.6): ASCII only, `BORG_JSON_INDENT`, and the
//! rule for texts that need not be UTF-8.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portaborg_core::bytes::lossy;
use portaborg_core::text::{Value, isoformat};

/// Indents beyond this many blanks are cut to it.
const MAX_INDENT_CHARS: i64 = 1024;

/// A JSON value. Objects keep their order until they are written.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A number with a fraction; must be finite.
    Float(f64),
    /// A text.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

/// The members of an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(Vec<(String, Json)>);

/// How the parts of a document are separated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indent {
    /// All in one line.
    OneLine,
    /// Each member in its own line, after this text once for each level.
    Lines(String),
}

impl Default for Indent {
    fn default() -> Self {
        Indent::Lines(" ".repeat(4))
    }
}

impl Indent {
    /// What the value of `BORG_JSON_INDENT` means: a number of blanks, `none`, or the text itself.
    pub fn parse(value: Option<&str>) -> Indent {
        let Some(value) = value else { return Indent::default() };
        if value.eq_ignore_ascii_case("none") {
            return Indent::OneLine;
        }
        match python_int(value) {
            Some(blanks) => Indent::Lines(" ".repeat(blanks.clamp(0, MAX_INDENT_CHARS) as usize)),
            None => Indent::Lines(value.into()),
        }
    }
}

/// What Python's `int()` reads: blanks around it, a sign, and single underscores between digits.
fn python_int(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let well_formed = digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !well_formed {
        return None;
    }
    let magnitude = digits.replace('_', "").parse::<i64>().unwrap_or(i64::MAX);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// Adds a member.
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Object {
        self.set(key, value);
        self
    }

    /// Adds a member, or gives it a new value.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        match self.0.iter_mut().find(|(have, _)| have == key) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((key.into(), value.into())),
        }
    }

    /// Adds a text that need not be UTF-8: `key` with `?` for each stray byte, and then the bytes as `key_b64` too.
    pub fn set_raw(&mut self, key: &str, raw: &[u8]) {
        let (text, replaced) = lossy(raw);
        self.set(key, text.into_owned());
        if replaced {
            self.set(&format!("{key}_b64"), STANDARD.encode(raw));
        }
    }

    /// The object in one line, in its own order, as `--log-json` has it.
    pub fn line(self) -> String {
        Json::Object(self).dump(&Indent::OneLine, false)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json::Object(object)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Json::Float(number)
    }
}

impl From<Vec<Json>> for Json {
    fn from(elements: Vec<Json>) -> Json {
        Json::Array(elements)
    }
}

/// Times are in ISO 8601.
impl From<Value<'_>> for Json {
    fn from(value: Value<'_>) -> Json {
        match value {
            Value::None => Json::Null,
            Value::Text(text) => Json::Text(text.into_owned()),
            Value::Int(number) => Json::Int(number),
            Value::Time { time, .. } => Json::Text(isoformat(&time)),
        }
    }
}

macro_rules! from_int {
    ($($int:ty)*) => {$(
        impl From<$int> for Json {
            fn from(number: $int) -> Json {
                Json::Int(number.into())
            }
        }
    )*};
}
from_int!(u8 u16 u32 u64 i32 i64 i128);

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl Json {
    /// The document as `--json` prints it: members sorted by name, without a newline at the end.
    pub fn document(&self, indent: &Indent) -> String {
        self.dump(indent, true)
    }

    /// The value as text, with members sorted by name or in their order.
    pub fn dump(&self, indent: &Indent, sort: bool) -> String {
        let mut writer = Writer { out: Vec::new(), indent, sort };
        writer.value(self, 0);
        String::from_utf8(writer.out).expect("only ASCII and the indent, a str, were written")
    }
}

struct Writer<'a> {
    out: Vec<u8>,
    indent: &'a Indent,
    sort: bool,
}

impl Writer<'_> {
    fn value(&mut self, value: &Json, level: usize) {
        match value {
            Json::Null => self.out.extend_from_slice(b"null"),
            Json::Bool(true) => self.out.extend_from_slice(b"true"),
            Json::Bool(false) => self.out.extend_from_slice(b"false"),
            Json::Int(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Json::Float(number) => self.out.extend_from_slice(float(*number).as_bytes()),
            Json::Text(text) => write_text(text, &mut self.out),
            Json::Array(elements) => {
                self.members(b"[]", elements.iter(), level, |writer, element| writer.value(element, level + 1));
            }
            Json::Object(Object(members)) => {
                let mut members: Vec<_> = members.iter().collect();
                if self.sort {
                    members.sort_by(|a, b| a.0.cmp(&b.0));
                }
                self.members(b"{}", members.into_iter(), level, |writer, (key, value)| {
                    write_text(key, &mut writer.out);
                    writer.out.extend_from_slice(b": ");
                    writer.value(value, level + 1);
                });
            }
        }
    }

    fn members<T>(
        &mut self,
        brackets: &[u8; 2],
        members: impl ExactSizeIterator<Item = T>,
        level: usize,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let empty = members.len() == 0;
        self.out.push(brackets[0]);
        for (place, member) in members.enumerate() {
            match (place, self.indent) {
                (0, _) => {}
                (_, Indent::OneLine) => self.out.extend_from_slice(b", "),
                (_, Indent::Lines(_)) => self.out.push(b','),
            }
            self.new_line(level + 1);
            write(self, member);
        }
        if !empty {
            self.new_line(level);
        }
        self.out.push(brackets[1]);
    }

    fn new_line(&mut self, level: usize) {
        if let Indent::Lines(indent) = self.indent {
            self.out.push(b'\n');
            (0..level).for_each(|_| self.out.extend_from_slice(indent.as_bytes()));
        }
    }
}

/// Appends a text with its quotes; whatever is not printable ASCII is escaped.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            ' '..='~' => out.push(c as u8),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let digit = |shift: u16| HEX[usize::from(*unit >> shift & 15)];
                    out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
                }
            }
        }
    }
    out.push(b'"');
}

/// A number as Python's `repr()` shows it: the shortest digits, with an exponent below 0.0001 and from 1e16 on.
fn float(number: f64) -> String {
    let text = format!("{number:e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    match power.parse::<i32>().unwrap_or(0) {
        -4..16 => format!("{number:?}"),
        power => format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Json {
        let mut object = Object::new().with("b", vec![1u8.into(), Json::Null, true.into()]).with("a", Object::new());
        object.set("c", Json::Array(Vec::new()));
        object.set_raw("path", b"src/dir2/b\xfead");
        object.into()
    }

    /// What Python's `json.dumps(..., sort_keys=True, indent=...)` makes of it.
    #[test]
    fn documents_look_as_in_python() {
        let four = "{\n    \"a\": {},\n    \"b\": [\n        1,\n        null,\n        true\n    ],\n    \"c\": [],\n    \
                    \"path\": \"src/dir2/b?ad\",\n    \"path_b64\": \"c3JjL2RpcjIvYv5hZA==\"\n}";
        assert_eq!(sample().document(&Indent::parse(None)), four);
        assert_eq!(sample().document(&Indent::parse(Some(" +4 "))), four);
        let line = "{\"a\": {}, \"b\": [1, null, true], \"c\": [], \"path\": \"src/dir2/b?ad\", \
                    \"path_b64\": \"c3JjL2RpcjIvYv5hZA==\"}";
        assert_eq!(sample().document(&Indent::parse(Some("None"))), line);
        let tight = "{\n\"a\": {},\n\"b\": [\n1,\nnull,\ntrue\n],\n\"c\": [],\n\"path\": \"src/dir2/b?ad\",\n\
                     \"path_b64\": \"c3JjL2RpcjIvYv5hZA==\"\n}";
        for value in ["0", "-3", ""] {
            assert_eq!(sample().document(&Indent::parse(Some(value))), tight);
        }
        assert_eq!(Indent::parse(Some("\t")), Indent::Lines("\t".into()));
        assert_eq!(Indent::parse(Some("1__0")), Indent::Lines("1__0".into()));
        assert_eq!(Indent::parse(Some("99999999999999999999")), Indent::Lines(" ".repeat(1024)));
    }

    #[test]
    fn texts_are_ascii() {
        let mut out = Vec::new();
        write_text("\"é💾\u{7f}\u{1b}\n\\/", &mut out);
        assert_eq!(out, br#""\"\u00e9\ud83d\udcbe\u007f\u001b\n\\/""#);
    }

    /// What Python's `repr()` says.
    #[test]
    fn floats_have_their_shortest_digits() {
        for (number, wanted) in [
            (1_796_042_229.837_705_1, "1796042229.8377051"),
            (0.0, "0.0"),
            (2.0, "2.0"),
            (0.062_127, "0.062127"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
        ] {
            assert_eq!(float(number), wanted);
        }
    }
}
