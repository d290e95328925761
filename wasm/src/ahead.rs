//! Reading ahead over promises: reads go on in JavaScript while what came before them is worked on here.

use crate::repository::Reader;
use crate::source::{Reading, Source};
use portaborg_core::extract::{Fetch, Plain, Purpose, ReadAhead, Unpacked, Want, Window};
use portaborg_core::object::{ObjectType, Opener};
use portaborg_core::repo::{Content, ReadError};
use portaborg_core::tuning::Tuning;
use std::collections::VecDeque;
use std::sync::Arc;

/// Chunks that come in the order in which they are wanted, and are read ahead.
pub struct Ahead {
    /// What is wanted here is given by [`Ahead::next`].
    pub window: Window,
    purpose: Purpose,
    flights: Flights,
}

/// Jobs whose reads have begun, in the order in which they began.
#[derive(Default)]
pub struct Flights(VecDeque<(Fetch, Vec<Reading>)>);

impl Ahead {
    /// With nothing wanted yet. With `assert_ids`, contents are compared with their ids.
    pub fn new(purpose: Purpose, assert_ids: bool) -> Self {
        let limits =
            ReadAhead { held_bytes: HELD_BYTES.min(Tuning::new(1).window_bytes) as u64, read_bytes: READ_BYTES };
        Ahead { window: Window::new(purpose, assert_ids, limits), purpose, flights: Flights::default() }
    }

    /// The next chunk of what is wanted; `None` if nothing is.
    pub async fn next(&mut self, reader: &mut Reader<'_>) -> Option<(Want, Result<Arc<Plain>, ReadError>)> {
        loop {
            while self.flights.have_room()
                && let Some(fetch) = self.window.next_fetch(&reader.index)
            {
                self.flights.begin(fetch, &reader.repository.store);
            }
            match self.window.next_ready() {
                Some((want, Err(error))) if error.may_have_moved() => {
                    return Some((want, read(reader, self.purpose, want).await));
                }
                Some(ready) => return Some(ready),
                None => self.window.finish(self.flights.land(&mut reader.opener).await?),
            }
        }
    }
}

impl Flights {
    /// Whether another job may begin.
    pub fn have_room(&self) -> bool {
        self.0.len() < JOBS
    }

    /// Begins a job's reads.
    pub fn begin(&mut self, fetch: Fetch, source: &Source) {
        let readings = fetch.pieces.iter().map(|piece| source.begin(piece)).collect();
        self.0.push_back((fetch, readings));
    }

    /// Waits for the reads of the job that began first, and does what is to be done with them; `None` if there is no job.
    pub async fn land(&mut self, opener: &mut Opener<'_>) -> Option<Unpacked> {
        let (fetch, readings) = self.0.pop_front()?;
        let mut pieces = Vec::with_capacity(readings.len());
        for reading in readings {
            pieces.push(reading.finish().await);
        }
        Some(fetch.fetched(pieces).open(opener).unpack(opener))
    }
}

/// A chunk that was not where the index says: the reader knows what else can be tried.
async fn read(reader: &mut Reader<'_>, purpose: Purpose, Want { id, size }: Want) -> Result<Arc<Plain>, ReadError> {
    Ok(Arc::new(match purpose {
        Purpose::Content => match reader.read_content(id, size.unwrap_or_default()).await? {
            Content::Data(bytes) => Plain::Data(bytes.into()),
            Content::Zeros(len) => Plain::Zeros(len),
        },
        Purpose::Items => Plain::Data(reader.read(id, ObjectType::Items).await?.into()),
        Purpose::Verification => reader.read_any(id).await.map(|_| Plain::Verified)?,
    }))
}

/// Reads that are on their way at once: as many as a browser has connections to one server.
const JOBS: usize = 6;
/// How much is read for one job if chunks are short: enough that a request's round trip doesn't show.
const READ_BYTES: usize = 1 << 20;
/// What chunks in flight may take together: a few of the longest of the default chunker.
const HELD_BYTES: usize = 32 << 20;
