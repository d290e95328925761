//! Python's format strings: text with `{key}`, `{key!conversion}` and `{key:spec}` in it (command line, section 4.1).

use super::spec::{Spec, SpecError};
use super::value::Value;
use crate::display::strftime;

/// How deep specifications may hold fields of their own; Python's bound.
const MAX_DEPTH: usize = 2;

/// A compiled format string over keys of type `K`.
#[derive(Debug, Clone)]
pub(crate) struct Template<K> {
    segments: Vec<Segment<K>>,
}

/// Why a format string is refused before anything is formatted. `Display` is Borg's text after `Command error: `.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// Its braces or conversions are broken.
    #[error("Invalid format string: {0}")]
    Syntax(SyntaxError),
    /// It names keys that are not there.
    #[error("Invalid format keys: {}", .0.join(", "))]
    UnknownKeys(Vec<String>),
}

/// What is broken in a format string. `Display` is Python's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyntaxError {
    /// A closing brace that nothing opened.
    #[error("Single '}}' encountered in format string")]
    SingleClose,
    /// An opening brace at the end.
    #[error("Single '{{' encountered in format string")]
    SingleOpen,
    /// An opening brace inside a key.
    #[error("unexpected '{{' in field name")]
    OpenInName,
    /// The text ends inside a key.
    #[error("expected '}}' before end of string")]
    NoClose,
    /// The text ends after `!`.
    #[error("end of string while looking for conversion specifier")]
    NoConversion,
    /// A conversion of more than one character.
    #[error("expected ':' after conversion specifier")]
    LongConversion,
    /// The text ends inside a specification.
    #[error("unmatched '{{' in format spec")]
    Unmatched,
}

/// Why a value could not be formatted. `Display` is the text of Python's exception.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RenderError {
    /// The specification doesn't suit the value.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A specification's own fields are broken.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A specification's own fields name a key that is not there.
    #[error("'{0}'")]
    UnknownKey(String),
    /// A field without a key.
    #[error("Format string contains positional fields")]
    Positional,
    /// A conversion that is not one of `s`, `r`, `a`.
    #[error("Unknown conversion specifier {}", conversion_text(*.0))]
    UnknownConversion(char),
    /// Specifications in specifications in specifications.
    #[error("Max string recursion exceeded")]
    TooDeep,
}

impl RenderError {
    /// The name of the exception that Python raises.
    pub(crate) fn exception(&self) -> &'static str {
        match self {
            RenderError::Spec(error) => error.exception(),
            RenderError::UnknownKey(_) => "KeyError",
            _ => "ValueError",
        }
    }
}

fn conversion_text(conversion: char) -> String {
    match conversion {
        '!'..='~' => conversion.to_string(),
        other => format!("\\x{:x}", u32::from(other)),
    }
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
    Fixed(Result<Spec, SpecError>),
    /// The text has fields, to be filled in first.
    Nested(Template<K>),
}

impl<K: Copy> Template<K> {
    /// Compiles a format string. `lookup` knows the keys; all that it doesn't know are reported at once, sorted.
    pub(crate) fn compile(text: &str, lookup: impl Fn(&str) -> Option<K>) -> Result<Self, TemplateError> {
        let pieces = parse(text).map_err(TemplateError::Syntax)?;
        let mut unknown: Vec<String> = Vec::new();
        for field in pieces.iter().filter_map(|piece| piece.field.as_ref()) {
            if !field.name.is_empty() && lookup(field.name).is_none() {
                unknown.push(field.name.into());
            }
        }
        if !unknown.is_empty() {
            unknown.sort_unstable();
            unknown.dedup();
            return Err(TemplateError::UnknownKeys(unknown));
        }
        Ok(Self::build(pieces, &lookup, 1))
    }

    /// Every key that is used, in order of appearance, also those inside of specifications.
    pub(crate) fn keys(&self) -> Vec<K> {
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
    pub(crate) fn render<'v>(
        &self,
        value: &mut dyn FnMut(K) -> Value<'v>,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Segment::Field(field) => field.render(value, out)?,
                Segment::Broken(error) => return Err(error.clone()),
            }
        }
        Ok(())
    }

    fn build(pieces: Vec<Piece<'_>>, lookup: &dyn Fn(&str) -> Option<K>, depth: usize) -> Self {
        let mut segments = Vec::new();
        for piece in pieces {
            if !piece.literal.is_empty() {
                segments.push(Segment::Literal(piece.literal));
            }
            if let Some(field) = piece.field {
                segments.push(match Field::build(&field, lookup, depth) {
                    Ok(field) => Segment::Field(field),
                    Err(error) => Segment::Broken(error),
                });
            }
        }
        Template { segments }
    }
}

impl<K: Copy> Field<K> {
    fn build(source: &RawField<'_>, lookup: &dyn Fn(&str) -> Option<K>, depth: usize) -> Result<Self, RenderError> {
        if source.name.is_empty() {
            return Err(RenderError::Positional);
        }
        let key = lookup(source.name).ok_or_else(|| RenderError::UnknownKey(source.name.into()))?;
        if let Some(conversion) = source.conversion.filter(|conversion| !matches!(conversion, 's' | 'r' | 'a')) {
            return Err(RenderError::UnknownConversion(conversion));
        }
        let spec = if !source.spec.contains('{') {
            FieldSpec::Fixed(Spec::parse(source.spec))
        } else if depth >= MAX_DEPTH {
            return Err(RenderError::TooDeep);
        } else {
            FieldSpec::Nested(Template::build(parse(source.spec)?, lookup, depth + 1))
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
                format_value(&shown, &text, || Spec::parse(&text), None, out)
            }
        }
    }
}

/// Times take the specification's text as it is, everything else takes it parsed.
fn format_value(
    value: &Value<'_>,
    text: &str,
    parse: impl FnOnce() -> Result<Spec, SpecError>,
    parsed: Option<&Spec>,
    out: &mut Vec<u8>,
) -> Result<(), RenderError> {
    match (value, parsed) {
        (Value::Time(time), _) if !text.is_empty() => strftime::format(time, text, out),
        (value, Some(spec)) => spec.format(value, out)?,
        (value, None) => parse()?.format(value, out)?,
    }
    Ok(())
}

/// A literal text, and the field after it.
struct Piece<'a> {
    literal: String,
    field: Option<RawField<'a>>,
}

struct RawField<'a> {
    name: &'a str,
    conversion: Option<char>,
    spec: &'a str,
}

fn parse(text: &str) -> Result<Vec<Piece<'_>>, SyntaxError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let open = rest[at..].starts_with('{');
        let after = &rest[at + 1..];
        let brace = if open { '{' } else { '}' };
        if after.starts_with(brace) {
            literal.push(brace);
            rest = &after[1..];
        } else if !open {
            return Err(SyntaxError::SingleClose);
        } else if after.is_empty() {
            return Err(SyntaxError::SingleOpen);
        } else {
            let (field, end) = parse_field(after)?;
            pieces.push(Piece { literal: std::mem::take(&mut literal), field: Some(field) });
            rest = &after[end..];
        }
    }
    literal.push_str(rest);
    pieces.push(Piece { literal, field: None });
    Ok(pieces)
}

/// Parses what stands after an opening brace; also tells where it ends, after its closing brace.
fn parse_field(text: &str) -> Result<(RawField<'_>, usize), SyntaxError> {
    let name_end = name_end(text)?;
    let name = &text[..name_end];
    let mut conversion = None;
    let mut at = name_end + 1;
    match text.as_bytes()[name_end] {
        b'}' => return Ok((RawField { name, conversion, spec: "" }, at)),
        b'!' => {
            let mark = text[at..].chars().next().ok_or(SyntaxError::NoConversion)?;
            conversion = Some(mark);
            at += mark.len_utf8();
            match text[at..].chars().next() {
                Some('}') => return Ok((RawField { name, conversion, spec: "" }, at + 1)),
                Some(':') => at += 1,
                Some(_) => return Err(SyntaxError::LongConversion),
                None => {}
            }
        }
        _ => {}
    }
    let mut open = 1;
    for (offset, byte) in text[at..].bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            let end = at + offset;
            return Ok((RawField { name, conversion, spec: &text[at..end] }, end + 1));
        }
    }
    Err(SyntaxError::Unmatched)
}

/// Where the key ends: at `}`, `:` or `!` outside of brackets.
fn name_end(text: &str) -> Result<usize, SyntaxError> {
    let mut in_brackets = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b']' => in_brackets = false,
            _ if in_brackets => {}
            b'[' => in_brackets = true,
            b'{' => return Err(SyntaxError::OpenInName),
            b'}' | b':' | b'!' => return Ok(at),
            _ => {}
        }
    }
    Err(SyntaxError::NoClose)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            _ => Value::Time("2023-11-14T23:13:20.123456807+01:00[Europe/Berlin]".parse().unwrap()),
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
