//! What JavaScript lends: clock, randomness, sleep.

use crate::failure::{Failure, Fault};
use js_sys::{Date, Function, Promise};
use portaborg_core::bytes::Hex;
use portaborg_core::random::Random;
use portaborg_core::time::Timestamp;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use zeroize::Zeroizing;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &mut [u8]) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(then: &Function, millis: f64) -> JsValue;
}

/// Web Crypto's randomness, as core takes it.
pub struct SystemRandom(());

impl SystemRandom {
    /// Makes sure that there is any.
    pub fn new() -> Result<Self, Failure> {
        random::<1>().map(|_| SystemRandom(()))
    }
}

impl Random for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        for some in bytes.chunks_mut(MAX_RANDOM_BYTES) {
            get_random_values(some).expect("a platform that has given random bytes goes on to");
        }
    }
}

/// Random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    get_random_values(&mut bytes).map_err(|_| no_randomness())?;
    Ok(bytes)
}

/// Random bytes that become secrets.
pub fn secret<const N: usize>() -> Result<Zeroizing<[u8; N]>, Failure> {
    let mut bytes = Zeroizing::new([0; N]);
    get_random_values(&mut *bytes).map_err(|_| no_randomness())?;
    Ok(bytes)
}

/// Who this is: nobody can tell from outside whether a page still lives, so each session is somebody else, whose locks go
/// when they are released, or stale.
pub fn host() -> Result<String, Failure> {
    Ok(format!("portaborg-js@{}", Hex(&random::<8>()?)))
}

/// The time.
pub fn now() -> Timestamp {
    of_millis(Date::now())
}

/// A time in milliseconds since 1970.
pub fn of_millis(millis: f64) -> Timestamp {
    Timestamp::from_nanos((millis * 1e6) as i128)
}

/// Waits.
pub async fn sleep(millis: f64) {
    let promise = Promise::new(&mut |resolve, _| drop(set_timeout(&resolve, millis)));
    let _ = JsFuture::from(promise).await; // nothing rejects it
}

fn no_randomness() -> Failure {
    Failure::new(Fault::Unsupported, "Error", "crypto", "This platform has no crypto.getRandomValues.")
}

/// Web Crypto gives no more at once.
const MAX_RANDOM_BYTES: usize = 65_536;
