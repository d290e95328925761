//! Freeing the space of chunks that no archive needs any more (repository layer, section 7.1), and rewriting packs in
//! general, which recompression does too (section 7.3).
//!
//! [`Usage`] adds up what the archives refer to, [`Plan`] decides what is worth doing, and [`run`] does it, pack by pack.
//! The repository is locked exclusively. While packs change there is no stored index: whoever comes after a crash makes one
//! from the packs. A pack goes only when what is needed of it is durable elsewhere.

mod plan;
mod recompress;
mod recompressing;
mod references;
mod rewrite;
mod usage;

pub use plan::{PackFate, Plan, PlanOptions};
pub use recompress::{Recompression, recompress};
pub use recompressing::{OneByOne, RecompressJob, Recompressed, Recompressors};
pub use references::{
    ItemReferences, ReferencesScan, forget_references, load_references, scan_references, store_references,
};
pub use rewrite::{PackProblem, RewriteError};
pub use usage::Usage;

use crate::crypto::Sealer;
use crate::id::{ChunkId, PackId};
use crate::name::Key;
use crate::object::Opener;
use crate::repo::{ChunkReader, delete_fragments, delete_if_there, replace_fragments};
use crate::store::{StoreError, StoreMut};
use crate::tuning::Help;
use alloc::sync::Arc;
use rewrite::{Rewriter, Wanted, Wants};

/// What [`run`] tells while it works.
#[derive(Debug)]
pub enum Step<'a> {
    /// Something about a pack that a user should know; the pack stays as it is, or the part of it.
    Problem(&'a PackProblem),
    /// So many packs of all are done.
    Done {
        /// Packs dealt with.
        done: usize,
        /// Packs to deal with.
        total: usize,
    },
}

/// Carries a plan out: drops, rewrites and merges packs, and stores the whole index anew. Gives the bytes freed.
///
/// `tell` hears of each step, and stops the work after it by `false`; what is done until then is kept, and the index stored.
pub async fn run<S: StoreMut>(
    plan: &Plan,
    usage: &Usage,
    reader: &mut ChunkReader<'_, S>,
    sealer: &mut Sealer<'_>,
    tell: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<u64, RewriteError> {
    if plan.is_empty() {
        return Ok(0);
    }
    delete_fragments(&reader.repository.store).await?;
    let worked = change_packs(plan, usage, reader, tell).await;
    // Whatever happened, the index in memory tells what the packs hold now.
    let stored = replace_fragments(reader.repository, sealer, &reader.index).await;
    let freed = worked?;
    stored?;
    Ok(freed)
}

async fn change_packs<S: StoreMut>(
    plan: &Plan,
    usage: &Usage,
    reader: &mut ChunkReader<'_, S>,
    tell: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<u64, RewriteError> {
    let (mut freed, mut done, total) = (0, 0, plan.steps());
    let mut objects = plan.objects(&reader.index);
    for pack in plan.packs(PackFate::Drop) {
        remove_pack(reader, pack.id).await?;
        Arc::make_mut(&mut reader.index).remove_packs(&[pack.id]);
        freed += pack.bytes;
        done += 1;
        if !tell(Step::Done { done, total }) {
            return Ok(freed);
        }
    }
    for pack in plan.packs(PackFate::Rewrite) {
        let rewriter = Rewriter::new(pack.id, pack.bytes, objects.take(pack.id), &plan.doubtful);
        let mut problem = |problem: &PackProblem| {
            tell(Step::Problem(problem));
        };
        if let Some(draft) = rewriter.draft(reader, &mut Used(usage), &mut problem).await? {
            freed += rewriter.replace(draft, reader, &mut objects, Help::NONE).await?;
        }
        done += 1;
        if !tell(Step::Done { done, total }) {
            return Ok(freed);
        }
    }
    for batch in plan.merges() {
        done += batch.len();
        let mut problem = |problem: &PackProblem| {
            tell(Step::Problem(problem));
        };
        rewrite::merge(reader, batch, &mut objects, &mut problem).await?;
        if !tell(Step::Done { done, total }) {
            break;
        }
    }
    Ok(freed)
}

/// Objects stay if their chunks are used.
struct Used<'u>(&'u Usage);

impl Wants for Used<'_> {
    fn next(&mut self, id: ChunkId, _: &mut Opener<'_>) -> Result<Wanted, RewriteError> {
        Ok(if self.0.is_used(&id) { Wanted::AsItIs } else { Wanted::Not })
    }
}

/// Removes a pack. What is needed of it is durable elsewhere.
async fn remove_pack<S: StoreMut>(reader: &ChunkReader<'_, S>, pack: PackId) -> Result<(), StoreError> {
    delete_if_there(&reader.repository.store, &Key::Pack(pack)).await
}
