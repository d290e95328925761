//! Helpers: workers with a module each, which decrypt, decompress and verify what was read here.
//!
//! They share no memory with this one. A job goes there as a message with what was read for it, and plaintexts come back; what
//! fails there is done here once more, so that no error has to be sent. Keys go there once, in a message that leaves no copy
//! behind, and are wiped when a helper ends.

use crate::ahead::Flights;
use crate::cipher::Cipher;
use crate::failure::Failure;
use crate::held::Held;
use crate::repository::{ENGINE, Hands};
use js_sys::{Array, Promise, Uint8Array};
use portaborg_core::crypto::{Keys, SECRET_BYTES, Suite};
use portaborg_core::extract::{Buffer, Plain, Purpose, Stored};
use portaborg_core::object::{Opener, Spare};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use zeroize::Zeroizing;

/// From so many bytes on a plaintext comes in an array of its own, which can be handed on as it is.
const OWN_ARRAY_BYTES: usize = 64 << 10;
/// In place of a length, together with the length: so many zeros.
const ZEROS: u32 = 1 << 31;

#[wasm_bindgen]
extern "C" {
    /// Helpers, as whoever has the window sees them.
    #[derive(Clone)]
    pub type Crew;

    /// Whether there is a helper; asks for helpers if nobody has yet.
    #[wasm_bindgen(method, structural, js_name = isReady)]
    pub fn is_ready(this: &Crew) -> bool;

    /// Promises `{ done }`, what a helper made of a job, as an array of what [`Inbox::done`] takes; or `{ settled }`, what came of
    /// each of the readings, as `Promise.allSettled` tells it. No reading may give more than its length.
    #[wasm_bindgen(method, structural)]
    pub fn work(this: &Crew, errand: Uint8Array, readings: Array, lengths: Array) -> Promise;

    /// Jobs, as a helper sees them.
    pub type Inbox;

    /// Promises the next job, `[errand, pieces]`.
    #[wasm_bindgen(method, structural)]
    fn next(this: &Inbox) -> Promise;

    /// The next job, undefined if there is none yet.
    #[wasm_bindgen(method, structural)]
    fn now(this: &Inbox) -> JsValue;

    /// Takes what came of the first of the jobs that were taken: lengths, short plaintexts behind each other, long ones.
    #[wasm_bindgen(method, structural)]
    fn done(this: &Inbox, lengths: Uint8Array, short: Uint8Array, long: Array);

    /// Takes note that nothing came of it.
    #[wasm_bindgen(method, structural)]
    fn failed(this: &Inbox);
}

/// What a helper gives for a job.
pub struct Done {
    lengths: Vec<u8>,
    short: Vec<u8>,
    long: Array,
}

/// Does the jobs that come in, as long as the worker lives. `secrets` are [`crate::Repository::secrets`]; the array is wiped.
#[wasm_bindgen]
pub async fn help(
    inbox: Inbox,
    cipher: Option<Cipher>,
    encryption: String,
    id_hash: String,
    secrets: Uint8Array,
) -> Result<(), JsValue> {
    let keys = keys(&encryption, &id_hash, &secrets)?;
    let mut opener = Opener::new(&keys, &ENGINE);
    let mut flights = Flights::new(Purpose::Content, Hands { cipher, ..Hands::default() });
    loop {
        while flights.have_room()
            && let Some(job) = parse_job(&inbox.now())?
        {
            flights.take_over(job);
        }
        match flights.land(&mut opener).await {
            Some(unpacked) => match unpacked.plains() {
                Ok(plains) => Done::new(plains, &mut opener.spare).give(&inbox),
                Err(_) => inbox.failed(),
            },
            None => match parse_job(&JsFuture::from(inbox.next()).await?)? {
                Some(job) => flights.take_over(job),
                None => return Ok(()),
            },
        }
    }
}

fn keys(encryption: &str, id_hash: &str, secrets: &Uint8Array) -> Result<Keys, Failure> {
    let mut copy = Zeroizing::new([0; SECRET_BYTES]);
    if secrets.length() as usize != SECRET_BYTES {
        return Err(Failure::argument("secrets"));
    }
    secrets.copy_to(&mut *copy);
    secrets.fill(0, 0, SECRET_BYTES as u32);
    let suite = Suite::from_names(encryption, id_hash).ok_or_else(|| Failure::argument("suite"))?;
    Ok(Keys::generate(suite, &copy))
}

/// A job as it comes in; `None` for undefined.
fn parse_job(job: &JsValue) -> Result<Option<Stored>, Failure> {
    if job.is_undefined() {
        return Ok(None);
    }
    let parse = || {
        let job: &Array = job.dyn_ref()?;
        let errand = job.get(0).dyn_into::<Uint8Array>().ok()?;
        let pieces = job.get(1).dyn_into::<Array>().ok()?;
        let piece = |piece: JsValue| Some(piece.dyn_ref::<Uint8Array>()?.to_vec());
        Stored::of_errand(&errand.to_vec(), pieces.iter().map(piece).collect::<Option<_>>()?)
    };
    parse().map(Some).ok_or_else(|| Failure::argument("job"))
}

impl Done {
    fn new(plains: Vec<Plain<Held>>, spare: &mut Spare) -> Self {
        let mut done = Done { lengths: Vec::with_capacity(4 * plains.len()), short: Vec::new(), long: Array::new() };
        for plain in plains {
            // No chunk comes near 2 GiB.
            let length = match plain {
                Plain::Data(held) => {
                    let length = held.len() as u32;
                    let bytes = held.into_vec();
                    match bytes.len() >= OWN_ARRAY_BYTES {
                        true => drop(done.long.push(&Uint8Array::from(&bytes[..]))),
                        false => done.short.extend_from_slice(&bytes),
                    }
                    spare.give(bytes);
                    length
                }
                Plain::Zeros(zeros) => ZEROS | zeros as u32,
                Plain::Verified => 0,
            };
            done.lengths.extend_from_slice(&length.to_le_bytes());
        }
        done
    }

    fn give(self, inbox: &Inbox) {
        inbox.done(Uint8Array::from(&self.lengths[..]), Uint8Array::from(&self.short[..]), self.long);
    }
}

/// The plaintexts of a job, from a helper; `None` if it is not what a helper gives.
pub fn parse_done(done: &JsValue, purpose: Purpose) -> Option<Vec<Plain<Held>>> {
    let done: &Array = done.dyn_ref()?;
    let [lengths, short] = [0, 1].map(|at| done.get(at).dyn_into::<Uint8Array>().ok());
    let (lengths, short) = (lengths?.to_vec(), short?.to_vec());
    let long = done.get(2).dyn_into::<Array>().ok()?;
    let mut long = long.iter();
    let mut at = 0;
    let plain = |length: &[u8; 4]| {
        let length = u32::from_le_bytes(*length);
        let bytes = (length & !ZEROS) as usize;
        Some(match (purpose, length & ZEROS) {
            (Purpose::Verification, _) => Plain::Verified,
            (_, ZEROS) => Plain::Zeros(bytes),
            _ if bytes >= OWN_ARRAY_BYTES => Plain::Data(Held::There(long.next()?.dyn_into().ok()?)),
            _ => {
                let held = short.get(at..at + bytes)?.to_vec();
                at += bytes;
                Plain::Data(Held::Here(held))
            }
        })
    };
    lengths.as_chunks().0.iter().map(plain).collect()
}
