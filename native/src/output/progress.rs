//! Progress output on stderr: a bar on a terminal, lines elsewhere, JSON lines with `--log-json` (command line,
//! sections 3.4 and 4.5). Without `--progress` nothing is shown.

use crate::output::display::size::Units;
use crate::output::display::terminal::Target;
use crate::output::json::{Json, Object};
use crate::output::log::{DEFAULT_PACE, Log, now};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The time between two updates for a value of `BORG_PROGRESS_FPS`; otherwise the warning to give, after which
/// [`DEFAULT_PACE`] is used.
pub fn parse_pace(value: &str) -> Result<Duration, String> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(DEFAULT_PACE);
    }
    let pace = value.parse::<f64>().ok().filter(|fps| *fps > 0.0);
    let pace = pace.and_then(|fps| Duration::try_from_secs_f64(1.0 / fps).ok());
    pace.ok_or_else(|| format!("Invalid BORG_PROGRESS_FPS value '{value}', must be a number > 0. Ignoring it."))
}

/// How a percentage is put into words: `before`, the number, a percent sign, `after`, and what is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// Text before the number.
    pub before: &'static str,
    /// Width of the number.
    pub width: usize,
    /// Decimals of the number.
    pub decimals: usize,
    /// Text after the percent sign.
    pub after: &'static str,
}

impl Label {
    /// `Checking packs  42%`.
    pub const fn whole(before: &'static str) -> Label {
        Label { before, width: 3, decimals: 0, after: "" }
    }

    /// ` 42.0% Extracting: PATH`.
    pub const fn tenths(after: &'static str) -> Label {
        Label { before: "", width: 5, decimals: 1, after }
    }

    fn text(&self, percent: f64, info: Option<&str>) -> String {
        let Label { before, width, decimals, after } = *self;
        format!("{before}{percent:width$.decimals$}%{after}{}", info.unwrap_or_default())
    }

    /// By how much the percentage has to grow for the next line.
    fn step(&self) -> f64 {
        if self.decimals == 0 { 5.0 } else { 0.1 }
    }
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, shown as sizes.
    Bytes,
    /// Anything else.
    Count,
}

/// Progress of one operation towards a known total (`progress_percent`).
pub struct Percent<'a> {
    log: &'a Log,
    operation: u64,
    msgid: &'static str,
    label: Label,
    total: u64,
    current: u64,
    next_percent: f64,
    files: u64,
    shown_at: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl<'a> Percent<'a> {
    /// Begins an operation.
    pub fn new(label: Label, msgid: &'static str, unit: Unit, total: u64, log: &'a Log) -> Self {
        let options = log.options();
        let has_bar = options.progress && !options.json && log.target() == Target::Terminal;
        let bar = has_bar.then(|| {
            let bar = log.bars().add(ProgressBar::new_spinner());
            bar.set_length(total);
            bar.with_style(bar_style(unit, options.units))
        });
        let operation = log.next_operation();
        Percent { log, operation, msgid, label, total, current: 0, next_percent: 0.0, files: 0, shown_at: None, bar }
    }

    /// Sets the total, once it is known.
    pub fn set_total(&mut self, total: u64) {
        self.total = total;
        if let Some(bar) = &self.bar {
            bar.set_length(total);
        }
    }

    /// Shows a text instead of a percentage.
    pub fn say(&mut self, text: &str) {
        self.show(text, None);
    }

    /// Counts a file; bars show how many there were.
    pub fn file_done(&mut self) {
        self.files += 1;
        if let Some(bar) = &self.bar {
            bar.set_prefix(format!("{} files ", self.files));
        }
    }

    /// Counts `increase` more, done for `info` (a path, lossy UTF-8). The percentage shown is that of before, as in
    /// Borg.
    pub fn advance(&mut self, increase: u64, info: Option<&str>) {
        let percent = match self.total {
            0 => 100.0,
            total => self.current as f64 * 100.0 / total as f64,
        };
        self.current = self.current.saturating_add(increase);
        if let Some(bar) = &self.bar {
            bar.set_position(self.current);
            if let Some(info) = info {
                bar.set_message(self.log.target().name(info).into_owned());
            }
            return;
        }
        if percent < self.next_percent || !self.is_due() {
            return;
        }
        while self.next_percent <= percent {
            self.next_percent += self.label.step();
        }
        self.show(&self.label.text(percent, info), info);
    }

    /// Ends the operation and clears the bar.
    pub fn finish(self) {
        let options = self.log.options();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            self.log.bars().remove(bar);
        } else if options.progress && options.json {
            self.log.line(&self.json(Object::new().with("message", ""), true));
        } else if options.progress {
            self.log.line("");
        }
    }

    /// Whether enough time went by since the last line; the last one of all is always due.
    fn is_due(&self) -> bool {
        self.current >= self.total || self.shown_at.is_none_or(|at| at.elapsed() >= self.log.options().pace)
    }

    fn show(&mut self, text: &str, info: Option<&str>) {
        let options = self.log.options();
        if !options.progress {
            return;
        }
        self.shown_at = Some(Instant::now());
        if let Some(bar) = &self.bar {
            bar.set_message(self.log.target().name(text).into_owned());
            bar.tick();
        } else if options.json {
            let info = info.map(|info| vec![Json::from(info)]);
            let members = Object::new().with("message", text).with("current", self.current).with("total", self.total);
            self.log.line(&self.json(members.with("info", info), false));
        } else {
            self.log.line(text);
        }
    }

    /// The members, and those that every line has.
    fn json(&self, members: Object, finished: bool) -> String {
        let members = members.with("operation", self.operation).with("msgid", self.msgid);
        members.with("type", "progress_percent").with("finished", finished).with("time", now()).line()
    }
}

fn bar_style(unit: Unit, units: Units) -> ProgressStyle {
    let shown = move |count: u64| match unit {
        Unit::Bytes => units.display(count),
        Unit::Count => count.to_string(),
    };
    let style = ProgressStyle::with_template("{percent:>3}% {done}/{total} {prefix}{rate} ETA {eta} {wide_msg}");
    let style = style.expect("the template is valid, which a test shows");
    // A terminal that can't be written to is the bar's own trouble.
    style
        .with_key("done", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&shown(state.pos()));
        })
        .with_key("total", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&shown(state.len().unwrap_or_default()));
        })
        .with_key("rate", move |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}/s", shown(state.per_sec() as u64));
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::log::LogOptions;
    use crate::output::log::tests::Captured;

    fn extract(options: LogOptions) -> String {
        let sink = Captured::default();
        let log = sink.log(LogOptions { pace: Duration::ZERO, ..options });
        let mut progress = Percent::new(Label::tenths(" Extracting: "), "extract", Unit::Bytes, 0, &log);
        progress.say("Calculating total archive size");
        progress.set_total(9_194_341);
        progress.advance(1_667_089, Some("src/rand.bin"));
        progress.advance(1_332_911, Some("src/rand.bin"));
        progress.advance(10, Some("src/text.txt"));
        progress.advance(6_194_331, Some("src/b?ad"));
        progress.finish();
        sink.text()
    }

    /// The lines have the form of those of borg 2.0.0b25.
    #[test]
    fn json_lines_look_as_in_borg() {
        let wanted = r#"{"message": "Calculating total archive size", "current": 0, "total": 0, "info": null, "operation": 1, "msgid": "extract", "type": "progress_percent", "finished": false, "time": 0.5}
{"message": "  0.0% Extracting: src/rand.bin", "current": 1667089, "total": 9194341, "info": ["src/rand.bin"], "operation": 1, "msgid": "extract", "type": "progress_percent", "finished": false, "time": 0.5}
{"message": " 18.1% Extracting: src/rand.bin", "current": 3000000, "total": 9194341, "info": ["src/rand.bin"], "operation": 1, "msgid": "extract", "type": "progress_percent", "finished": false, "time": 0.5}
{"message": " 32.6% Extracting: src/text.txt", "current": 3000010, "total": 9194341, "info": ["src/text.txt"], "operation": 1, "msgid": "extract", "type": "progress_percent", "finished": false, "time": 0.5}
{"message": "", "operation": 1, "msgid": "extract", "type": "progress_percent", "finished": true, "time": 0.5}
"#;
        assert_eq!(extract(LogOptions { json: true, progress: true, ..LogOptions::default() }), wanted);
    }

    #[test]
    fn lines_are_plain_in_a_pipe_and_absent_without_progress() {
        let text = extract(LogOptions { progress: true, ..LogOptions::default() });
        assert!(text.starts_with("Calculating total archive size\n  0.0% Extracting: src/rand.bin\n 18.1% "));
        assert!(text.ends_with("src/text.txt\n\n"));
        assert_eq!(extract(LogOptions::default()), "");
    }

    #[test]
    fn updates_are_rare_but_the_last_is_shown() {
        let sink = Captured::default();
        let pace = Duration::from_secs(3600);
        let log = sink.log(LogOptions { json: true, progress: true, pace, ..LogOptions::default() });
        let mut progress = Percent::new(Label::whole("Pruning archives "), "prune", Unit::Count, 1000, &log);
        for _ in 0..1000 {
            progress.advance(1, None);
        }
        assert_eq!(sink.text().lines().count(), 2);
        assert!(sink.text().contains("\"message\": \"Pruning archives 100%\", \"current\": 1000"));
    }

    #[test]
    fn the_template_is_valid_and_paces_are_checked() {
        bar_style(Unit::Bytes, Units::Iec);
        assert_eq!(parse_pace(" 10 "), Ok(Duration::from_millis(100)));
        assert_eq!(parse_pace(""), Ok(Duration::from_millis(200)));
        for value in ["0", "-1", "x", "nan", "1e-300"] {
            let text = format!("Invalid BORG_PROGRESS_FPS value '{value}', must be a number > 0. Ignoring it.");
            assert_eq!(parse_pace(value), Err(text));
        }
    }
}
