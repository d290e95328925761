//! Verifying every chunk of a repository.

use crate::extract::{Fetch, Purpose, ReadAhead, Unpacked, Want, Window};
use crate::id::{ChunkId, PackId};
use crate::index::ChunkIndex;
use crate::object::ObjectError;
use crate::repo::{ChunkReader, ReadError};
use crate::store::{Store, StoreError};
use alloc::collections::{BTreeMap, VecDeque, btree_map};
use alloc::vec::{self, Vec};
use core::ops::ControlFlow;

/// What the verification of all data meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataFinding<'a> {
    /// A chunk is damaged or forged, or not what its id stands for.
    Defect(ChunkId, &'a ReadError),
    /// A pack is missing, and so many chunks with it.
    PackMissing(PackId, usize),
    /// So many of all chunks are done.
    Progress(usize, usize),
}

/// The outcome of the verification of all data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataSummary {
    /// Chunks that were verified.
    pub verified: usize,
    /// Chunks that are not right, or lost.
    pub errors: usize,
    /// Chunks that are there, but not right.
    pub defects: usize,
    /// Whether the observer stopped it.
    pub interrupted: bool,
}

/// Reads every indexed chunk, pack by pack and in the order they lie there, and verifies that it is authentic, can be
/// decompressed, and has its id. The reader goes on asserting ids afterwards.
pub async fn verify_data<S: Store>(
    reader: &mut ChunkReader<'_, S>,
    observe: &mut dyn FnMut(DataFinding<'_>) -> ControlFlow<()>,
) -> Result<DataSummary, StoreError> {
    let mut verification = Verification::new(reader, VERIFY_AHEAD);
    loop {
        if let Some(fetch) = verification.next_fetch(&reader.index) {
            let pieces = reader.repository.store.gather(&fetch.pieces).await;
            verification.finish(fetch.fetched(pieces).open(&mut reader.opener).unpack(&mut reader.opener));
        }
        if verification.judge(reader, observe).await?.is_break() || verification.is_done() {
            return Ok(verification.summary);
        }
    }
}

/// The verification of all data, by whomever: it gives out [jobs](Self::next_fetch), takes in [what came of
/// them](Self::finish) and [judges](Self::judge) it in order.
pub struct Verification {
    packs: btree_map::IntoIter<PackId, Vec<(u32, ChunkId)>>,
    /// What is left of the pack whose chunks are wanted now.
    pack: vec::IntoIter<(u32, ChunkId)>,
    /// Packs whose chunks are wanted, each with how many of them are not judged yet.
    begun: VecDeque<(PackId, usize)>,
    /// The first of them is known to be missing, and all that is left of it lost.
    is_lost: bool,
    window: Window,
    total: usize,
    /// What came out so far.
    pub summary: DataSummary,
}

impl Verification {
    /// Of all that the reader's index has. The reader goes on asserting ids afterwards.
    pub fn new<S: Store>(reader: &mut ChunkReader<'_, S>, ahead: ReadAhead) -> Self {
        let mut packs: BTreeMap<PackId, Vec<(u32, ChunkId)>> = BTreeMap::new();
        for (id, location) in reader.index.iter() {
            packs.entry(location.pack).or_default().push((location.offset, id));
        }
        reader.assert_ids(true);
        Verification {
            packs: packs.into_iter(),
            pack: Vec::new().into_iter(),
            begun: VecDeque::new(),
            is_lost: false,
            window: Window::new(Purpose::Verification, true, ahead),
            total: reader.index.len(),
            summary: DataSummary::default(),
        }
    }

    /// The next chunks to be fetched; `None` when all are, or enough are on their way.
    pub fn next_fetch(&mut self, index: &ChunkIndex) -> Option<Fetch> {
        while self.window.len() < WANTED_CHUNKS {
            match self.pack.next() {
                Some((_, id)) => self.window.want(Want { id, size: None }),
                None => {
                    let Some((pack, mut chunks)) = self.packs.next() else { break };
                    chunks.sort_unstable();
                    self.begun.push_back((pack, chunks.len()));
                    self.pack = chunks.into_iter();
                }
            }
        }
        self.window.next_fetch(index)
    }

    /// Takes in what came of a job.
    pub fn finish(&mut self, unpacked: Unpacked) {
        self.window.finish(unpacked);
    }

    /// Whether all chunks are judged.
    pub fn is_done(&self) -> bool {
        self.window.is_empty() && self.pack.len() == 0 && self.packs.len() == 0
    }

    /// Tells what is known now of the chunks that come next. Breaks when the observer has asked to stop.
    pub async fn judge<S: Store>(
        &mut self,
        reader: &mut ChunkReader<'_, S>,
        observe: &mut dyn FnMut(DataFinding<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        while !self.summary.interrupted
            && let Some((Want { id, .. }, result)) = self.window.next_ready()
        {
            let Some((pack, left)) = self.begun.front_mut() else { break };
            let (pack, lost) = (*pack, *left);
            *left -= 1;
            if !self.is_lost {
                let result = match result {
                    Err(error) if error.may_have_moved() => verify_chunk(reader, id).await,
                    other => other.map(drop),
                };
                self.is_lost = self.tell(id, result, (pack, lost), observe)?;
            }
            if lost == 1 {
                self.begun.pop_front();
                self.is_lost = false;
            }
        }
        Ok(if self.summary.interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Tells of one chunk; `true` if its pack is lost, and so many chunks with it.
    fn tell(
        &mut self,
        id: ChunkId,
        result: Result<(), ReadError>,
        (pack, lost): (PackId, usize),
        observe: &mut dyn FnMut(DataFinding<'_>) -> ControlFlow<()>,
    ) -> Result<bool, StoreError> {
        let summary = &mut self.summary;
        match result {
            Ok(()) => {}
            Err(ReadError::PackMissing { .. } | ReadError::Changed) => {
                summary.errors += lost;
                summary.verified += lost;
                let _ = observe(DataFinding::PackMissing(pack, lost));
                return Ok(true);
            }
            Err(ReadError::Store(error)) => return Err(error),
            Err(error) => {
                summary.errors += 1;
                summary.defects += 1;
                let _ = observe(DataFinding::Defect(id, &error));
            }
        }
        summary.verified += 1;
        summary.interrupted = observe(DataFinding::Progress(summary.verified, self.total)).is_break();
        Ok(false)
    }
}

async fn verify_chunk<S: Store>(reader: &mut ChunkReader<'_, S>, id: ChunkId) -> Result<(), ReadError> {
    match reader.read_any(id).await?.0.kind {
        Some(_) => Ok(()),
        None => Err(ObjectError::Attribute { key: "type" }.into()),
    }
}

/// Chunks that are wanted ahead; how many of them are fetched is for the window to say.
const WANTED_CHUNKS: usize = 8192;
/// Without threads there is no use in running ahead, but reads should be long.
const VERIFY_AHEAD: ReadAhead = ReadAhead { held_bytes: 8 << 20, read_bytes: 1 << 20 };
