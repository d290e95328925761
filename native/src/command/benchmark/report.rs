//! Rows of results, as text while they come, or as one JSON document at the end.

use crate::app::App;
use crate::failure::Failure;
use crate::output::display::size::Units;
use crate::output::json::{Json, Object};
use crate::output::stdout::print;
use std::time::Instant;

/// Width of a row's name.
const NAME_CHARS: usize = 26;
/// Width of a section's title.
const TITLE_CHARS: usize = 71;

/// What has been measured.
pub struct Report<'a> {
    app: &'a App,
    is_json: bool,
    sections: Vec<(&'static str, Vec<Json>)>,
}

/// One measurement.
pub struct Row<'r> {
    /// What was done.
    pub name: &'r str,
    /// With how many bytes.
    pub bytes: u64,
    /// What the JSON document tells besides.
    pub facts: Object,
}

impl<'a> Report<'a> {
    pub fn new(app: &'a App, is_json: bool) -> Self {
        Report { app, is_json, sections: Vec::new() }
    }

    /// What follows belongs to another section.
    pub fn section(&mut self, key: &'static str, title: &str) -> Result<(), Failure> {
        self.sections.push((key, Vec::new()));
        self.text(format_args!("{:=<TITLE_CHARS$}", format!("{title} ")))
    }

    /// Does the work and tells how long it took. It may fail, and then the other rows follow all the same. It may give the
    /// length of what it compressed to.
    pub fn row<E: std::fmt::Display>(
        &mut self,
        row: Row<'_>,
        work: impl FnOnce() -> Result<Option<u64>, E>,
    ) -> Result<(), Failure> {
        let Row { name, bytes, facts } = row;
        let began = Instant::now();
        let result = work();
        let secs = began.elapsed().as_secs_f64();
        let csize = match result {
            Ok(csize) => csize,
            Err(error) => return self.failed(name, &error.to_string()),
        };
        let mut entry = facts.with("size", bytes).with("time", secs);
        let mut ratio = String::new();
        if let Some(csize) = csize {
            entry.set("csize", csize);
            ratio = format!("  {:6.2}x", bytes as f64 / csize as f64);
        }
        self.add(entry);
        let (size, rate) = (Units::Iec.display(bytes), bytes as f64 / secs / 1e6);
        self.text(format_args!("{name:<NAME_CHARS$} {size:<11} {secs:>7.3}s  {rate:>8.1} MB/s{ratio}"))
    }

    /// The same for what is counted in thousands of items.
    pub fn items(&mut self, name: &str, count: u64, work: impl FnOnce()) -> Result<(), Failure> {
        let began = Instant::now();
        work();
        let secs = began.elapsed().as_secs_f64();
        self.add(Object::new().with("algo", name).with("count", count).with("time", secs));
        let (size, rate) = (format!("{}k Items", count / 1000), count as f64 / secs / 1e3);
        self.text(format_args!("{name:<NAME_CHARS$} {size:<11} {secs:>7.3}s  {rate:>8.1} kItems/s"))
    }

    /// Ends the document.
    pub fn finish(self) -> Result<(), Failure> {
        if !self.is_json {
            return Ok(());
        }
        let sections = self.sections.into_iter();
        self.app.print_json(sections.fold(Object::new(), |object, (key, rows)| object.with(key, rows)))
    }

    fn failed(&mut self, name: &str, error: &str) -> Result<(), Failure> {
        self.add(Object::new().with("spec", name).with("error", error));
        self.text(format_args!("{name:<NAME_CHARS$} failed: {error}"))
    }

    fn add(&mut self, entry: Object) {
        if let Some((_, rows)) = self.sections.last_mut() {
            rows.push(entry.into());
        }
    }

    fn text(&self, line: std::fmt::Arguments<'_>) -> Result<(), Failure> {
        if self.is_json { Ok(()) } else { print(&format!("{line}\n")) }
    }
}
