//! What can go wrong with one item, worded as Borg words it.

use crate::filesystem::os_error::{self, PythonError};
use portaborg_core::text::Repr;
use rustix::io::Errno;
use std::fmt;

/// A warning about one item; the others are still extracted (command line, section 3.3).
///
/// Its text, without the item's path in front, is what [`Display`](fmt::Display) gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The item's path as it was extracted.
    pub path: Vec<u8>,
    /// What happened.
    pub cause: Cause,
}

/// Why an item, or a part of it, could not be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A parent directory is a symbolic link or another thing that is no directory. Borg never writes such an archive.
    SymlinkParent,
    /// The path contains `..`. Borg never writes such an archive.
    PathTraversal,
    /// The system refused an operation on the item.
    Os {
        /// Borg's name of the operation.
        operation: &'static str,
        /// The system's reason.
        errno: Errno,
        /// The absolute path that was worked on, if Borg names it.
        file: Option<Vec<u8>>,
    },
    /// The content is not as long as the item says; what there is was written.
    Size {
        /// The item's `size` in bytes.
        stated: u64,
        /// The bytes that were written.
        written: u64,
    },
    /// No mode was stored: the item's type is not known.
    NoMode,
    /// A type that can't be extracted, by its mode.
    UnknownType(u32),
    /// An attribute is missing without which the object can't be made.
    Missing(&'static str),
    /// The first item of the same `hlid` is something else; this one was extracted as an object of its own.
    HardLinkDiffers {
        /// Path of the first item.
        first: Vec<u8>,
    },
    /// An extended attribute could not be set; the others were.
    Xattr {
        /// Its name.
        name: Vec<u8>,
        /// Length of its value in bytes.
        value_bytes: usize,
        /// The system's reason.
        errno: Errno,
    },
    /// The times could not be set.
    Times(Errno),
    /// The file flags could not be set.
    Flags(Errno),
}

impl Problem {
    /// The exit code that this warning stands for.
    pub fn exit_code(&self) -> i32 {
        match &self.cause {
            Cause::Xattr { .. } | Cause::Times(_) | Cause::Flags(_) => 1,
            Cause::SymlinkParent => 108,
            Cause::PathTraversal => 109,
            Cause::Os { errno, .. } => os_error::class(*errno).0.into(),
            Cause::Size { .. }
            | Cause::NoMode
            | Cause::UnknownType(_)
            | Cause::Missing(_)
            | Cause::HardLinkDiffers { .. } => 102,
        }
    }

    /// The message id that this warning carries in JSON logs; Borg gives none to failed attributes.
    pub fn msgid(&self) -> Option<&'static str> {
        Some(match self.exit_code() {
            1 => return None,
            108 => "BackupSymlinkParentError",
            109 => "BackupPathTraversalError",
            102 => "BackupError",
            _ => match &self.cause {
                Cause::Os { errno, .. } => os_error::class(*errno).1,
                _ => return None,
            },
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::SymlinkParent => {
                f.write_str("not extracted, a parent directory is a symlink (malicious or corrupted archive)")
            }
            Cause::PathTraversal => {
                f.write_str("not extracted, path contains \"../\" (malicious or corrupted archive)")
            }
            Cause::Os { operation, errno, file } => {
                write!(f, "{operation}: {}", PythonError(*errno))?;
                file.as_ref().map_or(Ok(()), |file| write!(f, ": {}", Repr(file)))
            }
            Cause::Size { stated, written } => {
                write!(f, "Size inconsistency detected: size {stated}, chunks size {written}")
            }
            Cause::NoMode => f.write_str("not extracted, the archive does not say what type it is"),
            Cause::UnknownType(mode) => write!(f, "not extracted, unknown archive item type {mode:#o}"),
            Cause::Missing(what) => write!(f, "not extracted, the archive holds no {what} for it"),
            Cause::HardLinkDiffers { first } => write!(
                f,
                "not hard linked, extracted by itself: it differs from {} of the same hard link id \
                 (malicious or corrupted archive)",
                Repr(first)
            ),
            Cause::Xattr { name, value_bytes, errno } => {
                write!(f, "when setting extended attribute {}: ", String::from_utf8_lossy(name))?;
                match *errno {
                    Errno::TOOBIG => write!(f, "too big for this filesystem ({})", PythonError(*errno)),
                    // ext4 says so of a value that is longer than it can store.
                    Errno::NOSPC => {
                        write!(f, "fs full or xattr too big? [xattr len = {value_bytes}] ({})", PythonError(*errno))
                    }
                    other => write!(f, "{}", PythonError(other)),
                }
            }
            Cause::Times(errno) => write!(f, "when setting timestamps: {}", PythonError(*errno)),
            Cause::Flags(errno) => write!(f, "when setting file flags: {}", PythonError(*errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(operation: &'static str, errno: Errno, file: &[u8]) -> Problem {
        Problem { path: b"p".into(), cause: Cause::Os { operation, errno, file: Some(file.into()) } }
    }

    /// What the real client printed for a regular file named `.`.
    #[test]
    fn an_os_error_reads_as_borgs() {
        let problem = os("open", Errno::ISDIR, b"/fixture/out/in/er/.");
        assert_eq!(problem.to_string(), "open: [Errno 21] Is a directory: '/fixture/out/in/er/.'");
        assert_eq!((problem.exit_code(), problem.msgid()), (105, Some("BackupPermissionError")));
    }

    #[test]
    fn errors_map_to_borgs_codes() {
        for (errno, code, msgid) in [
            (Errno::NOSPC, 104, "BackupOSError"),
            (Errno::PERM, 105, "BackupPermissionError"),
            (Errno::IO, 106, "BackupIOError"),
            (Errno::NOENT, 107, "BackupFileNotFoundError"),
            (Errno::TIMEDOUT, 111, "BackupTimeoutError"),
        ] {
            let problem = os("open", errno, b"x");
            assert_eq!((problem.exit_code(), problem.msgid()), (code, Some(msgid)));
        }
        let parent = Problem { path: Vec::new(), cause: Cause::SymlinkParent };
        assert_eq!((parent.exit_code(), parent.msgid()), (108, Some("BackupSymlinkParentError")));
        let dots = Problem { path: Vec::new(), cause: Cause::PathTraversal };
        assert_eq!((dots.exit_code(), dots.msgid()), (109, Some("BackupPathTraversalError")));
        let size = Problem { path: Vec::new(), cause: Cause::Size { stated: 5, written: 3 } };
        assert_eq!((size.exit_code(), size.msgid()), (102, Some("BackupError")));
        assert_eq!(size.to_string(), "Size inconsistency detected: size 5, chunks size 3");
    }
}
