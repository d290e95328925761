//! Freeing the space of what no archive needs any more (repository layer, section 7.1).

use super::failure::{rewrite_failure, written};
use super::{ENGINE, Open, Reader};
use crate::archive::shown_name;
use crate::failure::{Failure, Fault};
use crate::sink::{Sink, json};
use portaborg_core::check::CheckedPacks;
use portaborg_core::compact::{
    PackFate, Plan, PlanOptions, Step, Usage, forget_references, load_references, run as compact, scan_references,
    store_references,
};
use portaborg_core::crypto::Sealer;
use portaborg_core::name::Namespace;
use portaborg_core::references::ArchiveReferences;
use portaborg_core::repo::{ArchiveEntry, DEFAULT_PACK_BYTES, forget_archive, list_archives, load_index_to_rewrite};
use portaborg_core::store::{Store, StoreMut};
use serde::Serialize;
use std::collections::BTreeSet;

/// How far it is.
#[derive(Serialize)]
struct Progress {
    step: &'static str,
    done: usize,
    total: usize,
}

/// What was done.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    freed_bytes: u64,
    dropped_packs: usize,
    rewritten_packs: usize,
    merged_packs: usize,
    /// What a user should know.
    problems: Vec<Failure>,
}

/// Frees space.
pub async fn run(open: &Open, threshold_percent: f64, sink: &Sink) -> Result<String, Failure> {
    if !(0.0..=100.0).contains(&threshold_percent) {
        return Err(Failure::argument("threshold"));
    }
    let mut held = open.lock(true).await?;
    let mut collection = Collection { open, usage: Usage::new(), problems: Vec::new(), sink };
    let done = held.during(collection.run(threshold_percent)).await;
    held.release().await;
    Ok(json(&done?))
}

struct Collection<'a, 'o> {
    open: &'o Open,
    usage: Usage,
    problems: Vec<Failure>,
    sink: &'a Sink,
}

impl<'o> Collection<'_, 'o> {
    async fn run(&mut self, threshold_percent: f64) -> Result<Facts, Failure> {
        let open = self.open;
        let mut sealer = open.sealer()?;
        let mut observe = |damage| open.warn(damage);
        let index = load_index_to_rewrite(&open.repository, &mut open.opener(), &mut sealer, &mut observe).await;
        let mut reader = Reader::new(&open.repository, &open.keys, &ENGINE, index.map_err(Failure::index)?);
        self.analyse(&mut reader, &mut sealer).await?;
        self.soft_deleted(&mut reader).await?;
        self.compact(&mut reader, &mut sealer, threshold_percent).await
    }

    /// Marks what the archives need.
    async fn analyse(&mut self, reader: &mut Reader<'o>, sealer: &mut Sealer<'_>) -> Result<(), Failure> {
        let store = &self.open.repository.store;
        let live = list_archives(reader, false).await.map_err(written)?.archives;
        let ids: BTreeSet<_> = live.iter().map(|archive| archive.id).collect();
        forget_references(store, &ids).await.map_err(written)?;
        for (done, archive) in live.iter().enumerate() {
            self.tell("archives", done, live.len())?;
            let references = self.references(archive, reader, sealer).await?;
            self.usage.add(&references, &reader.index);
        }
        Ok(())
    }

    async fn references(
        &mut self,
        archive: &ArchiveEntry,
        reader: &mut Reader<'o>,
        sealer: &mut Sealer<'_>,
    ) -> Result<ArchiveReferences, Failure> {
        if let Ok(Some(references)) = load_references(reader, archive.id).await.map_err(written)? {
            return Ok(references);
        }
        let references = scan(archive, reader).await?;
        store_references(reader, sealer, archive.id, &references).await.map_err(written)?;
        Ok(references)
    }

    /// Removes soft-deleted archives for good; where data is missing they are kept, since they might be wanted back.
    async fn soft_deleted(&mut self, reader: &mut Reader<'o>) -> Result<(), Failure> {
        let missing = self.usage.missing().len();
        if missing > 0 {
            let text = format!("The repository has {missing} missing objects.");
            self.problems.push(Failure::new(Fault::Damaged, "Error", "packs", text));
        }
        let store = &self.open.repository.store;
        for archive in list_archives(reader, true).await.map_err(written)?.archives {
            if missing == 0 {
                forget_archive(store, archive.id).await.map_err(written)?;
                continue;
            }
            match scan(&archive, reader).await {
                Ok(references) => drop(self.usage.keep(&references, &reader.index)),
                Err(failure) => self.problems.push(failure),
            }
        }
        // An archive that came back after a power failure must not find its chunks gone.
        store.sync().await.map_err(written)
    }

    async fn compact(
        &mut self,
        reader: &mut Reader<'o>,
        sealer: &mut Sealer<'_>,
        threshold_percent: f64,
    ) -> Result<Facts, Failure> {
        let repository = &self.open.repository;
        let packs = Store::list(&repository.store, Namespace::Packs).await.map_err(written)?;
        let (records, _) = CheckedPacks::load(repository, &mut self.open.opener()).await.map_err(written)?;
        let corrupt = records.corrupt().collect();
        let options = PlanOptions { threshold_percent, pack_bytes: DEFAULT_PACK_BYTES as u64, corrupt };
        let plan = Plan::new(&packs, &reader.index, &self.usage, &options);
        let (sink, problems) = (self.sink, &mut self.problems);
        let mut tell = |step: Step<'_>| match step {
            Step::Problem(problem) => {
                let text = format!("{problem}.");
                problems.push(Failure::new(Fault::Damaged, "CorruptPack", "packs", text));
                true
            }
            Step::Done { done, total } => sink.progress(&Progress { step: "packs", done, total }),
        };
        let freed = compact(&plan, &self.usage, reader, sealer, &mut tell).await.map_err(rewrite_failure)?;
        let count = |fate| plan.packs(fate).count();
        Ok(Facts {
            freed_bytes: freed,
            dropped_packs: count(PackFate::Drop),
            rewritten_packs: count(PackFate::Rewrite),
            merged_packs: count(PackFate::Merge),
            problems: std::mem::take(&mut self.problems),
        })
    }

    fn tell(&self, step: &'static str, done: usize, total: usize) -> Result<(), Failure> {
        let stopped = || Failure::new(Fault::Misuse, "Error", "compact", "The compaction is not wanted any more.");
        self.sink.progress(&Progress { step, done, total }).then_some(()).ok_or_else(stopped)
    }
}

/// Reads what an archive needs. An archive that can't be read keeps anything from being removed.
async fn scan(archive: &ArchiveEntry, reader: &mut Reader<'_>) -> Result<ArchiveReferences, Failure> {
    let ArchiveEntry { id, meta } = archive;
    let meta = meta.as_ref().map_err(|problem| Failure::archive(problem.clone(), id))?;
    scan_references(reader, *id, meta).await.map_err(|problem| {
        let text = format!("Archive {} {id}: {problem}. Nothing is removed.", shown_name(archive));
        Failure::new(Fault::Damaged, "IntegrityError", id, text)
    })
}
