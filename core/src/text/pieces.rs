//! Format strings of Python's `str.format`, taken apart.

use super::error::SyntaxError;

/// Iterates over the pieces of a format string. After an error it ends.
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
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

/// `{name!conversion:spec}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The name, with attributes and indices if there are any.
    pub name: &'a str,
    /// The character after `!`.
    pub conversion: Option<char>,
    /// What follows `:`; it may hold fields itself.
    pub spec: &'a str,
}

impl<'a> Pieces<'a> {
    /// The pieces of `text`.
    pub fn new(text: &'a str) -> Self {
        Pieces { rest: text }
    }

    fn field(&mut self) -> Result<Field<'a>, SyntaxError> {
        let text = self.rest;
        let name_len = name_len(text)?;
        let name = &text[..name_len];
        let mut after = &text[name_len + 1..];
        let mut conversion = None;
        match text.as_bytes()[name_len] {
            b'}' => {
                self.rest = after;
                return Ok(Field { name, conversion, spec: "" });
            }
            b'!' => {
                let mut characters = after.chars();
                conversion = Some(characters.next().ok_or(SyntaxError::UnterminatedConversion)?);
                let separator = characters.next();
                after = characters.as_str();
                match separator {
                    Some('}') => {
                        self.rest = after;
                        return Ok(Field { name, conversion, spec: "" });
                    }
                    Some(':') | None => {}
                    Some(_) => return Err(SyntaxError::LongConversion),
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
                return Ok(Field { name, conversion, spec: &after[..at] });
            }
        }
        Err(SyntaxError::UnterminatedSpec)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, SyntaxError>;

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
                let field = if self.rest.is_empty() { Err(SyntaxError::SingleOpen) } else { self.field() };
                if field.is_err() {
                    self.rest = "";
                }
                return Some(field.map(Piece::Field));
            }
            '}' => {
                self.rest = "";
                return Some(Err(SyntaxError::SingleClose));
            }
            _ => self.rest.find(['{', '}']).unwrap_or(self.rest.len()),
        };
        let (literal, rest) = self.rest.split_at(literal_len);
        self.rest = rest;
        Some(Ok(Piece::Literal(literal)))
    }
}

/// The length of the name that the text starts with, up to `}`, `!` or `:`; between brackets those end nothing.
fn name_len(text: &str) -> Result<usize, SyntaxError> {
    let mut in_brackets = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b']' if in_brackets => in_brackets = false,
            _ if in_brackets => {}
            b'[' => in_brackets = true,
            b'{' => return Err(SyntaxError::OpenInName),
            b'}' | b'!' | b':' => return Ok(at),
            _ => {}
        }
    }
    Err(SyntaxError::UnterminatedName)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn field(name: &'static str, conversion: Option<char>, spec: &'static str) -> Piece<'static> {
        Piece::Field(Field { name, conversion, spec })
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
            assert_eq!(Pieces::new(text).collect::<Result<Vec<_>, _>>().as_deref(), Ok(*expected), "{text}");
        }
        for (text, fault) in [
            ("{", SyntaxError::SingleOpen),
            ("a}", SyntaxError::SingleClose),
            ("{a", SyntaxError::UnterminatedName),
            ("{a!", SyntaxError::UnterminatedConversion),
            ("{a!}", SyntaxError::UnterminatedSpec),
            ("{a!r", SyntaxError::UnterminatedSpec),
            ("{a!rx}", SyntaxError::LongConversion),
            ("{a:{b}", SyntaxError::UnterminatedSpec),
            ("{a[b}", SyntaxError::UnterminatedName),
            ("{{}", SyntaxError::SingleClose),
            ("{}}", SyntaxError::SingleClose),
            ("{a{b}}", SyntaxError::OpenInName),
        ] {
            assert_eq!(Pieces::new(text).find_map(Result::err), Some(fault), "{text}");
        }
    }
}
