//! Choosing paths of an archive: patterns and PATH arguments, in the order they were given (command line, section 5.1).

use crate::failure::Failure;
use crate::system::ffi::{OsStrExt, OsStringExt};
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use portaborg_core::pattern::{
    Line, PatternError, PatternFile, PatternMatcher, Style, parse_exclude, parse_exclude_file, parse_line,
    parse_pattern_file,
};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// The options that choose paths. Patterns apply in the order in which all of them were given, whatever the option.
#[derive(Debug, Clone, Default)]
pub struct Exclusions {
    given: Vec<(Kind, OsString)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Exclude,
    ExcludeFrom,
    Pattern,
    PatternsFrom,
}

/// Each option's id, its kind, its value's name, and its help.
const OPTIONS: [(&str, Kind, &str, &str); 4] = [
    ("exclude", Kind::Exclude, "PATTERN", "exclude paths matching PATTERN"),
    ("exclude-from", Kind::ExcludeFrom, "EXCLUDEFILE", "read exclude patterns from EXCLUDEFILE, one per line"),
    ("pattern", Kind::Pattern, "PATTERN", "include/exclude paths matching PATTERN"),
    (
        "patterns-from",
        Kind::PatternsFrom,
        "PATTERNFILE",
        "read include/exclude patterns from PATTERNFILE, one per line",
    ),
];

impl Exclusions {
    /// The matcher of these options and of PATH arguments.
    pub fn matcher(&self, paths: &[PathBuf]) -> Result<PatternMatcher, Failure> {
        let mut matcher = PatternMatcher::new(paths.is_empty());
        matcher.add_rules(self.parsed()?.rules);
        matcher.add_includepaths(paths.iter().map(|path| path.as_os_str().as_bytes())).map_err(invalid)?;
        Ok(matcher)
    }

    /// The matcher of these options for walking through a file system, which includes what nothing excludes, and the paths
    /// to start from that patterns name.
    #[allow(dead_code, reason = "the command that uses it is still to come")]
    pub fn walk_matcher(&self) -> Result<(PatternMatcher, Vec<Vec<u8>>), Failure> {
        let parsed = self.parsed()?;
        let mut matcher = PatternMatcher::new(true);
        matcher.add_rules(parsed.rules);
        Ok((matcher, parsed.roots))
    }

    fn parsed(&self) -> Result<PatternFile, Failure> {
        let mut all = PatternFile::default();
        for (kind, value) in &self.given {
            let read = || fs::read(value).map_err(|error| Failure::error(format_args!("{}: {error}", value.display())));
            match kind {
                Kind::Exclude => all.rules.push(parse_exclude(value.as_bytes()).map_err(invalid)?),
                Kind::ExcludeFrom => all.rules.extend(parse_exclude_file(&read()?).map_err(invalid)?),
                Kind::PatternsFrom => {
                    let file = parse_pattern_file(&read()?).map_err(no_command)?;
                    all.rules.extend(file.rules);
                    all.roots.extend(file.roots);
                }
                Kind::Pattern => match parse_line(value.as_bytes(), Style::Sh).map_err(no_command)? {
                    Line::Rule(rule) => all.rules.push(rule),
                    Line::Root(path) => all.roots.push(path),
                    Line::Style(_) => {} // for the rest of a file, of which there is none
                },
            }
        }
        Ok(all)
    }
}

fn invalid(error: PatternError) -> Failure {
    Failure::new(2, "Error", format!("error: {error}"))
}

/// In lines that begin with what to do, as `+ path`, Borg counts mistakes as those of a command.
fn no_command(error: PatternError) -> Failure {
    Failure::new(4, "CommandError", error)
}

impl Args for Exclusions {
    fn augment_args(command: clap::Command) -> clap::Command {
        OPTIONS.iter().fold(command, |command, (id, kind, value, help)| {
            let option = Arg::new(*id)
                .long(*id)
                .value_name(*value)
                .help(*help)
                .help_heading("Include/Exclude options")
                .value_parser(clap::value_parser!(OsString))
                .action(ArgAction::Append);
            command.arg(if *kind == Kind::Exclude { option.short('e') } else { option })
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Exclusions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for (id, kind, ..) in OPTIONS {
            let places = matches.indices_of(id).into_iter().flatten();
            let values = matches.get_many::<OsString>(id).into_iter().flatten();
            given.extend(places.zip(values).map(|(place, value)| (place, kind, value.clone())));
        }
        given.sort_by_key(|(place, ..)| *place);
        Ok(Exclusions { given: given.into_iter().map(|(_, kind, value)| (kind, value)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A path for a message or an argument's echo.
pub fn shown_path(path: &[u8]) -> String {
    OsString::from_vec(path.to_vec()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        exclusions: Exclusions,
    }

    #[test]
    fn roots_come_in_the_order_in_which_patterns_name_them() {
        let file = std::env::temp_dir().join(format!("portaborg-patterns-{}", std::process::id()));
        fs::write(&file, "R /in/file\n- *.o\nr second\n").unwrap();
        let from = format!("--patterns-from={}", file.display());
        let line = ["x", "--pattern=R first", "--exclude=*.tmp", &from, "--pattern=R  last one"];
        let exclusions = Arguments::parse_from(line).exclusions;
        let (mut matcher, roots) = exclusions.walk_matcher().unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(roots, [&b"first"[..], b"/in/file", b"second", b"last one"]);
        let mut verdict = |path: &str| {
            let verdict = matcher.match_path(path.as_bytes()).unwrap();
            (verdict.included, verdict.recurse)
        };
        assert_eq!(verdict("a"), (true, true));
        assert_eq!(verdict("a.o"), (false, true));
        assert_eq!(verdict("a.tmp"), (false, false));
    }
}
