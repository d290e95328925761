//! Which packs are worth changing (repository layer, section 7.1).

use super::usage::Usage;
use crate::id::{ChunkId, PackId};
use crate::index::{ChunkIndex, Location};
use crate::name::Entry;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// A pack below this is tiny, unless packs are made smaller than twice that.
const TINY_BYTES: u64 = 1_000_000;
/// However large packs may be, those that are made of several tiny ones are built in memory, and offsets have 32 bits.
const MAX_MERGED_BYTES: u64 = 1 << 30;
/// All space that can be freed must be this part of the threshold, of all space, to be worth it.
const OVERALL_DIVISOR: f64 = 5.0;

/// What decides.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// A pack is rewritten if so many percent of it are not needed.
    pub threshold_percent: f64,
    /// Length of a full pack in bytes.
    pub pack_bytes: u64,
    /// Packs that a check found to be damaged. They are never copied: a copy would have a right name.
    pub corrupt: BTreeSet<PackId>,
}

/// What happens to a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackFate {
    /// It stays.
    Keep,
    /// Nothing in it is needed: it goes.
    Drop,
    /// What is needed of it gets a new pack.
    Rewrite,
    /// It is tiny, and becomes part of a larger one.
    Merge,
}

/// A pack and what happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedPack {
    /// The pack.
    pub id: PackId,
    /// Its length.
    pub bytes: u64,
    /// How much of it is in the index, but not needed.
    pub reclaimable: u64,
    /// What happens to it.
    pub fate: PackFate,
}

/// What is to be done.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    packs: Vec<PlannedPack>,
    pack_bytes: u64,
    /// Length of all packs in bytes.
    pub total_bytes: u64,
    /// Bytes in packs that the index doesn't know: copies that count no more, and leftovers of crashes.
    pub unindexed_bytes: u64,
    /// Packs of which the index claims more bytes than they have. They stay.
    pub overdrawn: Vec<PackId>,
    /// Entries of the index that lie in packs which are not there.
    pub stale_entries: u64,
    /// Those of them that archives need.
    pub stale_used: u64,
    /// Damaged packs that stay.
    pub kept_corrupt: Vec<PackId>,
    /// Packs that are damaged, or that only the index has.
    pub(super) doubtful: BTreeSet<PackId>,
}

/// What the index knows of one pack, in bytes.
#[derive(Clone, Copy, Default)]
struct Known {
    indexed: u64,
    used: u64,
}

impl Plan {
    /// Decides what happens to each pack of a listing.
    pub fn new(packs: &[Entry], index: &ChunkIndex, usage: &Usage, options: &PlanOptions) -> Plan {
        let mut plan = Plan { pack_bytes: options.pack_bytes, ..Plan::default() };
        let present: BTreeMap<PackId, u64> = packs
            .iter()
            .filter(|entry| !entry.deleted)
            .filter_map(|entry| Some((entry.name.parse().ok()?, entry.size)))
            .collect();
        plan.total_bytes = present.values().sum();
        let known = plan.known(&present, index, usage);
        plan.doubtful = index.packs().iter().filter(|pack| !present.contains_key(pack)).copied().collect();
        plan.doubtful.extend(&options.corrupt);
        let tiny_bytes = TINY_BYTES.min(options.pack_bytes / 2);
        for (&id, &bytes) in &present {
            let Known { indexed, used } = known.get(&id).copied().unwrap_or_default();
            if indexed > bytes {
                plan.overdrawn.push(id);
                continue;
            }
            plan.unindexed_bytes += bytes - indexed;
            let reclaimable = indexed - used;
            let is_corrupt = options.corrupt.contains(&id);
            let fate = if reclaimable == 0 {
                if bytes < tiny_bytes && !is_corrupt { PackFate::Merge } else { PackFate::Keep }
            } else if used == 0 && indexed == bytes {
                PackFate::Drop
            } else if percent(reclaimable, bytes) >= options.threshold_percent && !is_corrupt {
                PackFate::Rewrite
            } else {
                PackFate::Keep
            };
            plan.packs.push(PlannedPack { id, bytes, reclaimable, fate });
        }
        plan.drop_what_is_not_worth_it(options);
        let dropped: BTreeSet<PackId> = plan.packs(PackFate::Drop).map(|pack| pack.id).collect();
        plan.kept_corrupt =
            options.corrupt.iter().filter(|id| present.contains_key(id) && !dropped.contains(id)).copied().collect();
        plan
    }

    fn known(&mut self, present: &BTreeMap<PackId, u64>, index: &ChunkIndex, usage: &Usage) -> BTreeMap<PackId, Known> {
        let mut known: BTreeMap<PackId, Known> = BTreeMap::new();
        for (id, Location { pack, size, .. }) in index.iter() {
            let is_used = usage.is_used(&id);
            if present.contains_key(&pack) {
                let known = known.entry(pack).or_default();
                known.indexed += u64::from(size);
                known.used += if is_used { u64::from(size) } else { 0 };
            } else {
                self.stale_entries += 1;
                self.stale_used += u64::from(is_used);
            }
        }
        known
    }

    /// Changing anything means a new index for all clients, so little gain is left for another time.
    fn drop_what_is_not_worth_it(&mut self, options: &PlanOptions) {
        let is_worth_freeing = self.total_bytes > 0
            && percent(self.freed_bytes(), self.total_bytes) >= options.threshold_percent / OVERALL_DIVISOR;
        let tiny: u64 = self.packs(PackFate::Merge).map(|pack| pack.bytes).sum();
        for pack in &mut self.packs {
            let is_worth_it = match pack.fate {
                PackFate::Keep => true,
                PackFate::Drop | PackFate::Rewrite => is_worth_freeing,
                PackFate::Merge => tiny >= options.pack_bytes,
            };
            if !is_worth_it {
                pack.fate = PackFate::Keep;
            }
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps() == 0
    }

    /// The packs that something happens to.
    pub fn steps(&self) -> usize {
        self.packs.iter().filter(|pack| pack.fate != PackFate::Keep).count()
    }

    /// The packs with this fate, in order of their ids.
    pub fn packs(&self, fate: PackFate) -> impl Iterator<Item = &PlannedPack> {
        self.packs.iter().filter(move |pack| pack.fate == fate)
    }

    /// How much is going to be freed, in bytes of the index's objects.
    pub fn freed_bytes(&self) -> u64 {
        let frees = |pack: &&PlannedPack| matches!(pack.fate, PackFate::Drop | PackFate::Rewrite);
        self.packs.iter().filter(frees).map(|pack| pack.reclaimable).sum()
    }

    /// How many chunks are going to be removed.
    pub fn dropped_chunks(&self, index: &ChunkIndex, usage: &Usage) -> usize {
        let objects = self.objects(index);
        let dropped =
            |pack: &PlannedPack| objects.of(pack.id).iter().filter(|object| !usage.is_used(&object.id)).count();
        self.packs(PackFate::Drop).chain(self.packs(PackFate::Rewrite)).map(dropped).sum()
    }

    /// The tiny packs, divided into those that become one pack.
    pub fn merges(&self) -> Vec<Vec<PlannedPack>> {
        let mut batches: Vec<Vec<PlannedPack>> = Vec::new();
        let mut bytes = 0;
        for pack in self.packs(PackFate::Merge) {
            match batches.last_mut().filter(|_| bytes + pack.bytes <= self.pack_bytes.min(MAX_MERGED_BYTES)) {
                Some(batch) => batch.push(*pack),
                None => {
                    batches.push(alloc::vec![*pack]);
                    bytes = 0;
                }
            }
            bytes += pack.bytes;
        }
        batches
    }

    /// Where the index's objects lie in the packs that something happens to.
    pub(super) fn objects(&self, index: &ChunkIndex) -> PackObjects {
        let changing = self.packs.iter().filter(|pack| pack.fate != PackFate::Keep).map(|pack| pack.id);
        PackObjects::new(index, changing.collect())
    }
}

/// An object of a pack, as the index has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PackObject {
    pub offset: u64,
    pub size: u64,
    pub id: ChunkId,
}

/// The objects of some packs, in order of their offsets.
pub(super) struct PackObjects {
    packs: BTreeMap<PackId, Vec<PackObject>>,
}

impl PackObjects {
    pub fn new(index: &ChunkIndex, packs: BTreeSet<PackId>) -> Self {
        let mut objects: BTreeMap<PackId, Vec<PackObject>> = packs.into_iter().map(|id| (id, Vec::new())).collect();
        for (id, Location { pack, offset, size }) in index.iter() {
            if let Some(objects) = objects.get_mut(&pack) {
                objects.push(PackObject { offset: offset.into(), size: size.into(), id });
            }
        }
        objects.values_mut().for_each(|objects| objects.sort_unstable());
        PackObjects { packs: objects }
    }

    pub fn of(&self, pack: PackId) -> &[PackObject] {
        self.packs.get(&pack).map_or(&[], Vec::as_slice)
    }

    /// The objects of a pack that is dealt with now.
    pub fn take(&mut self, pack: PackId) -> Vec<PackObject> {
        self.packs.remove(&pack).unwrap_or_default()
    }

    /// Objects moved to this pack. A new pack can be one that was there before: a leftover of work that a crash ended, whose
    /// turn may still come.
    pub fn join(&mut self, pack: PackId, moved: impl Iterator<Item = (ChunkId, u64, u64)>) {
        if let Some(objects) = self.packs.get_mut(&pack) {
            objects.extend(moved.map(|(id, offset, size)| PackObject { offset, size, id }));
            objects.sort_unstable();
            objects.dedup();
        }
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
