//! Compressing objects anew, by whoever has the time.

use super::rewrite::RewriteError;
use crate::codec::{Compression, Engine};
use crate::crypto::Keys;
use crate::id::{ChunkId, PackId};
use crate::object::{ObjectTicket, ObjectType, ObjectWriter, Opener};
use crate::tuning::Help;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

/// Objects of one pack, to be compressed anew. It has all that this takes, and can be done anywhere.
pub struct RecompressJob {
    pub(super) number: u64,
    pub(super) pack: PackId,
    pub(super) compression: Compression,
    pub(super) content: Arc<Vec<u8>>,
    pub(super) objects: Vec<Recompressing>,
}

/// One of them.
pub(super) struct Recompressing {
    pub id: ChunkId,
    pub kind: ObjectType,
    /// Where it lies in the pack.
    pub place: Range<usize>,
    pub ticket: ObjectTicket,
}

/// What came of a [`RecompressJob`].
pub struct Recompressed {
    pub(super) number: u64,
    /// For each object, up to the first that failed.
    pub(super) outcomes: VecDeque<Result<Kept, RewriteError>>,
}

/// What is kept of an object.
pub(super) enum Kept {
    /// It would come out as it is.
    AsItIs,
    /// What it is instead.
    Anew(Vec<u8>),
}

/// Whoever does the jobs.
pub trait Recompressors {
    /// How many jobs may be given and not be used up, at least 1.
    fn look_ahead(&self) -> usize;
    /// What other threads may do for a pack as a whole, while no job is given.
    fn help(&self) -> Help;
    /// Takes a job.
    fn give(&mut self, job: RecompressJob);
    /// Waits for what came of a job, in any order. It is only asked for while some jobs are given.
    fn next(&mut self) -> Recompressed;
}

/// Does one job after another, by the caller's thread.
pub struct OneByOne<'k> {
    opener: Opener<'k>,
    writer: ObjectWriter<'k>,
    jobs: VecDeque<RecompressJob>,
}

impl RecompressJob {
    /// Does it. An object that fails ends it.
    pub fn run(self, opener: &mut Opener<'_>, writer: &mut ObjectWriter<'_>) -> Recompressed {
        let RecompressJob { number, pack, compression, content, objects } = self;
        let mut outcomes = VecDeque::with_capacity(objects.len());
        let mut plaintext = opener.spare.take(objects.first().map_or(0, |object| object.place.len()));
        for object in objects {
            let outcome = object.run(pack, &compression, &content, opener, writer, &mut plaintext);
            let is_failed = outcome.is_err();
            outcomes.push_back(outcome);
            if is_failed {
                break;
            }
        }
        opener.spare.give(plaintext);
        Recompressed { number, outcomes }
    }
}

impl Recompressing {
    fn run(
        self,
        pack: PackId,
        compression: &Compression,
        content: &[u8],
        opener: &mut Opener<'_>,
        writer: &mut ObjectWriter<'_>,
        plaintext: &mut Vec<u8>,
    ) -> Result<Kept, RewriteError> {
        let Recompressing { id, kind, place, ticket } = self;
        // Opening works in place.
        let mut stored = opener.spare.take(place.len());
        stored.clear();
        stored.extend_from_slice(&content[place]);
        let opened = opener.open(&mut stored, id, None, plaintext);
        opener.spare.give(stored);
        let meta = opened.map_err(|source| RewriteError::Read { pack, id, source })?;
        let mut anew = Vec::new();
        let written = writer.write(id, kind, plaintext, compression, ticket, &mut anew);
        let written = written.map_err(|source| RewriteError::Write { pack, id, source })?;
        let is_same = written.payload.settings() == meta.payload.settings();
        Ok(if is_same { Kept::AsItIs } else { Kept::Anew(anew) })
    }
}

impl<'k> OneByOne<'k> {
    /// With nothing to do.
    pub fn new(keys: &'k Keys, engine: &'k dyn Engine) -> Self {
        let (opener, writer) = (Opener::new(keys, engine), ObjectWriter::new(keys, engine));
        OneByOne { opener, writer, jobs: VecDeque::new() }
    }
}

impl Recompressors for OneByOne<'_> {
    fn look_ahead(&self) -> usize {
        1
    }

    fn help(&self) -> Help {
        Help::NONE
    }

    fn give(&mut self, job: RecompressJob) {
        self.jobs.push_back(job);
    }

    fn next(&mut self) -> Recompressed {
        let job = self.jobs.pop_front().expect("somebody waits for a job that was given");
        job.run(&mut self.opener, &mut self.writer)
    }
}
