//! The archives of a repository, as they are told, and choosing one.

use crate::failure::{Failure, Fault};
use crate::repository::Reader;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::bytes::lossy;
use portaborg_core::id::ArchiveId;
use portaborg_core::object::ObjectType;
use portaborg_core::repo::{ArchiveEntry, ArchiveListing, ArchiveProblem, ReadError, list_archives};
use portaborg_core::time::Timestamp;
use serde::Serialize;

/// What begins the wish for an archive of a certain id (data layer, section 15).
const BY_ID: &str = "aid:";

/// What is said of an archive.
#[derive(Serialize)]
pub struct Facts<'a> {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<MetaFacts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Failure>,
}

#[derive(Serialize)]
struct MetaFacts<'a> {
    time: &'a str,
    start: &'a str,
    end: &'a str,
    tags: Vec<String>,
    comment: String,
    hostname: String,
    username: String,
    size: u64,
    nfiles: u64,
}

/// The archives, or the soft-deleted ones, in the order of their times.
pub async fn list(reader: &mut Reader<'_>, deleted: bool) -> Result<ArchiveListing, Failure> {
    let mut listing = list_archives(reader, deleted).await.map_err(Failure::store)?;
    let time = |archive: &ArchiveEntry| archive.meta.as_ref().map_or(Timestamp::default(), |meta| meta.time.time);
    listing.archives.sort_by_key(time);
    Ok(listing)
}

/// The one archive that `aid:` with the beginning of an id, or a name, means.
pub fn find(archives: Vec<ArchiveEntry>, wanted: &str) -> Result<ArchiveEntry, Failure> {
    let is_meant = |archive: &ArchiveEntry| match wanted.strip_prefix(BY_ID) {
        Some(start) => archive.id.to_string().starts_with(start),
        None => archive.meta.as_ref().is_ok_and(|meta| meta.name == wanted.as_bytes()),
    };
    let mut meant: Vec<ArchiveEntry> = archives.into_iter().filter(is_meant).collect();
    match (meant.pop(), meant.len()) {
        (Some(archive), 0) => Ok(archive),
        (None, _) => Err(Failure::new(
            Fault::Misuse,
            "Archive.DoesNotExist",
            wanted,
            format_args!("There is no archive {wanted} in the repository."),
        )),
        (Some(_), others) => Err(Failure::new(
            Fault::Misuse,
            "CommandError",
            wanted,
            format_args!("{wanted} means {} archives, not one; name it by its id.", others + 1),
        )),
    }
}

/// What is said of the archive with this id, which has 64 digits.
pub async fn meta(reader: &mut Reader<'_>, id: &str) -> Result<ArchiveMeta, Failure> {
    let id: ArchiveId = id.parse().map_err(|_| Failure::argument("archive"))?;
    let plaintext = reader.read(id.into(), ObjectType::Archive).await;
    let plaintext = plaintext.map_err(|error| Failure::read(error, id))?;
    ArchiveMeta::decode(plaintext).map_err(|error| Failure::archive(ArchiveProblem::Meta(error), id))
}

/// An archive's name, or what Borg shows instead.
pub fn shown_name(archive: &ArchiveEntry) -> String {
    match &archive.meta {
        Ok(meta) => text(&meta.name),
        Err(ArchiveProblem::Read(ReadError::NotIndexed | ReadError::PackMissing { .. })) => {
            "archive-does-not-exist".into()
        }
        Err(_) => "archive-metadata-has-integrity-error".into(),
    }
}

impl Facts<'_> {
    /// What is said of this one.
    pub fn of(archive: &ArchiveEntry) -> Facts<'_> {
        Facts {
            id: archive.id.to_string(),
            name: shown_name(archive),
            meta: archive.meta.as_ref().ok().map(MetaFacts::of),
            problem: archive.meta.as_ref().err().map(|problem| Failure::archive(problem.clone(), archive.id)),
        }
    }
}

impl MetaFacts<'_> {
    fn of(meta: &ArchiveMeta) -> MetaFacts<'_> {
        MetaFacts {
            time: &meta.time.text,
            start: &meta.start.text,
            end: &meta.end.text,
            tags: meta.tags.iter().map(|tag| text(tag)).collect(),
            comment: text(&meta.comment),
            hostname: text(&meta.hostname),
            username: text(&meta.username),
            size: meta.size,
            nfiles: meta.nfiles,
        }
    }
}

fn text(raw: &[u8]) -> String {
    lossy(raw).0.into_owned()
}
