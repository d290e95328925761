//! Python's format strings: text with `{key}`, `{key!conversion}` and `{key:spec}` in it (command line, section 4.1).

use super::error::{RenderError, SpecError, SyntaxError, TemplateError};
use super::pieces::{self, Piece, Pieces};
use super::spec::FormatSpec;
use super::time::strftime;
use super::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// A compiled format string over keys of type `K`.
#[derive(Debug, Clone)]
pub struct Template<K> {
    segments: Vec<Segment<K>>,
}

#[derive(Debug, Clone)]
enum Segment<K> {
    Literal(String),
    Field(Field<K>),
    /// Fails when it is reached, as Python does.
    Broken(RenderError),
}

#[derive(Debug, Clone)]
struct Field<K> {
    key: K,
    conversion: Option<char>,
    spec_text: String,
    spec: FieldSpec<K>,
}

#[derive(Debug, Clone)]
enum FieldSpec<K> {
    /// The text as it stands; parsed for values that aren't times.
    Fixed(Result<FormatSpec, SpecError>),
    /// The text has fields, to be filled in first.
    Nested(Template<K>),
}

impl<K: Copy> Template<K> {
    /// Compiles a format string. `lookup` knows the keys.
    ///
    /// # Errors
    /// Braces or conversions are broken, or there are keys that `lookup` doesn't know: all of them are reported at once,
    /// sorted.
    pub fn compile(text: &str, lookup: impl Fn(&str) -> Option<K>) -> Result<Self, TemplateError> {
        let template = Self::compile_lazily(text, &lookup).map_err(TemplateError::Syntax)?;
        let fields = Pieces::new(text).filter_map(|piece| match piece {
            Ok(Piece::Field(field)) => Some(field.name),
            _ => None,
        });
        let mut unknown: Vec<String> =
            fields.filter(|name| !name.is_empty() && lookup(name).is_none()).map(String::from).collect();
        if unknown.is_empty() {
            return Ok(template);
        }
        unknown.sort_unstable();
        unknown.dedup();
        Err(TemplateError::UnknownKeys(unknown))
    }

    /// Compiles a format string in which a key that `lookup` doesn't know is an error only when it is reached.
    ///
    /// # Errors
    /// Braces or conversions are broken.
    pub fn compile_lazily(text: &str, lookup: impl Fn(&str) -> Option<K>) -> Result<Self, SyntaxError> {
        Self::build(text, &lookup, 1)
    }

    /// Every key that is used, in order of appearance, also those inside of specifications.
    pub fn keys(&self) -> Vec<K> {
        let mut keys = Vec::new();
        for segment in &self.segments {
            if let Segment::Field(field) = segment {
                keys.push(field.key);
                if let FieldSpec::Nested(template) = &field.spec {
                    keys.extend(template.keys());
                }
            }
        }
        keys
    }

    /// Appends the text with the fields filled in. `value` is asked for a key each time it is reached.
    ///
    /// # Errors
    /// A value and its specification don't go together, or a specification is broken. What stands before it is there.
    pub fn render<'v>(&self, value: &mut dyn FnMut(K) -> Value<'v>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Segment::Field(field) => field.render(value, out)?,
                Segment::Broken(error) => return Err(error.clone()),
            }
        }
        Ok(())
    }

    fn build(text: &str, lookup: &dyn Fn(&str) -> Option<K>, depth: usize) -> Result<Self, SyntaxError> {
        let mut segments = Vec::new();
        for piece in Pieces::new(text) {
            match (piece?, segments.last_mut()) {
                (Piece::Literal(more), Some(Segment::Literal(literal))) => literal.push_str(more),
                (Piece::Literal(literal), _) => segments.push(Segment::Literal(literal.into())),
                (Piece::Field(field), _) => segments.push(match Field::build(&field, lookup, depth) {
                    Ok(field) => Segment::Field(field),
                    Err(error) => Segment::Broken(error),
                }),
            }
        }
        Ok(Template { segments })
    }
}

impl<K: Copy> Field<K> {
    fn build(
        source: &pieces::Field<'_>,
        lookup: &dyn Fn(&str) -> Option<K>,
        depth: usize,
    ) -> Result<Self, RenderError> {
        if source.name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(RenderError::Positional);
        }
        let key = lookup(source.name).ok_or_else(|| RenderError::UnknownKey(source.name.into()))?;
        if let Some(conversion) = source.conversion.filter(|conversion| !matches!(conversion, 's' | 'r' | 'a')) {
            return Err(RenderError::UnknownConversion(conversion));
        }
        let spec = if !source.spec.contains('{') {
            FieldSpec::Fixed(FormatSpec::parse(source.spec))
        } else if depth >= MAX_DEPTH {
            return Err(RenderError::TooDeep);
        } else {
            FieldSpec::Nested(Template::build(source.spec, lookup, depth + 1)?)
        };
        Ok(Field { key, conversion: source.conversion, spec_text: source.spec.into(), spec })
    }

    fn render<'v>(&self, value: &mut dyn FnMut(K) -> Value<'v>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        let mut shown = value(self.key);
        if let Some(conversion) = self.conversion {
            shown = shown.converted(conversion).ok_or(RenderError::UnknownConversion(conversion))?.into();
        }
        match &self.spec {
            FieldSpec::Fixed(spec) => format_value(&shown, &self.spec_text, || spec.clone(), spec.as_ref().ok(), out),
            FieldSpec::Nested(template) => {
                let mut text = Vec::new();
                template.render(value, &mut text)?;
                let text = String::from_utf8_lossy(&text).into_owned();
                format_value(&shown, &text, || FormatSpec::parse(&text), None, out)
            }
        }
    }
}

/// Times take the specification's text as it is, everything else takes it parsed.
fn format_value(
    value: &Value<'_>,
    text: &str,
    parse: impl FnOnce() -> Result<FormatSpec, SpecError>,
    parsed: Option<&FormatSpec>,
    out: &mut Vec<u8>,
) -> Result<(), RenderError> {
    match (value, parsed) {
        (Value::Time { time, .. }, _) if !text.is_empty() => strftime(time, text, out),
        (value, Some(spec)) => spec.format(value, out)?,
        (value, None) => parse()?.format(value, out)?,
    }
    Ok(())
}

/// How deep specifications may hold fields of their own; Python's bound.
const MAX_DEPTH: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn render(text: &str) -> String {
        let lookup = |name: &str| {
            matches!(name, "path" | "size" | "NL" | "uid" | "mtime").then(|| match name {
                "path" => 'p',
                "size" => 's',
                "NL" => 'n',
                "uid" => 'u',
                _ => 'm',
            })
        };
        let template = match Template::compile(text, lookup) {
            Ok(template) => template,
            Err(error) => return format!("Command error: {error}"),
        };
        let mut out = Vec::new();
        let mut value = |key| match key {
            'p' => "empty".into(),
            's' => Value::Int(0),
            'n' => "\n".into(),
            'u' => Value::None,
            _ => Value::Time {
                time: "2023-11-14T23:13:20.123456807+01:00[+01:00]".parse().unwrap(),
                plain: "%a, %Y-%m-%d %H:%M:%S %z",
            },
        };
        match template.render(&mut value, &mut out) {
            Ok(()) => String::from_utf8(out).unwrap(),
            Err(error) => format!("{}: {error}", error.exception()),
        }
    }

    /// What borg 2.0.0b25 printed for `list --format ... odd empty`.
    #[test]
    fn format_strings_give_what_borg_gives() {
        for (text, wanted) in [
            ("{path!r}{NL}", "'empty'\n"),
            ("{path!a:>10}", "   'empty'"),
            ("{size!s:>10}|{mtime!s:>40}", "         0|        2023-11-14T23:13:20.123456+01:00"),
            ("{size:{NL}>10}|", "\n\n\n\n\n\n\n\n\n0|"),
            ("{mtime:>40}", ">40"),
            ("{mtime}", "Tue, 2023-11-14 23:13:20 +0100"),
            ("{{{path}}}", "{empty}"),
            ("{size:>{size}{size}}|", "0|"),
            ("{size:.2f}{size:%}", "0.000.000000%"),
            ("{uid}", "None"),
            ("{path", "Command error: Invalid format string: expected '}' before end of string"),
            ("a}b", "Command error: Invalid format string: Single '}' encountered in format string"),
            ("{", "Command error: Invalid format string: Single '{' encountered in format string"),
            ("{path.x}", "Command error: Invalid format keys: path.x"),
            ("{path[0]}", "Command error: Invalid format keys: path[0]"),
            ("{path[}]}", "Command error: Invalid format keys: path[}]"),
            ("{zz}{aa}{zz}", "Command error: Invalid format keys: aa, zz"),
            ("{0}", "Command error: Invalid format keys: 0"),
            ("{path!}", "Command error: Invalid format string: unmatched '{' in format spec"),
            ("{path!ss}", "Command error: Invalid format string: expected ':' after conversion specifier"),
            ("{path!", "Command error: Invalid format string: end of string while looking for conversion specifier"),
            ("{path:", "Command error: Invalid format string: unmatched '{' in format spec"),
            ("{pa{th}", "Command error: Invalid format string: unexpected '{' in field name"),
        ] {
            assert_eq!(render(text), wanted, "{text}");
        }
    }

    /// What Python's exceptions say, which Borg shows with a traceback.
    #[test]
    fn what_fails_only_with_a_value_fails_then() {
        for (text, wanted) in [
            ("{}", "ValueError: Format string contains positional fields"),
            ("{path:{}}", "ValueError: Format string contains positional fields"),
            ("{path:{0}}", "ValueError: Format string contains positional fields"),
            ("{path:{b}}", "KeyError: 'b'"),
            ("{path:{path:{path}}}", "ValueError: Max string recursion exceeded"),
            ("{path!x}", "ValueError: Unknown conversion specifier x"),
            ("{path!é}", "ValueError: Unknown conversion specifier \\xe9"),
            ("{uid:5}", "TypeError: unsupported format string passed to NoneType.__format__"),
            ("{size:Q}", "ValueError: Unknown format code 'Q' for object of type 'int'"),
            ("{size:99999999999}", "ValueError: Format width or precision is too large"),
        ] {
            assert_eq!(render(text), wanted, "{text}");
        }
    }
}
