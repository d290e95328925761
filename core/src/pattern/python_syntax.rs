//! Reading Python's regular expressions.
//!
//! An expression is read as Python reads it and written anew with nothing but what both dialects agree on, so that
//! whatever only the engine knows (`\h`, `[a&&b]`, `(?~..)`) keeps its meaning in Python or is refused as there.

use super::error::RegexFault;
use super::python_escape::literal_escape;
use super::python_set::{ShorthandSet, push_set};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use core::ops::BitOr;

/// An expression in the words of the engine.
pub(super) struct Translated {
    /// The expression, with [`DOLLAR`] in the place of every `$` that is not in multi-line mode.
    pub(super) body: String,
    /// Whether the whole of it ignores case.
    pub(super) ignore_case: bool,
}

impl Translated {
    /// Translates an expression that has `flags` beside those that it starts with.
    pub(super) fn new(expression: &str, flags: Flags) -> Result<Translated, RegexFault> {
        Translator::run(expression, flags)
    }
}

/// Flags that an expression starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// `s`: a dot also matches a newline.
    pub(crate) const DOT_ALL: Flags = Flags(1);
    /// `m`: `^` and `$` also match at newlines.
    pub(crate) const MULTI_LINE: Flags = Flags(2);
    const IGNORE_CASE: Flags = Flags(4);
    const VERBOSE: Flags = Flags(8);
    const ASCII: Flags = Flags(16);

    fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Reads an expression once, from left to right, and writes it anew. Nesting is a list, not recursion.
struct Translator<'a> {
    rest: &'a str,
    out: String,
    flags: Flags,
    open: Vec<Group>,
    closed_groups: Vec<bool>,
    names: BTreeMap<&'a str, usize>,
    last: Last,
}

struct Group {
    /// The flags to go back to.
    outer_flags: Flags,
    /// Its number, if it captures.
    number: Option<usize>,
}

/// What stands before a place, as far as a quantifier there cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Repeatable,
    Repeat,
}

impl<'a> Translator<'a> {
    fn run(expression: &'a str, flags: Flags) -> Result<Translated, RegexFault> {
        let mut translator = Translator {
            rest: expression,
            out: String::with_capacity(expression.len() + 16),
            flags,
            open: Vec::new(),
            closed_groups: Vec::new(),
            names: BTreeMap::new(),
            last: Last::Nothing,
        };
        let global = translator.global_flags()?;
        translator.flags = flags | global;
        while let Some(character) = translator.next() {
            translator.element(character)?;
        }
        if !translator.open.is_empty() {
            return Err(RegexFault::UnterminatedGroup);
        }
        Ok(Translated { body: translator.out, ignore_case: (flags | global).has(Flags::IGNORE_CASE) })
    }

    /// `(?i)` and the like, which may only stand at the very start.
    fn global_flags(&mut self) -> Result<Flags, RegexFault> {
        let mut global = Flags::default();
        while let Some(after) = self.rest.strip_prefix("(?") {
            let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
            if letters == 0 || after.as_bytes().get(letters) != Some(&b')') {
                break;
            }
            for letter in after[..letters].chars() {
                global = global | flag(letter)?;
            }
            self.rest = &after[letters + 1..];
        }
        Ok(global)
    }

    fn element(&mut self, character: char) -> Result<(), RegexFault> {
        match character {
            _ if self.flags.has(Flags::VERBOSE) && " \t\n\r\x0b\x0c".contains(character) => return Ok(()),
            '#' if self.flags.has(Flags::VERBOSE) => {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end + 1..]);
                return Ok(());
            }
            '*' | '+' | '?' => return self.quantifier(&[character], None),
            '{' => {
                if let Some((bounds, after)) = repeat_bounds(self.rest)? {
                    self.rest = after;
                    return self.quantifier(&[], Some(bounds));
                }
                self.literal('{');
            }
            '|' => {
                self.out.push('|');
                self.last = Last::Nothing;
                return Ok(());
            }
            '(' => return self.open_group(),
            ')' => {
                let group = self.open.pop().ok_or(RegexFault::UnbalancedParenthesis)?;
                if let Some(number) = group.number {
                    self.closed_groups[number - 1] = true;
                }
                self.flags = group.outer_flags;
                self.out.push(')');
            }
            '^' => return self.assertion(if self.flags.has(Flags::MULTI_LINE) { "(?m:^)" } else { r"\A" }),
            '$' if self.flags.has(Flags::MULTI_LINE) => return self.assertion("(?m:$)"),
            '$' => return self.assertion(DOLLAR),
            '.' => self.out.push_str(if self.flags.has(Flags::DOT_ALL) { "(?s:.)" } else { r"[^\n]" }),
            '[' => {
                self.rest = push_set(self.rest, self.flags.has(Flags::ASCII), &mut self.out)?;
            }
            '\\' => return self.escape(),
            _ => self.literal(character),
        }
        self.last = Last::Repeatable;
        Ok(())
    }

    /// `single` is a quantifier of one character, `bounds` one with numbers.
    fn quantifier(&mut self, single: &[char], bounds: Option<String>) -> Result<(), RegexFault> {
        match self.last {
            Last::Nothing => return Err(RegexFault::NothingToRepeat),
            Last::Repeat => return Err(RegexFault::MultipleRepeat),
            Last::Repeatable => {}
        }
        self.out.extend(single);
        self.out.push_str(&bounds.unwrap_or_default());
        if let Some(mode @ ('?' | '+')) = self.rest.chars().next() {
            self.next();
            self.out.push(mode);
        }
        self.last = Last::Repeat;
        Ok(())
    }

    fn open_group(&mut self) -> Result<(), RegexFault> {
        let before = core::mem::replace(&mut self.last, Last::Nothing);
        let Some(extension) = self.rest.strip_prefix('?') else {
            let number = self.new_group();
            self.push_group("(", Some(number), self.flags);
            return Ok(());
        };
        for plain in [":", "=", "!", "<=", "<!", ">"] {
            if let Some(after) = extension.strip_prefix(plain) {
                self.rest = after;
                self.push_group(&format!("(?{plain}"), None, self.flags);
                return Ok(());
            }
        }
        if let Some(after) = extension.strip_prefix("P<") {
            let name = self.take_name(after, '>')?;
            let number = self.new_group();
            if !is_identifier(name) || self.names.insert(name, number).is_some() {
                return Err(RegexFault::BadGroupName);
            }
            self.push_group("(", Some(number), self.flags);
        } else if let Some(after) = extension.strip_prefix("P=") {
            let name = self.take_name(after, ')')?;
            let number = *self.names.get(name).ok_or(RegexFault::BadGroupReference)?;
            return self.back_reference(number);
        } else if let Some(after) = extension.strip_prefix('#') {
            self.take_name(after, ')').map_err(|_| RegexFault::UnterminatedGroup)?;
            // A quantifier after a comment belongs to what stands before it.
            self.last = before;
        } else if let Some(after) = extension.strip_prefix('(') {
            let reference = self.take_name(after, ')')?;
            let number = match reference.parse::<usize>() {
                Ok(number) => number,
                Err(_) => *self.names.get(reference).ok_or(RegexFault::BadGroupReference)?,
            };
            if number == 0 || number > self.closed_groups.len() {
                return Err(RegexFault::BadGroupReference);
            }
            self.push_group(&format!("(?({number})"), None, self.flags);
        } else {
            return self.scoped_flags(extension);
        }
        Ok(())
    }

    /// `(?i-s:`.
    fn scoped_flags(&mut self, extension: &'a str) -> Result<(), RegexFault> {
        let end = extension.find(|c: char| !c.is_ascii_alphabetic() && c != '-').ok_or(RegexFault::UnknownExtension)?;
        match extension.as_bytes()[end] {
            b':' if end > 0 => {}
            b')' if end > 0 => return Err(RegexFault::FlagsNotAtStart),
            _ => return Err(RegexFault::UnknownExtension),
        }
        let (on, off) = extension[..end].split_once('-').unwrap_or((&extension[..end], ""));
        let mut flags = self.flags;
        for letter in on.chars() {
            match letter {
                // Back to Unicode, which is what the absence of `a` means.
                'u' => flags.0 &= !Flags::ASCII.0,
                _ => flags = flags | flag(letter)?,
            }
        }
        for letter in off.chars() {
            match flag(letter)? {
                Flags::ASCII => return Err(RegexFault::BadFlags),
                cleared => flags.0 &= !cleared.0,
            }
        }
        self.rest = &extension[end + 1..];
        self.push_group(if flags.has(Flags::IGNORE_CASE) { "(?i:" } else { "(?-i:" }, None, flags);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), RegexFault> {
        let escaped = self.rest.chars().next().ok_or(RegexFault::TrailingBackslash)?;
        let ascii = self.flags.has(Flags::ASCII);
        match escaped {
            'A' | 'Z' | 'b' | 'B' => {
                self.next();
                return self.assertion(match escaped {
                    'A' => r"\A",
                    'Z' => r"\z",
                    'b' if ascii => ASCII_BOUNDARY,
                    'B' if ascii => ASCII_NO_BOUNDARY,
                    'b' => r"\b",
                    _ => r"\B",
                });
            }
            '1'..='9' => return self.numeric_escape(),
            _ => {}
        }
        if let Some(set) = ShorthandSet::of(escaped) {
            self.next();
            set.push(ascii, &mut self.out);
        } else {
            let (literal, after) = literal_escape(self.rest)?;
            self.rest = after;
            self.literal(literal);
        }
        self.last = Last::Repeatable;
        Ok(())
    }

    /// A reference to a group, or three octal digits.
    fn numeric_escape(&mut self) -> Result<(), RegexFault> {
        let digits = self.rest.bytes().take(3).take_while(u8::is_ascii_digit).count();
        let octal = self.rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count() == 3;
        let taken = if octal { 3 } else { digits.min(2) };
        let (number, after) = self.rest.split_at(taken);
        self.rest = after;
        if !octal {
            return self.back_reference(number.parse().map_err(|_| RegexFault::BadGroupReference)?);
        }
        let value = u32::from_str_radix(number, 8).ok().filter(|&value| value <= 0o377);
        self.literal(value.and_then(char::from_u32).ok_or(RegexFault::BadEscape('0'))?);
        self.last = Last::Repeatable;
        Ok(())
    }

    fn back_reference(&mut self, number: usize) -> Result<(), RegexFault> {
        if number == 0 || !self.closed_groups.get(number - 1).copied().unwrap_or(false) {
            return Err(RegexFault::BadGroupReference);
        }
        // In a group of its own, so that a digit after it stays apart.
        let _ = write!(self.out, r"(?:\{number})");
        self.last = Last::Repeatable;
        Ok(())
    }

    fn assertion(&mut self, text: &str) -> Result<(), RegexFault> {
        self.out.push_str(text);
        self.last = Last::Nothing;
        Ok(())
    }

    fn literal(&mut self, literal: char) {
        if r"\.+*?()|[]{}^$#".contains(literal) {
            self.out.push('\\');
        }
        // The placeholder for `$` can't come from the expression itself.
        match literal {
            DOLLAR_CHAR => self.out.push_str(r"\x{0}"),
            _ => self.out.push(literal),
        }
    }

    fn new_group(&mut self) -> usize {
        self.closed_groups.push(false);
        self.closed_groups.len()
    }

    fn push_group(&mut self, opening: &str, number: Option<usize>, inner_flags: Flags) {
        self.out.push_str(opening);
        self.open.push(Group { outer_flags: self.flags, number });
        self.flags = inner_flags;
    }

    fn take_name(&mut self, after: &'a str, end: char) -> Result<&'a str, RegexFault> {
        let (name, rest) = after.split_once(end).ok_or(RegexFault::BadGroupName)?;
        self.rest = rest;
        Ok(name)
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }
}

/// A flag letter; `u` is what text always has, `L` is for bytes only.
fn flag(letter: char) -> Result<Flags, RegexFault> {
    match letter {
        'i' => Ok(Flags::IGNORE_CASE),
        'm' => Ok(Flags::MULTI_LINE),
        's' => Ok(Flags::DOT_ALL),
        'x' => Ok(Flags::VERBOSE),
        'a' => Ok(Flags::ASCII),
        'u' => Ok(Flags::default()),
        _ => Err(RegexFault::BadFlags),
    }
}

/// What follows a `{`, if it is a quantifier: the quantifier in full, and the rest.
fn repeat_bounds(after_brace: &str) -> Result<Option<(String, &str)>, RegexFault> {
    let Some((inside, after)) = after_brace.split_once('}') else { return Ok(None) };
    let (low, high) = match inside.split_once(',') {
        Some(bounds) => bounds,
        None if inside.is_empty() => return Ok(None),
        None => (inside, inside),
    };
    if !low.bytes().chain(high.bytes()).all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| RegexFault::RepeatBounds);
    let low = if low.is_empty() { 0 } else { number(low)? };
    let bounds = match high {
        "" => format!("{{{low},}}"),
        _ if number(high)? < low => return Err(RegexFault::RepeatBounds),
        _ => format!("{{{low},{high}}}"),
    };
    Ok(Some((bounds, after)))
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    starts && characters.all(|character| character.is_alphanumeric() || character == '_')
}

/// Stands for a `$` outside of multi-line mode until it is known which of its two meanings is compiled.
pub(super) const DOLLAR: &str = "\0";
const DOLLAR_CHAR: char = '\0';

/// `\b` of the flag `a`, for which the engine has no word.
const ASCII_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
const ASCII_NO_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";
