//! Checking the files of a repository: index fragments and packs.

use super::records::{CheckedPacks, Record};
use crate::id::{PackId, StoreHash};
use crate::index::ChunkIndex;
use crate::name::{Key, Namespace};
use crate::object::Opener;
use crate::repo::{IndexError, Repository, exists, load_fragments};
use crate::store::{Store, StoreError};
use crate::time::Timestamp;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::ControlFlow;

/// How much of a file is hashed at once.
const HASH_BYTES: usize = 4 << 20;
/// How far in the future a record may lie: clients' clocks differ.
const MAX_CLOCK_SKEW_SECS: i64 = 7200;

/// What is asked of the check of a repository's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackCheck {
    /// Believe records of intact packs that are younger.
    pub max_age_secs: Option<i64>,
    /// Stop after this time; the packs whose check is longest ago come first.
    pub max_duration_secs: Option<i64>,
}

/// What the check of a repository's files meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackFinding<'a> {
    /// An interrupted operation has left the stored index unusable; it will be made anew on next use.
    IndexInvalid,
    /// A file's content does not match its name.
    Corrupt(Key),
    /// A fragment has the right name, but is not authentic, or no table.
    FragmentCorrupt(Key),
    /// A file among the packs has a name that no pack has.
    InvalidName(&'a str),
    /// Missing packs can't be looked for, since the index can't be loaded from its fragments.
    NoCrossCheck,
    /// Packs that the index doesn't refer to; no error.
    OrphanPacks(usize),
    /// So many of all fragments are done.
    IndexProgress(usize, usize),
    /// So many of all packs are done.
    PackProgress(usize, usize),
    /// The packs are not checked, since the index is corrupt.
    IndexCorrupt,
    /// The packs are done, all of them or as many as the time allowed.
    PacksDone {
        /// Whether all are.
        complete: bool,
        /// Packs on record now.
        records: usize,
    },
}

/// The outcome of the check of a repository's files.
#[derive(Debug, Default)]
pub struct PackSummary {
    /// Fragments that were checked.
    pub index_files: usize,
    /// Errors among them.
    pub index_errors: usize,
    /// Packs that were checked.
    pub pack_files: usize,
    /// Errors among them.
    pub pack_errors: usize,
    /// Packs whose record was believed.
    pub pack_reused: usize,
    /// Packs that the index refers to, but that are not there.
    pub missing: Vec<PackId>,
    /// Packs that are corrupt, by this check or an earlier one.
    pub corrupt: Vec<PackId>,
    /// The chunk index without the missing packs, where it could be loaded from its fragments.
    pub index: Option<ChunkIndex>,
}

impl PackSummary {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.index_errors + self.pack_errors == 0 && self.missing.is_empty() && self.corrupt.is_empty()
    }
}

/// Hashes every index fragment and every pack, whose names are the hashes of their content, and looks for packs that the
/// index refers to but that aren't there. Keeps `records` up to date; storing them is for the caller.
pub async fn check_packs<S: Store>(
    repository: &Repository<S>,
    opener: &mut Opener<'_>,
    ask: PackCheck,
    records: &mut CheckedPacks,
    now: &dyn Fn() -> Timestamp,
    observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
) -> Result<PackSummary, StoreError> {
    let begun = Packs::begin(repository, opener, ask, records, now, observe).await?;
    let mut packs = match begun {
        Ok(packs) => packs,
        Err(summary) => return Ok(summary),
    };
    while let Some(pack) = packs.next(records, now, observe) {
        let is_intact = is_intact(&repository.store, Key::Pack(pack)).await?;
        packs.record(pack, is_intact, records, now, observe);
    }
    Ok(packs.finish(records, observe))
}

/// The check of packs, after that of everything else, by whomever: what [is next](Self::next) is hashed and
/// [recorded](Self::record), in order, and hashing may run [ahead](Self::ahead).
pub struct Packs {
    ask: PackCheck,
    packs: Vec<PackId>,
    present: BTreeSet<PackId>,
    done: usize,
    began: Timestamp,
    is_over: bool,
    summary: PackSummary,
}

impl Packs {
    /// Checks everything but the packs themselves. The summary is given if packs are not checked at all.
    pub async fn begin<S: Store>(
        repository: &Repository<S>,
        opener: &mut Opener<'_>,
        ask: PackCheck,
        records: &CheckedPacks,
        now: &dyn Fn() -> Timestamp,
        observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
    ) -> Result<Result<Packs, PackSummary>, StoreError> {
        let store = &repository.store;
        let mut summary = PackSummary::default();
        let invalid = exists(store, &Key::IndexInvalid).await?;
        if invalid && observe(PackFinding::IndexInvalid).is_break() {
            return Ok(Err(summary));
        }
        let mut fragments = store.list(Namespace::Index).await?;
        fragments.retain(|entry| !entry.deleted);
        for (done, entry) in fragments.iter().enumerate() {
            summary.index_files += 1;
            let Ok(name) = entry.name.parse() else {
                continue; // no fragment has such a name, and no reader looks at it
            };
            if !is_intact(store, Key::Fragment(name)).await? {
                summary.index_errors += 1;
                let _ = observe(PackFinding::Corrupt(Key::Fragment(name)));
            }
            if observe(PackFinding::IndexProgress(done + 1, fragments.len())).is_break() {
                return Ok(Err(summary));
            }
        }
        if summary.index_errors > 0 {
            let _ = observe(PackFinding::IndexCorrupt);
            return Ok(Err(summary));
        }
        let mut packs = list_packs(store, &mut summary, observe).await?;
        let present: BTreeSet<PackId> = packs.iter().copied().collect();
        if !invalid {
            match load_fragments(repository, opener).await {
                Ok(Some(index)) => cross_check(index, &present, &mut summary, observe),
                Ok(None) => drop(observe(PackFinding::NoCrossCheck)),
                Err(IndexError::Envelope { name, .. } | IndexError::Table { name, .. }) => {
                    summary.index_errors += 1;
                    let _ = observe(PackFinding::FragmentCorrupt(Key::Fragment(name)));
                    let _ = observe(PackFinding::NoCrossCheck);
                }
                Err(IndexError::Store(error)) => return Err(error),
                Err(IndexError::NothingAuthentic) => unreachable!("fragments are loaded without looking at packs"),
            }
        }
        if ask.max_duration_secs.is_some() {
            packs.sort_by_key(|pack| records.get(pack).map_or(0, |record| record.time_secs));
        }
        Ok(Ok(Packs { ask, packs, present, done: 0, began: now(), is_over: false, summary }))
    }

    /// The pack that has to be hashed next; those before it are recorded. `None` when the check is over.
    pub fn next(
        &mut self,
        records: &CheckedPacks,
        now: &dyn Fn() -> Timestamp,
        observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
    ) -> Option<PackId> {
        loop {
            let pack = *self.packs.get(self.done).filter(|_| !self.is_over)?;
            if !self.ask.has(&pack, records, now()) {
                return Some(pack);
            }
            self.summary.pack_reused += 1;
            self.one_done(now, observe);
        }
    }

    /// Packs that will probably have to be hashed, from the next one on.
    pub fn ahead<'a>(&'a self, records: &'a CheckedPacks, time: Timestamp) -> impl Iterator<Item = PackId> + 'a {
        let rest = self.packs[self.done..].iter().copied().filter(|_| !self.is_over);
        rest.filter(move |pack| !self.ask.has(pack, records, time))
    }

    /// The next pack was hashed.
    pub fn record(
        &mut self,
        pack: PackId,
        is_intact: bool,
        records: &mut CheckedPacks,
        now: &dyn Fn() -> Timestamp,
        observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
    ) {
        self.summary.pack_files += 1;
        if !is_intact {
            self.summary.pack_errors += 1;
            let _ = observe(PackFinding::Corrupt(Key::Pack(pack)));
        }
        records.set(pack, Record { time_secs: now().secs.max(0) as u64, intact: is_intact });
        self.one_done(now, observe);
    }

    /// What came out.
    pub fn finish(
        mut self,
        records: &mut CheckedPacks,
        observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
    ) -> PackSummary {
        let complete = self.done == self.packs.len();
        let _ = observe(PackFinding::PacksDone { complete, records: records.len() });
        records.keep_only(&self.present);
        self.summary.corrupt = records.corrupt().collect();
        self.summary
    }

    fn one_done(&mut self, now: &dyn Fn() -> Timestamp, observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>) {
        self.done += 1;
        let stop = observe(PackFinding::PackProgress(self.done, self.packs.len())).is_break();
        let spent = now().secs.saturating_sub(self.began.secs);
        self.is_over = stop || self.ask.max_duration_secs.is_some_and(|limit| spent > limit);
    }
}

impl PackCheck {
    /// Whether a pack's record is believed.
    fn has(&self, pack: &PackId, records: &CheckedPacks, now: Timestamp) -> bool {
        records.get(pack).is_some_and(|record| self.believes(record, now))
    }

    fn believes(&self, record: Record, now: Timestamp) -> bool {
        self.max_age_secs.is_some_and(|max_age| {
            let age = now.secs.saturating_sub(i64::try_from(record.time_secs).unwrap_or(i64::MAX));
            record.intact && (-max_age.min(MAX_CLOCK_SKEW_SECS)..max_age).contains(&age)
        })
    }
}

async fn list_packs<S: Store>(
    store: &S,
    summary: &mut PackSummary,
    observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
) -> Result<Vec<PackId>, StoreError> {
    let mut packs = Vec::new();
    for entry in store.list(Namespace::Packs).await? {
        if entry.deleted {
            continue;
        }
        match entry.name.parse::<PackId>() {
            Ok(pack) => packs.push(pack),
            Err(_) => {
                summary.pack_errors += 1;
                let _ = observe(PackFinding::InvalidName(&entry.name));
            }
        }
    }
    Ok(packs)
}

fn cross_check(
    mut index: ChunkIndex,
    present: &BTreeSet<PackId>,
    summary: &mut PackSummary,
    observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
) {
    let referenced: BTreeSet<PackId> = index.iter().map(|(_, location)| location.pack).collect();
    summary.missing = referenced.difference(present).copied().collect();
    index.remove_packs(&summary.missing);
    summary.index = Some(index);
    let orphans = present.difference(&referenced).count();
    if orphans > 0 {
        let _ = observe(PackFinding::OrphanPacks(orphans));
    }
}

/// Whether the content of a pack or a fragment has the hash that is its name. One that has vanished meanwhile is not wrong.
pub async fn is_intact<S: Store>(store: &S, key: Key) -> Result<bool, StoreError> {
    let name = match key {
        Key::Pack(PackId(hash)) | Key::Fragment(StoreHash(hash)) => hash,
        _ => return Ok(true), // nothing else is named by its hash
    };
    let mut hasher = blake3::Hasher::new();
    let mut offset = 0;
    loop {
        let piece = match store.read(&key, offset, HASH_BYTES).await {
            Err(error) if error.is_not_found() => return Ok(true),
            other => other?,
        };
        hasher.update(&piece);
        offset += piece.len() as u64;
        if piece.len() < HASH_BYTES {
            return Ok(*hasher.finalize().as_bytes() == name);
        }
    }
}
