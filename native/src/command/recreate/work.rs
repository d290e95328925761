//! What workers do while an archive is written anew, beside reading it.

use crate::repository::pipeline::{Pipeline, Work};
use crate::repository::session::Session;
use crate::repository::writing::Writer;
use crate::repository::zeros::Zeros;
use portaborg_core::id::ChunkId;
use portaborg_core::item::Item;
use portaborg_core::object::{ObjectWriter, Spare};
use portaborg_core::repo::{EncodedItems, ItemProblem, WriteDone, WriteJob};
use portaborg_core::store::now;
use portaborg_core::tuning::{Help, Tuning};
use std::ops::Range;
use std::sync::Arc;

/// The archive as it is read ahead.
pub type Reading<'p, 'c, 'a> = Pipeline<'p, 'c, Writer<'a>, Recreating<'a>>;

/// Has workers decode items, find ids, compress, seal and store.
pub struct Recreating<'a> {
    /// The repository.
    pub session: &'a Session,
}

/// What each worker has for itself.
pub struct Tools<'a> {
    objects: ObjectWriter<'a>,
    zeros: Zeros,
}

/// Something to be done.
pub enum Job {
    /// Finds ids of chunks.
    Hash(HashJob),
    /// Compresses, seals or stores.
    Write(WriteJob),
}

/// What came of a [`Job`].
pub enum Done {
    /// Ids.
    Hash(HashDone),
    /// What the writer takes back.
    Write(WriteDone),
}

/// Chunks whose ids are wanted.
pub struct HashJob {
    /// What puts jobs in order again.
    pub number: u64,
    /// The buffer that the chunks lie in.
    pub buffer: Arc<Vec<u8>>,
    /// Their places there.
    pub chunks: Vec<Range<usize>>,
}

/// What came of a [`HashJob`].
pub struct HashDone {
    /// The job's number.
    pub number: u64,
    /// The chunks' ids.
    pub ids: Vec<ChunkId>,
}

impl<'a> Work for Recreating<'a> {
    type Tools = Tools<'a>;
    type Items = Vec<Result<Item, ItemProblem>>;
    type Job = Job;
    type Done = Done;

    fn threads(tuning: &Tuning) -> usize {
        tuning.create_threads()
    }

    fn tools(&self) -> Tools<'a> {
        let Session { keys, engine, .. } = self.session;
        Tools { objects: ObjectWriter::new(keys, engine), zeros: Zeros::default() }
    }

    fn decode(&self, _: &mut Tools<'a>, items: EncodedItems) -> Self::Items {
        items.collect()
    }

    fn work(&self, tools: &mut Tools<'a>, job: Job, help: Help, _: &mut Spare) -> Done {
        match job {
            Job::Hash(HashJob { number, buffer, chunks }) => {
                let keys = &self.session.keys;
                let ids = chunks.into_iter().map(|place| tools.zeros.chunk_id(keys, &buffer[place], help));
                Done::Hash(HashDone { number, ids: ids.collect() })
            }
            Job::Write(job) => {
                tools.objects.set_help(help);
                Done::Write(now(job.run(&mut tools.objects, &self.session.repository.store)))
            }
        }
    }
}
