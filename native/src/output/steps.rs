//! Progress of an operation whose steps have names, but no sizes (command line, sections 3.4 and 4.5).

use crate::output::display::terminal::Target;
use crate::output::json::Object;
use crate::output::log::{Log, now};
use indicatif::{ProgressBar, ProgressStyle};

/// Shows which step is at hand (`progress_message`). Without `--progress` nothing is shown.
pub struct Steps<'a> {
    log: &'a Log,
    operation: u64,
    msgid: &'static str,
    bar: Option<ProgressBar>,
}

impl<'a> Steps<'a> {
    /// Begins an operation.
    pub fn new(msgid: &'static str, log: &'a Log) -> Self {
        let options = log.options();
        let has_bar = options.progress && !options.json && log.target() == Target::Terminal;
        let style = ProgressStyle::with_template("{wide_msg}").expect("the template is valid");
        let bar = has_bar.then(|| log.bars().add(ProgressBar::new_spinner()).with_style(style));
        Steps { log, operation: log.next_operation(), msgid, bar }
    }

    /// Begins a step.
    pub fn say(&self, text: &'static str) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.tick();
            }
            None => self.show(text, false),
        }
    }

    /// Ends the operation.
    pub fn finish(self) {
        match &self.bar {
            Some(bar) => {
                bar.finish_and_clear();
                self.log.bars().remove(bar);
            }
            None => self.show("", true),
        }
    }

    fn show(&self, text: &str, finished: bool) {
        let options = self.log.options();
        if options.progress && options.json {
            let line = Object::new().with("message", text).with("operation", self.operation).with("msgid", self.msgid);
            let line = line.with("type", "progress_message").with("finished", finished).with("time", now());
            self.log.line(&line.line());
        } else if options.progress {
            self.log.line(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::log::LogOptions;
    use crate::output::log::tests::Captured;

    fn shown(options: LogOptions) -> String {
        let sink = Captured::default();
        let log = sink.log(options);
        let steps = Steps::new("cache.close", &log);
        steps.say("Saving index");
        steps.finish();
        sink.text()
    }

    /// The lines are those of borg 2.0.0b25, except for the time.
    #[test]
    fn steps_look_as_in_borg() {
        assert_eq!(shown(LogOptions::default()), "");
        let progress = LogOptions { progress: true, ..LogOptions::default() };
        assert_eq!(shown(progress), "Saving index\n\n");
        assert_eq!(
            shown(LogOptions { json: true, ..progress }),
            "{\"message\": \"Saving index\", \"operation\": 1, \"msgid\": \"cache.close\", \
             \"type\": \"progress_message\", \"finished\": false, \"time\": 0.5}\n\
             {\"message\": \"\", \"operation\": 1, \"msgid\": \"cache.close\", \
             \"type\": \"progress_message\", \"finished\": true, \"time\": 0.5}\n"
        );
    }
}
