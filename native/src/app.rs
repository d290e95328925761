//! What every command has at hand: its options, the log, the clock, and the exit code in the making.

use crate::client::{host, random};
use crate::failure::Failure;
use crate::options::common::Common;
use crate::output::display::size::Units;
use crate::output::json::{Indent, Json, Object};
use crate::output::log::{ARCHIVER, DEFAULT_PACE, Level, Log, LogOptions, Message};
use crate::output::progress::parse_pace;
use crate::output::stdout::print;
use crate::status::Status;
use crate::system::process;
use jiff::tz::TimeZone;
use portaborg_core::placeholder::{self, PlaceholderError, Placeholders};
use portaborg_core::time::Timestamp;
use std::env;

/// One run of the program.
pub struct App {
    /// Options that every command takes.
    pub common: Common,
    /// Where messages go.
    pub log: Log,
    /// The exit code in the making.
    pub status: Status,
    /// The zone in which times are shown.
    pub zone: TimeZone,
}

impl App {
    /// Ready to run a command.
    pub fn new(common: Common) -> Self {
        let mut problems = Vec::new();
        let units = setting("BORG_UNITS", Units::parse, Units::default(), &mut problems);
        let pace = setting("BORG_PROGRESS_FPS", parse_pace, DEFAULT_PACE, &mut problems);
        let log = Log::stderr(LogOptions {
            level: common.level(),
            json: common.log_json,
            progress: common.progress,
            list: true,
            stats: true,
            show_rc: common.show_rc,
            show_version: common.show_version,
            units,
            pace,
        });
        for problem in problems {
            log.say(Level::Warning, problem);
        }
        App { common, log, status: Status::default(), zone: TimeZone::system() }
    }

    /// The time by the system's clock.
    pub fn now(&self) -> Timestamp {
        jiff::Timestamp::now().into()
    }

    /// A message for who looks for a fault.
    pub fn debug(&self, text: &str) {
        self.tell(Level::Debug, None, text);
    }

    /// A message for who wants to know more.
    pub fn info(&self, text: &str) {
        self.tell(Level::Info, None, text);
    }

    /// A warning that leaves the exit code alone.
    pub fn warning(&self, text: &str) {
        self.tell(Level::Warning, None, text);
    }

    /// An error that leaves the exit code alone.
    pub fn error(&self, text: &str) {
        self.tell(Level::Error, None, text);
    }

    /// A warning of a kind, with its exit code (command line, section 3.3).
    pub fn warn(&self, code: u8, msgid: &'static str, text: &str) {
        self.status.warn(code);
        self.tell(Level::Warning, Some(msgid), text);
    }

    /// A part of the work could not be done; the command goes on.
    pub fn fail(&self, failure: &Failure) {
        self.status.fail(failure.code);
        self.tell(Level::Error, Some(failure.msgid), &failure.text);
    }

    fn tell(&self, level: Level, msgid: Option<&'static str>, text: &str) {
        self.log.message(&Message { level, name: ARCHIVER, text: text.into(), msgid });
    }

    /// Replaces `{hostname}`, `{now}` and the like (command line, section 4.2).
    pub fn replace_placeholders(&self, text: &str) -> Result<String, Failure> {
        self.replace_placeholders_at(text, self.now())
    }

    /// The same for another time than now.
    pub fn replace_placeholders_at(&self, text: &str, now: Timestamp) -> Result<String, Failure> {
        if !text.contains(['{', '}']) {
            return Ok(text.into());
        }
        let facts = Placeholders {
            hostname: host::hostname(),
            fqdn: host::fqdn(),
            user: host::username(),
            pid: process::id(),
            uuid4: random::uuid()?,
            now,
            unixtime: now.secs,
            zone: self.zone.clone(),
        };
        placeholder::replace(text, &facts).map_err(|error| match error {
            PlaceholderError::Unknown { .. } => Failure::new(6, "InvalidPlaceholder", error),
            _ => Failure::new(5, "PlaceholderError", error),
        })
    }

    /// Tells the outcome of something: what is fine only to who wants to know more.
    pub fn say(&self, is_fine: bool, text: &str) {
        self.tell(if is_fine { Level::Info } else { Level::Error }, None, text);
    }

    /// Units of sizes, by `BORG_UNITS`.
    pub fn units(&self) -> Units {
        self.log.options().units
    }

    /// Prints a `--json` document.
    pub fn print_json(&self, object: Object) -> Result<(), Failure> {
        let indent = Indent::parse(env::var("BORG_JSON_INDENT").ok().as_deref());
        print(&format!("{}\n", Json::Object(object).document(&indent)))
    }
}

/// What an environment variable says; if it says nothing of sense, that becomes a problem, and the default counts.
fn setting<T>(variable: &str, parse: impl Fn(&str) -> Result<T, String>, default: T, problems: &mut Vec<String>) -> T {
    parse(&env::var(variable).unwrap_or_default()).unwrap_or_else(|problem| {
        problems.push(problem);
        default
    })
}
