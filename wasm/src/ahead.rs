//! Reading ahead over promises: reads go on in JavaScript while what came before them is worked on here.

use crate::cipher::{Cipher, Decrypting};
use crate::crew::{Crew, parse_done};
use crate::held::Held;
#[cfg(feature = "threads")]
use crate::pool::{self, Unpacking};
use crate::repository::{Hands, Reader};
use crate::source::{Reading, Source};
use js_sys::{Array, Reflect, Uint8Array};
use portaborg_core::extract::{Begun, Fetch, Outcome, Plain, Purpose, ReadAhead, Stored, Unpacked, Want, Window};
use portaborg_core::object::{ObjectType, Opener};
use portaborg_core::repo::ReadError;
use portaborg_core::store::StoreError;
use portaborg_core::tuning::Tuning;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Chunks that come in the order in which they are wanted, and are read ahead.
pub struct Ahead {
    /// What is wanted here is given by [`Ahead::next`].
    pub window: Window<Held>,
    purpose: Purpose,
    flights: Flights,
}

/// Jobs that are on their way, in the order in which they began.
pub struct Flights {
    flights: VecDeque<Flight>,
    purpose: Purpose,
    hands: Hands,
}

enum Flight {
    /// Pieces are being read.
    Reading(Fetch, Vec<Reading>),
    /// They are here.
    Read(Stored),
    /// Payloads are being decrypted.
    Decrypting(Begun, Decrypting),
    /// A helper has it, or will when it is read.
    Away(Fetch, JsFuture),
    /// A thread of the pool has it.
    #[cfg(feature = "threads")]
    Unpacking(Unpacking),
    /// It is done.
    Done(Unpacked<Held>),
}

impl Ahead {
    /// With nothing wanted yet. With `assert_ids`, contents are compared with their ids.
    pub fn new(purpose: Purpose, assert_ids: bool, hands: Hands) -> Self {
        let limits =
            ReadAhead { held_bytes: HELD_BYTES.min(Tuning::new(1).window_bytes) as u64, read_bytes: READ_BYTES };
        Ahead { window: Window::new(purpose, assert_ids, limits), purpose, flights: Flights::new(purpose, hands) }
    }

    /// The next chunk of what is wanted; `None` if nothing is.
    pub async fn next(&mut self, reader: &mut Reader<'_>) -> Option<(Want, Outcome<Held>)> {
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
    /// With no job yet. All jobs will be for this purpose.
    pub fn new(purpose: Purpose, hands: Hands) -> Self {
        Flights { flights: VecDeque::new(), purpose, hands }
    }

    /// Whether another job may begin.
    pub fn have_room(&self) -> bool {
        self.flights.len() < JOBS
    }

    /// Begins a job's reads.
    pub fn begin(&mut self, fetch: Fetch, source: &Source) {
        let is_worth_it = fetch.bytes() >= Tuning::new(1).errand_from_bytes;
        self.flights.push_back(match self.hands.crew.as_ref().filter(|crew| is_worth_it && crew.is_ready()) {
            Some(crew) => send(crew, fetch, source),
            None => {
                let readings = fetch.pieces.iter().map(|piece| source.begin(piece)).collect();
                Flight::Reading(fetch, readings)
            }
        });
    }

    /// Takes a job over that is read.
    pub fn take_over(&mut self, stored: Stored) {
        self.flights.push_back(Flight::Read(stored));
    }

    /// Waits for the job that began first, and does what is to be done with it; `None` if there is no job. Meanwhile those
    /// after it go on as far as others work on them.
    pub async fn land(&mut self, opener: &mut Opener<'_>) -> Option<Unpacked<Held>> {
        if self.flights.is_empty() {
            return None;
        }
        let landed = poll_fn(|context| {
            let flights = std::mem::take(&mut self.flights).into_iter();
            // The first one last: what takes time here comes when the others have got their work.
            self.flights = flights.rev().fold(VecDeque::new(), |mut later, flight| {
                later.push_front(flight.advance(context, opener, &self.hands, self.purpose));
                later
            });
            self.land_now(opener).map_or(Poll::Pending, Poll::Ready)
        });
        Some(landed.await)
    }

    /// Ends the first job, if only what is done here is left to do.
    fn land_now(&mut self, opener: &mut Opener<'_>) -> Option<Unpacked<Held>> {
        match self.flights.pop_front()? {
            Flight::Done(unpacked) => Some(unpacked),
            Flight::Read(stored) => Some(stored.open(opener).unpack(opener).map(Held::Here)),
            Flight::Decrypting(mut begun, decrypting) if decrypting.is_done() => {
                decrypting.finish(opener.keys, begun.blocks());
                Some(begun.finish(opener).unpack(opener).map(Held::Here))
            }
            flight => {
                self.flights.push_front(flight);
                None
            }
        }
    }
}

impl Flight {
    /// Goes as far as others have done their part, and gives them the next one. `context` is told when there is more.
    fn advance(self, context: &mut Context<'_>, opener: &mut Opener<'_>, hands: &Hands, purpose: Purpose) -> Flight {
        match self {
            Flight::Reading(fetch, mut readings) => {
                // All are asked, so that the context is told of all.
                let done = readings.iter_mut().map(|reading| usize::from(reading.poll(context))).sum::<usize>();
                if done < readings.len() {
                    return Flight::Reading(fetch, readings);
                }
                let pieces = readings.into_iter().map(Reading::now).collect();
                Flight::Read(fetch.fetched(pieces)).advance(context, opener, hands, purpose)
            }
            #[cfg(feature = "threads")]
            Flight::Read(stored) if hands.pool.is_some() && !hands.is_decrypted_elsewhere() => {
                let keys = hands.pool.as_ref().expect("there is a pool");
                let work = |opener: &mut Opener<'_>| stored.open(opener).unpack(opener);
                Flight::Unpacking(pool::spawn(keys, work)).advance(context, opener, hands, purpose)
            }
            Flight::Read(stored) => match &hands.cipher {
                Some(cipher) => decrypt(cipher, stored, opener).advance(context, opener, hands, purpose),
                None => Flight::Read(stored),
            },
            Flight::Decrypting(begun, mut decrypting) => {
                decrypting.poll(context);
                #[cfg(feature = "threads")]
                if let Some(keys) = hands.pool.as_ref().filter(|_| decrypting.is_done()) {
                    let mut begun = begun;
                    decrypting.finish(opener.keys, begun.blocks());
                    let opened = begun.finish(opener);
                    let unpacking = pool::spawn(keys, |opener| opened.unpack(opener));
                    return Flight::Unpacking(unpacking).advance(context, opener, hands, purpose);
                }
                Flight::Decrypting(begun, decrypting)
            }
            #[cfg(feature = "threads")]
            Flight::Unpacking(mut unpacking) => match Pin::new(&mut unpacking).poll(context) {
                Poll::Pending => Flight::Unpacking(unpacking),
                Poll::Ready(unpacked) => Flight::Done(unpacked.map(Held::Here)),
            },
            Flight::Away(fetch, mut done) => match Pin::new(&mut done).poll(context) {
                Poll::Pending => Flight::Away(fetch, done),
                Poll::Ready(result) => match came_back(&fetch, result, purpose) {
                    Ok(plains) => Flight::Done(fetch.unpacked(plains)),
                    Err(pieces) => Flight::Read(fetch.fetched(pieces)).advance(context, opener, hands, purpose),
                },
            },
            Flight::Done(_) => self,
        }
    }
}

/// Begins to decrypt a job's payloads.
fn decrypt(cipher: &Cipher, stored: Stored, opener: &mut Opener<'_>) -> Flight {
    let tuning = Tuning::new(1);
    let is_worth_it = stored.bytes() >= tuning.webcrypto_from_bytes;
    let mut begun = stored.begin(opener, if is_worth_it { tuning.webcrypto_part_bytes } else { usize::MAX });
    let decrypting = cipher.begin(opener.keys, begun.blocks());
    Flight::Decrypting(begun, decrypting)
}

/// Sends a job to a helper, which gets it when its pieces are read.
fn send(crew: &Crew, fetch: Fetch, source: &Source) -> Flight {
    let readings: Array = fetch.pieces.iter().map(|piece| source.promise(piece)).collect();
    let lengths: Array = fetch.pieces.iter().map(|piece| JsValue::from(piece.len as f64)).collect();
    let done = crew.work(Uint8Array::from(&fetch.errand()[..]), readings, lengths).into();
    Flight::Away(fetch, done)
}

/// What was read, or why nothing was.
type Pieces = Vec<Result<Vec<u8>, StoreError>>;

/// The plaintexts of a job from a helper; if it has none, what was read, or why nothing was.
fn came_back(fetch: &Fetch, result: Result<JsValue, JsValue>, purpose: Purpose) -> Result<Vec<Plain<Held>>, Pieces> {
    let field = |value: &JsValue, name: &str| Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let result = result.unwrap_or(JsValue::UNDEFINED);
    let plains = parse_done(&field(&result, "done"), purpose);
    if let Some(plains) = plains.filter(|plains| plains.len() == fetch.len()) {
        return Ok(plains);
    }
    let settled = field(&result, "settled");
    let piece = |(number, piece)| {
        let settled = Reflect::get_u32(&settled, number).unwrap_or(JsValue::UNDEFINED);
        let outcome = match field(&settled, "status") == "fulfilled" {
            true => Ok(field(&settled, "value")),
            false => Err(field(&settled, "reason")),
        };
        Reading::done(piece, outcome).now()
    };
    Err((0..).zip(&fetch.pieces).map(piece).collect())
}

/// A chunk that was not where the index says: the reader knows what else can be tried.
async fn read(
    reader: &mut Reader<'_>,
    purpose: Purpose,
    Want { id, size }: Want,
) -> Result<Arc<Plain<Held>>, ReadError> {
    Ok(Arc::new(match purpose {
        Purpose::Content => Plain::from(reader.read_content(id, size.unwrap_or_default()).await?).map(Held::Here),
        Purpose::Items => Plain::Data(Held::Here(reader.read(id, ObjectType::Items).await?.into())),
        Purpose::Verification => reader.read_any(id).await.map(|_| Plain::Verified)?,
    }))
}

/// Reads that are on their way at once: as many as a browser has connections to one server.
const JOBS: usize = 6;
/// How much is read for one job if chunks are short: enough that a request's round trip doesn't show.
const READ_BYTES: usize = 1 << 20;
/// What chunks in flight may take together: a few of the longest of the default chunker.
const HELD_BYTES: usize = 32 << 20;
