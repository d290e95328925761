//! Python's format specifications, `[[fill]align][sign][z][#][0][width][,|_][.precision][type]` (command line, section
//! 4.1), for texts and integers.

use super::error::SpecError;
use super::float;
use super::value::Value;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A parsed format specification. What it means for a value is only known when the value is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormatSpec {
    text: String,
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    no_negative_zero: bool,
    alternate: bool,
    zero: bool,
    width: Option<usize>,
    grouping: Option<char>,
    precision: Option<usize>,
    presentation: Option<char>,
    trailing: bool,
}

impl FormatSpec {
    /// Parses a specification. Errors that don't depend on a value come from here.
    pub fn parse(text: &str) -> Result<FormatSpec, SpecError> {
        let mut spec = FormatSpec { text: text.into(), ..FormatSpec::default() };
        let mut rest = Cursor { rest: text };
        let mut ahead = text.chars();
        match (ahead.next(), ahead.next()) {
            (Some(fill), Some(align)) if is_align(align) => {
                (spec.fill, spec.align) = (Some(fill), Some(align));
                rest.next();
                rest.next();
            }
            (Some(align), _) if is_align(align) => {
                spec.align = Some(align);
                rest.next();
            }
            _ => {}
        }
        spec.sign = rest.take(|c| matches!(c, '+' | '-' | ' '));
        spec.no_negative_zero = rest.take(|c| c == 'z').is_some();
        spec.alternate = rest.take(|c| c == '#').is_some();
        spec.zero = spec.fill.is_none() && rest.take(|c| c == '0').is_some();
        spec.width = rest.number()?;
        if rest.take(|c| c == ',').is_some() {
            spec.grouping = Some(',');
        }
        if rest.take(|c| c == '_').is_some() {
            if spec.grouping.is_some() {
                return Err(SpecError::BothSeparators);
            }
            spec.grouping = Some('_');
        }
        if spec.grouping == Some('_') && rest.rest.starts_with(',') {
            return Err(SpecError::BothSeparators);
        }
        if rest.take(|c| c == '.').is_some() {
            spec.precision = Some(rest.number()?.ok_or(SpecError::MissingPrecision)?);
        }
        spec.presentation = rest.next();
        spec.trailing = !rest.rest.is_empty();
        Ok(spec)
    }

    /// Appends the value as the specification says.
    pub fn format(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), SpecError> {
        if self.text.is_empty() {
            value.write_plain(out);
            return Ok(());
        }
        match value {
            Value::None => Err(SpecError::Unsupported { kind: "NoneType" }),
            Value::Text(text) => self.format_text(text, out),
            Value::Int(number) => self.format_int(*number, out),
            Value::Time { .. } => Err(SpecError::Unsupported { kind: "OutputTimestamp" }),
        }
    }

    /// Appends a text as the specification says.
    pub fn format_text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), SpecError> {
        self.check("str", 's')?;
        match self.presentation {
            None | Some('s') => {}
            Some(code) => return Err(SpecError::UnknownCode { code, kind: "str" }),
        }
        match self.sign {
            None => {}
            Some(' ') => return Err(SpecError::NotAllowed("Space not allowed in string format specifier")),
            Some(_) => return Err(SpecError::NotAllowed("Sign not allowed in string format specifier")),
        }
        if self.no_negative_zero {
            return Err(SpecError::NotAllowed("Negative zero coercion (z) not allowed in string format specifier"));
        }
        if self.alternate {
            return Err(SpecError::NotAllowed("Alternate form (#) not allowed in string format specifier"));
        }
        if self.align == Some('=') {
            return Err(SpecError::NotAllowed("'=' alignment not allowed in string format specifier"));
        }
        let text = match self.precision.and_then(|precision| text.char_indices().nth(precision)) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        self.pad("", text, self.align.unwrap_or('<'), out);
        Ok(())
    }

    /// Appends an integer as the specification says.
    pub fn format_int(&self, number: i128, out: &mut Vec<u8>) -> Result<(), SpecError> {
        self.check("int", 'd')?;
        match self.presentation.unwrap_or('d') {
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => self.format_as_float(number, out),
            code @ ('b' | 'c' | 'd' | 'o' | 'x' | 'X' | 'n') => self.format_as_int(number, code, out),
            code => Err(SpecError::UnknownCode { code, kind: "int" }),
        }
    }

    /// Checks what Python checks before it looks at the type of the presentation.
    fn check(&self, kind: &'static str, default: char) -> Result<(), SpecError> {
        if self.trailing {
            return Err(SpecError::Invalid { spec: self.text.clone(), kind });
        }
        let presentation = self.presentation.unwrap_or(default);
        match (self.grouping, presentation) {
            (None, _) | (_, 'd' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F') => Ok(()),
            (Some('_'), 'b' | 'o' | 'x' | 'X') => Ok(()),
            (Some(separator), presentation) => Err(SpecError::Separator { separator, presentation }),
        }
    }

    fn format_as_int(&self, number: i128, code: char, out: &mut Vec<u8>) -> Result<(), SpecError> {
        if self.precision.is_some() {
            return Err(SpecError::NotAllowed("Precision not allowed in integer format specifier"));
        }
        if self.no_negative_zero {
            let text = "Negative zero coercion (z) not allowed in integer format specifier";
            return Err(SpecError::NotAllowed(text));
        }
        let magnitude = number.unsigned_abs();
        let digits = match code {
            'c' => {
                if self.sign.is_some() {
                    return Err(SpecError::NotAllowed("Sign not allowed with integer format specifier 'c'"));
                }
                if self.alternate {
                    let text = "Alternate form (#) not allowed with integer format specifier 'c'";
                    return Err(SpecError::NotAllowed(text));
                }
                return self.format_char(number, out);
            }
            'b' => format!("{magnitude:b}"),
            'o' => format!("{magnitude:o}"),
            'x' => format!("{magnitude:x}"),
            'X' => format!("{magnitude:X}"),
            _ => magnitude.to_string(),
        };
        let prefix = match code {
            'b' | 'o' | 'x' | 'X' if self.alternate => format!("{}0{code}", self.sign_of(number < 0)),
            _ => self.sign_of(number < 0).into(),
        };
        let group = if matches!(code, 'b' | 'o' | 'x' | 'X') { 4 } else { 3 };
        self.pad_number(&prefix, &digits, "", group, out);
        Ok(())
    }

    fn format_char(&self, number: i128, out: &mut Vec<u8>) -> Result<(), SpecError> {
        let number = i64::try_from(number).map_err(|_| SpecError::TooLarge)?;
        let code = u32::try_from(number).ok().filter(|code| *code < 0x11_0000).ok_or(SpecError::NotAChar)?;
        // Python's text may hold a lone surrogate, which shows as `?`.
        let text = char::from_u32(code).unwrap_or('?').to_string();
        self.pad_number("", &text, "", 0, out);
        Ok(())
    }

    fn format_as_float(&self, number: i128, out: &mut Vec<u8>) -> Result<(), SpecError> {
        let code = self.presentation.unwrap_or('f');
        let (digits, rest) = float::format(number.unsigned_abs(), code, self.precision.unwrap_or(6), self.alternate);
        self.pad_number(self.sign_of(number < 0), &digits, &rest, 3, out);
        Ok(())
    }

    fn sign_of(&self, negative: bool) -> &'static str {
        match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            (false, _) => "",
        }
    }

    /// Groups the digits, fills them up with zeros as far as groups and width want it, and pads the rest.
    fn pad_number(&self, prefix: &str, digits: &str, rest: &str, group: usize, out: &mut Vec<u8>) {
        let align = self.align.unwrap_or(if self.zero { '=' } else { '>' });
        let mut least = 0;
        if align == '=' && self.fill_char() == '0' {
            least = self.width.unwrap_or(0).saturating_sub(prefix.chars().count() + rest.chars().count());
        }
        let grouped = match self.grouping {
            Some(separator) => group_digits(digits, separator, group, least),
            None => {
                let missing = least.saturating_sub(digits.chars().count());
                format!("{}{digits}", "0".repeat(missing))
            }
        };
        self.pad(prefix, &(grouped + rest), align, out);
    }

    fn fill_char(&self) -> char {
        self.fill.unwrap_or(if self.zero { '0' } else { ' ' })
    }

    fn pad(&self, prefix: &str, text: &str, align: char, out: &mut Vec<u8>) {
        let length = prefix.chars().count() + text.chars().count();
        let missing = self.width.unwrap_or(0).saturating_sub(length);
        let (before, between) = match align {
            '<' => (0, 0),
            '^' => (missing / 2, 0),
            '=' => (0, missing),
            _ => (missing, 0),
        };
        let mut buffer = [0; 4];
        let fill = self.fill_char().encode_utf8(&mut buffer).as_bytes();
        let repeat = |out: &mut Vec<u8>, count| (0..count).for_each(|_| out.extend_from_slice(fill));
        repeat(out, before);
        out.extend_from_slice(prefix.as_bytes());
        repeat(out, between);
        out.extend_from_slice(text.as_bytes());
        repeat(out, missing - before - between);
    }
}

/// Puts separators between groups, with zeros in front so that the result has at least `least` characters (and never
/// begins with a separator).
fn group_digits(digits: &str, separator: char, group: usize, least: usize) -> String {
    let mut reversed = String::with_capacity(digits.len().max(least) + digits.len() / group);
    let mut source = digits.chars().rev();
    let (mut count, mut length) = (0, 0);
    loop {
        let digit = match source.next() {
            Some(digit) => digit,
            None if length < least => '0',
            None => break,
        };
        if count > 0 && count % group == 0 {
            reversed.push(separator);
            length += 1;
        }
        reversed.push(digit);
        count += 1;
        length += 1;
    }
    reversed.chars().rev().collect()
}

fn is_align(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '^')
}

struct Cursor<'a> {
    rest: &'a str,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        if self.rest.starts_with(&wanted) { self.next() } else { None }
    }

    fn number(&mut self) -> Result<Option<usize>, SpecError> {
        let mut number: Option<u64> = None;
        while let Some(digit) = self.take(|c| c.is_ascii_digit()) {
            let value =
                number.unwrap_or(0).checked_mul(10).and_then(|n| n.checked_add(u64::from(digit) - u64::from('0')));
            number = Some(value.filter(|n| i64::try_from(*n).is_ok()).ok_or(SpecError::TooManyDigits)?);
        }
        match number {
            Some(number) if number > MAX_WIDTH_CHARS => Err(SpecError::TooWide),
            number => Ok(number.map(|number| number as usize)),
        }
    }
}

/// Widths and precisions beyond this many characters are refused. Python would try to allocate them.
const MAX_WIDTH_CHARS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn formatted(spec: &str, value: &Value<'_>) -> Result<String, SpecError> {
        let mut out = Vec::new();
        FormatSpec::parse(spec)?.format(value, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    /// The table was made by Python 3.11's `format()`.
    #[test]
    fn every_specification_gives_what_python_gives() {
        let cases: Json = serde_json::from_str(include_str!("testdata/spec.json")).unwrap();
        let cases = cases.as_array().unwrap();
        assert!(cases.len() > 900);
        for case in cases {
            let value = match &case["v"] {
                Json::Null => Value::None,
                text if case["int"] == true => Value::Int(text.as_str().unwrap().parse().unwrap()),
                text => text.as_str().unwrap().into(),
            };
            let found = match formatted(case["s"].as_str().unwrap(), &value) {
                Ok(text) => text,
                Err(error) => format!("{}: {error}", error.exception()),
            };
            let wanted = if case["r"].is_null() { &case["e"] } else { &case["r"] };
            // Python looks at the value's type first; the text for a spec that is broken anyway may differ.
            if case["v"].is_null() && case["r"].is_null() {
                assert!(found.contains("Error: "), "{case}: {found}");
                continue;
            }
            assert_eq!(found, wanted.as_str().unwrap(), "{case}");
        }
    }

    /// Everything here was seen from Python's `format`.
    #[test]
    fn texts_are_formatted_as_by_python() {
        for (spec, expected) in [
            ("", "borg"),
            ("s", "borg"),
            (">6", "  borg"),
            ("^7", " borg  "),
            ("*^9", "**borg***"),
            (".2", "bo"),
            ("06", "borg00"),
            ("_>6.1", "_____b"),
            ("x<5s", "borgx"),
            ("é>6", "ééborg"),
        ] {
            assert_eq!(formatted(spec, &"borg".into()), Ok(expected.into()), "{spec}");
        }
        for (spec, message) in [
            ("d", "Unknown format code 'd' for object of type 'str'"),
            (".2.3", "Invalid format specifier '.2.3' for object of type 'str'"),
            ("=5", "'=' alignment not allowed in string format specifier"),
            ("+", "Sign not allowed in string format specifier"),
            (" ", "Space not allowed in string format specifier"),
            ("#", "Alternate form (#) not allowed in string format specifier"),
            ("z", "Negative zero coercion (z) not allowed in string format specifier"),
            (",", "Cannot specify ',' with 's'."),
            (",_", "Cannot specify both ',' and '_'."),
            (".", "Format specifier missing precision"),
            ("99999999999999999999", "Too many decimal digits in format string"),
        ] {
            let error = formatted(spec, &"borg".into()).unwrap_err();
            assert_eq!(error.to_string(), message, "{spec}");
        }
    }

    #[test]
    fn numbers_are_formatted_as_by_python() {
        for (spec, expected) in [
            ("", "4321"),
            (">8", "    4321"),
            ("08", "00004321"),
            ("+08", "+0004321"),
            ("x", "10e1"),
            ("#010x", "0x000010e1"),
            ("o", "10341"),
            (",", "4,321"),
            ("_x", "10e1"),
            ("*^9", "**4321***"),
            ("=+9", "+    4321"),
            ("08,", "0,004,321"),
            ("<+9", "+4321    "),
            ("^09", "004321000"),
            (" ", " 4321"),
        ] {
            assert_eq!(formatted(spec, &Value::Int(4321)), Ok(expected.into()), "{spec}");
        }
        for (spec, message) in [
            ("q", "Unknown format code 'q' for object of type 'int'"),
            ("s", "Unknown format code 's' for object of type 'int'"),
            (".2", "Precision not allowed in integer format specifier"),
            (",x", "Cannot specify ',' with 'x'."),
            ("_n", "Cannot specify '_' with 'n'."),
            ("5x5", "Invalid format specifier '5x5' for object of type 'int'"),
        ] {
            let error = formatted(spec, &Value::Int(4321)).unwrap_err();
            assert_eq!(error.to_string(), message, "{spec}");
        }
    }

    #[test]
    fn absurd_widths_are_refused() {
        assert_eq!(FormatSpec::parse("99999999999"), Err(SpecError::TooWide));
        assert_eq!(FormatSpec::parse(".2000000f"), Err(SpecError::TooWide));
    }
}
