//! The item cache: items of archives that were read before, sealed, in files that JavaScript keeps.
//!
//! Whatever is wrong with it costs nothing but time: then the archive is read.

use crate::repository::Open;
use js_sys::{Promise, Reflect, Uint8Array};
use portaborg_core::id::ArchiveId;
use portaborg_core::item_cache::{
    CacheError, CacheStep, FILE_NONCE_BYTES, HEAD_BYTES, Packing, Place, Segment, TAG_BYTES, Unpacking,
};
use portaborg_core::repo::EncodedItems;
use std::collections::VecDeque;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// How many segments are read and decrypted ahead.
const SEGMENTS_AHEAD: u32 = 8;

#[wasm_bindgen]
extern "C" {
    /// Where files are kept, with Web Crypto's AES-GCM.
    ///
    /// `open(name, headLength)` promises a [`CacheFile`] or nothing, `create(name, head, key)` gives a [`NewFile`], and
    /// `random(length)` random bytes. Nothing here throws.
    #[derive(Clone)]
    pub type ItemCache;

    #[wasm_bindgen(method, structural)]
    fn open(this: &ItemCache, name: &str, head_length: u32) -> Promise;

    #[wasm_bindgen(method, structural)]
    fn create(this: &ItemCache, name: &str, head: Uint8Array, key: Uint8Array) -> NewFile;

    #[wasm_bindgen(method, structural)]
    fn random(this: &ItemCache, length: u32) -> Uint8Array;

    /// A file with its `head` and its `size`.
    ///
    /// `unlock(key)` comes first; then `segment(offset, length, nonce)` promises plaintext. `useless()` tells that it is to be
    /// removed, and `close()` that it is not needed any more.
    type CacheFile;

    #[wasm_bindgen(method, structural)]
    fn unlock(this: &CacheFile, key: Uint8Array);

    #[wasm_bindgen(method, structural)]
    fn segment(this: &CacheFile, offset: f64, length: u32, nonce: Uint8Array) -> Promise;

    #[wasm_bindgen(method, structural)]
    fn useless(this: &CacheFile);

    #[wasm_bindgen(method, structural)]
    fn close(this: &CacheFile);

    /// A file that is there when it is finished.
    ///
    /// `add(nonce, plaintext)` seals a segment and stores it; `finish()` promises that it is done, if it can be; `abandon()` is
    /// for a file that will not be finished.
    type NewFile;

    #[wasm_bindgen(method, structural)]
    fn add(this: &NewFile, nonce: Uint8Array, plaintext: Uint8Array);

    #[wasm_bindgen(method, structural)]
    fn finish(this: &NewFile) -> Promise;

    #[wasm_bindgen(method, structural)]
    fn abandon(this: &NewFile);
}

/// The items of an archive, from a file of the cache.
pub struct Cached {
    file: Closing,
    unpacking: Unpacking,
    /// Segments on their way, in order.
    segments: VecDeque<JsFuture>,
    begun: u32,
}

/// Puts the items of an archive into the cache while they are read. Unless it is finished, there is nothing of them there.
pub struct Recording {
    packing: Packing,
    file: Unfinished,
}

/// Closed when dropped.
struct Closing(CacheFile);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Abandoned when dropped.
struct Unfinished(Option<NewFile>);

impl Cached {
    /// Those of the archive with this id; `None` if there is no file for it that could be one.
    pub async fn open(open: &Open, archive: &str) -> Option<Cached> {
        let (cache, archive): (_, ArchiveId) = (open.item_cache.as_ref()?, archive.parse().ok()?);
        let file = JsFuture::from(cache.open(&name(open, archive), HEAD_BYTES as u32)).await.ok()?;
        let field = |name: &str| Reflect::get(&file, &name.into()).ok();
        let head = field("head")?.dyn_into::<Uint8Array>().ok()?.to_vec();
        let bytes = field("size")?.as_f64()? as u64;
        let file = Closing(file.unchecked_into());
        let unpacking = Unpacking::new(&open.keys, open.repository.id(), archive, &head, bytes).ok()?;
        file.0.unlock(Uint8Array::from(&unpacking.key().bytes()[..]));
        Some(Cached { file, unpacking, segments: VecDeque::new(), begun: 0 })
    }

    /// The next items; `None` at the end of all that the archive has. After an error, those that came before it are still right.
    pub async fn next(&mut self) -> Result<Option<EncodedItems>, CacheError> {
        let next = self.try_next().await;
        if next.is_err() {
            self.file.0.useless();
        }
        next
    }

    async fn try_next(&mut self) -> Result<Option<EncodedItems>, CacheError> {
        loop {
            let place = match self.unpacking.step()? {
                CacheStep::Block(block) => return Ok(Some(block.into())),
                CacheStep::Open(place) => place,
                CacheStep::End => return Ok(None),
            };
            self.look_ahead(place.segment);
            let wrong = CacheError::Tag { segment: place.segment };
            let plaintext = self.segments.pop_front().ok_or(wrong)?.await.map_err(|_| wrong)?;
            let plaintext = plaintext.dyn_ref::<Uint8Array>().ok_or(wrong)?;
            if plaintext.length() as usize + TAG_BYTES != place.len {
                return Err(wrong);
            }
            self.unpacking.feed(&plaintext.to_vec());
        }
    }

    fn look_ahead(&mut self, segment: u32) {
        while self.begun < segment + SEGMENTS_AHEAD
            && let Some(Place { offset, len, nonce, .. }) = self.unpacking.place(self.begun)
        {
            let nonce = Uint8Array::from(&nonce[..]);
            self.segments.push_back(self.file.0.segment(offset as f64, len as u32, nonce).into());
            self.begun += 1;
        }
    }
}

impl Recording {
    /// Of the items of the archive with this id; `None` if they can't be kept.
    pub fn begin(open: &Open, archive: &str) -> Option<Recording> {
        let (cache, archive): (_, ArchiveId) = (open.item_cache.as_ref()?, archive.parse().ok()?);
        let nonce: [u8; FILE_NONCE_BYTES] = cache.random(FILE_NONCE_BYTES as u32).to_vec().try_into().ok()?;
        let packing = Packing::new(&open.keys, open.repository.id(), archive, &nonce)?;
        let head = Uint8Array::from(&packing.head()[..]);
        let file = cache.create(&name(open, archive), head, Uint8Array::from(&packing.key().bytes()[..]));
        Some(Recording { packing, file: Unfinished(Some(file)) })
    }

    /// Goes on with these items; `None` if something is wrong with them.
    pub fn with(mut self, items: &mut EncodedItems) -> Option<Recording> {
        for segment in self.packing.add(&items.to_block()?) {
            self.file.add(segment);
        }
        Some(self)
    }

    /// All items were read, and all are right.
    pub async fn finish(self) {
        let Recording { packing, mut file } = self;
        file.add(packing.finish());
        if let Some(file) = file.0.take() {
            let _ = JsFuture::from(file.finish()).await; // or else they are read again next time
        }
    }
}

impl Unfinished {
    fn add(&self, Segment { nonce, plaintext }: Segment) {
        if let Some(file) = &self.0 {
            file.add(Uint8Array::from(&nonce[..]), Uint8Array::from(&plaintext[..]));
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            file.abandon();
        }
    }
}

/// A file's name: the repository's id and the archive's.
fn name(open: &Open, archive: ArchiveId) -> String {
    format!("{}-{archive}", open.repository.id())
}
