//! The record of which packs were checked when.

use crate::crypto::{Keys, SessionId};
use crate::id::PackId;
use crate::name::Key;
use crate::object::Opener;
use crate::repo::Repository;
use crate::store::{Store, StoreError, StoreMut};
use crate::store_object::{Place, seal_one_shot};
use crate::table::{self, Layout};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

const LAYOUT: Layout =
    Layout { value: "Entry", fields: &["timestamp", "result"], codes: &["Q", "B"], value_bytes: 8 + 1 };
const PLACE: Place<'static> = Place::Name("cache/checked-packs");
/// 41 bytes a pack: this is enough for six million packs, 300 TB in all.
const MAX_STORED_BYTES: usize = 256 << 20;

/// When each pack was checked last, and with which result: kept in the repository for the next check.
#[derive(Debug, Clone, Default)]
pub struct CheckedPacks {
    records: BTreeMap<PackId, Record>,
}

/// One pack's last check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When, in seconds since the epoch.
    pub time_secs: u64,
    /// Whether the pack was intact.
    pub intact: bool,
}

/// Why stored records are of no use. They can be made anew, so this harms nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordsError {
    /// Not authentic.
    #[error("not authentic")]
    Corrupted,
    /// Authentic, but not readable.
    #[error("not readable")]
    Unreadable,
}

impl CheckedPacks {
    /// Reads what is stored, if anything is; useless records are reported and forgotten.
    pub async fn load<S: Store>(
        repository: &Repository<S>,
        opener: &mut Opener<'_>,
    ) -> Result<(CheckedPacks, Option<RecordsError>), StoreError> {
        let none = |problem| Ok((CheckedPacks::default(), problem));
        // A larger object is cut, and so it is of no use.
        let mut stored = match repository.store.read(&Key::CheckedPacks, 0, MAX_STORED_BYTES).await {
            Ok(stored) => stored,
            Err(error) if error.is_not_found() => return none(None),
            Err(error) => return Err(error),
        };
        let Ok(plaintext) = repository.open_store_object(opener, PLACE, &mut stored) else {
            return none(Some(RecordsError::Corrupted));
        };
        let Ok(entries) = table::entries(plaintext, &LAYOUT) else {
            return none(Some(RecordsError::Unreadable));
        };
        let records = entries.map(|(id, value)| {
            let (time, result) = value.split_first_chunk().expect("a value's size");
            (PackId(*id), Record { time_secs: u64::from_le_bytes(*time), intact: result[0] != 0 })
        });
        Ok((CheckedPacks { records: records.collect() }, None))
    }

    /// Stores the records, or removes the stored ones if there are none. `session` is fresh random bytes.
    pub async fn save<S: StoreMut>(
        &self,
        repository: &Repository<S>,
        keys: &Keys,
        session: SessionId,
    ) -> Result<(), StoreError> {
        if self.records.is_empty() {
            return match repository.store.delete(&Key::CheckedPacks).await {
                Err(error) if error.is_not_found() => Ok(()),
                other => other,
            };
        }
        let entries: Vec<_> = self.records.iter().map(|(id, record)| (id.0, record.encode())).collect();
        let plaintext = table::serialise_to_grow(&entries, &LAYOUT);
        let stored = seal_one_shot(keys, session, repository.id(), PLACE, &plaintext);
        repository.store.write(&Key::CheckedPacks, &stored).await
    }

    /// Number of packs on record.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no pack is on record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// A pack's record.
    pub fn get(&self, pack: &PackId) -> Option<Record> {
        self.records.get(pack).copied()
    }

    pub(super) fn set(&mut self, pack: PackId, record: Record) {
        self.records.insert(pack, record);
    }

    /// Forgets packs that are gone.
    pub(super) fn keep_only(&mut self, present: &BTreeSet<PackId>) {
        self.records.retain(|pack, _| present.contains(pack));
    }

    /// Packs that were not intact, in order of their ids.
    pub fn corrupt(&self) -> impl Iterator<Item = PackId> {
        self.records.iter().filter(|(_, record)| !record.intact).map(|(pack, _)| *pack)
    }
}

impl Record {
    fn encode(&self) -> Vec<u8> {
        let mut value = self.time_secs.to_le_bytes().to_vec();
        value.push(self.intact.into());
        value
    }
}
