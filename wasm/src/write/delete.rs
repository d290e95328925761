//! Soft-deleting archives (repository layer, section 6.1).

use super::failure::written;
use super::{ENGINE, Open, Reader};
use crate::archive::find;
use crate::failure::Failure;
use crate::sink::json;
use portaborg_core::id::ArchiveId;
use portaborg_core::repo::{ArchiveEntry, delete_archive, list_archives, load_index};
use portaborg_core::store::StoreMut;

/// Soft-deletes all of them, or, if one of them isn't there, none.
pub async fn run(open: &Open, archives: &str) -> Result<String, Failure> {
    let wanted: Vec<String> = serde_json::from_str(archives).map_err(|_| Failure::argument("archives"))?;
    let mut held = open.lock(false).await?;
    let deleted = delete(open, &wanted).await;
    held.release().await;
    Ok(json(&deleted?.iter().map(ToString::to_string).collect::<Vec<_>>()))
}

async fn delete(open: &Open, wanted: &[String]) -> Result<Vec<ArchiveId>, Failure> {
    let mut observe = |damage| open.warn(damage);
    let index = load_index(&open.repository, &mut open.opener(), &mut observe).await.map_err(Failure::index)?;
    let mut reader = Reader::new(&open.repository, &open.keys, &ENGINE, index);
    let archives: Vec<ArchiveEntry> = list_archives(&mut reader, false).await.map_err(written)?.archives;
    let meant: Vec<ArchiveId> =
        wanted.iter().map(|wanted| find(archives.clone(), wanted).map(|found| found.id)).collect::<Result<_, _>>()?;
    for id in &meant {
        delete_archive(&open.repository.store, *id).await.map_err(written)?;
    }
    open.repository.store.sync().await.map_err(written)?;
    Ok(meant)
}
