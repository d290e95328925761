//! Questions to the user, with answers from the environment (command line, section 2.3), and passphrases.

use crate::interrupt;
use crate::output::json::Object;
use crate::output::log::Log;
use crate::system::terminal;
use std::env;
use std::io::{self, BufRead, Read};
use zeroize::Zeroizing;

/// The usual words for no.
pub const FALSISH: &[&str] = &["No", "NO", "no", "N", "n", "0"];
/// The usual words for yes.
pub const TRUISH: &[&str] = &["Yes", "YES", "yes", "Y", "y", "1"];
/// The usual words for the default answer.
pub const DEFAULTISH: &[&str] = &["Default", "DEFAULT", "default", "D", "d", ""];

/// Answers are not read beyond this.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;
/// Stands for an answer that is not text; in no list of words.
const NOT_TEXT: &str = "error";

/// A question that is answered with yes or no. Without a word for yes given, [`Self::default_answer`] counts.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The question; empty if there is nothing to be shown before the answer.
    pub text: &'a str,
    /// The environment variable that may hold the answer; also the id in JSON.
    pub env_var: &'a str,
    /// Words for yes.
    pub truish: &'a [&'a str],
    /// Words for no.
    pub falsish: &'a [&'a str],
    /// The answer at the end of input, and for words of [`DEFAULTISH`].
    pub default_answer: bool,
    /// Shown after a yes.
    pub true_text: Option<&'a str>,
    /// Shown after a no.
    pub false_text: Option<&'a str>,
    /// Shown after a word for the default.
    pub default_text: Option<&'a str>,
    /// Shown after any other answer.
    pub invalid_text: Option<&'a str>,
    /// Shown to ask again. Without it there is only one try.
    pub retry_text: Option<&'a str>,
    /// Whether the user is asked at all if the environment has no answer.
    pub interactive: bool,
}

impl<'a> Question<'a> {
    /// A question with the usual words, one try, and no as the default.
    pub fn new(text: &'a str, env_var: &'a str) -> Question<'a> {
        Question {
            text,
            env_var,
            truish: TRUISH,
            falsish: FALSISH,
            default_answer: false,
            true_text: None,
            false_text: None,
            default_text: None,
            invalid_text: None,
            retry_text: None,
            interactive: true,
        }
    }

    /// Asks. The environment's answer counts once; if it is invalid, the user is asked, if there are more tries. A signal
    /// ends the wait for an answer as the end of input does.
    pub fn ask(&self, log: &Log) -> bool {
        self.ask_with(|variable| env::var(variable).ok(), line, log)
    }

    fn ask_with(
        &self,
        env: impl Fn(&str) -> Option<String>,
        mut next_line: impl FnMut() -> Option<String>,
        log: &Log,
    ) -> bool {
        if !self.text.is_empty() {
            self.tell("prompt", self.text, log);
        }
        let mut from_env = env(self.env_var);
        loop {
            let answer = match from_env.take() {
                Some(answer) => {
                    self.tell("env_answer", &format!("{answer} (from {})", self.env_var), log);
                    Some(answer)
                }
                None if !self.interactive => return self.default_answer,
                None => next_line(),
            };
            let answer = answer.unwrap_or_else(|| self.words_for(self.default_answer).to_owned());
            let is_in = |words: &[&str]| words.contains(&answer.as_str());
            let (result, kind, text) = if is_in(DEFAULTISH) {
                (Some(self.default_answer), "accepted_default", self.default_text)
            } else if is_in(self.truish) {
                (Some(true), "accepted_true", self.true_text)
            } else if is_in(self.falsish) {
                (Some(false), "accepted_false", self.false_text)
            } else {
                (None, "invalid_answer", self.invalid_text)
            };
            if let Some(text) = text {
                self.tell(kind, text, log);
            }
            match (result, self.retry_text) {
                (Some(result), _) => return result,
                (None, None) => return self.default_answer,
                (None, Some(text)) => self.tell("prompt_retry", text, log),
            }
        }
    }

    fn words_for(&self, answer: bool) -> &'a str {
        let words = if answer { self.truish } else { self.falsish };
        words.first().copied().unwrap_or_default()
    }

    /// Prompts end without a newline, so that the answer stands on their line.
    fn tell(&self, kind: &str, text: &str, log: &Log) {
        if log.options().json {
            let mut object = Object::new();
            if kind == "env_answer" {
                object.set("env_var", self.env_var);
            }
            let object = object.with("type", format!("question_{kind}")).with("msgid", self.env_var);
            log.line(&object.with("message", text).line());
        } else if kind.starts_with("prompt") {
            log.prompt(text);
        } else {
            log.line(text);
        }
    }
}

/// A line of standard input, without its end; `None` at the end of input. A signal ends the wait.
pub fn line() -> Option<String> {
    let read = || read_answer(&mut io::stdin().lock()).ok_or(io::ErrorKind::UnexpectedEof.into());
    terminal::unless(interrupt::requested, read).ok()
}

/// A line without its end; `None` at the end of input, or if it can't be read.
fn read_answer(input: &mut dyn BufRead) -> Option<String> {
    let mut line = Vec::new();
    let count = input.take(MAX_ANSWER_BYTES).read_until(b'\n', &mut line).ok()?;
    if count == 0 {
        return None;
    }
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Some(std::str::from_utf8(line).unwrap_or(NOT_TEXT).to_owned())
}

/// No passphrase could be read. `Display` is Borg's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Cannot acquire a passphrase: BORG_PASSPHRASE is {}. BORG_PASSCOMMAND is {}. Interactive password query failed.",
    set_or_not(*passphrase_set),
    set_or_not(*passcommand_set)
)]
pub struct NoPassphrase {
    /// Whether `BORG_PASSPHRASE` is set.
    pub passphrase_set: bool,
    /// Whether `BORG_PASSCOMMAND` is set.
    pub passcommand_set: bool,
}

fn set_or_not(set: bool) -> &'static str {
    if set { "set" } else { "not set" }
}

/// Asks for a passphrase on the terminal, without echo; without a terminal, reads a line of standard input. A signal ends the
/// wait.
pub fn passphrase(prompt: &str, log: &Log) -> Result<Zeroizing<String>, NoPassphrase> {
    let answer = match terminal::open() {
        Ok(terminal) => log.bars().suspend(|| terminal::ask(prompt, &terminal, interrupt::requested)),
        Err(_) if terminal::is_discreet() => {
            log.prompt(prompt);
            terminal::unless(interrupt::requested, || read_passphrase(&mut io::stdin().lock()))
        }
        Err(error) => Err(error),
    };
    answer.map(Zeroizing::new).map_err(|_| NoPassphrase {
        passphrase_set: env::var_os("BORG_PASSPHRASE").is_some(),
        passcommand_set: env::var_os("BORG_PASSCOMMAND").is_some(),
    })
}

fn read_passphrase(input: &mut dyn BufRead) -> io::Result<String> {
    let mut line = Zeroizing::new(Vec::new());
    if input.take(MAX_ANSWER_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let text = line.strip_suffix(b"\n").unwrap_or(&line);
    std::str::from_utf8(text).map(str::to_owned).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::log::LogOptions;
    use crate::output::log::tests::Captured;

    const RELOCATED: &str = "BORG_RELOCATED_REPO_ACCESS_IS_OK";

    fn relocated() -> Question<'static> {
        let text = "Warning: The repository at location /probe/repo2 was previously located at /probe/repo\n\
                    Do you want to continue? [yN] ";
        Question {
            false_text: Some("Aborting."),
            invalid_text: Some("Invalid answer, aborting."),
            ..Question::new(text, RELOCATED)
        }
    }

    fn ask(question: &Question<'_>, env: Option<&str>, mut input: &[u8], json: bool) -> (bool, String) {
        let sink = Captured::default();
        let log = sink.log(LogOptions { json, ..LogOptions::default() });
        let answer = question.ask_with(|_| env.map(String::from), || read_answer(&mut input), &log);
        (answer, sink.text())
    }

    /// The texts are those of borg 2.0.0b25.
    #[test]
    fn questions_look_as_in_borg() {
        let (answer, text) = ask(&relocated(), Some("yes"), b"", false);
        assert!(answer);
        assert!(text.ends_with("\nDo you want to continue? [yN] yes (from BORG_RELOCATED_REPO_ACCESS_IS_OK)\n"));
        let (answer, text) = ask(&relocated(), None, b"", true);
        assert!(!answer);
        let wanted = r#"{"type": "question_prompt", "msgid": "BORG_RELOCATED_REPO_ACCESS_IS_OK", "message": "Warning: The repository at location /probe/repo2 was previously located at /probe/repo\nDo you want to continue? [yN] "}
{"type": "question_accepted_false", "msgid": "BORG_RELOCATED_REPO_ACCESS_IS_OK", "message": "Aborting."}
"#;
        assert_eq!(text, wanted);
        let (_, text) = ask(&relocated(), Some("no"), b"", true);
        let env = "{\"env_var\": \"BORG_RELOCATED_REPO_ACCESS_IS_OK\", \"type\": \"question_env_answer\", \"msgid\": \
                   \"BORG_RELOCATED_REPO_ACCESS_IS_OK\", \"message\": \"no (from BORG_RELOCATED_REPO_ACCESS_IS_OK)\"}";
        assert_eq!(text.lines().nth(1), Some(env));
    }

    #[test]
    fn an_invalid_answer_counts_once() {
        let question = Question { retry_text: Some("Again: "), ..relocated() };
        let (answer, text) = ask(&question, Some("maybe"), b"\xff\r\nyes\r\n", false);
        assert!(answer);
        assert!(text.ends_with("Invalid answer, aborting.\nAgain: Invalid answer, aborting.\nAgain: "));
        let (answer, text) = ask(&relocated(), Some("maybe"), b"yes\n", false);
        assert!(
            !answer && text.ends_with("maybe (from BORG_RELOCATED_REPO_ACCESS_IS_OK)\nInvalid answer, aborting.\n")
        );
    }

    #[test]
    fn only_given_words_are_a_yes_and_the_end_of_input_is_the_default() {
        let question = Question { truish: &["YES"], ..Question::new("sure? ", "BORG_CHECK_I_KNOW_WHAT_I_AM_DOING") };
        assert!(!ask(&question, Some("yes"), b"", false).0);
        assert!(ask(&question, None, b"YES", false).0);
        let question = Question { default_answer: true, ..question };
        assert!(ask(&question, None, b"", false).0);
        assert!(ask(&question, None, b"d\n", false).0);
        assert!(!ask(&question, None, b"no\n", false).0);
        let silent = Question { interactive: false, default_answer: false, ..question };
        assert!(!ask(&silent, None, b"YES\n", false).0);
    }

    #[test]
    fn a_missing_passphrase_is_told_as_in_borg() {
        let error = NoPassphrase { passphrase_set: false, passcommand_set: false };
        assert_eq!(
            error.to_string(),
            "Cannot acquire a passphrase: BORG_PASSPHRASE is not set. BORG_PASSCOMMAND is not set. \
             Interactive password query failed."
        );
        assert_eq!(read_passphrase(&mut &b"kit pass\nrest"[..]).unwrap(), "kit pass");
        assert!(read_passphrase(&mut &b""[..]).is_err());
    }
}
