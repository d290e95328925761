//! A store whose objects come from JavaScript.

use js_sys::{Array, Promise, Reflect, Uint8Array};
use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::store::{Piece, Store, StoreError, StoreErrorKind};
use portaborg_core::time::Timestamp;
use std::pin::Pin;
use std::task::{Context, Poll};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// Where a repository lies: files that have names below its folder.
    ///
    /// `list(prefix)` promises an array of `{ name, size }` of all files in a folder, at any depth; of no folder, none.
    /// `read(name, offset, length)` promises a `Uint8Array` of at most `length` bytes, fewer where the file ends, or `null`
    /// where there is no such file.
    pub type Source;

    #[wasm_bindgen(method, structural, catch)]
    fn list(this: &Source, prefix: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, structural, catch)]
    fn read(this: &Source, name: &str, offset: f64, length: f64) -> Result<Promise, JsValue>;
}

/// A read that has begun, and goes on while nobody waits for it.
pub struct Reading {
    key: Key,
    len: usize,
    state: State,
}

enum State {
    Waiting(JsFuture),
    Done(Result<JsValue, JsValue>),
}

impl Source {
    /// Begins to read.
    pub(crate) fn begin(&self, &Piece { key, offset, len }: &Piece) -> Reading {
        Reading { key, len, state: State::Waiting(self.promise(&Piece { key, offset, len }).into()) }
    }

    /// Promises what is read.
    pub(crate) fn promise(&self, &Piece { key, offset, len }: &Piece) -> Promise {
        // Both numbers are far below 2^53, where doubles end to be exact: packs end at 4 GiB.
        let promise = Source::read(self, &key.path(), offset as f64, len as f64);
        promise.unwrap_or_else(|error| Promise::reject(&error))
    }
}

impl Reading {
    /// One that has come to its end.
    pub fn done(&Piece { key, len, .. }: &Piece, outcome: Result<JsValue, JsValue>) -> Self {
        Reading { key, len, state: State::Done(outcome) }
    }

    /// Whether there is nothing left to wait for; if there is, `context` is told when it has come.
    pub fn poll(&mut self, context: &mut Context<'_>) -> bool {
        if let State::Waiting(future) = &mut self.state
            && let Poll::Ready(result) = Pin::new(future).poll(context)
        {
            self.state = State::Done(result);
        }
        matches!(self.state, State::Done(_))
    }

    /// What was read, when [nothing is left to wait for](Reading::poll).
    pub fn now(self) -> Result<Vec<u8>, StoreError> {
        match self.state {
            State::Done(result) => parse_bytes(self.key, self.len, result),
            State::Waiting(_) => Err(failed(self.key.to_string(), "it was not waited for")),
        }
    }

    /// What was read.
    pub async fn finish(self) -> Result<Vec<u8>, StoreError> {
        let result = match self.state {
            State::Done(result) => result,
            State::Waiting(future) => future.await,
        };
        parse_bytes(self.key, self.len, result)
    }
}

fn parse_bytes(key: Key, len: usize, result: Result<JsValue, JsValue>) -> Result<Vec<u8>, StoreError> {
    let value = result.map_err(|error| store_error(key.to_string(), &error))?;
    if value.is_null() || value.is_undefined() {
        let kind = StoreErrorKind::NotFound;
        return Err(StoreError { kind, ..failed(key.to_string(), "not found") });
    }
    let Some(bytes) = value.dyn_ref::<Uint8Array>() else {
        return Err(failed(key.to_string(), "the source gave something else than a Uint8Array"));
    };
    if bytes.length() as usize > len {
        return Err(failed(key.to_string(), "the source gave more bytes than it was asked for"));
    }
    Ok(bytes.to_vec())
}

fn failed(name: String, detail: &str) -> StoreError {
    StoreError { name, kind: StoreErrorKind::Failed, detail: detail.into() }
}

impl Store for Source {
    async fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        self.begin(&Piece { key: *key, offset, len }).finish().await
    }

    async fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        let failed = |error: JsValue| store_error(namespace.name().into(), &error);
        let listing = JsFuture::from(Source::list(self, namespace.name()).map_err(failed)?).await.map_err(failed)?;
        if listing.is_null() || listing.is_undefined() {
            return Ok(Vec::new());
        }
        let mut entries: Vec<Entry> = Array::from(&listing).iter().filter_map(|entry| parse_entry(&entry)).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    async fn gather(&self, pieces: &[Piece]) -> Vec<Result<Vec<u8>, StoreError>> {
        let begun: Vec<Reading> = pieces.iter().map(|piece| self.begin(piece)).collect();
        let mut results = Vec::with_capacity(begun.len());
        for reading in begun {
            results.push(reading.finish().await);
        }
        results
    }
}

/// `None` for what is no object of a repository.
fn parse_entry(entry: &JsValue) -> Option<Entry> {
    let name = Reflect::get(entry, &"name".into()).ok()?.as_string()?;
    let number = |field: &str| Reflect::get(entry, &field.into()).ok()?.as_f64();
    let modified = number("mtimeMs").map(|millis| Timestamp::from_nanos((millis * 1e6) as i128));
    Entry::from_name(name.rsplit('/').next()?, number("size").unwrap_or(0.0) as u64, modified)
}

/// What a rejection means, by the codes of Node and the names of browsers.
pub(crate) fn store_error(name: String, error: &JsValue) -> StoreError {
    let text = |field: &str| Reflect::get(error, &field.into()).ok().and_then(|value| value.as_string());
    let detail = text("message").or_else(|| error.as_string()).unwrap_or_else(|| "the source failed".into());
    let kind = match (text("code").as_deref(), text("name").as_deref()) {
        (Some("ENOENT" | "ENOTDIR"), _) | (_, Some("NotFoundError")) => StoreErrorKind::NotFound,
        (Some("EACCES" | "EPERM"), _) | (_, Some("NotAllowedError" | "SecurityError")) => StoreErrorKind::Denied,
        _ => StoreErrorKind::Failed,
    };
    StoreError { name, kind, detail }
}
