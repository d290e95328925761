//! What differs between two archives.
//!
//! What the sink gets: batches of items, and beside each batch what the items tell of.

use crate::ahead::Ahead;
use crate::archive;
use crate::batch::Batch;
use crate::failure::Failure;
use crate::held::bytes_of;
use crate::items::{Items, give_problem};
use crate::repository::{Open, Reader};
use crate::sink::{Sink, Stopped};
use portaborg_core::diff::{Change, CompareRule, Content, Pair, Pairs, compare, compares_chunks};
use portaborg_core::extract::{Purpose, Want};
use portaborg_core::item::{ChunkEntry, Item};
use portaborg_core::repo::{EncodedItems, ItemProblem};
use serde::Serialize;
use std::vec::IntoIter;

/// What a message tells of at most.
const BATCH_DIFFERENCES: usize = 500;
/// How many chunks of a content are wanted ahead.
const WANTED_CHUNKS: usize = 64;

/// Paths that differ, with the items of both archives.
#[derive(Default)]
struct Differences {
    batch: Batch,
    told: Vec<Told>,
}

/// What differs at a path. Items are told by their numbers in the batch.
#[derive(Serialize)]
struct Told {
    change: &'static str,
    changes: Vec<ChangeFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<usize>,
}

/// One thing that differs, by Borg's name for it (command line, section 3.5).
#[derive(Serialize)]
struct ChangeFacts {
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
}

#[derive(Serialize)]
struct Message<'a> {
    #[serde(flatten)]
    batch: Batch,
    differences: &'a [Told],
}

/// The items of one of the archives, one by one.
struct Side<'i> {
    id: &'i str,
    items: Items,
    some: Option<EncodedItems>,
}

/// Gives the paths that differ to the sink, and what is wrong with the lists of items, in between.
pub async fn run(open: &Open, left: &str, right: &str, sink: &Sink) -> Result<(), Failure> {
    let mut reader = open.reader();
    let metas = (archive::meta(&mut reader, left).await?, archive::meta(&mut reader, right).await?);
    let rule = CompareRule { chunks: compares_chunks(&metas.0, &metas.1), numeric_ids: false };
    let mut left = Side { id: left, items: Items::with_cache(open, left, &metas.0.item_ptrs).await, some: None };
    let mut right = Side { id: right, items: Items::with_cache(open, right, &metas.1.item_ptrs).await, some: None };
    let (mut pairs, mut differences, mut at_end) = (Pairs::new(), Differences::default(), false);
    while !at_end && sink.is_wanted() {
        let [mut a, mut b] = [None, None];
        for (side, item) in [(&mut left, &mut a), (&mut right, &mut b)] {
            while let Some(next) = side.next(&mut reader).await {
                match next {
                    Ok(next) => {
                        *item = Some(next);
                        break;
                    }
                    Err(problem) => {
                        let id = side.id;
                        if differences.flush(sink).await.is_err()
                            || give_problem(problem, id, &mut differences.batch, sink).await.is_err()
                        {
                            open.keep_index(&reader);
                            return Ok(());
                        }
                    }
                }
            }
        }
        if a.is_none() && b.is_none() {
            pairs.finish();
            at_end = true;
        } else {
            pairs.add(a, b);
        }
        while let Some(pair) = pairs.next_ready() {
            let (a, b) = match &pair {
                Pair::Added(item) => (None, Some(&**item)),
                Pair::Removed(item) => (Some(&**item), None),
                Pair::Both(left, right) => (Some(&**left), Some(&**right)),
            };
            let changes = read_where_needed(open, &mut reader, a, b, compare(a, b, rule)).await?;
            if differences.add(a, b, &changes, sink).await.is_err() {
                open.keep_index(&reader);
                return Ok(());
            }
        }
    }
    let _ = differences.flush(sink).await; // whether or not anyone wants more, this is all
    open.keep_index(&reader);
    Ok(())
}

/// Reads the contents of which nothing else can tell if they are equal.
async fn read_where_needed(
    open: &Open,
    reader: &mut Reader<'_>,
    left: Option<&Item>,
    right: Option<&Item>,
    mut changes: Vec<Change>,
) -> Result<Vec<Change>, Failure> {
    let unread = changes.iter().position(|change| *change == Change::Content(Content::Unread));
    if let (Some(unread), Some(left), Some(right)) = (unread, left, right) {
        if same_content(open, reader, left, right).await? {
            changes.remove(unread);
        } else {
            changes[unread] = Change::Content(Content::Other);
        }
    }
    Ok(changes)
}

/// Whether two contents of the same length are equal, however they are cut.
async fn same_content(open: &Open, reader: &mut Reader<'_>, left: &Item, right: &Item) -> Result<bool, Failure> {
    let mut contents = [left, right].map(|item| Contents {
        chunks: item.chunks.clone().unwrap_or_default().into_iter(),
        ahead: Ahead::new(Purpose::Content, false, open.hands.clone()),
    });
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        let [left, right] = &mut contents;
        if ours.is_empty() {
            ours = left.next(reader).await?;
        }
        if theirs.is_empty() {
            theirs = right.next(reader).await?;
        }
        let common = ours.len().min(theirs.len());
        if common == 0 {
            return Ok(ours.is_empty() && theirs.is_empty());
        }
        if ours[..common] != theirs[..common] {
            return Ok(false);
        }
        ours.drain(..common);
        theirs.drain(..common);
    }
}

struct Contents {
    chunks: IntoIter<ChunkEntry>,
    ahead: Ahead,
}

impl Contents {
    /// The next bytes; none at the end.
    async fn next(&mut self, reader: &mut Reader<'_>) -> Result<Vec<u8>, Failure> {
        loop {
            while self.ahead.window.len() < WANTED_CHUNKS
                && let Some(ChunkEntry { id, size }) = self.chunks.next()
            {
                self.ahead.window.want(Want { id, size: Some(size) });
            }
            let Some((want, plain)) = self.ahead.next(reader).await else { return Ok(Vec::new()) };
            let plain = plain.map_err(|error| Failure::read(error, want.id))?;
            if !plain.is_empty() {
                return Ok(bytes_of(&plain).into_owned());
            }
        }
    }
}

impl Side<'_> {
    async fn next(&mut self, reader: &mut Reader<'_>) -> Option<Result<Item, ItemProblem>> {
        loop {
            if let Some(item) = self.some.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            match self.items.next(reader).await? {
                Ok(some) => self.some = Some(some),
                Err(problem) => return Some(Err(problem)),
            }
        }
    }
}

impl Differences {
    async fn add(
        &mut self,
        left: Option<&Item>,
        right: Option<&Item>,
        changes: &[Change],
        sink: &Sink,
    ) -> Result<(), Stopped> {
        if changes.is_empty() && left.is_some() && right.is_some() {
            return Ok(());
        }
        let change = match (left, right) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "modified",
        };
        let mut number = |item: &Item| {
            self.batch.add(item);
            self.batch.len() - 1
        };
        let (a, b) = (left.map(&mut number), right.map(number));
        self.told.push(Told { change, changes: changes.iter().map(ChangeFacts::of).collect(), a, b });
        if self.told.len() >= BATCH_DIFFERENCES { self.flush(sink).await } else { Ok(()) }
    }

    async fn flush(&mut self, sink: &Sink) -> Result<(), Stopped> {
        if self.told.is_empty() {
            return Ok(());
        }
        let Differences { mut batch, told } = std::mem::take(self);
        let bytes = batch.take_bytes();
        sink.give(&Message { batch, differences: &told }, Some(&bytes)).await
    }
}

impl ChangeFacts {
    fn of(change: &Change) -> ChangeFacts {
        let with = |r#type: &str, added, removed| ChangeFacts { r#type: r#type.into(), added, removed };
        match change {
            Change::Content(Content::Added { bytes }) => with("added", Some(*bytes), Some(0)),
            Change::Content(Content::Removed { bytes }) => with("removed", Some(0), Some(*bytes)),
            Change::Content(Content::Modified { added, removed }) => with("modified", Some(*added), Some(*removed)),
            Change::Content(Content::Other | Content::Unread) => with("modified", None, None),
            Change::Added(kind) => with(&format!("added {}", kind.name()), None, None),
            Change::Removed(kind) => with(&format!("removed {}", kind.name()), None, None),
            Change::Target => with("changed link", None, None),
            Change::Owner => with("changed owner", None, None),
            Change::User => with("changed user", None, None),
            Change::Group => with("changed group", None, None),
            Change::Mode => with("changed mode", None, None),
            Change::Type => with("changed type", None, None),
            Change::Ctime => with("ctime", None, None),
            Change::Mtime => with("mtime", None, None),
        }
    }
}
