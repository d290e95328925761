//! `key list`: the keys of a repository (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::output::stdout::print;
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::key::{KeyError, LockedKey};

/// This command lists the borg keys of the repository; the one that was unlocked is marked by an asterisk.
#[derive(Debug, Args)]
pub struct ListOptions {}

/// Lists the keys. A damaged one is told of, too, since it can be removed.
pub fn run(app: &App) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let _held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let mut text = format!("{:1} {:12} {:8} {:24} ALGORITHM\n", "", "KEY ID", "MODE", "LABEL");
    for (number, found) in session.key_sources.iter().enumerate() {
        let marker = if session.key.as_ref().is_some_and(|key| key.number == number) { "*" } else { "" };
        let (id, mode) = (found.short_id(), found.source.location.name());
        let (label, algorithm) = match LockedKey::parse(&found.source.text) {
            Ok(locked) => (locked.label, locked.algorithm),
            Err(KeyError::Algorithm { algorithm }) => (None, algorithm),
            Err(problem) => {
                app.warning(&format!("Borg key {id} is corrupted (could not be parsed): it {problem}"));
                (None, "(corrupted)".into())
            }
        };
        text.push_str(&format!("{marker:1} {id:12} {mode:8} {:24} {algorithm}\n", label.as_deref().unwrap_or("-")));
    }
    print(&text)
}
