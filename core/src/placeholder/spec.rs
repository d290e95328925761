//! Formats of Python's `str.format` for texts and whole numbers.

use super::error::FormatFault;
use alloc::format;
use alloc::string::{String, ToString};
use core::iter::repeat_n;

/// `[[fill]align][sign][z][#][0][width][separator][.precision][type]` (command line, section 4.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    no_negative_zero: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    separator: Option<char>,
    precision: Option<usize>,
    code: Option<char>,
}

impl FormatSpec {
    /// Reads a format; `kind` is the type that it is for in Python's words, `str` or `int`, for messages only.
    ///
    /// # Errors
    /// It has not the form of a format.
    pub fn parse(text: &str, kind: &'static str) -> Result<FormatSpec, FormatFault> {
        let mut spec = FormatSpec::default();
        let mut rest = text;
        let mut start = text.chars();
        let (first, second) = (start.next(), start.next());
        if let (Some(fill), Some(align @ ('<' | '>' | '=' | '^'))) = (first, second) {
            (spec.fill, spec.align) = (Some(fill), Some(align));
            rest = &rest[fill.len_utf8() + 1..];
        } else {
            spec.align = take(&mut rest, "<>=^");
        }
        spec.sign = take(&mut rest, "+- ");
        spec.no_negative_zero = take(&mut rest, "z").is_some();
        spec.alternate = take(&mut rest, "#").is_some();
        spec.zero = spec.fill.is_none() && take(&mut rest, "0").is_some();
        spec.width = take_number(&mut rest)?.unwrap_or(0);
        spec.separator = take(&mut rest, ",_");
        if spec.separator.is_some() && take(&mut rest, ",_").is_some_and(|other| Some(other) != spec.separator) {
            return Err(FormatFault::BothSeparators);
        }
        if take(&mut rest, ".").is_some() {
            spec.precision = Some(take_number(&mut rest)?.ok_or(FormatFault::MissingPrecision)?);
        }
        let mut code = rest.chars();
        spec.code = code.next();
        if !code.as_str().is_empty() {
            return Err(FormatFault::InvalidSpec { spec: text.into(), kind });
        }
        Ok(spec)
    }

    /// Formats a text: `precision` cuts it, and it stands on the left. Widths count characters.
    ///
    /// # Errors
    /// The format has a part for numbers.
    pub fn format_text(&self, text: &str) -> Result<String, FormatFault> {
        match self.code {
            None | Some('s') => {}
            Some(code) => return Err(FormatFault::UnknownCode { code, kind: "str" }),
        }
        match self.sign {
            Some(' ') => return Err(FormatFault::NotAllowed("Space", "string")),
            Some(_) => return Err(FormatFault::NotAllowed("Sign", "string")),
            None => {}
        }
        if self.no_negative_zero {
            return Err(FormatFault::NotAllowed("Negative zero coercion (z)", "string"));
        }
        if self.alternate {
            return Err(FormatFault::NotAllowed("Alternate form (#)", "string"));
        }
        if self.align == Some('=') {
            return Err(FormatFault::NotAllowed("'=' alignment", "string"));
        }
        if let Some(separator) = self.separator {
            return Err(FormatFault::Separator { separator, code: 's' });
        }
        let text: String = text.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        Ok(self.pad("", &text, '<'))
    }

    /// Formats a whole number, which stands on the right. Of the type letters, those for floating-point numbers are not
    /// known here.
    ///
    /// # Errors
    /// The format has a part for texts or floating-point numbers.
    pub fn format_number(&self, number: i128) -> Result<String, FormatFault> {
        if self.no_negative_zero {
            return Err(FormatFault::NotAllowed("Negative zero coercion (z)", "integer"));
        }
        if self.precision.is_some() {
            return Err(FormatFault::NotAllowed("Precision", "integer"));
        }
        let code = self.code.unwrap_or('d');
        let magnitude = number.unsigned_abs();
        let (base_prefix, digits) = match code {
            'd' | 'n' => ("", magnitude.to_string()),
            'b' => ("0b", format!("{magnitude:b}")),
            'o' => ("0o", format!("{magnitude:o}")),
            'x' => ("0x", format!("{magnitude:x}")),
            'X' => ("0X", format!("{magnitude:X}")),
            _ => return Err(FormatFault::UnknownCode { code, kind: "int" }),
        };
        let group = match (self.separator, code) {
            (None, _) => 0,
            (Some(_), 'd') => 3,
            (Some('_'), 'b' | 'o' | 'x' | 'X') => 4,
            (Some(separator), _) => return Err(FormatFault::Separator { separator, code }),
        };
        let mut prefix = String::new();
        prefix.push_str(match (number < 0, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            (false, _) => "",
        });
        if self.alternate {
            prefix.push_str(base_prefix);
        }
        // Leading zeros are grouped like other digits.
        let fills_with_zeros = self.zero && self.align.is_none();
        let room = if fills_with_zeros { self.width.saturating_sub(prefix.len()) } else { 0 };
        let digits = grouped(&digits, group, self.separator.unwrap_or(','), room);
        Ok(self.pad(&prefix, &digits, if fills_with_zeros { '=' } else { '>' }))
    }

    fn pad(&self, prefix: &str, text: &str, default_align: char) -> String {
        let missing = self.width.saturating_sub(prefix.chars().count() + text.chars().count());
        let fill = self.fill.unwrap_or(if self.zero { '0' } else { ' ' });
        let (left, inside) = match self.align.unwrap_or(default_align) {
            '<' => (0, 0),
            '^' => (missing / 2, 0),
            '=' => (0, missing),
            _ => (missing, 0),
        };
        let mut out = String::with_capacity(prefix.len() + text.len() + missing);
        out.extend(repeat_n(fill, left));
        out.push_str(prefix);
        out.extend(repeat_n(fill, inside));
        out.push_str(text);
        out.extend(repeat_n(fill, missing - left - inside));
        out
    }
}

/// The digits with a separator between groups, and with zeros before them until they fill the room.
fn grouped(digits: &str, group: usize, separator: char, room: usize) -> String {
    let mut reversed = String::with_capacity(room.max(digits.len()));
    let mut count = 0;
    let mut push = |digit: char, out: &mut String| {
        if group > 0 && count > 0 && count % group == 0 {
            out.push(separator);
        }
        count += 1;
        out.push(digit);
    };
    for digit in digits.chars().rev() {
        push(digit, &mut reversed);
    }
    while reversed.len() < room {
        push('0', &mut reversed);
    }
    reversed.chars().rev().collect()
}

fn take(rest: &mut &str, choices: &str) -> Option<char> {
    let first = rest.chars().next().filter(|&first| choices.contains(first))?;
    *rest = &rest[first.len_utf8()..];
    Some(first)
}

fn take_number(rest: &mut &str) -> Result<Option<usize>, FormatFault> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(digits);
    *rest = after;
    match number.parse::<usize>() {
        _ if digits == 0 => Ok(None),
        Ok(number) if number <= MAX_WIDTH => Ok(Some(number)),
        _ => Err(FormatFault::TooManyDigits),
    }
}

/// Largest width and precision, in characters. Python has no limit but memory.
const MAX_WIDTH: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(FormatSpec::parse(spec, "str").unwrap().format_text("borg").as_deref(), Ok(expected), "{spec}");
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
            let error = FormatSpec::parse(spec, "str").and_then(|spec| spec.format_text("borg")).unwrap_err();
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
            assert_eq!(FormatSpec::parse(spec, "int").unwrap().format_number(4321).as_deref(), Ok(expected), "{spec}");
        }
        for (spec, message) in [
            ("q", "Unknown format code 'q' for object of type 'int'"),
            ("s", "Unknown format code 's' for object of type 'int'"),
            (".2", "Precision not allowed in integer format specifier"),
            (",x", "Cannot specify ',' with 'x'."),
            ("_n", "Cannot specify '_' with 'n'."),
            ("5x5", "Invalid format specifier '5x5' for object of type 'int'"),
        ] {
            let error = FormatSpec::parse(spec, "int").and_then(|spec| spec.format_number(4321)).unwrap_err();
            assert_eq!(error.to_string(), message, "{spec}");
        }
    }
}
