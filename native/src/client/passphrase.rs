//! Where the passphrase comes from (repository layer, section 3.7). It is used exactly as given, and wiped after use.

use crate::failure::Failure;
use crate::interrupt;
use crate::output::log::Log;
use crate::output::prompt;
use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use zeroize::Zeroizing;

/// A passphrase's bytes.
pub type Passphrase = Zeroizing<Vec<u8>>;

const TEXT: &str = "BORG_PASSPHRASE";
const COMMAND: &str = "BORG_PASSCOMMAND";
const FD: &str = "BORG_PASSPHRASE_FD";

/// Variables that no child process gets to see.
const SECRET_VARIABLES: [&str; 10] = [
    TEXT,
    COMMAND,
    FD,
    "BORG_NEW_PASSPHRASE",
    "BORG_NEW_PASSCOMMAND",
    "BORG_NEW_PASSPHRASE_FD",
    "BORG_OTHER_PASSPHRASE",
    "BORG_OTHER_PASSCOMMAND",
    "BORG_OTHER_PASSPHRASE_FD",
    "BORGSTORE_REST_PASSWORD",
];

/// The passphrase that the environment gives; `None` if it gives none.
pub fn from_environment() -> Result<Option<Passphrase>, Failure> {
    let given: Vec<&str> = [TEXT, COMMAND, FD].into_iter().filter(|name| env::var_os(name).is_some()).collect();
    match given[..] {
        [] => Ok(None),
        [TEXT] => Ok(env::var_os(TEXT).map(|text| Zeroizing::new(text.into_vec()))),
        [COMMAND] => env::var_os(COMMAND).map(|command| from_command(&command)).transpose(),
        [FD] => env::var(FD).ok().and_then(|number| number.trim().parse::<u32>().ok()).map(from_fd).transpose(),
        _ => Err(Failure::error(format_args!(
            "More than one passphrase environment variable is set: {}",
            given.join(", ")
        ))),
    }
}

/// Asks at the terminal.
pub fn ask(question: &str, log: &Log) -> Result<Passphrase, Failure> {
    let answer = prompt::passphrase(question, log);
    interrupt::check()?;
    match answer {
        Ok(passphrase) => Ok(Zeroizing::new(passphrase.as_bytes().to_vec())),
        Err(error) => Err(Failure::new(
            50,
            "NoPassphraseFailure",
            format!("{error} Set one of {TEXT}, {COMMAND} or {FD}, or run it where it can ask."),
        )),
    }
}

fn from_command(command: &OsStr) -> Result<Passphrase, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(51, "PasscommandFailure", format!("Passcommand supplied in {COMMAND} failed: {why}."))
    };
    let text = command.to_str().ok_or_else(|| failed(&"it is not valid UTF-8"))?;
    let words = shlex::split(text).ok_or_else(|| failed(&"its quotes do not match"))?;
    let (program, arguments) = words.split_first().ok_or_else(|| failed(&"it is empty"))?;
    let mut child = Command::new(program);
    child.args(arguments).stdin(Stdio::inherit()).stderr(Stdio::inherit());
    for variable in SECRET_VARIABLES {
        child.env_remove(variable);
    }
    let output = child.output().map_err(|error| failed(&format_args!("{program}: {error}")))?;
    let passphrase = without_newlines(output.stdout);
    if output.status.success() { Ok(passphrase) } else { Err(failed(&output.status)) }
}

fn from_fd(number: u32) -> Result<Passphrase, Failure> {
    let mut text = Vec::new();
    let read = File::open(format!("/dev/fd/{number}")).and_then(|mut file| file.read_to_end(&mut text));
    match read {
        Ok(_) => Ok(without_newlines(text)),
        Err(error) => Err(Failure::new(
            50,
            "NoPassphraseFailure",
            format!("Cannot acquire a passphrase: can not read file descriptor {number} ({FD}): {error}."),
        )),
    }
}

fn without_newlines(mut text: Vec<u8>) -> Passphrase {
    while text.last() == Some(&b'\n') {
        text.pop();
    }
    Zeroizing::new(text)
}
