//! `repo-info`: what the repository is and how it is protected (command line, section 1.2).

use crate::app::App;
use crate::client::dirs;
use crate::failure::Failure;
use crate::output::json::Object;
use crate::output::stdout::print;
use crate::repository::session::{Lock, Session};
use crate::repository::writing::builtin_compression;
use clap::Args;
use portaborg_core::crypto::Mode;
use portaborg_core::defaults::BUILTIN_CHUNKER_PARAMS;
use portaborg_core::limits::REPOSITORY_VERSION;
use portaborg_core::store::now;

/// This command displays detailed information about the repository.
#[derive(Debug, Args)]
pub struct Options {
    /// format output as JSON
    #[arg(long)]
    json: bool,
}

/// Prints what the repository is and how it is protected.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let _held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let defaults = now(session.repository.defaults(&mut session.opener()));
    let defaults = defaults.map_err(|error| Failure::defaults(error, &session.location))?;
    let id = session.repository.id();
    let security_dir = dirs::security(id).display().to_string();
    let cache = dirs::cache(id).display().to_string();
    let compression = builtin_compression().to_string();
    if options.json {
        let compression = defaults.compression.as_deref().unwrap_or(&compression);
        let chunker_params = defaults.chunker_params.as_deref().unwrap_or(BUILTIN_CHUNKER_PARAMS);
        let defaults = Object::new().with("compression", compression).with("chunker_params", chunker_params);
        let object = session
            .json()
            .with("cache", Object::new().with("path", cache))
            .with("security_dir", security_dir)
            .with("defaults", defaults);
        return app.print_json(object);
    }
    let shown = |stored: &Option<String>, builtin: &str| stored.clone().unwrap_or(format!("{builtin} (built-in)"));
    print(&format!(
        "Repository ID: {id}\n\
         Location: {}\n\
         Repository version: {REPOSITORY_VERSION}\n\
         {}\n\
         Security directory: {security_dir}\n\
         Default compression: {}\n\
         Default chunker params: {}\n\
         Cache: {cache}\n\n",
        session.location,
        encryption_lines(&session),
        shown(&defaults.compression, &compression),
        shown(&defaults.chunker_params, BUILTIN_CHUNKER_PARAMS),
    ))
}

fn encryption_lines(session: &Session) -> String {
    let suite = session.keys.suite();
    let mut words: Vec<&str> = session.key_location().map(|location| location.name()).into_iter().collect();
    words.push(suite.encryption_name());
    let answer = match suite.mode {
        Mode::Encrypted(_) => {
            words.push(suite.id_hash.name());
            if session.key.as_ref().is_some_and(|key| key.passphrase.is_empty()) {
                words.push("empty passphrase");
            }
            "Yes"
        }
        Mode::Authenticated => "No",
    };
    let line = format!("Encrypted: {answer} ({})", words.join(", "));
    match session.key_file() {
        Some(file) => format!("{line}\nKey file: {}", file.display()),
        None => line,
    }
}
