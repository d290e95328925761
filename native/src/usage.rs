//! Reading the command line, with help and complaints in Borg's manner (command line, section 0).

use crate::cli::{self, Cli};
use crate::command::{
    benchmark, break_lock, check, compact, create, debug, delete, extract, help, info, key, list, listing, recreate,
    repo_compress, repo_create, repo_delete, repo_info, repo_list, undelete, version,
};
use crate::options::common::Common;
use crate::output::stdout::print;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, Command, CommandFactory, FromArgMatches};
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Exit code of a command line that makes no sense.
const USAGE_ERROR: u8 = 2;
const TEMPLATE: &str = "usage: {usage}\n\n{before-help}{all-args}{after-help}";
const TOPICS: &str = "Description of additional help topics:

Use \"borg help <topic>\" to get help on:

  patterns            selection patterns for including/excluding paths
  match-archives      selection patterns for matching archives
  placeholders        placeholders in repository URLs, archive names, etc.
  compression         compression algorithms, their levels, and obfuscation of sizes
  environment         environment variables used by borg (short: env)";
/// Options whose values may well begin with a hyphen, as in `--pattern '- **'`.
const TAKES_HYPHENS: [&str; 4] = ["format", "pattern", "exclude", "match_archives"];
/// Commands and options that people know from Borg and will look for.
const NOT_YET: &[&str] = &[
    "analyze",
    "completion",
    "copy",
    "diff",
    "export-tar",
    "find",
    "import-tar",
    "mount",
    "umount",
    "prune",
    "rename",
    "repo-space",
    "serve",
    "tag",
    "transfer",
    "webdav",
    "with-lock",
    "--repair",
    "--find-lost-archives",
    "--other-repo",
    "--from-borg1",
    "--copy-crypt-key",
];

/// The command line of this process. Without a command to run, what is to be said has been said, and there is an exit code.
pub fn parse() -> Result<(Common, cli::Command), ExitCode> {
    match parse_line(env::args_os()) {
        Ok((common, Some(command))) => Ok((common, command)),
        Ok(_) => Err(exit(print(&command().render_help().to_string()).is_ok())),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Err(exit(error.print().is_ok()))
        }
        Err(error) => {
            eprint!("{}", complaint(&error));
            Err(ExitCode::from(USAGE_ERROR))
        }
    }
}

/// Another command line, the program's name first. It may have no command.
pub fn parse_line(
    line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<(Common, Option<cli::Command>), clap::Error> {
    let matches = command().try_get_matches_from(line)?;
    let Cli { common, command, .. } = Cli::from_arg_matches(&matches)?;
    Ok((common, command))
}

/// The program's commands and options.
pub fn command() -> Command {
    let described = Cli::command()
        .after_help(TOPICS)
        .mut_subcommand("repo-create", described::<repo_create::Options>)
        .mut_subcommand("repo-delete", described::<repo_delete::Options>)
        .mut_subcommand("repo-list", described::<repo_list::Options>)
        .mut_subcommand("repo-info", described::<repo_info::Options>)
        .mut_subcommand("list", described::<list::Options>)
        .mut_subcommand("info", described::<info::Options>)
        .mut_subcommand("extract", described::<extract::Options>)
        .mut_subcommand("check", described::<check::Options>)
        .mut_subcommand("create", described::<create::Options>)
        .mut_subcommand("delete", described::<delete::Options>)
        .mut_subcommand("undelete", described::<undelete::Options>)
        .mut_subcommand("compact", described::<compact::Options>)
        .mut_subcommand("recreate", described::<recreate::Options>)
        .mut_subcommand("repo-compress", described::<repo_compress::Options>)
        .mut_subcommand("debug", |debug| {
            described::<debug::Options>(debug)
                .mut_subcommand("get-obj", described::<debug::ObjectOptions>)
                .mut_subcommand("put-obj", described::<debug::ObjectOptions>)
        })
        .mut_subcommand("key", |key| {
            described::<key::Options>(key)
                .mut_subcommand("export", described::<key::ExportOptions>)
                .mut_subcommand("import", described::<key::ImportOptions>)
                .mut_subcommand("change-passphrase", described::<key::ChangePassphraseOptions>)
                .mut_subcommand("add", described::<key::AddOptions>)
                .mut_subcommand("remove", described::<key::RemoveOptions>)
                .mut_subcommand("list", described::<key::ListOptions>)
                .mut_subcommand("change-location", described::<key::ChangeLocationOptions>)
        })
        .mut_subcommand("benchmark", benchmark::described)
        .mut_subcommand("listing", described::<listing::Options>)
        .mut_subcommand("break-lock", described::<break_lock::Options>)
        .mut_subcommand("version", described::<version::Options>)
        .mut_subcommand("help", described::<help::Options>);
    #[cfg(not(target_os = "wasi"))]
    let described = described.mut_subcommand("web", self::described::<crate::command::web::Options>);
    let about = described.get_about().cloned().unwrap_or_default();
    tuned(described.before_help(about))
}

/// A command's help begins with what is written over its options; its list entry in the program's help is a few words.
pub fn described<O: Args>(command: Command) -> Command {
    let options = O::augment_args(Command::new(""));
    let text = options.get_long_about().or(options.get_about()).map(ToString::to_string).unwrap_or_default();
    let period = if text.ends_with(['.', '\n']) { "" } else { "." };
    command.before_help(format!("{text}{period}"))
}

/// As Borg does, takes switches that are given twice and values that look like options, and has `usage:` first.
fn tuned(command: Command) -> Command {
    command
        .help_template(TEMPLATE)
        .disable_help_flag(true)
        .mut_args(|arg| match arg.get_action() {
            ArgAction::SetTrue => {
                let id = arg.get_id().clone();
                arg.overrides_with(id)
            }
            _ if TAKES_HYPHENS.contains(&arg.get_id().as_str()) => arg.allow_hyphen_values(true),
            _ => arg,
        })
        .mut_subcommands(tuned)
}

/// What is wrong with a command line, and what helps.
fn complaint(error: &clap::Error) -> String {
    let text = error.render().to_string().replacen("\nUsage: ", "\nusage: ", 1);
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let first_line = match error.kind() {
        ErrorKind::ArgumentConflict if context(ContextKind::InvalidArg) == context(ContextKind::PriorArg) => {
            let Some(option) = context(ContextKind::InvalidArg) else { return text };
            format!("error: argument {}: There can be only one.", option.split(' ').next().unwrap_or(option))
        }
        ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument => {
            let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
            let Some(word) = kinds.into_iter().find_map(context) else { return text };
            if NOT_YET.contains(&word) {
                format!("error: {word} is something that Borg can do, but not this version of portaborg.")
            } else if error.kind() == ErrorKind::InvalidSubcommand && word.contains(['/', ':']) {
                format!("error: {word:?} is no command; give the repository as --repo REPO or in BORG_REPO.")
            } else {
                return text;
            }
        }
        _ => return text,
    };
    // What clap found to be similar is no help here.
    format!("{first_line}\n\nFor more information, try '--help'.\n")
}

fn exit(is_fine: bool) -> ExitCode {
    if is_fine { ExitCode::SUCCESS } else { ExitCode::from(USAGE_ERROR) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint_about(line: &str) -> String {
        let words = line.split(' ');
        complaint(&command().try_get_matches_from(words).unwrap_err())
    }

    #[test]
    fn the_command_line_is_well_defined() {
        command().debug_assert();
    }

    #[test]
    fn complaints_say_what_helps() {
        for (line, wanted) in [
            ("borg --umask 0007 --umask 0077 repo-list", "error: argument --umask: There can be only one.\n"),
            ("borg mount a b", "error: mount is something that Borg can do, but not this version of portaborg.\n"),
            ("borg check --repair", "error: --repair is something that Borg can do, but not this version"),
            ("borg /repo list", "error: \"/repo\" is no command; give the repository as --repo REPO"),
            (
                "borg extrakt",
                "error: unrecognized subcommand 'extrakt'\n\n  tip: a similar subcommand exists: 'extract'",
            ),
            ("borg list", "error: the following required arguments were not provided:\n  <NAME>\n\nusage: "),
        ] {
            let text = complaint_about(line);
            assert!(text.starts_with(wanted) && text.ends_with("\n\nFor more information, try '--help'.\n"), "{text}");
        }
    }

    #[test]
    fn values_may_begin_with_a_hyphen() {
        let line = ["borg", "list", "a", "--pattern", "+ x", "--pattern", "- **", "--format", "- {path}"];
        assert!(command().try_get_matches_from(line).is_ok());
    }

    #[test]
    fn switches_may_be_given_twice() {
        assert!(command().try_get_matches_from(["borg", "-p", "repo-list", "--json", "--json", "-p"]).is_ok());
    }
}
