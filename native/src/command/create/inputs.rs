//! What `create` archives: paths and what is below them, a list of paths, or what comes out of a pipe.

use super::{pipe_name, usage};
use crate::backup::read::{Input, Reader};
use crate::backup::{Collector, DryRun, Fault, Observer, Pipe, Sink, Status, Walk};
use crate::client::child;
use crate::failure::Failure;
use crate::filesystem::os_error::PythonError;
use crate::interrupt;
use crate::output::archive_report::ArchiveReport;
use crate::system::child as system_child;
use crate::system::ffi::OsStrExt;
use clap::Args;
use portaborg_core::text::Repr;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How much of a list of paths is read at once, in bytes.
const LIST_BYTES: usize = 64 * 1024;
/// No path is so long, in bytes.
const MAX_PATH_BYTES: usize = 1 << 20;
/// The pauses between two looks whether a command has ended: each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(100);

/// Where what is archived comes from.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Options {
    /// use NAME in archive for stdin data (default: 'stdin')
    #[arg(long, value_name = "NAME", default_value = "stdin", hide_default_value = true)]
    stdin_name: OsString,

    /// set user USER in archive for stdin data (default: do not store user/group)
    #[arg(long, value_name = "USER")]
    stdin_user: Option<OsString>,

    /// set group GROUP in archive for stdin data (default: do not store user/group)
    #[arg(long, value_name = "GROUP")]
    stdin_group: Option<OsString>,

    /// set mode to M in archive for stdin data (default: 0660)
    #[arg(long, value_name = "M", value_parser = octal, default_value = "0660", hide_default_value = true)]
    stdin_mode: u32,

    /// interpret PATH as a command and store its stdout as --stdin-name. If it fails, there is no archive; a command that is
    /// piped to portaborg may fail unnoticed.
    #[arg(long)]
    content_from_command: bool,

    /// read DELIM-separated list of paths to back up from stdin. All control is external: it will back up all files given - no
    /// more, no less.
    #[arg(long)]
    paths_from_stdin: bool,

    /// interpret PATH as command and treat its output as --paths-from-stdin
    #[arg(long)]
    paths_from_command: bool,

    /// interpret PATH as shell command and treat its output as --paths-from-stdin
    #[arg(long)]
    paths_from_shell_command: bool,

    /// set path delimiter for --paths-from-stdin, --paths-from-command and --paths-from-shell-command (default: \n)
    #[arg(long, value_name = "DELIM", default_value = r"\n", hide_default_value = true)]
    paths_delimiter: String,
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| "an octal number is expected".into())
}

/// What is archived.
pub struct Inputs {
    kind: SourceKind,
    pipe: Pipe,
}

/// Kinds of [`Inputs`].
pub enum SourceKind {
    /// Objects at these paths and below them; `-` is standard input.
    Roots(Vec<Vec<u8>>),
    /// Exactly the objects at the paths of a list.
    List {
        /// What writes the list; none is standard input.
        command: Option<Words>,
        /// What separates the paths.
        delimiter: Vec<u8>,
    },
    /// What a command writes.
    Content(Words),
}

/// A command's words; with a shell, its text.
pub struct Words {
    words: Vec<OsString>,
    with_shell: bool,
}

impl Options {
    /// What the options and PATH arguments mean; `roots` are those of pattern files.
    pub fn inputs(&self, paths: &[OsString], roots: Vec<Vec<u8>>) -> Result<Inputs, Failure> {
        let has_command = self.content_from_command || self.paths_from_command || self.paths_from_shell_command;
        if self.paths_from_stdin && !paths.is_empty() {
            return Err(usage("Must not pass PATH with --paths-from-stdin."));
        }
        if paths.is_empty() && has_command {
            return Err(usage("No command given."));
        }
        if paths.is_empty() && !self.paths_from_stdin && roots.is_empty() {
            return Err(usage("Need at least one PATH argument."));
        }
        let words = || Words { words: paths.to_vec(), with_shell: self.paths_from_shell_command };
        let kind = if self.content_from_command {
            SourceKind::Content(words())
        } else if self.paths_from_stdin || self.paths_from_command || self.paths_from_shell_command {
            let command = (!self.paths_from_stdin).then(words);
            let delimiter = unescaped(&self.paths_delimiter);
            SourceKind::List { command, delimiter: if delimiter.is_empty() { b"\n".to_vec() } else { delimiter } }
        } else {
            SourceKind::Roots(roots.into_iter().chain(paths.iter().map(|path| path.as_bytes().to_vec())).collect())
        };
        let bytes = |text: &Option<OsString>| text.as_ref().map(|text| text.as_bytes().to_vec());
        let pipe = Pipe {
            name: pipe_name(&self.stdin_name)?,
            mode: self.stdin_mode,
            user: bytes(&self.stdin_user),
            group: bytes(&self.stdin_group),
        };
        Ok(Inputs { kind, pipe })
    }
}

impl Inputs {
    /// The only path, for a map of what is there.
    pub fn only_path(&self) -> Result<&Path, Failure> {
        Err(Failure::command(match &self.kind {
            SourceKind::List { .. } => "--map cannot be used with --paths-from-*.",
            SourceKind::Content(_) => "--map cannot be used with --content-from-command.",
            SourceKind::Roots(roots) => match &**roots {
                [root] if root == b"-" => "--map cannot be used with stdin input.",
                [root] => return Ok(Path::new(OsStr::from_bytes(root))),
                _ => "--map requires exactly one input path.",
            },
        }))
    }

    /// Archives all of it.
    pub fn archive<S: Sink>(
        &self,
        walk: &mut Walk<'_>,
        collector: &mut Collector<'_, S>,
        report: &ArchiveReport<'_>,
    ) -> Result<(), Failure> {
        match &self.kind {
            SourceKind::Roots(roots) => {
                for root in roots {
                    if root == b"-" {
                        let stdin = io::stdin();
                        self.pipe(stdin.as_fd(), collector, report)?;
                    } else {
                        walk.root(root, collector)?;
                    }
                }
                Ok(())
            }
            SourceKind::List { command, delimiter } => with_output(command.as_ref(), |list| {
                for_each_path(list, delimiter, |path| walk.single(path, collector))
            }),
            SourceKind::Content(words) => with_output(Some(words), |content| {
                let stored = collector.pipe(&self.pipe, &mut Reader::Pipe(content))?;
                stored.map_err(Failure::error)
            }),
        }
    }

    /// Shows all that would be archived.
    pub fn show(&self, walk: &mut Walk<'_>, dry_run: &mut DryRun, report: &ArchiveReport<'_>) -> Result<(), Failure> {
        match &self.kind {
            SourceKind::Roots(roots) => {
                for root in roots {
                    if root == b"-" {
                        self.show_pipe(dry_run, report);
                    } else {
                        walk.root(root, dry_run)?;
                    }
                }
                Ok(())
            }
            SourceKind::List { command, delimiter } => {
                with_output(command.as_ref(), |list| for_each_path(list, delimiter, |path| walk.single(path, dry_run)))
            }
            SourceKind::Content(_) => {
                self.show_pipe(dry_run, report);
                Ok(())
            }
        }
    }

    fn pipe<S: Sink>(
        &self,
        input: BorrowedFd<'_>,
        collector: &mut Collector<'_, S>,
        report: &ArchiveReport<'_>,
    ) -> Result<(), Failure> {
        match collector.pipe(&self.pipe, &mut Reader::Pipe(input))? {
            Ok(()) => report.count(Status::Pipe),
            Err(problem) => {
                report.warn(&problem);
                report.status(Status::Error, &self.pipe.name);
                report.count(Status::Error);
            }
        }
        Ok(())
    }

    fn show_pipe(&self, dry_run: &mut DryRun, report: &ArchiveReport<'_>) {
        dry_run.files += 1; // its size is not known
        report.status(Status::Included, &self.pipe.name);
    }
}

/// Runs a command and does something with what it writes; without one, with standard input. The command must succeed.
fn with_output(
    command: Option<&Words>,
    work: impl FnOnce(BorrowedFd<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(words) = command else { return work(io::stdin().as_fd()) };
    let mut child = words.spawn()?;
    let output = system_child::output(&mut child)
        .map_err(|error| Failure::command(format_args!("Failed to execute command: {error}")))?;
    let ended = work(output.as_fd()).and_then(|()| end(&mut child));
    let status = match ended {
        Ok(status) => status,
        Err(failure) => {
            // It may have more to write, or something else to do.
            system_child::terminate(&child);
            return Err(failure);
        }
    };
    if status.success() {
        return Ok(());
    }
    let code = system_child::exit_code(status);
    Err(Failure::command(format_args!("Command {} exited with status {code}", Repr(words.words[0].as_bytes()))))
}

/// Waits until a command ends that has closed its output.
fn end(child: &mut Child) -> Result<ExitStatus, Failure> {
    let mut pause = FIRST_PAUSE;
    loop {
        let ended = child.try_wait();
        let ended = ended.map_err(|error| Failure::command(format_args!("Failed to execute command: {error}")))?;
        // A Ctrl-C is for the command, too, which may then have ended early.
        interrupt::check()?;
        if let Some(status) = ended {
            return Ok(status);
        }
        interrupt::sleep(pause)?;
        pause = (2 * pause).min(LAST_PAUSE);
    }
}

impl Words {
    /// Starts the command.
    fn spawn(&self) -> Result<Child, Failure> {
        let mut command: Command = if self.with_shell {
            let mut shell = child::command("/bin/sh");
            shell.arg("-c").arg(self.words.join(" ".as_ref()));
            shell
        } else {
            let mut command = child::command(&self.words[0]);
            command.args(&self.words[1..]);
            command
        };
        command.stdout(Stdio::piped()).spawn().map_err(|error| {
            let errno = Errno::from_io_error(&error).map(PythonError);
            let why = errno.map_or_else(|| error.to_string(), |errno| errno.to_string());
            Failure::command(format_args!("Failed to execute command: {why}: {}", Repr(self.words[0].as_bytes())))
        })
    }
}

/// Each path of a list. What follows the last delimiter is one too, unless it is empty.
fn for_each_path(
    list: BorrowedFd<'_>,
    delimiter: &[u8],
    mut work: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut pending = Vec::new();
    let mut buffer = vec![0; LIST_BYTES];
    loop {
        let count = Reader::Pipe(list).read(&mut buffer).map_err(|fault| match fault {
            Fault::End(failure) => failure,
            Fault::Object(cause) => Failure::error(format_args!("the list of paths: {cause}")),
        })?;
        pending.extend_from_slice(&buffer[..count]);
        let mut from = 0;
        while let Some(len) = find(&pending[from..], delimiter) {
            work(&pending[from..from + len])?;
            from += len + delimiter.len();
        }
        pending.drain(..from);
        if count == 0 {
            return if pending.is_empty() { Ok(()) } else { work(&pending) };
        }
        if pending.len() > MAX_PATH_BYTES {
            return Err(Failure::error("the list of paths: there is no delimiter in more than a mebibyte"));
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// A delimiter with its escapes replaced: `\0`, `\n`, `\t`, `\r`, `\\`, `\xhh` and octal ones.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        match rest {
            [b'n', tail @ ..] => (out.push(b'\n'), rest = tail).0,
            [b't', tail @ ..] => (out.push(b'\t'), rest = tail).0,
            [b'r', tail @ ..] => (out.push(b'\r'), rest = tail).0,
            [b'\\', tail @ ..] => (out.push(b'\\'), rest = tail).0,
            [b'x', a, b, tail @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
                out.push(digit(*a) << 4 | digit(*b));
                rest = tail;
            }
            [b'0'..=b'7', ..] => {
                let digits = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                let value = rest[..digits].iter().fold(0u32, |value, byte| value << 3 | u32::from(byte - b'0'));
                out.push(value as u8);
                rest = &rest[digits..];
            }
            _ => out.push(b'\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_may_be_escaped() {
        for (text, wanted) in [
            (r"\0", &b"\0"[..]),
            (r"\n", b"\n"),
            (r"\x00\x1f", b"\0\x1f"),
            (r"\101;", b"A;"),
            (r"a\\b", br"a\b"),
            ("|", b"|"),
            (r"\q", br"\q"),
        ] {
            assert_eq!(unescaped(text), wanted, "{text}");
        }
    }
}
