//! Who is told what comes out of a call.

use js_sys::{Promise, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// Takes the results of a call.
    ///
    /// `emit(text, bytes)` promises whether to go on, when more may come; `tell(text)` says so at once, and is for progress;
    /// `wanted()` says so without anything to tell.
    pub type Sink;

    #[wasm_bindgen(method, structural, catch)]
    fn emit(this: &Sink, text: Option<String>, bytes: Option<Uint8Array>) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, structural, catch)]
    fn tell(this: &Sink, text: String) -> Result<bool, JsValue>;

    #[wasm_bindgen(method, structural, catch)]
    fn wanted(this: &Sink) -> Result<bool, JsValue>;
}

/// Nobody wants more of a call.
pub struct Stopped;

impl Sink {
    /// Hands over something that is told as JSON, with bytes beside it.
    pub(crate) async fn give(&self, value: &impl Serialize, bytes: Option<&[u8]>) -> Result<(), Stopped> {
        self.hand_over(Some(json(value)), bytes.map(Uint8Array::from)).await
    }

    /// Hands over bytes alone.
    pub(crate) async fn give_bytes(&self, bytes: Uint8Array) -> Result<(), Stopped> {
        self.hand_over(None, Some(bytes)).await
    }

    /// Tells how far a call has come; `false` if nobody wants more of it.
    pub(crate) fn progress(&self, value: &impl Serialize) -> bool {
        self.tell(json(value)).unwrap_or(false)
    }

    /// Whether anybody wants more of a call that has had nothing to hand over for a while.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted().unwrap_or(false)
    }

    async fn hand_over(&self, text: Option<String>, bytes: Option<Uint8Array>) -> Result<(), Stopped> {
        let promise = self.emit(text, bytes).map_err(|_| Stopped)?;
        match JsFuture::from(promise).await {
            Ok(go_on) if go_on.is_truthy() => Ok(()),
            _ => Err(Stopped),
        }
    }
}

/// As JSON.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps have texts as keys, and nothing else can fail")
}
