//! What goes to stderr: log messages, `--list` and `--stats` lines, as text or as JSON lines (command line, section 3.4).

use crate::output::display::size::Units;
use crate::output::display::terminal::{Target, escape_message};
use crate::output::json::Object;
use indicatif::{MultiProgress, ProgressDrawTarget};
use portaborg_core::bytes::lossy;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The logger of most messages.
pub const ARCHIVER: &str = "borg.archiver";
/// The logger of `--list` lines.
pub const LIST: &str = "borg.output.list";
/// The logger of `--stats` lines.
pub const STATS: &str = "borg.output.stats";
/// The logger of `--show-rc`.
pub const SHOW_RC: &str = "borg.output.show-rc";
/// The logger of `--show-version`.
pub const SHOW_VERSION: &str = "borg.output.show-version";

/// Redraws of a progress bar in a second.
const REDRAWS_PER_SEC: u8 = 5;

/// The time between two updates of progress output, unless `BORG_PROGRESS_FPS` says otherwise.
pub const DEFAULT_PACE: Duration = Duration::from_millis(200);

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For developers.
    Debug,
    /// Shown with `--info`.
    Info,
    /// Shown by default.
    Warning,
    /// The command failed, or a part of it.
    Error,
    /// The command could not go on at all.
    Critical,
}

impl Level {
    /// The level's name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
            Level::Critical => "CRITICAL",
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// How important it is.
    pub level: Level,
    /// Name of the logger.
    pub name: &'static str,
    /// The text. Names in it are lossy UTF-8.
    pub text: String,
    /// A name for the kind of message that programs can rely on.
    pub msgid: Option<&'static str>,
}

impl Message {
    /// A message without an id.
    pub fn new(level: Level, name: &'static str, text: impl Into<String>) -> Message {
        Message { level, name, text: text.into(), msgid: None }
    }

    /// The same message with an id.
    pub fn with_msgid(self, msgid: &'static str) -> Message {
        Message { msgid: Some(msgid), ..self }
    }

    /// The message as a JSON line, without its newline.
    fn json(&self) -> String {
        let mut object = Object::new().with("type", "log_message").with("time", now()).with("message", &*self.text);
        object.set("levelname", self.level.name());
        object.set("name", self.name);
        if let Some(msgid) = self.msgid {
            object.set("msgid", msgid);
        }
        object.line()
    }
}

/// What is to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogOptions {
    /// The least important level that is shown.
    pub level: Level,
    /// Whether everything is a JSON line (`--log-json`).
    pub json: bool,
    /// Whether there is progress output (`--progress`).
    pub progress: bool,
    /// Whether the lines of [`LIST`] are shown (`--list`).
    pub list: bool,
    /// Whether the lines of [`STATS`] are shown (`--stats`).
    pub stats: bool,
    /// Whether the line of [`SHOW_RC`] is shown.
    pub show_rc: bool,
    /// Whether the line of [`SHOW_VERSION`] is shown.
    pub show_version: bool,
    /// The units of sizes on progress bars.
    pub units: Units,
    /// The time between two updates of progress output.
    pub pace: Duration,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            level: Level::Warning,
            json: false,
            progress: false,
            list: false,
            stats: false,
            show_rc: false,
            show_version: false,
            units: Units::default(),
            pace: DEFAULT_PACE,
        }
    }
}

/// Writes to stderr. Can be shared between threads; lines stay whole.
pub struct Log {
    options: LogOptions,
    target: Target,
    sink: Mutex<Box<dyn Write + Send>>,
    bars: MultiProgress,
    operations: AtomicU64,
}

impl Log {
    /// A log on the program's stderr.
    pub fn stderr(options: LogOptions) -> Log {
        Log::new(options, Target::of(&io::stderr()), Box::new(io::stderr()))
    }

    /// A log elsewhere. Progress bars are drawn on stderr, and only if `target` is a terminal.
    pub fn new(options: LogOptions, target: Target, sink: Box<dyn Write + Send>) -> Log {
        let bars = match target {
            Target::Terminal => ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SEC),
            Target::Pipe => ProgressDrawTarget::hidden(),
        };
        Log {
            options,
            target,
            sink: Mutex::new(sink),
            bars: MultiProgress::with_draw_target(bars),
            operations: AtomicU64::new(0),
        }
    }

    /// What is logged.
    pub fn options(&self) -> &LogOptions {
        &self.options
    }

    /// Where it goes.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Whether a message would be shown, for those that are expensive to make.
    pub fn shows(&self, level: Level, name: &str) -> bool {
        let own = match name {
            LIST => self.options.list,
            STATS => self.options.stats,
            SHOW_RC => self.options.show_rc,
            SHOW_VERSION => self.options.show_version,
            _ => return level >= self.options.level,
        };
        level >= if own { Level::Info } else { Level::Warning }
    }

    /// Writes a message if its level is shown.
    pub fn message(&self, message: &Message) {
        if !self.shows(message.level, message.name) {
            return;
        }
        if self.options.json {
            self.line(&message.json());
        } else {
            self.line(&message.text);
        }
    }

    /// Writes a line of `--list` about an item of an archive in the making.
    pub fn file_status(&self, status: char, path: &[u8]) {
        if self.options.json {
            let mut line = Object::new().with("type", "file_status").with("status", status.to_string());
            line.set_raw("path", path);
            self.line(&line.line());
        } else {
            self.message(&Message::new(Level::Info, LIST, format!("{status} {}", lossy(path).0)));
        }
    }

    /// Writes a message of [`ARCHIVER`].
    pub fn say(&self, level: Level, text: impl Into<String>) {
        self.message(&Message::new(level, ARCHIVER, text));
    }

    /// Writes a whole line.
    pub fn line(&self, text: &str) {
        self.write(&format!("{}\n", self.shown(text)));
    }

    /// Writes a text without a newline, for a question.
    pub fn prompt(&self, text: &str) {
        self.write(&self.shown(text));
    }

    /// The number of a new operation, for progress output.
    pub fn next_operation(&self) -> u64 {
        self.operations.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The progress bars on the terminal.
    pub fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    fn shown<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
        match self.target {
            Target::Terminal => escape_message(text),
            Target::Pipe => text.into(),
        }
    }

    /// Progress bars step aside. Nobody can be told that stderr is broken.
    fn write(&self, text: &str) {
        self.bars.suspend(|| {
            let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
        });
    }
}

/// Seconds since the epoch, as Python's `time.time()`.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::Arc;

    /// A sink whose content can be looked at.
    #[derive(Clone, Default)]
    pub struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(data);
            Ok(data.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Captured {
        pub fn log(&self, options: LogOptions) -> Log {
            Log::new(options, Target::Pipe, Box::new(self.clone()))
        }

        /// Everything that was written, with times replaced by `0.5`.
        pub fn text(&self) -> String {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let mut out = String::new();
            let mut rest = &*text;
            while let Some(at) = rest.find("\"time\": ") {
                let (before, after) = rest.split_at(at + 8);
                out += before;
                out += "0.5";
                rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            }
            out + rest
        }
    }

    /// The lines are those of borg 2.0.0b25, except for the time.
    #[test]
    fn json_lines_look_as_in_borg() {
        let sink = Captured::default();
        let log = sink.log(LogOptions { json: true, list: true, ..LogOptions::default() });
        log.message(&Message::new(Level::Info, LIST, "Deleted archive: c"));
        log.say(Level::Warning, "Done. Run \"borg compact\" to free space.");
        log.say(Level::Info, "not shown");
        log.message(
            &Message::new(Level::Error, ARCHIVER, "Repository access aborted").with_msgid("RepositoryAccessAborted"),
        );
        assert_eq!(
            sink.text(),
            "{\"type\": \"log_message\", \"time\": 0.5, \"message\": \"Deleted archive: c\", \"levelname\": \"INFO\", \
             \"name\": \"borg.output.list\"}\n\
             {\"type\": \"log_message\", \"time\": 0.5, \"message\": \"Done. Run \\\"borg compact\\\" to free space.\", \
             \"levelname\": \"WARNING\", \"name\": \"borg.archiver\"}\n\
             {\"type\": \"log_message\", \"time\": 0.5, \"message\": \"Repository access aborted\", \
             \"levelname\": \"ERROR\", \"name\": \"borg.archiver\", \"msgid\": \"RepositoryAccessAborted\"}\n"
        );
    }

    #[test]
    fn text_lines_have_no_prefix_and_outputs_have_their_own_switch() {
        let sink = Captured::default();
        let log = sink.log(LogOptions { level: Level::Error, list: true, ..LogOptions::default() });
        log.message(&Message::new(Level::Info, LIST, "+ src\x1b"));
        log.message(&Message::new(Level::Info, STATS, "Store info calls: 0"));
        log.message(&Message::new(Level::Warning, SHOW_RC, "terminating with warning status, rc 1"));
        log.say(Level::Warning, "not shown");
        log.say(Level::Critical, "shown");
        assert_eq!(sink.text(), "+ src\x1b\nterminating with warning status, rc 1\nshown\n");
    }

    #[test]
    fn messages_on_a_terminal_are_escaped() {
        let sink = Captured::default();
        let log = Log::new(LogOptions::default(), Target::Terminal, Box::new(sink.clone()));
        log.say(Level::Warning, "a\x1b]0;b\n\u{202e}c");
        assert_eq!(sink.text(), "a\\x1b]0;b\n\\u202ec\n");
    }
}
