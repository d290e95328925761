//! The exit code of a command that ran to its end, or not (command line, section 3.1).

use crate::failure::Failure;
use std::cell::Cell;
use std::env;

/// Exit code of a warning of no special kind, and of several kinds together.
const GENERIC_WARNING: u8 = 1;
/// Exit code of every failure in legacy mode.
const GENERIC_ERROR: u8 = 2;
/// Failures that have their own code in legacy mode, too: signals.
const SIGNAL_BASE: u8 = 128;

/// Collects what a command warned of.
#[derive(Debug, Default)]
pub struct Status {
    warning: Cell<Option<u8>>,
    error: Cell<Option<u8>>,
}

impl Status {
    /// Something is not as it should be.
    pub fn warn(&self, code: u8) {
        self.warning.set(Some(match self.warning.get() {
            Some(other) if other != code => GENERIC_WARNING,
            _ => code,
        }));
    }

    /// Something is not as it should be, and that counts more than any special warning.
    pub fn warn_generic(&self) {
        self.warning.set(Some(GENERIC_WARNING));
    }

    /// The command went on, but did not do all of its work; the first such code counts, and more than any warning.
    pub fn fail(&self, code: u8) {
        self.error.set(self.error.get().or(Some(code)));
    }

    /// The exit code of a command that ended like this.
    pub fn exit_code(&self, result: &Result<(), Failure>) -> u8 {
        let modern = env::var_os("BORG_EXIT_CODES").is_none_or(|mode| mode == "modern");
        match (result.as_ref().err().map(|failure| failure.code).or(self.error.get()), self.warning.get()) {
            (Some(code), _) if modern || code >= SIGNAL_BASE => code,
            (Some(_), _) => GENERIC_ERROR,
            (None, Some(code)) if modern => code,
            (None, Some(_)) => GENERIC_WARNING,
            (None, None) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_one_kind_keep_their_code_and_several_become_generic() {
        let status = Status::default();
        assert_eq!(status.exit_code(&Ok(())), 0);
        status.warn(113);
        status.warn(113);
        assert_eq!(status.exit_code(&Ok(())), 113);
        status.warn(101);
        assert_eq!(status.exit_code(&Ok(())), 1);
        assert_eq!(status.exit_code(&Err(Failure::command("no"))), 4);
    }

    #[test]
    fn an_error_that_was_passed_over_counts_more_than_warnings() {
        let status = Status::default();
        status.warn(101);
        status.fail(17);
        status.fail(90);
        assert_eq!(status.exit_code(&Ok(())), 17);
    }
}
