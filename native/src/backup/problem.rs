//! What can go wrong with one object, worded as Borg words it.

use crate::failure::Failure;
use crate::filesystem::os_error::{self, PythonError};
use portaborg_core::bytes::lossy;
use portaborg_core::text::Repr;
use rustix::io::Errno;
use std::fmt;
use std::time::Duration;

/// A warning about one object; the others are still archived (command line, section 3.3).
///
/// Its whole line is what [`Display`](fmt::Display) gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The object's path as it was walked to.
    pub path: Vec<u8>,
    /// What happened.
    pub cause: Cause,
}

/// Why an object could not be archived, or not as it should be.
///
/// [`Display`](fmt::Display) gives what Borg says when it tries again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The system refused an operation.
    Os {
        /// Borg's name of the operation.
        operation: &'static str,
        /// The system's reason.
        errno: Errno,
        /// The name that the system was given, if Borg tells it.
        file: Option<Vec<u8>>,
    },
    /// No data came from a named pipe or a device for so long.
    Timeout(Duration),
    /// The object was replaced by one of another type while it was looked at.
    TypeChanged,
    /// The object was replaced by another one while it was looked at.
    InodeChanged,
    /// The file was written to while it was read, and may be read again.
    ChangedWhileRead,
    /// The file was written to each time it was read; what was read last is archived.
    Changed,
    /// A path to start from is a symbolic link to nothing.
    BrokenSymlink,
    /// A path to start from is empty.
    EmptyPath,
    /// No client would extract the path, for it looks as if it led out of the target.
    UnsafePath,
    /// The object is of a type that nobody knows.
    UnknownType,
}

/// What ends the work on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// This object can't be archived.
    Object(Cause),
    /// The whole command is at its end: the repository failed, or a signal came.
    End(Failure),
}

impl Cause {
    /// The system's refusal of an operation that has no name in it.
    pub fn os(operation: &'static str) -> impl FnOnce(Errno) -> Cause {
        move |errno| Cause::Os { operation, errno, file: None }
    }

    /// The system's refusal of an operation on `file`.
    pub fn os_on(operation: &'static str, file: &[u8]) -> impl FnOnce(Errno) -> Cause {
        move |errno| Cause::Os { operation, errno, file: Some(file.into()) }
    }

    /// Whether it may go away by itself. Permissions don't, and waiting again takes as long.
    pub fn is_temporary(&self) -> bool {
        match self {
            Cause::Os { errno, .. } => !matches!(*errno, Errno::PERM | Errno::ACCESS | Errno::TIMEDOUT),
            Cause::TypeChanged | Cause::InodeChanged | Cause::ChangedWhileRead => true,
            _ => false,
        }
    }
}

impl Problem {
    /// The exit code that this warning stands for.
    pub fn exit_code(&self) -> u8 {
        match &self.cause {
            Cause::Os { errno, .. } => os_error::class(*errno).0,
            Cause::Timeout(_) => os_error::class(Errno::TIMEDOUT).0,
            Cause::TypeChanged | Cause::InodeChanged => 103,
            Cause::ChangedWhileRead | Cause::UnsafePath => 102,
            Cause::Changed => 100,
            Cause::BrokenSymlink => 112,
            Cause::EmptyPath | Cause::UnknownType => 1,
        }
    }

    /// The message id that this warning carries in JSON logs, if Borg gives it one.
    pub fn msgid(&self) -> Option<&'static str> {
        Some(match &self.cause {
            Cause::Os { errno, .. } => os_error::class(*errno).1,
            Cause::Timeout(_) => os_error::class(Errno::TIMEDOUT).1,
            Cause::TypeChanged | Cause::InodeChanged => "BackupRaceConditionError",
            Cause::ChangedWhileRead | Cause::UnsafePath => "BackupError",
            Cause::Changed => "FileChangedWarning",
            Cause::BrokenSymlink => "BackupBrokenSymlinkError",
            Cause::EmptyPath | Cause::UnknownType => return None,
        })
    }
}

impl From<Cause> for Fault {
    fn from(cause: Cause) -> Self {
        Fault::Object(cause)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Fault::End(failure)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = lossy(&self.path).0;
        match &self.cause {
            Cause::TypeChanged | Cause::InodeChanged => write!(f, "{path}: {RACE}"),
            Cause::EmptyPath => f.write_str("An empty string was given as PATH, ignoring."),
            Cause::UnknownType => write!(f, "Unknown file type: {path}"),
            cause => write!(f, "{path}: {cause}"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Os { operation, errno, file } => {
                write!(f, "{operation}: {}", PythonError(*errno))?;
                file.as_ref().map_or(Ok(()), |file| write!(f, ": {}", Repr(file)))
            }
            Cause::Timeout(time) => {
                let number = Errno::TIMEDOUT.raw_os_error();
                write!(f, "read: [Errno {number}] no data received for more than {} seconds", time.as_secs_f64())
            }
            Cause::TypeChanged => write!(f, "file type changed (race condition), skipping file: {RACE}"),
            Cause::InodeChanged => write!(f, "file inode changed (race condition), skipping file: {RACE}"),
            Cause::ChangedWhileRead => f.write_str("file changed while we read it!: backup error"),
            Cause::Changed => f.write_str("file changed while we backed it up."),
            Cause::BrokenSymlink => f.write_str("stat: broken symlink, skipping it"),
            Cause::EmptyPath => f.write_str("empty path"),
            Cause::UnsafePath => {
                f.write_str("not archived, no client would extract a path with \"..\\\" or \"\\..\" in it")
            }
            Cause::UnknownType => f.write_str("unknown file type"),
        }
    }
}

const RACE: &str = "file type or inode changed while we backed it up (race condition, skipped file)";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cause: Cause) -> (String, u8, Option<&'static str>) {
        let problem = Problem { path: b"a/b".into(), cause };
        (problem.to_string(), problem.exit_code(), problem.msgid())
    }

    /// The first is what the real client printed.
    #[test]
    fn problems_read_as_borgs() {
        let missing = Cause::os_on("stat", b"/nonexistent-path")(Errno::NOENT);
        assert_eq!(
            told(missing),
            (
                "a/b: stat: [Errno 2] No such file or directory: '/nonexistent-path'".into(),
                107,
                Some("BackupFileNotFoundError")
            )
        );
        assert_eq!(told(Cause::InodeChanged), (format!("a/b: {RACE}"), 103, Some("BackupRaceConditionError")));
        assert_eq!(
            told(Cause::Changed),
            ("a/b: file changed while we backed it up.".into(), 100, Some("FileChangedWarning"))
        );
        assert_eq!(
            told(Cause::BrokenSymlink),
            ("a/b: stat: broken symlink, skipping it".into(), 112, Some("BackupBrokenSymlinkError"))
        );
        assert_eq!(told(Cause::EmptyPath), ("An empty string was given as PATH, ignoring.".into(), 1, None));
        let timeout = Cause::Timeout(Duration::from_millis(2500));
        assert!(told(timeout).0.ends_with("] no data received for more than 2.5 seconds"));
    }

    #[test]
    fn what_lasts_is_not_tried_again() {
        for (errno, temporary) in
            [(Errno::IO, true), (Errno::NOENT, true), (Errno::PERM, false), (Errno::ACCESS, false)]
        {
            assert_eq!(Cause::os("open")(errno).is_temporary(), temporary);
        }
        assert!(Cause::ChangedWhileRead.is_temporary());
        assert!(!Cause::Timeout(Duration::from_secs(1)).is_temporary());
    }
}
