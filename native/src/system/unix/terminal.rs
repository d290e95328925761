//! Questions to a user.

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The terminal, if there is one.
pub fn open() -> io::Result<File> {
    File::open("/dev/tty")
}

/// Asks on the terminal, without echo.
pub fn ask(prompt: &str, terminal: &File, is_over: fn() -> bool) -> io::Result<String> {
    let attributes = tcgetattr(terminal);
    let prompt = prompt.to_owned();
    let answer = unless(is_over, move || rpassword::prompt_password(prompt));
    // An ended wait would leave the terminal without echo.
    if let (Err(_), Ok(attributes)) = (&answer, attributes) {
        let _ = tcsetattr(terminal, OptionalActions::Now, &attributes);
        eprintln!();
    }
    answer
}

/// Reads until there is an answer, or it is over.
///
/// Reading goes on after a signal, so it is left to a thread, which ends with the program.
pub fn unless(is_over: fn() -> bool, read: impl FnOnce() -> io::Result<String> + Send + 'static) -> io::Result<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(read()));
    loop {
        match receiver.recv_timeout(LOOK_INTERVAL) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if is_over() => return Err(io::ErrorKind::Interrupted.into()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// Whether a passphrase may be read from standard input if there is no terminal: nobody is to see what is typed.
pub fn is_discreet() -> bool {
    true
}

/// How soon a signal is noticed.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
