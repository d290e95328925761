//! Standard output, whose reader may go away.

use crate::failure::Failure;
use std::io::{self, Write};

/// Writes to standard output.
///
/// # Errors
/// Also if whoever read it went away, which [`Failure::reader_gone`] tells.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes to standard output; texts need not be UTF-8. Fails like [`print()`].
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    write(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::error(format_args!("can not write to standard output: {error}")),
    })
}

/// Writes the content of files to standard output. If not all of it can be written, that is an error in any case.
pub fn write_content(bytes: &[u8]) -> Result<(), Failure> {
    write(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::exception("BrokenPipeError", "[Errno 32] Broken pipe"),
        _ => Failure::error(format_args!("can not write to standard output: {error}")),
    })
}

/// Nothing stays in a buffer: at the program's end nobody could be told that it can't be written.
fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
