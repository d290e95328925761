//! `version`: of the client and of the server (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::output::json::Object;
use crate::output::stdout::print;
use clap::Args;
use portaborg_core::limits::BORG_VERSION;

/// display the Borg client and server versions
#[derive(Debug, Args)]
pub struct Options {
    /// format output as JSON
    #[arg(long)]
    json: bool,
}

/// The client reaches every repository itself, so the server's version is its own.
pub fn run(app: &App, options: &Options) -> Result<(), Failure> {
    if options.json {
        return app.print_json(Object::new().with("client", BORG_VERSION).with("server", BORG_VERSION));
    }
    print(&format!("{BORG_VERSION} / {BORG_VERSION}\n"))
}
