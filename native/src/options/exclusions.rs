//! Choosing paths of an archive: patterns and PATH arguments, in the order they were given (command line, section 5.1).

use crate::failure::Failure;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use portaborg_core::pattern::{
    Line, PatternError, PatternMatcher, Rule, Style, parse_exclude, parse_exclude_file, parse_line, parse_pattern_file,
};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
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
        for (kind, value) in &self.given {
            matcher.add_rules(rules(*kind, value)?);
        }
        matcher.add_includepaths(paths.iter().map(|path| path.as_os_str().as_bytes())).map_err(invalid)?;
        Ok(matcher)
    }
}

fn rules(kind: Kind, value: &OsString) -> Result<Vec<Rule>, Failure> {
    let read = || fs::read(value).map_err(|error| Failure::error(format_args!("{}: {error}", value.display())));
    match kind {
        Kind::Exclude => parse_exclude(value.as_bytes()).map(|rule| vec![rule]).map_err(invalid),
        Kind::ExcludeFrom => parse_exclude_file(&read()?).map_err(invalid),
        Kind::PatternsFrom => Ok(parse_pattern_file(&read()?).map_err(no_command)?.rules),
        Kind::Pattern => {
            match parse_line(value.as_bytes(), Style::Sh).map_err(no_command)? {
                Line::Rule(rule) => Ok(vec![rule]),
                _ => Ok(Vec::new()), // a root, which only create has a use for
            }
        }
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
