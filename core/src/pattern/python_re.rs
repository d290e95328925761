//! Regular expressions of Python's dialect, on an engine of another one.

use super::error::RegexFault;
use super::python_syntax::{DOLLAR, Flags, Translated};
use alloc::format;
use alloc::string::ToString;
use fancy_regex::{Regex, RegexBuilder};

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct PythonRegex {
    /// Where `$` is the very end: right for every text that does not end with a newline.
    plain: Regex,
    /// Where `$` also matches before a newline at the end. That needs look-ahead, so it is kept apart and rarely used.
    before_newline: Option<Regex>,
}

impl PythonRegex {
    /// An expression that may match anywhere: Python's `re.search`.
    pub(crate) fn search(expression: &str) -> Result<Self, RegexFault> {
        Self::compile(&Translated::new(expression, Flags::default())?, "", "")
    }

    /// An expression that starts matching at the start, and whose last alternative must end at the end: Python's
    /// `re.match` of the expression with `\Z` after it.
    pub(crate) fn anchored(expression: &str, flags: Flags) -> Result<Self, RegexFault> {
        Self::compile(&Translated::new(expression, flags)?, r"\A", r"\z")
    }

    fn compile(translated: &Translated, start: &str, end: &str) -> Result<Self, RegexFault> {
        let build = |end_of_text: &str| {
            let body = translated.body.replace(DOLLAR, end_of_text);
            let case = if translated.ignore_case { "(?i:" } else { "(?:" };
            RegexBuilder::new(&format!("{start}{case}{body}{end})"))
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(PROGRAM_MAX_BYTES)
                .max_prog_size(PROGRAM_MAX_STEPS)
                .build()
                .map_err(|error| RegexFault::Engine(error.to_string()))
        };
        let before_newline = match translated.body.contains(DOLLAR) {
            true => Some(build(r"(?=\n?\z)")?),
            false => None,
        };
        Ok(PythonRegex { plain: build(r"\z")?, before_newline })
    }

    /// Whether the text matches; `None` if that takes more steps than allowed.
    pub(crate) fn is_match(&self, text: &str) -> Option<bool> {
        match &self.before_newline {
            Some(regex) if text.ends_with('\n') => regex.is_match(text).ok(),
            _ => self.plain.is_match(text).ok(),
        }
    }
}

/// Steps after which an expression that backtracks is given up on one path: some tens of milliseconds.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// Largest compiled size of a part without backtracking, in bytes.
const PROGRAM_MAX_BYTES: usize = 16 << 20;

/// Largest compiled size of an expression with backtracking, in instructions.
const PROGRAM_MAX_STEPS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, matching: &[&str], other: &[&str]) {
        let regex = PythonRegex::search(expression).unwrap_or_else(|fault| panic!("{expression}: {fault}"));
        for text in matching {
            assert_eq!(regex.is_match(text), Some(true), "{expression} on {text:?}");
        }
        for text in other {
            assert_eq!(regex.is_match(text), Some(false), "{expression} on {text:?}");
        }
    }

    /// Each line was tried with Python's `re.search`.
    #[test]
    fn expressions_mean_what_they_mean_in_python() {
        check("a$", &["a", "a\n", "ba"], &["a\n\n", "ab", "a\nb"]);
        check("(?m)a$", &["a\nb", "a"], &["ab"]);
        check(r"a\Z", &["a"], &["a\n"]);
        check("^b", &["b"], &["a\nb"]);
        check("(?m)^b", &["a\nb"], &["ab"]);
        check("a.b", &["a-b", "a\rb"], &["a\nb"]);
        check("(?s)a.b", &["a\nb"], &["ab"]);
        check("(?s:a.)b.", &["a\nbc"], &["a\nb\n"]);
        check("(?i)Ä", &["ä"], &["a"]);
        check("(?i:a)b", &["Ab"], &["AB"]);
        check("(?i)a(?-i:b)", &["Ab"], &["AB"]);
        check(r"(?P<n>a|b)x(?P=n)", &["axa", "bxb"], &["axb"]);
        check(r"(a)(?P<n>b)\2\1", &["abba"], &["abab"]);
        check(r"(a)(?:\1)0", &["aa0"], &["a0"]);
        check(r"\<a", &["<a"], &["a"]);
        check(r"[a&&b]", &["&", "a", "b"], &["c"]);
        check("[[:alpha:]]", &["a]", ":]", "[]"], &["x]", "a"]);
        check("[]a]", &["]", "a"], &["b"]);
        check("[^]a]", &["b"], &["]", "a"]);
        check(r"[\b]", &["\x08"], &["b", "a b"]);
        check(r"[a\]-]", &["]", "-", "a"], &["b", "\\"]);
        check(r"[a-]", &["-"], &["b"]);
        check(r"[\d-]", &["-", "5"], &["a"]);
        check("x{,2}y", &["y", "xxy"], &["x"]);
        check("^x{,2}y", &["y", "xxy"], &["xxxy"]);
        check("x{a}", &["x{a}"], &["x"]);
        check("x{}", &["x{}"], &["x"]);
        check("x{2", &["x{2"], &["xx"]);
        check("(?x) a b # comment\n c", &["abc"], &["a b c"]);
        check("(?x)[ ]a", &[" a"], &["a"]);
        check(r"(?#comment)a(?#x)+b", &["aab"], &["b"]);
        check(r"(?<=a)b(?!c)", &["ab"], &["abc", "bb"]);
        check(r"(a)?b(?(1)c|d)", &["abc", "bd"], &["be"]);
        check(r"^(a)?b(?(1)c|d)$", &["abc", "bd"], &["abd", "bc"]);
        check(r"^(?>a+)ab", &[], &["aaab"]);
        check(r"^a++ab", &[], &["aaab"]);
        check(r"^a+?b", &["aab"], &["c"]);
        check(r"\w", &["ä", "5", "²", "_"], &["-", "\u{301}", " "]);
        check(r"(?a)\w", &["a"], &["ä"]);
        check(r"(?a)[\W]", &["ä"], &["a"]);
        check(r"\s", &["\u{a0}", "\x1c"], &["a"]);
        check(r"[^\s\S]", &[], &["a", " ", ""]);
        check(r"\x41\u00e4\101\0", &["AäA\0"], &["AäA"]);
        check(r"\.\-\/\ \~", &[".-/ ~"], &["a-/ ~"]);
        check(r"a\b", &["a b"], &["ab"]);
        check("a||b", &["", "x"], &[]);
        check(r"(?a)a\b", &["aä", "a"], &["ab"]);
        check(r"(?a)a\B", &["ab"], &["aä", "a"]);
    }

    #[test]
    fn what_python_refuses_is_refused() {
        use RegexFault::*;
        for (expression, fault) in [
            ("*a", NothingToRepeat),
            ("a**", MultipleRepeat),
            ("^*", NothingToRepeat),
            ("(*a)", NothingToRepeat),
            ("a{2}{3}", MultipleRepeat),
            ("a{3,2}", RepeatBounds),
            ("(a", UnterminatedGroup),
            ("a)", UnbalancedParenthesis),
            ("[a", UnterminatedSet),
            ("[]", UnterminatedSet),
            ("[b-a]", BadRange),
            (r"[\d-z]", BadRange),
            (r"\h", BadEscape('h')),
            (r"\K", BadEscape('K')),
            (r"\p{L}", BadEscape('p')),
            (r"\xg1", BadEscape('x')),
            ("a\\", TrailingBackslash),
            (r"\1", BadGroupReference),
            (r"(a\1)", BadGroupReference),
            ("(?P=x)", BadGroupReference),
            ("(?P<1>a)", BadGroupName),
            ("(?P<a>x)(?P<a>y)", BadGroupName),
            ("(?<n>a)", UnknownExtension),
            ("(?~a)", UnknownExtension),
            ("(?|a)", UnknownExtension),
            ("a(?i)b", FlagsNotAtStart),
            ("(?L)a", BadFlags),
            ("(?R:a)", BadFlags),
        ] {
            assert_eq!(PythonRegex::search(expression).err(), Some(fault), "{expression}");
        }
    }

    #[test]
    fn an_expression_that_explodes_is_given_up() {
        let regex = PythonRegex::search(r"^(?:(a+)\1?)+c").unwrap();
        assert_eq!(regex.is_match(&("a".repeat(60) + "bc")), None);
    }

    #[test]
    fn an_expression_that_would_be_huge_is_refused() {
        let huge = PythonRegex::search("((a{1000}){1000}){1000}");
        assert!(matches!(huge, Err(RegexFault::Engine(_))));
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        assert!(matches!(PythonRegex::search(&deep), Err(RegexFault::Engine(_))));
    }
}
