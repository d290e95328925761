//! Compressing all objects anew (repository layer, section 7.3; data layer, section 6.6).

use super::Step;
use super::plan::PackObjects;
use super::rewrite::{PackProblem, RewriteError, Rewriter, Wanted};
use crate::codec::{Compression, Engine};
use crate::crypto::Sealer;
use crate::id::{ChunkId, PackId};
use crate::name::Entry;
use crate::object::{ObjectTicket, ObjectWriter, Opener};
use crate::repo::{ChunkReader, delete_fragments, replace_fragments};
use crate::store::StoreMut;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recompression {
    /// Packs that were looked at.
    pub packs: u64,
    /// Packs that were rewritten.
    pub rewritten_packs: u64,
    /// Objects that were looked at.
    pub objects: u64,
    /// Objects that were compressed anew.
    pub recompressed: u64,
    /// Objects that were compressed as wanted before.
    pub already: u64,
    /// Objects that would have come out as they were.
    pub kept: u64,
}

/// Compresses all objects of these packs so, but for damaged packs. A pack with nothing to gain stays as it is, and so does
/// the stored index if no pack changes.
///
/// The repository is locked exclusively. `tell` is as for [`run`](super::run).
pub async fn recompress<S: StoreMut>(
    packs: &[Entry],
    corrupt: &BTreeSet<PackId>,
    compression: &Compression,
    engine: &dyn Engine,
    reader: &mut ChunkReader<'_, S>,
    sealer: &mut Sealer<'_>,
    tell: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<Recompression, RewriteError> {
    let mut packs: Vec<(PackId, u64)> = packs
        .iter()
        .filter(|entry| !entry.deleted)
        .filter_map(|entry| Some((entry.name.parse().ok()?, entry.size)))
        .collect();
    let present: BTreeSet<PackId> = packs.iter().map(|(pack, _)| *pack).collect();
    let mut doubtful = corrupt.clone();
    doubtful.extend(reader.index.packs().iter().filter(|pack| !present.contains(pack)));
    packs.retain(|(pack, _)| !corrupt.contains(pack));
    let mut work = Work {
        compression,
        opener: Opener::new(sealer.keys(), engine),
        writer: ObjectWriter::new(sealer.keys(), engine),
        plaintext: Vec::new(),
        done: Recompression::default(),
    };
    let worked = work.packs(&packs, &doubtful, reader, sealer, tell).await;
    if work.done.rewritten_packs > 0 {
        // Whatever happened, the index in memory tells what the packs hold now.
        let stored = replace_fragments(reader.repository, sealer, &reader.index).await;
        worked?;
        stored?;
    } else {
        worked?;
    }
    Ok(work.done)
}

struct Work<'w> {
    compression: &'w Compression,
    opener: Opener<'w>,
    writer: ObjectWriter<'w>,
    plaintext: Vec<u8>,
    done: Recompression,
}

impl Work<'_> {
    async fn packs<S: StoreMut>(
        &mut self,
        packs: &[(PackId, u64)],
        doubtful: &BTreeSet<PackId>,
        reader: &mut ChunkReader<'_, S>,
        sealer: &mut Sealer<'_>,
        tell: &mut dyn FnMut(Step<'_>) -> bool,
    ) -> Result<(), RewriteError> {
        let mut objects = PackObjects::new(&reader.index, packs.iter().map(|(pack, _)| *pack).collect());
        for (number, &(pack, bytes)) in packs.iter().enumerate() {
            let inside = objects.take(pack);
            if !inside.is_empty() {
                let rewriter = Rewriter::new(pack, bytes, inside, doubtful);
                let wanted = &mut |id, object: &[u8]| self.object(pack, id, object, sealer);
                let mut problem = |problem: &PackProblem| {
                    tell(Step::Problem(problem));
                };
                if let Some(draft) = rewriter.draft(reader, wanted, &mut problem).await? {
                    self.done.packs += 1;
                    if draft.is_changed() {
                        if self.done.rewritten_packs == 0 {
                            delete_fragments(&reader.repository.store).await?;
                        }
                        self.done.rewritten_packs += 1;
                        rewriter.replace(draft, reader, &mut objects).await?;
                    }
                }
            }
            if !tell(Step::Done { done: number + 1, total: packs.len() }) {
                break;
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        pack: PackId,
        id: ChunkId,
        object: &[u8],
        sealer: &mut Sealer<'_>,
    ) -> Result<Wanted, RewriteError> {
        let unreadable = |source| RewriteError::Read { pack, id, source };
        let mut stored = object.to_vec();
        let (_, meta) = self.opener.open_meta(&mut stored, id).map_err(unreadable)?;
        self.done.objects += 1;
        let Some(kind) = meta.kind.filter(|_| meta.payload.settings() != self.compression.settings()) else {
            self.done.already += 1;
            return Ok(Wanted::AsItIs);
        };
        // Opening works in place, so what was opened is of no use any more.
        stored.copy_from_slice(object);
        self.opener.open(&mut stored, id, None, &mut self.plaintext).map_err(unreadable)?;
        let ticket = ObjectTicket::issue(sealer, self.plaintext.len(), self.compression);
        let mut anew = Vec::new();
        let written = self.writer.write(id, kind, &self.plaintext, self.compression, ticket, &mut anew);
        let written = written.map_err(|source| RewriteError::Write { pack, id, source })?;
        if written.payload.settings() == meta.payload.settings() {
            self.done.kept += 1;
            return Ok(Wanted::AsItIs);
        }
        self.done.recompressed += 1;
        Ok(Wanted::Instead(anew))
    }
}
