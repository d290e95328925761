//! `help`: texts about what several commands share.

use crate::failure::Failure;
use crate::output::stdout::print;
use clap::{Args, Command};

/// Texts about what several commands share.
const TOPICS: [(&str, &str); 4] = [
    ("environment", include_str!("help/environment.txt")),
    ("match-archives", include_str!("help/match-archives.txt")),
    ("patterns", include_str!("help/patterns.txt")),
    ("placeholders", include_str!("help/placeholders.txt")),
];

/// Extra help about a command or a topic: environment, match-archives, patterns, placeholders
#[derive(Debug, Args)]
pub struct Options {
    /// print only the part of the help after the options
    #[arg(long)]
    epilog_only: bool,

    /// print only the options
    #[arg(long)]
    usage_only: bool,

    /// additional help on TOPIC
    topic: Option<String>,
}

/// Prints help about the command line that `command` describes.
pub fn run(options: &Options, mut command: Command) -> Result<(), Failure> {
    let Some(topic) = &options.topic else {
        return print(&command.render_long_help().to_string());
    };
    let topic = if topic == "env" { "environment" } else { topic };
    if let Some((_, text)) = TOPICS.iter().find(|(name, _)| *name == topic) {
        return print(text);
    }
    command.build();
    if let Some(command) = command.find_subcommand_mut(topic) {
        let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
        return if options.epilog_only {
            print(&format!("{about}\n"))
        } else if options.usage_only {
            print(&command.render_help().to_string())
        } else {
            print(&command.render_long_help().to_string())
        };
    }
    let commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
    Err(Failure::new(
        2,
        "Error",
        format!(
            "No help available on {topic}.\nTry one of the following:\n    Commands: {}\n    Topics: {}",
            commands.join(", "),
            topics.join(", ")
        ),
    ))
}
