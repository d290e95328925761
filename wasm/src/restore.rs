//! Many items with their contents, in order, through one window.
//!
//! What the sink gets: items with short contents in batches, the contents beside them; of another item a batch with it alone,
//! pieces of its content, what is wrong with them, and an end.

use crate::ahead::Ahead;
use crate::archive;
use crate::batch::Batch;
use crate::content::Pieces;
use crate::failure::Failure;
use crate::filter::below;
use crate::held::{Held, bytes_of};
use crate::items::{Items, give_problem};
use crate::repository::{Open, Reader};
use crate::sink::{Sink, Stopped};
use portaborg_core::extract::{Plain, Purpose, Want};
use portaborg_core::item::{Item, make_path_safe};
use portaborg_core::limits::MAX_DATA_SIZE;
use portaborg_core::repo::{ItemProblem, ReadError};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// Content that goes with its item.
const SHORT_BYTES: usize = 64 << 10;
/// How many chunks, and how many items without any, are wanted ahead.
const WANTED_CHUNKS: usize = 256;
const ITEMS_AHEAD: usize = 1000;
/// What a batch of items with their contents holds at most.
const BATCH_BYTES: usize = 256 << 10;
const BATCH_ITEMS: usize = 500;

/// The end of an item's content.
#[derive(Serialize)]
struct End {
    end: bool,
}

/// What is wrong with a part of an item's content, which is zeros then.
#[derive(Serialize)]
struct Hole {
    hole: Failure,
}

/// Items that are on their way.
struct Restore {
    paths: Vec<Vec<u8>>,
    items: Items,
    ahead: Ahead,
    /// Whose chunks are wanted.
    queue: VecDeque<Result<Item, ItemProblem>>,
    at_end: bool,
    /// Items that are whole.
    batch: Batch,
}

/// A chunk, and what is wrong if it is zeros in place of the right one.
type Part = (Arc<Plain<Held>>, Option<Failure>);

/// Why it ends before its end.
enum Ended {
    Stopped,
    Failed(Failure),
}

/// Gives the items with these paths, and all that is below them, to the sink, with their contents. `paths` is a list of lists of
/// bytes; the empty one is for everything.
pub async fn run(open: &Open, archive: &str, paths: &str, sink: &Sink) -> Result<(), Failure> {
    let paths: Vec<Vec<u8>> = serde_json::from_str(paths).map_err(|_| Failure::argument("paths"))?;
    let paths: Result<_, _> = paths.iter().map(|path| make_path_safe(path)).collect();
    let mut reader = open.reader();
    let meta = archive::meta(&mut reader, archive).await?;
    let mut restore = Restore {
        paths: paths.map_err(|_| Failure::argument("paths"))?,
        items: Items::with_cache(open, archive, &meta.item_ptrs).await,
        ahead: Ahead::new(Purpose::Content, false, open.hands.clone()),
        queue: VecDeque::new(),
        at_end: false,
        batch: Batch::default(),
    };
    loop {
        restore.look_ahead(&mut reader, sink).await;
        let done = match restore.queue.pop_front() {
            None => break,
            Some(Ok(item)) => restore.give(&mut reader, &item, sink).await,
            Some(Err(problem)) => {
                give_problem(problem, archive, &mut restore.batch, sink).await.map_err(|Stopped| Ended::Stopped)
            }
        };
        match done {
            Ok(()) => {}
            Err(Ended::Stopped) => break,
            Err(Ended::Failed(failure)) => {
                let _ = restore.batch.flush(sink).await; // what comes before the failure is good
                return Err(failure);
            }
        }
    }
    let _ = restore.batch.flush(sink).await; // whether or not anyone wants more, this is all
    open.keep_index(&reader);
    Ok(())
}

impl Restore {
    /// Keeps enough chunks wanted.
    async fn look_ahead(&mut self, reader: &mut Reader<'_>, sink: &Sink) {
        while !self.at_end && self.ahead.window.len() < WANTED_CHUNKS && self.queue.len() < ITEMS_AHEAD {
            match self.items.next(reader).await {
                _ if !sink.is_wanted() => self.at_end = true,
                None => self.at_end = true,
                Some(Err(problem)) => self.queue.push_back(Err(problem)),
                Some(Ok(some)) => some.for_each(|item| self.queue(item)),
            }
        }
    }

    fn queue(&mut self, item: Result<Item, ItemProblem>) {
        if let Ok(item) = &item {
            if !self.paths.is_empty() && !self.paths.iter().any(|path| below(path, &item.path).is_some()) {
                return;
            }
            for chunk in item.chunks.iter().flatten() {
                self.ahead.window.want(Want { id: chunk.id, size: Some(chunk.size) });
            }
        }
        self.queue.push_back(item);
    }

    /// Gives an item with its content.
    async fn give(&mut self, reader: &mut Reader<'_>, item: &Item, sink: &Sink) -> Result<(), Ended> {
        let is_short = item.content_size() <= SHORT_BYTES as u64;
        if !is_short {
            return self.give_rest(reader, item, Vec::new(), 0, sink).await;
        }
        let mut content = Vec::new();
        for number in 0..chunks_of(item) {
            match self.next(reader).await? {
                (plain, None) => content.extend_from_slice(&bytes_of(&plain)),
                // Then it is told piece by piece.
                (plain, Some(hole)) => {
                    let before = vec![(Plain::Data(Held::Here(content)).into(), None), (plain, Some(hole))];
                    return self.give_rest(reader, item, before, number + 1, sink).await;
                }
            }
        }
        self.batch.add_whole(item, &content);
        if self.batch.len() >= BATCH_ITEMS || self.batch.bytes() >= BATCH_BYTES {
            self.batch.flush(sink).await?;
        }
        Ok(())
    }

    /// Gives an item piece by piece, of which so many chunks are here already.
    async fn give_rest(
        &mut self,
        reader: &mut Reader<'_>,
        item: &Item,
        before: Vec<Part>,
        done: usize,
        sink: &Sink,
    ) -> Result<(), Ended> {
        self.batch.flush(sink).await?;
        self.batch.add(item);
        self.batch.flush(sink).await?;
        let mut pieces = Pieces::new(sink);
        for part in before {
            give_part(&mut pieces, part, sink).await?;
        }
        for _ in done..chunks_of(item) {
            let part = self.next(reader).await?;
            give_part(&mut pieces, part, sink).await?;
        }
        pieces.flush().await?;
        Ok(sink.give(&End { end: true }, None).await?)
    }

    /// The next chunk; zeros, and what is wrong, if it can't be had.
    async fn next(&mut self, reader: &mut Reader<'_>) -> Result<Part, Ended> {
        let Some((want, result)) = self.ahead.next(reader).await else {
            return Ok((Plain::Zeros(0).into(), None)); // all that is asked for was wanted before
        };
        let error = match result {
            Ok(plain) => return Ok((plain, None)),
            Err(error) => error,
        };
        let size = want.size.unwrap_or_default();
        let is_fatal = matches!(error, ReadError::Store(_)) || size > MAX_DATA_SIZE as u64;
        let hole = Failure::read(error, want.id);
        if is_fatal { Err(Ended::Failed(hole)) } else { Ok((Plain::Zeros(size as usize).into(), Some(hole))) }
    }
}

async fn give_part(pieces: &mut Pieces<'_>, (plain, hole): Part, sink: &Sink) -> Result<(), Stopped> {
    if let Some(hole) = hole {
        pieces.flush().await?;
        sink.give(&Hole { hole }, None).await?;
    }
    let len = plain.len() as usize;
    pieces.add(plain, 0..len).await
}

fn chunks_of(item: &Item) -> usize {
    item.chunks.as_ref().map_or(0, Vec::len)
}

impl From<Stopped> for Ended {
    fn from(Stopped: Stopped) -> Self {
        Ended::Stopped
    }
}
