//! What the tests of this crate share: vectors, a store in memory, and repositories made by hand.

#![allow(dead_code, unreachable_pub)] // each test program uses a part of it, as its own

pub mod build;
pub mod made;
pub mod memory;
pub mod msgpack;
pub mod shake;

use memory::MemoryStore;
use portaborg_core::crypto::{Keys, Sessions, Suite};
use portaborg_core::id::RepositoryId;
use serde_json::Value;

/// The vectors of the repository layer.
pub fn repository_vectors() -> Value {
    serde_json::from_str(include_str!("../vectors/repository.json")).unwrap()
}

/// The vectors of the data layer.
pub fn data_vectors() -> Value {
    serde_json::from_str(include_str!("../vectors/data.json")).unwrap()
}

/// Bytes from hexadecimal digits.
pub fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// A text of the vectors.
pub fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no text {pointer}"))
}

/// Bytes of the vectors.
pub fn bytes(value: &Value, pointer: &str) -> Vec<u8> {
    unhex(text(value, pointer))
}

/// Exactly `N` bytes of the vectors.
pub fn array<const N: usize>(value: &Value, pointer: &str) -> [u8; N] {
    bytes(value, pointer).try_into().unwrap()
}

/// The id of the repository that all vectors have.
pub fn repository_id() -> RepositoryId {
    text(&repository_vectors(), "/key/repository_id").parse().unwrap()
}

/// One of the six suites, with the vectors for it.
pub struct SuiteVectors {
    /// `<encryption>/<id_hash>`.
    pub name: String,
    /// The suite.
    pub suite: Suite,
    /// Its secrets.
    pub keys: Keys,
    /// Ready for any envelope.
    pub sessions: Sessions,
    /// Everything that is known of it.
    pub values: Value,
}

/// All six suites.
pub fn suites() -> Vec<SuiteVectors> {
    let vectors = repository_vectors();
    let key = &vectors["key"];
    let suites = vectors["suites"].as_object().unwrap();
    assert_eq!(suites.len(), 6);
    let suites = suites.iter().map(|(name, values)| {
        let suite = Suite::from_names(text(values, "/encryption"), text(values, "/id_hash")).unwrap();
        let seed = key["chunk_seed"].as_i64().unwrap() as i32;
        let keys = Keys::new(suite, array(key, "/crypt_key"), array(key, "/id_key"), seed);
        SuiteVectors { name: name.clone(), suite, keys, sessions: Sessions::new(), values: values.clone() }
    });
    suites.collect()
}

impl SuiteVectors {
    /// The repository that the vectors describe, as a client left it.
    pub fn repository(&self) -> MemoryStore {
        let store = MemoryStore::default();
        let key_text = text(&repository_vectors(), "/key/keyfile_text").to_owned();
        let key_name = text(&repository_vectors(), "/key/keyfile_name").to_owned();
        store.put("config/config", text(&self.values, "/config_text"));
        store.put("config/defaults", bytes(&self.values, "/config_defaults/envelope"));
        store.put(&format!("keys/{key_name}"), key_text);
        store.put(
            &format!("index/{}", text(&self.values, "/index_fragment/name")),
            bytes(&self.values, "/index_fragment/envelope"),
        );
        store.put(&format!("archives/{}", text(&self.values, "/archive/id")), "");
        for pack in self.values["packs"].as_array().unwrap() {
            let id = text(pack, "/id");
            store.put(&format!("packs/{}/{id}", &id[..2]), bytes(pack, "/bytes"));
        }
        store
    }
}
