//! `debug`: objects of the repository as they are stored (command line, section 1.2).

use crate::app::App;
use crate::failure::Failure;
use crate::output::stdout::print;
use crate::repository::session::{Lock, Session};
use crate::repository::writing::builtin_compression;
use clap::{Args, Subcommand};
use portaborg_core::id::ChunkId;
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::object::Header;
use portaborg_core::repo::ReadError;
use portaborg_core::store::now;
use std::fs;
use std::path::PathBuf;

/// These commands are for debugging and not meant for daily use.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// get object from repository
    GetObj(ObjectOptions),
    /// put object to repository
    PutObj(ObjectOptions),
}

/// An object of the repository, encrypted as it is stored, and a file for it.
#[derive(Debug, Args)]
pub struct ObjectOptions {
    /// hex object ID
    #[arg(value_name = "ID")]
    id: String,

    /// the file that the object is written to or read from
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

/// Runs a debug command; without one, describes them.
pub fn run(app: &App, options: &Options, describe: fn() -> clap::Command) -> Result<(), Failure> {
    match &options.command {
        Some(Command::GetObj(options)) => get(app, options),
        Some(Command::PutObj(options)) => put(app, options),
        None => {
            let mut all = describe();
            let debug = all.find_subcommand_mut("debug").expect("this command is one of them");
            print(&debug.render_help().to_string())
        }
    }
}

impl ObjectOptions {
    fn id(&self) -> Result<ChunkId, Failure> {
        self.id.parse().map_err(|error| Failure::command(format_args!("object id {} is invalid [{error}].", self.id)))
    }

    fn file_failure(&self, error: std::io::Error) -> Failure {
        Failure::error(format_args!("{}: {error}", self.path.display()))
    }
}

fn get(app: &App, options: &ObjectOptions) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let held = session.lock(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let id = options.id()?;
    let mut reader = session.reader(app, &held)?;
    let object = now(reader.read_object(id)).map_err(|error| match error {
        ReadError::NotIndexed => Failure::new(2, "RTError", format!("Runtime Error: object {id} not found.")),
        error => Failure::read(error, id, &session.location),
    })?;
    fs::write(&options.path, object).map_err(|error| options.file_failure(error))?;
    print(&format!("object {id} fetched.\n"))
}

/// Stores a file's bytes under an id, whatever they are.
fn put(app: &App, options: &ObjectOptions) -> Result<(), Failure> {
    let object = fs::read(&options.path).map_err(|error| options.file_failure(error))?;
    let id = options.id()?;
    if object.len() > MAX_DATA_SIZE {
        return Err(Failure::integrity(format_args!(
            "{} has {} bytes, an object has {MAX_DATA_SIZE} at most",
            options.path.display(),
            object.len()
        )));
    }
    let session = Session::open(app)?;
    let held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    if !Header::parse(&object).is_ok_and(|header| header.id == id && header.total() == object.len() as u64) {
        app.warning(&format!(
            "{} is not an object with id {id}: whoever reads it will find it damaged.",
            options.path.display()
        ));
    }
    let mut writer = session.writer(app, &held, builtin_compression())?;
    now(writer.add_object(id, &object)).map_err(|error| Failure::write(error, &session.location))?;
    now(writer.save_index()).map_err(|error| Failure::store(error, &session.location))?;
    print(&format!("object {id} put.\n"))
}
