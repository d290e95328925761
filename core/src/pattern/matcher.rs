//! All patterns of a command line, in order.

use super::command::{Command, Rule};
use super::error::PatternError;
use super::pattern::Pattern;
use super::style::Style;
use super::subject::Subject;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Decides which paths are meant (data layer, section 14.4).
///
/// Full paths (style `pf`) are looked up first, whatever their place; the last one added for a path wins. Of the other
/// patterns the first that matches decides, and without one the fallback.
#[derive(Debug, Clone)]
pub struct PatternMatcher {
    entries: Vec<Entry>,
    full_paths: BTreeMap<Vec<u8>, Command>,
    fallback: bool,
    text: String,
}

#[derive(Debug, Clone)]
struct Entry {
    rule: Rule,
    is_include_path: bool,
    ever_matched: bool,
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the path is meant.
    pub included: bool,
    /// Whether it is entered if it is a directory; also excluded directories can be.
    pub recurse: bool,
}

impl PatternMatcher {
    /// Without patterns: `fallback` says whether paths are included that no pattern matches.
    pub fn new(fallback: bool) -> Self {
        PatternMatcher { entries: Vec::new(), full_paths: BTreeMap::new(), fallback, text: String::new() }
    }

    /// Appends a pattern.
    pub fn add(&mut self, pattern: Pattern, command: Command) {
        self.push(Rule { pattern, command }, false);
    }

    /// Appends the rules of options and files.
    pub fn add_rules(&mut self, rules: impl IntoIterator<Item = Rule>) {
        for rule in rules {
            self.push(rule, false);
        }
    }

    /// Appends the PATH arguments of a command as includes (style `pp` unless they have a prefix); to be called last.
    /// From now on, what nothing matches is included only if there are no PATH arguments.
    ///
    /// # Errors
    /// An argument that is not a pattern.
    pub fn add_includepaths<P: AsRef<[u8]>>(&mut self, paths: impl IntoIterator<Item = P>) -> Result<(), PatternError> {
        self.fallback = true;
        for path in paths {
            let pattern = Pattern::parse(path.as_ref(), Style::Pp)?;
            self.push(Rule { pattern, command: Command::Include }, true);
            self.fallback = false;
        }
        Ok(())
    }

    /// Whether there are no patterns, so that the fallback decides on every path.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.full_paths.is_empty()
    }

    /// Decides on a path, and remembers which PATH argument it came from.
    ///
    /// # Errors
    /// [`PatternError::TooComplex`] if a pattern takes too long on this path: then nothing is known about it.
    pub fn match_path(&mut self, path: &[u8]) -> Result<Verdict, PatternError> {
        if !self.is_empty() {
            let mut subject = Subject::new(path, &mut self.text);
            if let Some(command) = self.full_paths.get(subject.path()) {
                return Ok(Verdict::of(*command));
            }
            for entry in &mut self.entries {
                if entry.rule.pattern.matches_subject(&mut subject)? {
                    entry.ever_matched = true;
                    return Ok(Verdict::of(entry.rule.command));
                }
            }
        }
        Ok(Verdict { included: self.fallback, recurse: true })
    }

    /// The PATH arguments that have not decided on any path so far, without their prefixes ("Include pattern '..' never
    /// matched."). As in Borg, full paths (`pf:`) are not watched.
    pub fn unmatched_include_paths(&self) -> impl Iterator<Item = &[u8]> {
        let unmatched = self.entries.iter().filter(|entry| entry.is_include_path && !entry.ever_matched);
        unmatched.map(|entry| entry.rule.pattern.given())
    }

    fn push(&mut self, rule: Rule, is_include_path: bool) {
        match rule.pattern.full_path() {
            Some(path) => {
                self.full_paths.insert(path.to_vec(), rule.command);
            }
            None => self.entries.push(Entry { rule, is_include_path, ever_matched: false }),
        }
    }
}

impl Verdict {
    fn of(command: Command) -> Self {
        Verdict { included: command.includes(), recurse: command.recurses() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::parse_pattern_file;
    use super::*;
    use serde_json::Value;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap()
    }

    fn strings(value: &Value) -> Vec<&str> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    }

    #[test]
    fn patterns_match_what_borgs_match() {
        let vectors = vectors();
        let paths = strings(&vectors["patterns"]["paths"]);
        let cases = vectors["patterns"]["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 38);
        for case in cases {
            let text = case["pattern"].as_str().unwrap();
            let pattern = Pattern::parse(text.as_bytes(), Style::Fm).unwrap();
            let matching: Vec<_> =
                paths.iter().copied().filter(|path| pattern.matches(path.as_bytes()).unwrap()).collect();
            assert_eq!(matching, strings(&case["matches"]), "{text}");
        }
    }

    #[test]
    fn matchers_decide_as_borgs_do() {
        let vectors = vectors();
        let cases = vectors["matcher"].as_array().unwrap();
        assert_eq!(cases.len(), 6);
        for case in cases {
            let file = parse_pattern_file(strings(&case["pattern_file"]).join("\n").as_bytes()).unwrap();
            let roots: Vec<_> = strings(&case["roots"]).iter().map(|root| root.as_bytes().to_vec()).collect();
            assert_eq!(file.roots, roots);
            let mut matcher = PatternMatcher::new(true);
            matcher.add_rules(file.rules);
            matcher.add_includepaths(strings(&case["include_paths"])).unwrap();
            for result in case["result_path_included_recurse"].as_array().unwrap() {
                let path = result[0].as_str().unwrap();
                let verdict = matcher.match_path(path.as_bytes()).unwrap();
                let expected =
                    Verdict { included: result[1].as_bool().unwrap(), recurse: result[2].as_bool().unwrap() };
                assert_eq!(verdict, expected, "{path} by {}", case["pattern_file"]);
            }
        }
    }

    #[test]
    fn names_that_are_not_utf8_match_byte_by_byte() {
        for (pattern, path, matches) in [
            (&b"sh:caf\xe9"[..], &b"caf\xe9/x"[..], true),
            (b"sh:caf?", b"caf\xe9", true),
            (b"sh:caf?", b"caf\xe9\xe8", false),
            (b"fm:caf\xe8*", b"caf\xe9", false),
            (b"re:f.$", b"caf\xe9", true),
            (b"re:f\\W$", b"caf\xe9", true),
            (b"pp:caf\xe9", b"caf\xe9/x", true),
            (b"pf:caf\xe9", b"caf\xe9", true),
            (b"re:^x$", b"x\n", true),
            (b"sh:x", b"x\n", false),
        ] {
            let pattern = Pattern::parse(pattern, Style::Fm).unwrap();
            assert_eq!(pattern.matches(path).unwrap(), matches, "{pattern:?}");
        }
    }

    #[test]
    fn path_arguments_that_match_nothing_are_told() {
        let mut matcher = PatternMatcher::new(true);
        matcher.add_includepaths(["home/user", "pp:nowhere", "pf:x", "sh:*.o"]).unwrap();
        assert!(matcher.match_path(b"home/user/a").unwrap().included);
        assert!(!matcher.match_path(b"etc").unwrap().included);
        assert_eq!(matcher.unmatched_include_paths().collect::<Vec<_>>(), [&b"nowhere"[..], b"*.o"]);
    }

    #[test]
    fn a_path_that_takes_too_long_is_an_error_and_no_verdict() {
        let mut matcher = PatternMatcher::new(true);
        matcher.add_rules([super::super::command::parse_exclude(br"re:^(?:(a+)\1?)+c").unwrap()]);
        let path = "a".repeat(60) + "bc";
        assert!(matches!(matcher.match_path(path.as_bytes()), Err(PatternError::TooComplex { .. })));
    }
}
