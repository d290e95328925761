//! The system's errors as Borg tells them (command line, section 3.3).

use rustix::io::Errno;
use std::fmt;

/// The exit code and the message id of a warning about an object that the system refused.
pub fn class(errno: Errno) -> (u8, &'static str) {
    match errno {
        Errno::PERM | Errno::ISDIR | Errno::ACCESS | Errno::BUSY => (105, "BackupPermissionError"),
        Errno::IO => (106, "BackupIOError"),
        Errno::NOENT => (107, "BackupFileNotFoundError"),
        Errno::TIMEDOUT => (111, "BackupTimeoutError"),
        _ => (104, "BackupOSError"),
    }
}

/// An error of the system as Python prints it: `[Errno 21] Is a directory`.
pub struct PythonError(pub Errno);

impl fmt::Display for PythonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.raw_os_error();
        let text = std::io::Error::from_raw_os_error(number).to_string();
        let suffix = format!(" (os error {number})");
        write!(f, "[Errno {number}] {}", text.strip_suffix(&suffix).unwrap_or(&text))
    }
}
