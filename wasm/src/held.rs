//! Plaintexts, here or on the other side.

use js_sys::Uint8Array;
use portaborg_core::extract::{Buffer, Plain};
use std::borrow::Cow;

/// Bytes in the module's memory, or in JavaScript's, where those that came from a helper stay if they only pass through.
#[derive(Debug)]
pub enum Held {
    /// In the module's memory.
    Here(Vec<u8>),
    /// In an array of their own.
    There(Uint8Array),
}

impl Held {
    /// The bytes, brought here if they are not.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Held::Here(bytes) => Cow::Borrowed(bytes),
            Held::There(array) => Cow::Owned(array.to_vec()),
        }
    }

    /// The bytes, brought here if they are not.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Held::Here(bytes) => bytes,
            Held::There(array) => array.to_vec(),
        }
    }
}

/// The bytes of a chunk of which something is kept.
pub fn bytes_of(plain: &Plain<Held>) -> Cow<'_, [u8]> {
    match plain {
        Plain::Data(held) => held.bytes(),
        Plain::Zeros(len) => Cow::Owned(vec![0; *len]),
        Plain::Verified => Cow::Borrowed(&[]),
    }
}

impl Buffer for Held {
    fn len(&self) -> usize {
        match self {
            Held::Here(bytes) => bytes.len(),
            Held::There(array) => array.length() as usize,
        }
    }
}
