//! The items of an archive, read ahead.

use crate::ahead::Ahead;
use crate::archive;
use crate::batch::Batch;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::held::bytes_of;
use crate::item_cache::{Cached, Recording};
use crate::repository::{Hands, Open, Reader};
use crate::sink::{Sink, Stopped};
use portaborg_core::extract::{Purpose, Want};
use portaborg_core::id::ChunkId;
use portaborg_core::object::ObjectType;
use portaborg_core::repo::{EncodedItems, ItemProblem, ItemStep, ItemStream};
use serde::Serialize;

/// What a batch holds at most; a batch is one message from the worker, and one array there.
const BATCH_ITEMS: usize = 1000;
/// How many chunks of an item stream are wanted ahead.
const CHUNKS_AHEAD: usize = 64;

/// An item stream whose chunks are read ahead, or what the item cache has in its place.
pub struct Items {
    stream: ItemStream,
    ahead: Ahead,
    /// How many of the stream's chunks the window has got.
    wanted: usize,
    /// Gives items in place of the stream.
    cached: Option<Cached>,
    /// How many items it has given. When it fails, the stream's first ones are passed over.
    given: usize,
    /// Takes the stream's items.
    recording: Option<Recording>,
}

/// What is wrong with the stream, in the place of items.
#[derive(Serialize)]
struct Trouble {
    problem: Failure,
}

/// Gives the items that a filter leaves to the sink, in batches.
pub async fn run(open: &Open, archive: &str, mut filter: Filter, sink: &Sink) -> Result<(), Failure> {
    let mut reader = open.reader();
    let meta = archive::meta(&mut reader, archive).await?;
    let mut items = Items::with_cache(open, archive, &meta.item_ptrs).await;
    let mut batch = Batch::default();
    while let Some(next) = items.next(&mut reader).await {
        let given = match next {
            Ok(some) => give(some, archive, &mut filter, &mut batch, sink).await?,
            Err(problem) => give_problem(problem, archive, &mut batch, sink).await,
        };
        if given.is_err() || filter.is_done() || !sink.is_wanted() {
            break;
        }
    }
    let _ = batch.flush(sink).await; // whether or not anyone wants more, this is all
    open.keep_index(&reader);
    Ok(())
}

async fn give(
    mut items: EncodedItems,
    archive: &str,
    filter: &mut Filter,
    batch: &mut Batch,
    sink: &Sink,
) -> Result<Result<(), Stopped>, Failure> {
    while let Some(item) = items.next_wanted(|path| filter.leaves(path)) {
        match item? {
            Ok(item) => {
                batch.add(&item);
                if batch.len() >= BATCH_ITEMS && batch.flush(sink).await.is_err() {
                    return Ok(Err(Stopped));
                }
            }
            Err(problem) => {
                if give_problem(problem, archive, batch, sink).await.is_err() {
                    return Ok(Err(Stopped));
                }
            }
        }
    }
    Ok(batch.flush(sink).await)
}

/// In its place: after the items before it.
pub async fn give_problem(problem: ItemProblem, archive: &str, batch: &mut Batch, sink: &Sink) -> Result<(), Stopped> {
    batch.flush(sink).await?;
    sink.give(&Trouble { problem: Failure::items(problem, archive) }, None).await
}

impl Items {
    /// The items of an archive that has these item pointers, from the archive itself.
    pub fn new(item_ptrs: &[ChunkId], hands: Hands) -> Self {
        Items {
            stream: ItemStream::new(item_ptrs),
            ahead: Ahead::new(Purpose::Items, false, hands),
            wanted: 0,
            cached: None,
            given: 0,
            recording: None,
        }
    }

    /// The same from the item cache, or else for it.
    pub async fn with_cache(open: &Open, archive: &str, item_ptrs: &[ChunkId]) -> Self {
        let cached = Cached::open(open, archive).await;
        let recording = if cached.is_some() { None } else { Recording::begin(open, archive) };
        Items { cached, recording, ..Items::new(item_ptrs, open.hands.clone()) }
    }

    /// The next items, or what is wrong with their stream; `None` at the end.
    pub async fn next(&mut self, reader: &mut Reader<'_>) -> Option<Result<EncodedItems, ItemProblem>> {
        if let Some(cached) = &mut self.cached {
            match cached.next().await {
                Ok(Some(items)) => {
                    self.given += items.len();
                    return Some(Ok(items));
                }
                Ok(None) => return None,
                Err(_) => self.cached = None, // as if it had never been there
            }
        }
        let mut next = self.next_of_stream(reader).await;
        match &mut next {
            Some(Ok(items)) => {
                self.given -= items.pass_over(self.given);
                self.recording = self.recording.take().and_then(|recording| recording.with(items));
            }
            Some(Err(_)) => {
                self.given = 0; // rather an item twice than one that is passed over
                self.recording = None;
            }
            None => {
                if let Some(recording) = self.recording.take() {
                    recording.finish().await;
                }
            }
        }
        next
    }

    async fn next_of_stream(&mut self, reader: &mut Reader<'_>) -> Option<Result<EncodedItems, ItemProblem>> {
        loop {
            let fed = match self.stream.step() {
                ItemStep::Items(items) => return Some(Ok(items)),
                ItemStep::Problem(problem) => return Some(Err(problem)),
                ItemStep::Read(_, ObjectType::Items) => {
                    self.want_chunks();
                    // The stream asks for its chunks in order, so the next of the window is the one that it asks for.
                    let (_, chunk) = self.ahead.next(reader).await?;
                    self.stream.feed(chunk.as_deref().map(bytes_of).as_deref().map_err(|&error| error.clone()))
                }
                ItemStep::Read(id, wanted) => self.stream.feed(reader.read(id, wanted).await),
                ItemStep::End => return None,
            };
            if let Err(problem) = fed {
                return Some(Err(problem));
            }
        }
    }

    fn want_chunks(&mut self) {
        let known = self.stream.chunks();
        while self.wanted < known.len() && self.ahead.window.len() < CHUNKS_AHEAD {
            self.ahead.window.want(Want { id: known[self.wanted], size: None });
            self.wanted += 1;
        }
    }
}
