//! Borg 2 repositories: the whole format and every operation on it, and nothing else.
//!
//! This crate does no I/O, starts no thread, reads no clock and draws no randomness of its own: a *face* (the native
//! program, WebAssembly) lends it those through [`store::Store`] and arguments. It is `no_std` with `alloc`.
//!
//! # Code map
//!
//! A floor imports only from the floors below it.
//!
//! | floor | modules |
//! | - | - |
//! | 0 ground | [`bytes`] [`id`] [`limits`] [`time`] |
//! | 1 transforms: bytes to bytes, texts | [`codec`] [`crypto`] [`msgpack`] [`text`] |
//! | 2 formats: bytes to types | [`archive`] [`config`] [`defaults`] [`index`] [`item`] [`key`] [`lock`] [`name`] [`object`] [`pattern`] [`placeholder`] [`select`] [`store_object`] [`table`] |
//! | 3 doors | [`store`] |
//! | 4 doing | [`check`] [`repo`] |

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs, rustdoc::broken_intra_doc_links)]

extern crate alloc;

#[cfg(feature = "std")]
extern crate std;

pub mod bytes;
pub mod id;
pub mod limits;
pub mod time;

pub mod codec;
pub mod crypto;
pub mod msgpack;
pub mod text;

pub mod archive;
pub mod config;
pub mod defaults;
pub mod index;
pub mod item;
pub mod key;
pub mod lock;
pub mod name;
pub mod object;
pub mod pattern;
pub mod placeholder;
pub mod select;
pub mod store_object;
pub mod table;

pub mod store;

pub mod check;
pub mod repo;
