//! `help`: texts about what several commands share.

use crate::failure::Failure;
use crate::output::stdout::print;
use clap::{Args, Command};

/// Texts about what several commands share.
const TOPICS: [(&str, &str); 5] = [
    ("compression", include_str!("help/compression.txt")),
    ("environment", include_str!("help/environment.txt")),
    ("match-archives", include_str!("help/match-archives.txt")),
    ("patterns", include_str!("help/patterns.txt")),
    ("placeholders", include_str!("help/placeholders.txt")),
];

/// Extra help about a command or a topic: compression, environment, match-archives, patterns, placeholders
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
        return print(&command.render_help().to_string());
    };
    let topic = if topic == "env" { "environment" } else { topic };
    if let Some((_, text)) = TOPICS.iter().find(|(name, _)| *name == topic) {
        return print(text);
    }
    command.build();
    if let Some(command) = command.find_subcommand_mut(topic) {
        let text = command.get_before_help().map(ToString::to_string).unwrap_or_default();
        return match (options.epilog_only, options.usage_only) {
            (true, _) => print(&format!("{text}\n")),
            (false, true) => print(&command.clone().before_help(None::<&str>).render_help().to_string()),
            (false, false) => print(&command.render_help().to_string()),
        };
    }
    let commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
    Err(Failure::new(
        2,
        "Error",
        format!(
            "error: No help available on {topic}.\nTry one of the following:\n    Commands: {}\n    Topics: {}",
            commands.join(", "),
            topics.join(", ")
        ),
    ))
}

/// Prints the help of a command that has commands of its own, none of which was given.
pub fn of_command(name: &str, mut command: Command) -> Result<(), Failure> {
    command.build();
    let found = command.find_subcommand_mut(name).expect("the caller is one of the commands");
    print(&found.render_help().to_string())
}
