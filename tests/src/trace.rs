//! The system calls by which a program changes files, as `strace` tells them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{Call, Outcome, Program};

/// Why a test that needs `strace` is skipped.
pub const MISSING: &str = "strace is not installed, or may not trace here";

/// Whether programs can be traced here.
#[must_use]
pub fn is_possible() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().is_ok_and(|status| status.success())
}

/// Something that was done to a file or a folder and succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Bytes were written.
    Write(PathBuf),
    /// `fsync` or `fdatasync`.
    Sync(PathBuf),
    /// It got another name.
    Rename(PathBuf, PathBuf),
    /// It was removed.
    Unlink(PathBuf),
    /// A folder was made.
    Mkdir(PathBuf),
}

/// A command that is traced.
#[derive(Debug)]
pub struct Traced {
    call: Call,
    log: PathBuf,
}

impl Traced {
    /// `args` of `program` on a repository. `log` is a file that does not matter.
    #[must_use]
    pub fn new(program: &Program, repository: &Path, passphrase: &str, args: &[&str], log: &Path) -> Self {
        let strace = Program::peer("strace".into()).on(repository, passphrase);
        let call = strace.args(["-f", "-y", "-qq", "-s", "4096", "-e", CALLS, "-o"]).args([log, program.path()]);
        Traced { call: call.args(args), log: log.into() }
    }

    /// Changes how it is called.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(Call) -> Call) -> Self {
        self.call = change(self.call);
        self
    }

    /// Runs it, and gives what it did in order.
    #[must_use]
    pub fn run(self) -> (Outcome, Vec<Event>) {
        let outcome = self.call.run();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        (outcome, events(&log))
    }
}

const CALLS: &str =
    "trace=write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat";

/// Reads what `strace -f -y` wrote.
fn events(log: &str) -> Vec<Event> {
    whole_lines(log).iter().filter_map(|line| event(line)).collect()
}

/// A call that others interrupted in the log is told in two lines.
fn whole_lines(log: &str) -> Vec<String> {
    let mut begun: Vec<(String, String)> = Vec::new();
    let mut lines = Vec::new();
    for line in log.lines() {
        let (pid, call) = line.split_once(' ').unwrap_or((line, ""));
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            begun.push((pid.to_owned(), start.to_owned()));
        } else if let Some((_, end)) = call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>")) {
            let start = begun.iter().position(|(of, _)| of == pid).map(|at| begun.remove(at).1);
            lines.push(start.unwrap_or_default() + end);
        } else {
            lines.push(call.to_owned());
        }
    }
    lines
}

fn event(line: &str) -> Option<Event> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    // The paths are ours, so they have no quotes; that of a descriptor stands behind its number.
    let paths: Vec<PathBuf> = arguments.split('"').skip(1).step_by(2).map(PathBuf::from).collect();
    let of_descriptor = || Some(PathBuf::from(arguments.split_once('<')?.1.split_once('>')?.0));
    Some(match name {
        "write" | "pwrite64" | "writev" | "pwritev" => Event::Write(of_descriptor()?),
        "fsync" | "fdatasync" => Event::Sync(of_descriptor()?),
        "rename" | "renameat" | "renameat2" => Event::Rename(paths.first()?.clone(), paths.get(1)?.clone()),
        "unlink" | "unlinkat" => Event::Unlink(paths.into_iter().next()?),
        "mkdir" | "mkdirat" => Event::Mkdir(paths.into_iter().next()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read() {
        let log = r#"7 openat(AT_FDCWD, "/r/a", O_WRONLY) = 3</r/a>
7 pwrite64(3</r/a.tmp>, "BORG\"", 5, 0) = 5
7 fdatasync(3</r/a.tmp> <unfinished ...>
8 unlink("/r/gone") = -1 ENOENT (No such file or directory)
7 <... fdatasync resumed>) = 0
7 renameat(AT_FDCWD</>, "/r/a.tmp", AT_FDCWD</>, "/r/a") = 0
8 mkdir("/r/b", 0700) = 0
8 unlink("/r/c") = 0
8 fsync(5</r>) = 0
8 +++ exited with 0 +++"#;
        let path = PathBuf::from;
        let expected = [
            Event::Write(path("/r/a.tmp")),
            Event::Sync(path("/r/a.tmp")),
            Event::Rename(path("/r/a.tmp"), path("/r/a")),
            Event::Mkdir(path("/r/b")),
            Event::Unlink(path("/r/c")),
            Event::Sync(path("/r")),
        ];
        assert_eq!(events(log), expected);
    }
}
