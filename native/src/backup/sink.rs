//! Who stores what is found, and who is told of it.

use super::ahead::{Task, Tried};
use super::problem::{Fault, Problem};
use super::read::Input;
use super::status::Status;
use crate::failure::Failure;
use portaborg_core::files_cache::FileState;
use portaborg_core::id::ChunkId;
use portaborg_core::item::{ChunkEntry, Item};

/// Where items and the contents of files go.
pub trait Sink {
    /// Stands for a content that was handed over: its chunks and digests, which need not be known yet.
    type Content: Clone;

    /// What workers make ready of a file.
    type Trace;

    /// Takes in a content, whose parts come in order and are cut into chunks each on its own.
    ///
    /// An error of an input is handed on as it is; what was stored of the content until then is nothing's content.
    fn content(&mut self, parts: Vec<Part<'_>>) -> Result<Self::Content, Fault>;

    /// Whether a chunk is there, so that it can be a [part](Part::Known) of a content.
    fn has(&self, id: &ChunkId) -> bool;

    /// What is remembered of the regular file whose item has this path (data layer, section 13).
    fn known(&mut self, path: &[u8], state: &FileState) -> Known<Self::Content>;

    /// Remembers a regular file that did not change while it was read, and whether it is on a file system that can't be
    /// written to.
    fn memorize(&mut self, path: &[u8], state: &FileState, content: &Self::Content, is_read_only: bool);

    /// Appends an item. Its `chunks`, `size` and `digests` are those of `content`, and are not set in `item`.
    ///
    /// The content may have been given with an item before: that was another name of the same file.
    fn item(&mut self, item: Item, content: Option<Self::Content>) -> Result<(), Failure>;

    /// Whether there is somebody to read files ahead. Only then the methods below are called.
    fn has_workers(&self) -> bool {
        false
    }

    /// Begins to read files ahead.
    fn begin_ahead(&mut self, _tasks: Vec<Task>) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether it is time to take in what came of the oldest tasks: they are done, or too much is in flight.
    fn is_ahead_due(&mut self) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Waits for what came of the oldest tasks that were begun, or of the first of them.
    fn end_ahead(&mut self) -> Result<Vec<Tried<Self::Trace>>, Failure> {
        Ok(Vec::new())
    }

    /// Whether the last content was not taken in because it is for somebody else; it is not asked twice.
    fn refuses(&mut self) -> bool {
        false
    }

    /// Takes in what was made ready of a file that was given by the last [`end_ahead`](Sink::end_ahead), and whose path this
    /// is.
    fn take_in(&mut self, _path: &[u8], _trace: Self::Trace) -> Result<(), Failure> {
        Ok(())
    }
}

/// A part of a content.
pub enum Part<'a> {
    /// Is read to its end.
    Read(Box<dyn Input + 'a>),
    /// Is these chunks, which are there.
    Known(&'a [ChunkEntry]),
}

/// What is remembered of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<C> {
    /// Nothing.
    No,
    /// Another state of it, or one whose content is gone.
    Modified,
    /// This very state of it, with its content.
    Unchanged(C),
}

/// Who is told what happens. Nothing of what is told here is needed to make the archive.
pub trait Observer {
    /// A line of `--list`.
    fn status(&self, status: Status, path: &[u8]);

    /// One more of these, for statistics. Not every line counts, and some lines come before it is known whether they do.
    fn count(&self, status: Status);

    /// Something is missing in the archive; this decides on the exit code.
    fn warn(&self, problem: &Problem);

    /// Something is worth a warning that changes nothing: a second try, an attribute that can't be read.
    fn note(&self, text: &str);
}
