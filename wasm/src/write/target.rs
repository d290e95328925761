//! A store in JavaScript that takes changes.

use crate::source::{Source, store_error};
use js_sys::{Promise, Uint8Array};
use portaborg_core::name::{Entry, Key, Namespace};
use portaborg_core::store::{Piece, Store, StoreError, StoreMut};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// Where a repository lies that is written to: besides reading, `write(name, content)` stores a file whole, or not at all;
    /// `delete(name)` and `move(from, to)` do what they say, and fail where there is no such file. `sync()` makes durable
    /// what was done so far. All are promises.
    #[wasm_bindgen(extends = Source)]
    pub type Target;

    #[wasm_bindgen(method, structural, catch, js_name = write)]
    fn put(this: &Target, name: &str, content: Uint8Array) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, structural, catch, js_name = delete)]
    fn remove(this: &Target, name: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, structural, catch, js_name = move)]
    fn relocate(this: &Target, from: &str, to: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, structural, catch, js_name = sync)]
    fn make_durable(this: &Target) -> Result<Promise, JsValue>;
}

impl Target {
    fn source(&self) -> &Source {
        self
    }
}

impl Store for Target {
    async fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        Store::read(self.source(), key, offset, len).await
    }

    async fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        Store::list(self.source(), namespace).await
    }

    async fn gather(&self, pieces: &[Piece]) -> Vec<Result<Vec<u8>, StoreError>> {
        Store::gather(self.source(), pieces).await
    }
}

impl StoreMut for Target {
    async fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError> {
        done(key, self.put(&key.path(), Uint8Array::from(content))).await
    }

    async fn write_pieces(&self, key: &Key, pieces: &[Vec<u8>]) -> Result<(), StoreError> {
        let length: usize = pieces.iter().map(Vec::len).sum();
        let content = Uint8Array::new_with_length(length as u32);
        let mut at = 0;
        for piece in pieces {
            content.subarray(at, at + piece.len() as u32).copy_from(piece);
            at += piece.len() as u32;
        }
        done(key, self.put(&key.path(), content)).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        done(key, self.remove(&key.path())).await
    }

    async fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        done(from, self.relocate(&from.path(), &to.path())).await
    }

    async fn sync(&self) -> Result<(), StoreError> {
        let failed = |error: JsValue| store_error("sync".into(), &error);
        JsFuture::from(self.make_durable().map_err(failed)?).await.map(drop).map_err(failed)
    }
}

/// Waits until a change is made.
async fn done(key: &Key, begun: Result<Promise, JsValue>) -> Result<(), StoreError> {
    let failed = |error: JsValue| store_error(key.to_string(), &error);
    JsFuture::from(begun.map_err(failed)?).await.map(drop).map_err(failed)
}
