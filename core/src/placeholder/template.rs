//! Format strings of Python's `str.format`, taken apart.

use super::error::FormatFault;

/// Iterates over the pieces of a format string. After an error it ends.
#[derive(Debug, Clone)]
pub struct Template<'a> {
    rest: &'a str,
}

/// A piece of a format string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it is; never empty.
    Literal(&'a str),
    /// What stands between braces.
    Field(Field<'a>),
}

/// `{name!conversion:format}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The name, with attributes and indices if there are any.
    pub name: &'a str,
    /// The character after `!`.
    pub conversion: Option<char>,
    /// What follows `:`; it may hold fields itself.
    pub format: &'a str,
}

impl<'a> Template<'a> {
    /// The pieces of `text`.
    pub fn new(text: &'a str) -> Self {
        Template { rest: text }
    }

    fn field(&mut self) -> Result<Field<'a>, FormatFault> {
        let text = self.rest;
        let name_len = name_len(text)?;
        let name = &text[..name_len];
        let mut after = &text[name_len + 1..];
        let mut conversion = None;
        match text.as_bytes()[name_len] {
            b'}' => {
                self.rest = after;
                return Ok(Field { name, conversion, format: "" });
            }
            b'!' => {
                let mut characters = after.chars();
                conversion = Some(characters.next().ok_or(FormatFault::UnterminatedConversion)?);
                let separator = characters.next();
                after = characters.as_str();
                match separator {
                    Some('}') => {
                        self.rest = after;
                        return Ok(Field { name, conversion, format: "" });
                    }
                    Some(':') | None => {}
                    Some(_) => return Err(FormatFault::LongConversion),
                }
            }
            _ => {}
        }
        let mut open = 1_usize;
        for (at, byte) in after.bytes().enumerate() {
            match byte {
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                self.rest = &after[at + 1..];
                return Ok(Field { name, conversion, format: &after[..at] });
            }
        }
        Err(FormatFault::UnterminatedFormat)
    }
}

impl<'a> Iterator for Template<'a> {
    type Item = Result<Piece<'a>, FormatFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.rest.chars().next()?;
        let literal_len = match first {
            '{' | '}' if self.rest[1..].starts_with(first) => {
                let brace = &self.rest[..1];
                self.rest = &self.rest[2..];
                return Some(Ok(Piece::Literal(brace)));
            }
            '{' => {
                self.rest = &self.rest[1..];
                let field = if self.rest.is_empty() { Err(FormatFault::SingleOpen) } else { self.field() };
                if field.is_err() {
                    self.rest = "";
                }
                return Some(field.map(Piece::Field));
            }
            '}' => {
                self.rest = "";
                return Some(Err(FormatFault::SingleClose));
            }
            _ => self.rest.find(['{', '}']).unwrap_or(self.rest.len()),
        };
        let (literal, rest) = self.rest.split_at(literal_len);
        self.rest = rest;
        Some(Ok(Piece::Literal(literal)))
    }
}

/// The length of the name that the text starts with, up to `}`, `!` or `:`; between brackets those end nothing.
fn name_len(text: &str) -> Result<usize, FormatFault> {
    let mut in_brackets = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b']' if in_brackets => in_brackets = false,
            _ if in_brackets => {}
            b'[' => in_brackets = true,
            b'{' => return Err(FormatFault::BraceInName),
            b'}' | b'!' | b':' => return Ok(at),
            _ => {}
        }
    }
    Err(FormatFault::UnterminatedName)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn field(name: &'static str, conversion: Option<char>, format: &'static str) -> Piece<'static> {
        Piece::Field(Field { name, conversion, format })
    }

    /// Seen from Python's `string.Formatter().parse`.
    #[test]
    fn pieces_are_those_that_python_finds() {
        use Piece::Literal;
        let pieces: &[(&str, &[Piece<'_>])] = &[
            ("", &[]),
            ("ä{a}b", &[Literal("ä"), field("a", None, ""), Literal("b")]),
            ("{{{a}}}", &[Literal("{"), field("a", None, ""), Literal("}")]),
            ("{a!r:x}", &[field("a", Some('r'), "x")]),
            ("{a!r}", &[field("a", Some('r'), "")]),
            ("{a[}]}", &[field("a[}]", None, "")]),
            ("{a:{b:{c}}}", &[field("a", None, "{b:{c}}")]),
            ("{:{}}", &[field("", None, "{}")]),
        ];
        for (text, expected) in pieces {
            assert_eq!(Template::new(text).collect::<Result<Vec<_>, _>>().as_deref(), Ok(*expected), "{text}");
        }
        for (text, fault) in [
            ("{", FormatFault::SingleOpen),
            ("a}", FormatFault::SingleClose),
            ("{a", FormatFault::UnterminatedName),
            ("{a!", FormatFault::UnterminatedConversion),
            ("{a!}", FormatFault::UnterminatedFormat),
            ("{a!r", FormatFault::UnterminatedFormat),
            ("{a!rx}", FormatFault::LongConversion),
            ("{a:{b}", FormatFault::UnterminatedFormat),
            ("{a[b}", FormatFault::UnterminatedName),
            ("{{}", FormatFault::SingleClose),
            ("{}}", FormatFault::SingleClose),
            ("{a{b}}", FormatFault::BraceInName),
        ] {
            assert_eq!(Template::new(text).find_map(Result::err), Some(fault), "{text}");
        }
    }
}
