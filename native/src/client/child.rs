//! Programs that are run for the user. They get to see no passphrase.

use crate::client::passphrase::SECRET_VARIABLES;
use std::ffi::OsStr;
use std::process::Command;

/// A command whose environment has no secrets.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in SECRET_VARIABLES {
        command.env_remove(variable);
    }
    command
}
