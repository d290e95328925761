//! Shell globs as regular expressions of Python's dialect, which the quirks of Borg's globs come from.

use alloc::string::String;
use alloc::vec::Vec;

/// The expression for a pattern of style `sh`, without anchors (data layer, section 14.2).
///
/// `(`, `|` and `)` in the pattern come out as they are and so act in the expression, as in Borg; an expression that
/// this breaks is found invalid when it is compiled.
pub(crate) fn shell_to_python(glob: &str) -> String {
    let glob = alternatives(&glob.chars().collect::<Vec<_>>());
    let mut out = String::new();
    let mut rest = glob.as_slice();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            '*' => match rest {
                ['*', '/', after @ ..] => {
                    out.push_str(r"(?:[^\/]*\/)*");
                    rest = after;
                }
                _ => out.push_str(r"[^\/]*"),
            },
            '?' => out.push_str(r"[^\/]"),
            '[' => match split_class(rest) {
                Some((class, after)) => {
                    push_shell_class(class, &mut out);
                    rest = after;
                }
                None => out.push_str(r"\["),
            },
            '(' | '|' | ')' => out.push(first),
            _ => push_escaped(first, &mut out),
        }
    }
    out
}

/// The expression for a pattern of style `fm`, without anchors: what Python's `fnmatch` matches, `*` and `?` crossing `/`
/// (data layer, section 14.1).
pub(super) fn fnmatch_to_python(glob: &str) -> String {
    let glob: Vec<char> = glob.chars().collect();
    let mut out = String::new();
    let mut rest = glob.as_slice();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            '*' => {
                while let ['*', after @ ..] = rest {
                    rest = after;
                }
                out.push_str(".*");
            }
            '?' => out.push('.'),
            '[' => match split_class(rest) {
                Some((class, after)) => {
                    push_fnmatch_class(class, &mut out);
                    rest = after;
                }
                None => out.push_str(r"\["),
            },
            _ => push_escaped(first, &mut out),
        }
    }
    out
}

/// Turns the commas of `{a,b}` into `|` and its braces into parentheses; braces without a comma stay what they are.
///
/// A backslash before a brace or comma prevents that (and stays in the pattern as a literal).
fn alternatives(glob: &[char]) -> Vec<char> {
    let escaped = |at: usize| at > 0 && glob[at - 1] == '\\';
    let mut out = glob.to_vec();
    let mut open = Vec::new();
    let mut closed = Vec::new();
    for (at, &character) in glob.iter().enumerate() {
        match character {
            '{' if !escaped(at) => open.push(at),
            '}' if !escaped(at) => closed.extend(open.pop().map(|opening| (opening, at))),
            _ => {}
        }
    }
    // Only commas inside a closed pair count. How many there are before each place answers "does this pair hold one"
    // without a scan per pair.
    let mut depth_change = alloc::vec![0_i32; glob.len()];
    for &(opening, closing) in &closed {
        depth_change[opening] += 1;
        depth_change[closing] -= 1;
    }
    let mut separators_before = Vec::with_capacity(glob.len() + 1);
    let (mut depth, mut separators) = (0, 0_usize);
    for (at, &character) in glob.iter().enumerate() {
        separators_before.push(separators);
        depth += depth_change[at];
        if matches!(character, ',' | '|') && !escaped(at) && depth > 0 {
            out[at] = '|';
            separators += 1;
        }
    }
    separators_before.push(separators);
    for (opening, closing) in closed {
        if separators_before[closing] > separators_before[opening] {
            out[opening] = '(';
            out[closing] = ')';
        }
    }
    out
}

/// Splits what follows a `[` at the `]` that closes it; a `]` that comes first (or after `!`) does not.
fn split_class(after_bracket: &[char]) -> Option<(&[char], &[char])> {
    let skip = match after_bracket {
        ['!', ']', ..] => 2,
        ['!' | ']', ..] => 1,
        _ => 0,
    };
    let len = skip + after_bracket[skip..].iter().position(|&character| character == ']')?;
    Some((&after_bracket[..len], &after_bracket[len + 1..]))
}

/// A class of style `sh`: Python's own, but for `!`, `^` and backslashes.
fn push_shell_class(class: &[char], out: &mut String) {
    out.push('[');
    for (at, &character) in class.iter().enumerate() {
        match character {
            '!' if at == 0 => out.push('^'),
            '^' if at == 0 => out.push_str(r"\^"),
            '\\' => out.push_str(r"\\"),
            _ => out.push(character),
        }
    }
    out.push(']');
}

/// A class of style `fm`: ranges in the wrong order are empty, and everything else is literal.
fn push_fnmatch_class(class: &[char], out: &mut String) {
    let (negated, class) = match class {
        ['!', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut members = String::new();
    let mut rest = class;
    loop {
        rest = match rest {
            [low, '-', high, after @ ..] => {
                if low <= high {
                    push_member(*low, &mut members);
                    members.push('-');
                    push_member(*high, &mut members);
                }
                after
            }
            [single, after @ ..] => {
                push_member(*single, &mut members);
                after
            }
            [] => break,
        }
    }
    match (members.is_empty(), negated) {
        (true, true) => out.push('.'),
        (true, false) => out.push_str(r"[^\s\S]"),
        (false, _) => {
            out.push_str(if negated { "[^" } else { "[" });
            out.push_str(&members);
            out.push(']');
        }
    }
}

fn push_member(member: char, out: &mut String) {
    if member.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(member);
}

/// A literal character, escaped as Python's `re.escape` does it.
pub(super) fn push_escaped(literal: char, out: &mut String) {
    if "()[]{}?*+-|^$\\.&~# \t\n\r\x0b\x0c".contains(literal) {
        out.push('\\');
    }
    out.push(literal);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn shell_patterns_give_borgs_expressions() {
        let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
        let cases = vectors["sh_regex"].as_array().unwrap();
        assert_eq!(cases.len(), 13);
        for case in cases {
            assert_eq!(shell_to_python(case["sh"].as_str().unwrap()), case["regex_body"].as_str().unwrap());
        }
    }

    /// Seen from `borg.helpers.shellpattern.translate` of the real client.
    #[test]
    fn braces_are_alternatives_only_in_pairs_with_a_comma() {
        for (glob, expected) in [
            ("{a,b}{c}{d,e", r"(a|b)\{c\}\{d,e"),
            ("{a,{b}", r"\{a,\{b\}"),
            ("{{a,b}", r"\{(a|b)"),
            ("}{a,b}", r"\}(a|b)"),
            ("{a|b}", "(a|b)"),
            (r"\{a,b}", r"\\\{a,b\}"),
            (r"{a\|b}", r"\{a\\|b\}"),
            ("{x{a}y,z}", r"(x\{a\}y|z)"),
            ("{[,]}", "([|])"),
        ] {
            assert_eq!(shell_to_python(glob), expected, "{glob}");
        }
    }
}
