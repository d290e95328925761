//! Chromium, driven by a script of ours over `playwright-core`: one browser for many tests, which send it jobs.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde::Deserialize;
use serde_json::Value;

use crate::web;

/// Why a test that needs the browser is skipped.
pub const MISSING: &str = "Chromium is not installed";
/// Debian's package, and its program.
pub const PACKAGE: &str = "chromium";
const PROGRAM: &str = "/usr/bin/chromium";
/// What drives it.
const DRIVER: &str = "playwright-core@1.65.1";

/// Whether there is a browser.
#[must_use]
pub fn is_there() -> bool {
    Path::new(PROGRAM).exists()
}

/// A browser that runs.
#[derive(Debug)]
pub struct Chromium {
    child: Child,
    input: Mutex<Option<ChildStdin>>,
    waiting: Waiting,
    last_job: AtomicUsize,
}

/// Who waits for the answer to a job, by its number.
type Waiting = Arc<Mutex<HashMap<String, Sender<Vec<String>>>>>;

/// What a job found.
#[derive(Deserialize)]
struct Answer {
    id: String,
    wrong: Vec<String>,
}

impl Chromium {
    /// Starts it. `folder` has the package, and the scripts of `tests/npm`.
    ///
    /// # Errors
    /// What could not be run.
    pub fn start(folder: &Path) -> Result<Self, String> {
        let driver = web::packages(&[DRIVER])?.join("node_modules/playwright-core");
        let mut node = Command::new("node");
        node.arg("chromium.mjs").args([driver, PathBuf::from(PROGRAM)]).current_dir(folder);
        node.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = node.spawn().map_err(|error| format!("node: {error}"))?;
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let waiting = Waiting::default();
        let answers = Arc::clone(&waiting);
        thread::spawn(move || {
            let parsed =
                output.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str::<Answer>(&line).ok());
            for Answer { id, wrong } in parsed {
                let waiting = answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                let _nobody_waits = waiting.map(|waiting| waiting.send(wrong));
            }
            // It has ended: so does all waiting.
            answers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        });
        let input = Mutex::new(child.stdin.take());
        Ok(Chromium { child, input, waiting, last_job: AtomicUsize::new(0) })
    }

    /// Does a job, as `tests/npm/chromium.mjs` takes it, and gives what is wrong.
    #[must_use]
    pub fn run(&self, mut job: Value) -> Vec<String> {
        let id = format!("job-{}", self.last_job.fetch_add(1, Ordering::Relaxed));
        job["id"] = id.clone().into();
        let (sender, answer) = channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        if let Some(input) = &mut *self.input.lock().unwrap_or_else(PoisonError::into_inner) {
            let _it_has_ended = writeln!(input, "{job}");
        }
        answer.recv().unwrap_or_else(|_| vec!["the browser has ended".to_owned()])
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop(self.input.lock().unwrap_or_else(PoisonError::into_inner).take()); // by which it ends
        let _ = self.child.wait();
    }
}
