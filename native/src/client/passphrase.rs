//! Where passphrases come from (repository layer, section 3.7). They are used exactly as given, and wiped after use.

use crate::app::App;
use crate::client::child;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::log::Log;
use crate::output::prompt::{self, Question};
use crate::system::ffi::OsStringExt;
use crate::system::process;
use portaborg_core::bytes::Hex;
use std::env;
use std::ffi::OsStr;
use std::io::Read;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// A passphrase's bytes.
pub type Passphrase = Zeroizing<Vec<u8>>;

/// The passphrase that the environment gives for a repository as it is; `None` if it gives none.
pub fn from_environment() -> Result<Option<Passphrase>, Failure> {
    CURRENT.read()
}

/// Asks at the terminal for the passphrase of a repository as it is.
pub fn ask(question: &str, log: &Log) -> Result<Passphrase, Failure> {
    CURRENT.ask(question, log)
}

/// A passphrase for a key that is to be made; it may be empty. What the environment gives for new keys comes first, then what
/// it gives anyway; else the user is asked, twice, and may have it shown.
pub fn new(app: &App) -> Result<Passphrase, Failure> {
    for variables in [NEW, CURRENT] {
        if let Some(passphrase) = variables.read()? {
            return Ok(passphrase);
        }
    }
    for _ in 0..NEW_PASSPHRASE_TRIES {
        let passphrase = NEW.ask("Enter new passphrase: ", &app.log)?;
        if passphrase == NEW.ask("Enter same passphrase again: ", &app.log)? {
            offer_to_show(app, &passphrase);
            app.info("Remember your passphrase. Your data will be inaccessible without it.");
            return Ok(passphrase);
        }
        app.log.line("Passphrases do not match");
    }
    Err(retries_exceeded())
}

/// The user has been asked often enough.
pub fn retries_exceeded() -> Failure {
    Failure::new(53, "PasswordRetriesExceeded", "Exceeded the maximum password retries.")
}

/// Shows a passphrase to who wants to see what was typed, or whose environment does.
fn offer_to_show(app: &App, passphrase: &Passphrase) {
    let text = "Do you want your passphrase to be displayed for verification? [yN]: ";
    let question = Question {
        invalid_text: Some("Invalid answer, try again."),
        retry_text: Some(text),
        ..Question::new(text, "BORG_DISPLAY_PASSPHRASE")
    };
    if question.ask(&app.log) {
        app.log.line(&format!(
            "Your passphrase (between double-quotes): \"{}\"\n\
             Make sure the passphrase displayed above is exactly what you wanted.\n\
             Your passphrase (UTF-8 encoding in hex): {}\n\
             It is recommended to keep the UTF-8 encoding in hex together with the passphrase in a safe place.\n\
             In case you should ever run into passphrase issues, it could sometimes help debug them.\n",
            String::from_utf8_lossy(passphrase),
            Hex(passphrase)
        ));
    }
}

/// The variables that may give one and the same passphrase.
#[derive(Clone, Copy)]
struct Variables {
    text: &'static str,
    command: &'static str,
    fd: &'static str,
}

const CURRENT: Variables = Variables { text: "BORG_PASSPHRASE", command: "BORG_PASSCOMMAND", fd: "BORG_PASSPHRASE_FD" };
const NEW: Variables =
    Variables { text: "BORG_NEW_PASSPHRASE", command: "BORG_NEW_PASSCOMMAND", fd: "BORG_NEW_PASSPHRASE_FD" };

/// Variables that no child process gets to see.
pub const SECRET_VARIABLES: [&str; 10] = [
    CURRENT.text,
    CURRENT.command,
    CURRENT.fd,
    NEW.text,
    NEW.command,
    NEW.fd,
    "BORG_OTHER_PASSPHRASE",
    "BORG_OTHER_PASSCOMMAND",
    "BORG_OTHER_PASSPHRASE_FD",
    "BORGSTORE_REST_PASSWORD",
];

/// How often a new passphrase is asked for.
const NEW_PASSPHRASE_TRIES: usize = 10;

impl Variables {
    fn read(self) -> Result<Option<Passphrase>, Failure> {
        let Variables { text, command, fd } = self;
        let given: Vec<&str> = [text, command, fd].into_iter().filter(|name| env::var_os(name).is_some()).collect();
        if given.len() > 1 {
            return Err(Failure::error(format_args!(
                "More than one passphrase environment variable is set: {}",
                given.join(", ")
            )));
        }
        if let Some(passphrase) = env::var_os(text) {
            return Ok(Some(Zeroizing::new(passphrase.into_vec())));
        }
        if let Some(words) = env::var_os(command) {
            return from_command(command, &words).map(Some);
        }
        let number = env::var(fd).ok().and_then(|number| number.trim().parse().ok());
        number.map(|number| from_fd(fd, number)).transpose()
    }

    fn ask(self, question: &str, log: &Log) -> Result<Passphrase, Failure> {
        let answer = prompt::passphrase(question, log);
        interrupt::check()?;
        match answer {
            Ok(passphrase) => Ok(Zeroizing::new(passphrase.as_bytes().to_vec())),
            Err(error) => {
                let Variables { text, command, fd } = self;
                Err(Failure::new(
                    50,
                    "NoPassphraseFailure",
                    format!("{error} Set one of {text}, {command} or {fd}, or run it where it can ask."),
                ))
            }
        }
    }
}

fn from_command(variable: &str, command: &OsStr) -> Result<Passphrase, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(51, "PasscommandFailure", format!("Passcommand supplied in {variable} failed: {why}."))
    };
    let text = command.to_str().ok_or_else(|| failed(&"it is not valid UTF-8"))?;
    let words = shlex::split(text).ok_or_else(|| failed(&"its quotes do not match"))?;
    let (program, arguments) = words.split_first().ok_or_else(|| failed(&"it is empty"))?;
    let mut child = child::command(program);
    child.args(arguments).stdin(Stdio::inherit()).stderr(Stdio::inherit());
    let output = child.output().map_err(|error| failed(&format_args!("{program}: {error}")))?;
    let passphrase = without_newlines(Zeroizing::new(output.stdout));
    if output.status.success() { Ok(passphrase) } else { Err(failed(&output.status)) }
}

fn from_fd(variable: &str, number: u32) -> Result<Passphrase, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        let text = format!("Cannot acquire a passphrase: can not read file descriptor {number} ({variable}): {why}.");
        Failure::new(50, "NoPassphraseFailure", text)
    };
    // A pipe that was read to its end gives an empty passphrase from then on, which nobody meant.
    let mut read_before = FDS_READ.lock().unwrap_or_else(PoisonError::into_inner);
    if read_before.contains(&number) {
        return Err(failed(&"it was read for another passphrase"));
    }
    read_before.push(number);
    let mut text = Zeroizing::new(Vec::new());
    let read = process::open_fd(number).and_then(|mut file| file.read_to_end(&mut text));
    read.map(|_| without_newlines(text)).map_err(|error| failed(&error))
}

/// File descriptors that gave a passphrase already.
static FDS_READ: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn without_newlines(mut text: Passphrase) -> Passphrase {
    while text.last() == Some(&b'\n') {
        text.pop();
    }
    text
}
