//! Compressing all objects anew (repository layer, section 7.3; data layer, section 6.6).

use super::Step;
use super::plan::{PackObject, PackObjects};
use super::recompressing::{Kept, RecompressJob, Recompressed, Recompressing, Recompressors};
use super::rewrite::{PackProblem, RewriteError, Rewriter, Wanted, Wants};
use crate::codec::Compression;
use crate::crypto::Sealer;
use crate::id::{ChunkId, PackId};
use crate::limits::MAX_DATA_SIZE;
use crate::name::Entry;
use crate::object::{HEADER_BYTES, Header, ObjectError, ObjectMeta, ObjectTicket, Opener};
use crate::repo::{ChunkReader, delete_fragments, replace_fragments};
use crate::store::StoreMut;
use crate::tuning::Help;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

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
    workers: &mut dyn Recompressors,
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
    let mut work = Work { compression: *compression, sealer, workers, numbers: 0, done: Recompression::default() };
    let worked = work.packs(&packs, &doubtful, reader, tell).await;
    if work.done.rewritten_packs > 0 {
        // Whatever happened, the index in memory tells what the packs hold now.
        let stored = replace_fragments(reader.repository, work.sealer, &reader.index).await;
        worked?;
        stored?;
    } else {
        worked?;
    }
    Ok(work.done)
}

struct Work<'w, 's> {
    compression: Compression,
    sealer: &'w mut Sealer<'s>,
    workers: &'w mut dyn Recompressors,
    numbers: u64,
    done: Recompression,
}

impl Work<'_, '_> {
    async fn packs<S: StoreMut>(
        &mut self,
        packs: &[(PackId, u64)],
        doubtful: &BTreeSet<PackId>,
        reader: &mut ChunkReader<'_, S>,
        tell: &mut dyn FnMut(Step<'_>) -> bool,
    ) -> Result<(), RewriteError> {
        let mut objects = PackObjects::new(&reader.index, packs.iter().map(|(pack, _)| *pack).collect());
        for (number, &(pack, bytes)) in packs.iter().enumerate() {
            let inside = objects.take(pack);
            if !inside.is_empty() {
                let rewriter = Rewriter::new(pack, bytes, inside, doubtful);
                let mut problem = |problem: &PackProblem| {
                    tell(Step::Problem(problem));
                };
                if let Some(draft) = rewriter.draft(reader, &mut Anew::new(self, pack), &mut problem).await? {
                    self.done.packs += 1;
                    if draft.is_changed() {
                        if self.done.rewritten_packs == 0 {
                            delete_fragments(&reader.repository.store).await?;
                        }
                        self.done.rewritten_packs += 1;
                        rewriter.replace(draft, reader, &mut objects, self.workers.help()).await?;
                    }
                }
            }
            if !tell(Step::Done { done: number + 1, total: packs.len() }) {
                break;
            }
        }
        Ok(())
    }

    /// An object that is to be compressed anew; `None` if it is compressed as wanted.
    fn anew(&mut self, id: ChunkId, meta: &ObjectMeta, place: Range<usize>) -> Option<Recompressing> {
        let kind = meta.kind.filter(|_| meta.payload.settings() != self.compression.settings())?;
        // Only one that `auto` made has no size.
        let plaintext_bytes = meta.payload.size.unwrap_or(MAX_DATA_SIZE);
        let ticket = ObjectTicket::issue(self.sealer, plaintext_bytes, &self.compression);
        Some(Recompressing { id, kind, place, ticket })
    }
}

/// The objects of one pack: those whose turn comes soon are with workers.
struct Anew<'a, 'w, 's> {
    work: &'a mut Work<'w, 's>,
    pack: PackId,
    content: Arc<Vec<u8>>,
    /// Objects that were not looked at.
    objects: VecDeque<PackObject>,
    /// Objects that were, in order.
    ahead: VecDeque<Next>,
    /// Jobs that are not used up.
    jobs: usize,
    done: BTreeMap<u64, VecDeque<Result<Kept, RewriteError>>>,
}

/// An object whose turn comes.
enum Next {
    /// It is compressed as wanted.
    Already,
    /// It is in the job of this number.
    Away(u64),
    /// Its metadata can't be read.
    Unreadable(ObjectError),
}

/// So many bytes of objects make a job, or a single one that is longer.
const JOB_BYTES: usize = 256 << 10;

impl Wants for Anew<'_, '_, '_> {
    fn begin(&mut self, content: &Arc<Vec<u8>>, objects: &[PackObject]) {
        self.content = Arc::clone(content);
        self.objects = objects.iter().copied().collect();
    }

    fn next(&mut self, id: ChunkId, opener: &mut Opener<'_>) -> Result<Wanted, RewriteError> {
        while self.jobs < self.work.workers.look_ahead() && !self.objects.is_empty() {
            self.give(opener);
        }
        let next = self.ahead.pop_front().expect("it is asked once for each object");
        let kept = match next {
            Next::Unreadable(source) => return Err(RewriteError::Read { pack: self.pack, id, source }),
            Next::Already => None,
            Next::Away(job) => Some(self.outcome(job)?),
        };
        let done = &mut self.work.done;
        done.objects += 1;
        let (count, wanted) = match kept {
            None => (&mut done.already, Wanted::AsItIs),
            Some(Kept::AsItIs) => (&mut done.kept, Wanted::AsItIs),
            Some(Kept::Anew(object)) => (&mut done.recompressed, Wanted::Instead(object)),
        };
        *count += 1;
        Ok(wanted)
    }

    fn help(&self) -> Help {
        self.work.workers.help()
    }
}

impl<'a, 'w, 's> Anew<'a, 'w, 's> {
    fn new(work: &'a mut Work<'w, 's>, pack: PackId) -> Self {
        let (content, objects, ahead) = (Arc::default(), VecDeque::new(), VecDeque::new());
        Anew { work, pack, content, objects, ahead, jobs: 0, done: BTreeMap::new() }
    }

    /// Looks at objects until there are enough to be compressed for a job, and hands that out.
    fn give(&mut self, opener: &mut Opener<'_>) {
        self.work.numbers += 1;
        let number = self.work.numbers;
        let (mut objects, mut bytes) = (Vec::new(), 0);
        while let Some(object) = self.objects.front()
            && (bytes == 0 || bytes + object.size as usize <= JOB_BYTES)
        {
            // The index was compared with the pack's length.
            let place = object.offset as usize..(object.offset + object.size) as usize;
            let id = object.id;
            self.objects.pop_front();
            let next = match open_meta(&self.content[place.clone()], id, opener) {
                Ok(meta) => match self.work.anew(id, &meta, place) {
                    None => Next::Already,
                    Some(object) => {
                        bytes += object.place.len();
                        objects.push(object);
                        Next::Away(number)
                    }
                },
                Err(source) => {
                    self.objects.clear();
                    Next::Unreadable(source)
                }
            };
            self.ahead.push_back(next);
        }
        if !objects.is_empty() {
            let (pack, compression, content) = (self.pack, self.work.compression, Arc::clone(&self.content));
            self.work.workers.give(RecompressJob { number, pack, compression, content, objects });
            self.jobs += 1;
        }
    }

    /// What became of the next object of a job.
    fn outcome(&mut self, job: u64) -> Result<Kept, RewriteError> {
        loop {
            if let Some(outcomes) = self.done.get_mut(&job) {
                let outcome = outcomes.pop_front().expect("there is one for each object, up to an error");
                if outcomes.is_empty() {
                    self.done.remove(&job);
                    self.jobs -= 1;
                }
                return outcome;
            }
            let Recompressed { number, outcomes } = self.work.workers.next();
            self.done.insert(number, outcomes);
        }
    }
}

/// Opens the metadata of an object that is not touched.
fn open_meta(object: &[u8], id: ChunkId, opener: &mut Opener<'_>) -> Result<ObjectMeta, ObjectError> {
    let header = Header::parse(object)?;
    // Opening works in place.
    let head = object.len().min(HEADER_BYTES + header.meta_size as usize);
    Ok(opener.open_meta(&mut object[..head].to_vec(), id)?.1)
}
