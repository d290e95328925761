//! The command-line program: a drop-in for `borg` over [`portaborg_core`].

#![forbid(unsafe_code)]

mod app;
mod backup;
mod cli;
mod client;
mod command;
#[cfg_attr(not(test), allow(dead_code, reason = "the commands that use it are still to come"))]
mod crew;
mod failure;
mod filesystem;
mod interrupt;
mod options;
mod output;
mod repository;
mod restore;
mod status;
mod system;
mod tuning;
mod usage;
#[cfg(not(target_os = "wasi"))]
mod web;

use app::App;
use cli::Command;
use failure::Failure;
use output::log::{ARCHIVER, Level, Message, SHOW_RC, SHOW_VERSION};
use portaborg_core::limits::BORG_VERSION;
use std::process::ExitCode;
use system::process;

fn main() -> ExitCode {
    let (common, command) = match usage::parse() {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let app = App::new(common);
    if app.common.show_version {
        app.log.message(&Message::new(Level::Info, SHOW_VERSION, format!("borgbackup version {BORG_VERSION}")));
    }
    let result = match run(&app, &command) {
        Err(failure) if failure == Failure::reader_gone() => Ok(()),
        result => result,
    };
    if let Err(failure) = &result {
        app.log.message(&Message::new(Level::Error, ARCHIVER, failure.text.as_str()).with_msgid(failure.msgid));
    }
    app.debug(&format!("processor time: {}", processor_time()));
    let code = app.status.exit_code(&result);
    if app.common.show_rc {
        let (level, word) = match code {
            0 => (Level::Info, "success"),
            1 | 100..=127 => (Level::Warning, "warning"),
            2..=99 => (Level::Error, "error"),
            _ => (Level::Error, "signal"),
        };
        app.log.message(&Message::new(level, SHOW_RC, format!("terminating with {word} status, rc {code}")));
    }
    ExitCode::from(code)
}

/// What the threads took: the first one does what has to be done in order, the others can be as many as there are processors.
fn processor_time() -> String {
    match process::processor_secs() {
        Some((all, first)) => format!("{all:.3} s, of which {first:.3} s in the first thread"),
        None => "not known".into(),
    }
}

fn run(app: &App, command: &Command) -> Result<(), Failure> {
    interrupt::watch().map_err(|error| Failure::error(format_args!("can not watch for signals: {error}")))?;
    process::set_umask(app.common.umask);
    command.run(app, usage::command)
}
