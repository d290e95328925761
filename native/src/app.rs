//! What every command has at hand: its options, the log, the clock, and the exit code in the making.

use crate::cli::Common;
use crate::display::size::Units;
use crate::failure::Failure;
use crate::host;
use crate::json::{Indent, Json, Object};
use crate::log::{ARCHIVER, Level, Log, LogOptions, Message};
use crate::session::Session;
use jiff::tz::TimeZone;
use portaborg_core::placeholder::{self, PlaceholderError, Placeholders};
use portaborg_core::select::Zones;
use portaborg_core::time::Timestamp;
use std::env;
use std::io::{self, Write};

/// One run of the program.
pub struct App {
    /// Options that every command takes.
    pub common: Common,
    /// Where messages go.
    pub log: Log,
    /// The exit code in the making.
    pub status: crate::status::Status,
    /// The zone in which times are shown.
    pub zone: TimeZone,
}

impl App {
    /// Ready to run a command.
    pub fn new(common: Common) -> Self {
        let units = env::var("BORG_UNITS").unwrap_or_default();
        let (units, problem) = match Units::parse(&units) {
            Ok(units) => (units, None),
            Err(problem) => (Units::default(), Some(problem)),
        };
        let log = Log::stderr(LogOptions {
            level: common.level(),
            json: common.log_json,
            progress: common.progress,
            list: true,
            stats: true,
            show_rc: common.show_rc,
            show_version: common.show_version,
            units,
        });
        if let Some(problem) = problem {
            log.say(Level::Warning, problem);
        }
        App { common, log, status: Default::default(), zone: TimeZone::system() }
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

    /// The repository as the user gave it.
    pub fn location(&self) -> String {
        self.common.repo.clone().unwrap_or_default()
    }

    /// Replaces `{hostname}`, `{now}` and the like (command line, section 4.2).
    pub fn replace_placeholders(&self, text: &str) -> Result<String, Failure> {
        if !text.contains(['{', '}']) {
            return Ok(text.into());
        }
        let unique = getrandom::u64().unwrap_or_default();
        let now = self.now();
        let facts = Placeholders {
            hostname: host::hostname(),
            fqdn: host::fqdn(),
            user: host::username(),
            pid: std::process::id(),
            uuid4: random_uuid(unique),
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

/// What every JSON document of a repository begins with (command line, section 3.5).
pub fn basic_json(session: &Session) -> Object {
    let suite = session.keys.suite();
    let mut encryption =
        Object::new().with("encryption", suite.encryption_name()).with("id_hash", suite.id_hash.name());
    if let Some(file) = session.key_file() {
        encryption.set("keyfile", file.display().to_string());
    }
    let repository =
        Object::new().with("id", session.repository.id().to_string()).with("location", session.location.as_str());
    Object::new().with("repository", repository).with("encryption", encryption)
}

/// Writes to standard output. A reader that went away is no error: it has seen enough.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes to standard output.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    match io::stdout().lock().write_all(bytes) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Failure::error(format_args!("can not write to standard output: {error}"))),
    }
}

/// Time zones of this system.
pub struct SystemZones<'a>(pub &'a TimeZone);

impl Zones for SystemZones<'_> {
    fn local(&self) -> TimeZone {
        self.0.clone()
    }

    fn named(&self, name: &str) -> Option<TimeZone> {
        TimeZone::get(name).ok()
    }
}

fn random_uuid(seed: u64) -> String {
    let more = getrandom::u64().unwrap_or_default();
    let (high, low) = (seed & !0xf000 | 0x4000, more & !(0b11 << 62) | (0b10 << 62));
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
