//! What is missing or broken in an archive, file by file.

use crate::ahead::Ahead;
use crate::archive;
use crate::failure::Failure;
use crate::items::Items;
use crate::repository::{Open, Reader};
use crate::sink::Sink;
use portaborg_core::bytes::lossy;
use portaborg_core::extract::{Purpose, Want};
use portaborg_core::item::Item;
use portaborg_core::repo::ReadError;
use serde::Serialize;
use std::collections::HashMap;

/// Broken chunks that are named for one file; a file that lost its pack could have a million of them.
const MAX_PARTS: usize = 100;

/// A file with something missing or broken, or a part of the archive in which files are missing.
#[derive(Serialize)]
pub struct Damage {
    /// The file's path; none if nobody knows which files are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Parts of its content that can't be had, and why; no more of them than a report can show.
    pub parts: Vec<Part>,
    /// How many there are.
    pub broken: usize,
    /// What is wrong.
    pub problem: Failure,
}

/// A part of a file's content.
#[derive(Clone, Serialize)]
pub struct Part {
    /// First byte.
    offset: u64,
    /// Length in bytes, by the item.
    size: u64,
    /// What is wrong.
    problem: Failure,
}

/// How far it has come.
#[derive(Serialize)]
struct Progress {
    /// Items that are done.
    items: u64,
    /// Bytes of content that are verified, each chunk once.
    bytes: u64,
}

/// What is known of the chunks that were read: nothing but what is wrong with them, if anything is.
type Known = HashMap<Want, Option<Failure>>;

/// Reads and verifies all content of an archive, each chunk once, and tells the sink of every file with damage.
pub async fn run(open: &Open, archive: &str, sink: &Sink) -> Result<(), Failure> {
    let mut reader = open.reader();
    reader.assert_ids(true);
    let meta = archive::meta(&mut reader, archive).await?;
    let mut items = Items::new(&meta.item_ptrs, open.hands.clone());
    let mut ahead = Ahead::new(Purpose::Content, true, open.hands.clone());
    let mut known = Known::new();
    let mut progress = Progress { items: 0, bytes: 0 };
    while let Some(next) = items.next(&mut reader).await {
        let some: Vec<_> = match next {
            Ok(some) => some.collect(),
            Err(problem) => vec![Err(problem)],
        };
        verify(&mut reader, &mut ahead, some.iter().flatten(), &mut known, &mut progress).await?;
        for item in some {
            progress.items += 1;
            let damage = match item {
                Ok(item) => of_item(&item, &known),
                Err(problem) => Some(Damage::unknown(Failure::items(problem, archive))),
            };
            if let Some(damage) = damage
                && sink.give(&damage, None).await.is_err()
            {
                return Ok(());
            }
        }
        if !sink.progress(&progress) {
            break;
        }
    }
    open.keep_index(&reader);
    Ok(())
}

/// Reads the chunks of these items that were not read before.
async fn verify(
    reader: &mut Reader<'_>,
    ahead: &mut Ahead,
    items: impl Iterator<Item = &Item>,
    known: &mut Known,
    progress: &mut Progress,
) -> Result<(), Failure> {
    for chunk in items.filter_map(|item| item.chunks.as_ref()).flatten() {
        let want = Want { id: chunk.id, size: Some(chunk.size) };
        if known.insert(want, None).is_none() {
            ahead.window.want(want);
        }
    }
    while let Some((want, result)) = ahead.next(reader).await {
        match result {
            Ok(plain) => progress.bytes += plain.len(),
            Err(ReadError::Store(error)) => return Err(Failure::store(error)),
            Err(error) => drop(known.insert(want, Some(Failure::read(error, want.id)))),
        }
    }
    Ok(())
}

fn of_item(item: &Item, known: &Known) -> Option<Damage> {
    let mut damage: Option<Damage> = None;
    let mut offset = 0_u64;
    for chunk in item.chunks.iter().flatten() {
        if let Some(Some(problem)) = known.get(&Want { id: chunk.id, size: Some(chunk.size) }) {
            let damage = damage.get_or_insert_with(|| Damage {
                path: Some(lossy(&item.path).0.into_owned()),
                ..Damage::unknown(problem.clone())
            });
            damage.broken += 1;
            if damage.parts.len() < MAX_PARTS {
                damage.parts.push(Part { offset, size: chunk.size, problem: problem.clone() });
            }
        }
        offset = offset.saturating_add(chunk.size);
    }
    damage
}

impl Damage {
    /// Of files that nobody knows.
    fn unknown(problem: Failure) -> Self {
        Damage { path: None, parts: Vec::new(), broken: 0, problem }
    }
}
