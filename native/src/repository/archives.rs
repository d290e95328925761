//! Choosing archives of an open repository (command line, sections 0.2 and 5.2).

use crate::app::App;
use crate::failure::Failure;
use crate::options::archive_filters::{ArchiveFilters, parsed};
use crate::output::format::archive::ArchiveRow;
use crate::repository::folder::Folder;
use crate::repository::session::Session;
use jiff::tz::TimeZone;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::bytes::lossy;
use portaborg_core::id::ArchiveId;
use portaborg_core::repo::{ArchiveEntry, ArchiveProblem, ChunkReader, ReadError, list_archives};
use portaborg_core::select::{Candidate, Selection, SortKey, Zones, select_one};
use portaborg_core::store::{Ready, now};
use portaborg_core::time::Timestamp;

/// A reader of a repository in a local folder.
pub type Reader<'r> = ChunkReader<'r, Ready<Folder>>;

/// An archive, as commands see it: one that can't be used has a name that says so.
#[derive(Debug, Clone)]
pub struct Archive(ArchiveEntry);

impl Archive {
    /// What is said of it, if that can be had.
    pub fn meta(&self) -> Option<&ArchiveMeta> {
        self.0.meta.as_ref().ok()
    }

    /// Why nothing can be said of it.
    pub fn problem(&self) -> Option<&ArchiveProblem> {
        self.0.meta.as_ref().err()
    }

    /// What a format can say of it.
    pub fn row(&self) -> ArchiveRow<'_> {
        ArchiveRow { id: self.id(), name: self.name(), time: self.time(), meta: self.meta() }
    }

    /// What is said of it, or the failure that nothing is.
    pub fn require_meta(&self, location: &str) -> Result<&ArchiveMeta, Failure> {
        match &self.0.meta {
            Ok(meta) => Ok(meta),
            Err(ArchiveProblem::Read(error)) => Err(Failure::read(error.clone(), self.id(), location)),
            Err(ArchiveProblem::Meta(error)) => Err(Failure::integrity(format_args!("Archive {}: {error}", self.id()))),
        }
    }
}

impl Candidate for Archive {
    fn id(&self) -> ArchiveId {
        self.0.id
    }

    fn name(&self) -> &[u8] {
        match &self.0.meta {
            Ok(meta) => &meta.name,
            Err(ArchiveProblem::Read(ReadError::NotIndexed | ReadError::PackMissing { .. })) => {
                b"archive-does-not-exist"
            }
            Err(_) => b"archive-metadata-has-integrity-error",
        }
    }

    fn user(&self) -> &[u8] {
        self.meta().map_or(&[], |meta| &meta.username)
    }

    fn host(&self) -> &[u8] {
        self.meta().map_or(&[], |meta| &meta.hostname)
    }

    fn tags(&self) -> impl Iterator<Item = &[u8]> {
        self.meta().into_iter().flat_map(|meta| &meta.tags).map(Vec::as_slice)
    }

    fn time(&self) -> Timestamp {
        self.meta().map_or(Timestamp::default(), |meta| meta.time.time)
    }
}

/// All archives, or the soft-deleted ones. What makes one unusable in a way that Borg has no name for is warned of.
pub fn list(app: &App, session: &Session, reader: &mut Reader<'_>, deleted: bool) -> Result<Listing, Failure> {
    let listing = now(list_archives(reader, deleted)).map_err(|error| Failure::store(error, &session.location))?;
    for stray in &listing.strays {
        app.warning(&format!("archives/{stray} is not the name of an archive, it is passed over."));
    }
    for archive in &listing.archives {
        match &archive.meta {
            Err(ArchiveProblem::Meta(error)) => {
                app.warning(&format!("Archive {} can not be used: {error}.", archive.id));
            }
            Err(ArchiveProblem::Read(error)) => {
                app.info(&format!("Archive {} can not be read: {error}.", archive.id));
            }
            Ok(_) => {}
        }
    }
    let makes_sense = |archive: &ArchiveEntry| !matches!(archive.meta, Err(ArchiveProblem::Meta(_)));
    Ok(Listing {
        makes_sense: listing.strays.is_empty() && listing.archives.iter().all(makes_sense),
        archives: listing.archives.into_iter().map(Archive).collect(),
    })
}

/// The archives of a repository.
pub struct Listing {
    /// In order of their ids.
    pub archives: Vec<Archive>,
    /// Whether there was nothing that Borg has no name for: a pointer of another name, or authentic metadata without sense.
    pub makes_sense: bool,
}

/// The archives that the filters leave, in the order that is asked for.
pub fn considered(app: &App, archives: Vec<Archive>, filters: &ArchiveFilters) -> Result<Vec<Archive>, Failure> {
    let selection = Selection {
        patterns: replaced(app, filters.match_archives.iter())?,
        older: parsed(&filters.older, "--older")?,
        newer: parsed(&filters.newer, "--newer")?,
        oldest: parsed(&filters.oldest, "--oldest")?,
        newest: parsed(&filters.newest, "--newest")?,
        sort_by: SortKey::parse_list(filters.sort_by.as_deref().unwrap_or("timestamp"))
            .map_err(|error| Failure::argument("--sort-by", error))?,
        first: filters.first,
        last: filters.last,
        reverse: false,
    };
    selection.select(archives, app.now(), &SystemZones(&app.zone)).map_err(Failure::command)
}

/// The one archive that NAME and the patterns mean.
pub fn one(app: &App, archives: Vec<Archive>, name: &String, patterns: &[String]) -> Result<Archive, Failure> {
    select(app, archives, &replaced(app, patterns.iter().chain([name]))?)
}

/// Lists the archives and chooses the one that NAME means, in which placeholders are replaced already: a mistake in them shows
/// before a passphrase is asked for.
pub fn find_one(app: &App, session: &Session, reader: &mut Reader<'_>, name: String) -> Result<Archive, Failure> {
    select(app, list(app, session, reader, false)?.archives, &[name])
}

fn select(app: &App, archives: Vec<Archive>, patterns: &[String]) -> Result<Archive, Failure> {
    select_one(patterns, archives, &SystemZones(&app.zone)).map_err(Failure::command)
}

fn replaced<'p>(app: &App, patterns: impl Iterator<Item = &'p String>) -> Result<Vec<String>, Failure> {
    patterns.map(|pattern| app.replace_placeholders(pattern)).collect()
}

/// An archive's name for a message.
pub fn shown_name(archive: &Archive) -> String {
    lossy(archive.name()).0.into_owned()
}

/// Time zones of this system.
struct SystemZones<'a>(&'a TimeZone);

impl Zones for SystemZones<'_> {
    fn local(&self) -> TimeZone {
        self.0.clone()
    }

    fn named(&self, name: &str) -> Option<TimeZone> {
        TimeZone::get(name).ok()
    }
}
