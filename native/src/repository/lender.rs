//! Writers whose work is done by a crew.

use crate::failure::Failure;
use crate::repository::writing::Writer;
use portaborg_core::repo::{WriteDone, WriteJob};
use std::sync::Arc;

/// Whoever has a writer's jobs done by workers, and is the only one to add to it. The writer is lent until
/// [`take_back`](Lender::take_back).
pub trait Lender<'s> {
    /// The writer.
    fn writer(&mut self) -> &mut Writer<'s>;
    /// Where the repository is, for messages.
    fn location(&self) -> &'s str;
    /// Hands a job to a worker.
    fn give(&mut self, job: WriteJob);
    /// Waits for what a worker has done, whatever it is, and takes it in.
    fn receive(&mut self) -> Result<(), Failure>;
    /// Waits for all that is in flight, and drops what comes of it.
    fn drain(&mut self);

    /// Hands to workers what there is to seal and to store.
    fn give_jobs(&mut self) {
        while let Some(job) = self.writer().next_job() {
            self.give(job);
        }
    }

    /// Takes in what became of a job.
    fn written(&mut self, done: WriteDone) -> Result<(), Failure> {
        let taken = self.writer().done(done);
        taken.map_err(|error| Failure::write(error, self.location()))?;
        self.give_jobs();
        Ok(())
    }

    /// Waits until all that was added is stored.
    fn settle(&mut self) -> Result<(), Failure> {
        self.wait_for_writer()?;
        self.writer().close_pack();
        self.wait_for_writer()
    }

    /// Waits until all but the pack in the making is stored.
    fn wait_for_writer(&mut self) -> Result<(), Failure> {
        self.give_jobs();
        while !self.writer().is_settled() {
            self.receive()?;
        }
        Ok(())
    }

    /// Has everything stored that was added; from now on the writer does everything itself.
    fn take_back(&mut self) -> Result<(), Failure> {
        let settled = self.settle();
        // Results that nobody waits for any more.
        self.drain();
        self.writer().lend(false);
        settled
    }
}

/// Buffers that workers look at, to be used again when nobody else has them.
pub struct Buffers {
    kept: Vec<Arc<Vec<u8>>>,
    most: usize,
}

impl Buffers {
    /// Keeps so many at most.
    pub fn new(most: usize) -> Self {
        Buffers { kept: Vec::new(), most }
    }

    /// A buffer, whatever is in it.
    pub fn take(&mut self) -> Vec<u8> {
        let free = self.kept.iter_mut().position(|buffer| Arc::get_mut(buffer).is_some());
        let buffer = free.map(|at| self.kept.swap_remove(at));
        buffer.and_then(Arc::into_inner).unwrap_or_default()
    }

    /// Keeps a buffer.
    pub fn keep(&mut self, buffer: &Arc<Vec<u8>>) {
        if self.kept.len() < self.most {
            self.kept.push(Arc::clone(buffer));
        }
    }
}
