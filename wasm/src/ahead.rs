//! Reading ahead over promises: reads go on in JavaScript while what came before them is worked on here.

use crate::cipher::{Cipher, Decrypting};
use crate::repository::Reader;
use crate::source::{Reading, Source};
use portaborg_core::extract::{Begun, Fetch, Plain, Purpose, ReadAhead, Stored, Unpacked, Want, Window};
use portaborg_core::object::{ObjectType, Opener};
use portaborg_core::repo::ReadError;
use portaborg_core::store::StoreError;
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

/// Jobs that are on their way, in the order in which they began.
pub struct Flights {
    flights: VecDeque<Flight>,
    cipher: Option<Cipher>,
}

enum Flight {
    Reading(Fetch, Vec<Reading>),
    Decrypting(Begun, Vec<Decrypting>),
}

impl Ahead {
    /// With nothing wanted yet. With `assert_ids`, contents are compared with their ids.
    pub fn new(purpose: Purpose, assert_ids: bool, cipher: Option<Cipher>) -> Self {
        let limits =
            ReadAhead { held_bytes: HELD_BYTES.min(Tuning::new(1).window_bytes) as u64, read_bytes: READ_BYTES };
        Ahead { window: Window::new(purpose, assert_ids, limits), purpose, flights: Flights::new(cipher) }
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
    /// With no job yet. What is long enough is decrypted by `cipher`, if there is one.
    pub fn new(cipher: Option<Cipher>) -> Self {
        Flights { flights: VecDeque::new(), cipher }
    }

    /// Whether another job may begin.
    pub fn have_room(&self) -> bool {
        self.flights.len() < JOBS
    }

    /// Begins a job's reads.
    pub fn begin(&mut self, fetch: Fetch, source: &Source) {
        let readings = fetch.pieces.iter().map(|piece| source.begin(piece)).collect();
        self.flights.push_back(Flight::Reading(fetch, readings));
    }

    /// Waits for the job that began first, and does what is to be done with it; `None` if there is no job. Meanwhile those
    /// after it are decrypted, if they are read.
    pub async fn land(&mut self, opener: &mut Opener<'_>) -> Option<Unpacked> {
        let Some(cipher) = self.cipher.clone() else {
            let Flight::Reading(fetch, readings) = self.flights.pop_front()? else { return None };
            return Some(fetch.fetched(finished(readings).await).open(opener).unpack(opener));
        };
        self.decrypt_ahead(&cipher, opener);
        let (mut begun, decrypting) = match self.flights.pop_front()? {
            Flight::Decrypting(begun, decrypting) => (begun, decrypting),
            Flight::Reading(fetch, readings) => {
                let read = fetch.fetched(finished(readings).await);
                let decrypting = decrypt(&cipher, read, opener);
                self.decrypt_ahead(&cipher, opener);
                decrypting
            }
        };
        for ((_, blocks), decrypting) in begun.blocks().zip(decrypting) {
            decrypting.finish(opener.keys, blocks).await;
        }
        Some(begun.finish(opener).unpack(opener))
    }

    /// Begins to decrypt what is read.
    fn decrypt_ahead(&mut self, cipher: &Cipher, opener: &mut Opener<'_>) {
        let flights = std::mem::take(&mut self.flights).into_iter();
        self.flights = flights
            .map(|flight| match flight {
                Flight::Reading(fetch, mut readings) => match readings.iter_mut().all(Reading::is_done) {
                    true => {
                        let pieces = readings.into_iter().map(Reading::now).collect();
                        let (begun, decrypting) = decrypt(cipher, fetch.fetched(pieces), opener);
                        Flight::Decrypting(begun, decrypting)
                    }
                    false => Flight::Reading(fetch, readings),
                },
                Flight::Decrypting(..) => flight,
            })
            .collect();
    }
}

async fn finished(readings: Vec<Reading>) -> Vec<Result<Vec<u8>, StoreError>> {
    let mut pieces = Vec::with_capacity(readings.len());
    for reading in readings {
        pieces.push(reading.finish().await);
    }
    pieces
}

fn decrypt(cipher: &Cipher, read: Stored, opener: &mut Opener<'_>) -> (Begun, Vec<Decrypting>) {
    let mut begun = read.begin(opener, Tuning::new(1).webcrypto_from_bytes);
    let decrypting = begun.blocks().map(|(session, blocks)| cipher.begin(opener.keys, session, blocks)).collect();
    (begun, decrypting)
}

/// A chunk that was not where the index says: the reader knows what else can be tried.
async fn read(reader: &mut Reader<'_>, purpose: Purpose, Want { id, size }: Want) -> Result<Arc<Plain>, ReadError> {
    Ok(Arc::new(match purpose {
        Purpose::Content => reader.read_content(id, size.unwrap_or_default()).await?.into(),
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
