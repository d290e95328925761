//! Input maps of `create` (command line, section 1.2, `--map`).

use super::inputs::Inputs;
use crate::app::App;
use crate::backup::Mapped;
use crate::failure::Failure;
use crate::repository::archives::{self, Reader};
use crate::repository::items::report;
use crate::repository::session::Session;
use crate::system::ffi::OsStrExt;
use crate::system::fs::FileTypeExt;
use clap::Args;
use portaborg_core::input_map::{InputMap, InputMapError};
use portaborg_core::item::ChunkEntry;
use portaborg_core::repo::ItemStream;
use portaborg_core::store::now;
use portaborg_core::text::Repr;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// What is known of the only file that is archived.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Options {
    /// read only those ranges of the only PATH, a regular file or a block device, that MAPFILE calls data. It has lines
    /// "START LENGTH STATE", where STATE is data, zero, or same (see --reuse-from). What it says is not verified.
    #[arg(long, value_name = "MAPFILE", help_heading = "Filesystem options")]
    map: Option<PathBuf>,

    /// take the ranges that the map calls same from the file in this archive
    #[arg(long, value_name = "ARCHIVE", help_heading = "Filesystem options")]
    reuse_from: Option<String>,

    /// path of the file in the --reuse-from archive, if there is more than one
    #[arg(long, value_name = "PATH", help_heading = "Filesystem options")]
    reuse_path: Option<OsString>,
}

/// A map that was read, and where its reference is.
pub struct Plan<'a> {
    map: InputMap,
    reference: Option<(String, Option<&'a OsString>)>,
}

impl Options {
    /// Reads the map, if there is one, and makes sure that it suits what is archived.
    pub fn plan(&self, app: &App, inputs: &Inputs, read_special: bool) -> Result<Option<Plan<'_>>, Failure> {
        let needs = |option, other| Err(Failure::command(format_args!("{option} requires {other}.")));
        let Some(file) = &self.map else {
            return match (&self.reuse_from, &self.reuse_path) {
                (Some(_), _) => needs("--reuse-from", "--map"),
                (None, Some(_)) => needs("--reuse-path", "--reuse-from"),
                (None, None) => Ok(None),
            };
        };
        if self.reuse_path.is_some() && self.reuse_from.is_none() {
            return needs("--reuse-path", "--reuse-from");
        }
        check_input(inputs.only_path()?, read_special)?;
        let reference = self.reuse_from.as_deref().map(|name| app.replace_placeholders(name)).transpose()?;
        let map = read(file, reference.is_some())?;
        Ok(Some(Plan { map, reference: reference.map(|name| (name, self.reuse_path.as_ref())) }))
    }
}

impl Plan<'_> {
    /// Finds the reference.
    pub fn resolve(self, app: &App, session: &Session, reader: &mut Reader<'_>) -> Result<Mapped, Failure> {
        let reference = match self.reference {
            Some((name, path)) => reference(app, session, reader, name, path)?,
            None => Vec::new(),
        };
        Ok(Mapped { map: self.map, reference })
    }
}

fn check_input(path: &Path, read_special: bool) -> Result<(), Failure> {
    let found = fs::metadata(path);
    let found = found.map_err(|error| Failure::command(format_args!("--map input: {}: {error}", path.display())))?;
    if found.is_file() || (found.file_type().is_block_device() && read_special) {
        return Ok(());
    }
    Err(Failure::command(match found.file_type().is_block_device() {
        true => "--map with a block device requires --read-special.",
        false => "--map input must be a regular file or a block device.",
    }))
}

fn read(file: &Path, allow_same: bool) -> Result<InputMap, Failure> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| Failure::error(format_args!("{shown}: {error}")))?;
    InputMap::parse(&text, allow_same).map_err(|error| match error {
        InputMapError::Empty => Failure::error(format_args!("{shown}: {error}")),
        InputMapError::Line { .. } => Failure::error(format_args!("{shown}:{error}")),
    })
}

/// The chunks of the only file of an archive, or of the only one at a path.
fn reference(
    app: &App,
    session: &Session,
    reader: &mut Reader<'_>,
    name: String,
    path: Option<&OsString>,
) -> Result<Vec<ChunkEntry>, Failure> {
    let archive = archives::find_one(app, session, reader, name)?;
    let meta = archive.require_meta(&session.location)?;
    let mut items = ItemStream::new(&meta.item_ptrs);
    let (mut found, mut count) = (None, 0u64);
    while let Some(item) = now(items.next(reader)) {
        crate::interrupt::check()?;
        match item {
            Ok(item) if path.is_none_or(|path| item.path == path.as_bytes()) => {
                if let Some(chunks) = item.chunks {
                    count += 1;
                    found = Some(chunks);
                }
            }
            Ok(_) => {}
            Err(problem) => report(app, &archive, &problem, "looked at", &session.location),
        }
    }
    match (found, path) {
        (Some(chunks), _) if count == 1 => Ok(chunks),
        (None, Some(path)) => Err(Failure::command(format_args!(
            "--reuse-from: no file item with path {} in reference archive.",
            Repr(path.as_bytes())
        ))),
        _ => Err(Failure::command(format_args!(
            "--reuse-from: reference archive has {count} file items, \
             use --reuse-path to select the reference item."
        ))),
    }
}
