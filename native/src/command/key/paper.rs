//! A paper key, typed line by line (repository layer, section 3.6).

use super::import::mismatch;
use crate::app::App;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::prompt::{self, Question};
use crate::output::stdout::print;
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{PaperError, PaperReader};

/// Asks for the lines until all checksums match, and gives what the key holds; `None` if the user gives up.
pub fn ask(app: &App, repository: RepositoryId) -> Result<Option<Vec<u8>>, Failure> {
    loop {
        let Some(mut reader) = ask_line(app, "id: ", PaperReader::new)? else { return Ok(None) };
        if !reader.is_of(repository) {
            return Err(mismatch());
        }
        while let Some(number) = reader.next_line() {
            if ask_line(app, &format!("{number:2}: "), |line| reader.line(line))?.is_none() {
                return Ok(None);
            }
        }
        match reader.finish() {
            Ok(blob) => return Ok(Some(blob)),
            Err(problem) => print(&format!("{problem}\n"))?,
        }
    }
}

/// Asks for a line until it is accepted; `None` if the user gives up.
fn ask_line<T>(
    app: &App,
    name: &str,
    mut accept: impl FnMut(&str) -> Result<T, PaperError>,
) -> Result<Option<T>, Failure> {
    loop {
        print(name)?;
        let line = prompt::line();
        interrupt::check()?;
        let Some(line) = line else { return Ok(None) };
        if line.trim().is_empty() && wants_to_abort(app) {
            return Ok(None);
        }
        match accept(&line) {
            Ok(accepted) => return Ok(Some(accepted)),
            Err(problem) => print(&format!("{problem}\n"))?,
        }
    }
}

fn wants_to_abort(app: &App) -> bool {
    let text = "Abort import? [yN]:";
    let question = Question { retry_text: Some(text), ..Question::new(text, "") };
    question.ask(&app.log)
}
