//! Borg 2 repositories: the whole format and every operation on it, and nothing else.
//!
//! This crate does no I/O, starts no thread, reads no clock and draws no randomness of its own: a *face* (the native
//! program, WebAssembly) lends it those through [`store::Store`] and arguments. It is `no_std` with `alloc`.
//!
//! # Example
//!
//! The archives of a repository in a folder, and the files in the first one:
//!
//! ```no_run
//! use portaborg_core::codec::PureRust;
//! use portaborg_core::crypto::Kdf;
//! use portaborg_core::name::{Entry, Key, Namespace};
//! use portaborg_core::object::Opener;
//! use portaborg_core::repo::{self, ChunkReader, ItemStream, Repository};
//! use portaborg_core::store::{BlockingStore, Ready, StoreError, StoreErrorKind, now};
//! use std::{fs, io};
//!
//! struct Folder(&'static str);
//!
//! impl BlockingStore for Folder {
//!     fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
//!         let stored = fs::read(format!("{}/{}", self.0, key.path())).map_err(|error| StoreError {
//!             name: key.to_string(),
//!             kind: match error.kind() {
//!                 io::ErrorKind::NotFound => StoreErrorKind::NotFound,
//!                 _ => StoreErrorKind::Failed,
//!             },
//!             detail: error.to_string(),
//!         })?;
//!         Ok(stored.into_iter().skip(offset as usize).take(len).collect())
//!     }
//!
//!     fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
//!         let files = fs::read_dir(format!("{}/{}", self.0, namespace.name())).into_iter().flatten();
//!         Ok(files.flatten().filter_map(|file| Entry::from_name(file.file_name().to_str()?, 0, None)).collect())
//!     }
//! }
//!
//! let repository = now(Repository::open(Ready(Folder("/backup"))))?;
//! let suite = repository.config.suite.ok_or("no suite")?;
//! let sources = now(repo::repository_keys(&repository.store, repository.id()))?;
//! let unlocked = repo::unlock(&sources, b"passphrase", Kdf::Stored, suite, repository.id())?;
//! let mut opener = Opener::new(&unlocked.keys, &PureRust);
//! let index = now(repo::load_index(&repository, &mut opener, &mut |damage| eprintln!("{damage:?}")))?;
//! let mut reader = ChunkReader::new(&repository, &unlocked.keys, &PureRust, index);
//! for archive in now(repo::list_archives(&mut reader, false))?.archives {
//!     let meta = archive.meta?;
//!     println!("{} {}", archive.id, String::from_utf8_lossy(&meta.name));
//!     let mut items = ItemStream::new(&meta.item_ptrs);
//!     while let Some(item) = now(items.next(&mut reader)) {
//!         println!("    {}", String::from_utf8_lossy(&item?.path));
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Code map
//!
//! A floor imports only from the floors below it.
//!
//! | floor | modules |
//! | - | - |
//! | 0 ground | [`bytes`] [`exec`] [`id`] [`limits`] [`random`] [`time`] [`tuning`] |
//! | 1 transforms: bytes to bytes, texts | [`chunk`] [`codec`] [`crypto`] [`ini`] [`msgpack`] [`text`] |
//! | 2 formats: bytes to types | [`archive`] [`config`] [`defaults`] [`files_cache`] [`index`] [`input_map`] [`item`] [`item_cache`] [`key`] [`listing`] [`lock`] [`name`] [`object`] [`pattern`] [`placeholder`] [`references`] [`select`] [`store_object`] [`table`] |
//! | 3 doors | [`store`] |
//! | 4 doing | [`check`] [`compact`] [`create`] [`diff`] [`extract`] [`repo`] |

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs, rustdoc::broken_intra_doc_links)]

extern crate alloc;

#[cfg(feature = "std")]
extern crate std;

pub mod bytes;
pub mod exec;
pub mod id;
pub mod limits;
pub mod random;
pub mod time;
pub mod tuning;

pub mod chunk;
pub mod codec;
pub mod crypto;
pub mod ini;
pub mod msgpack;
pub mod text;

pub mod archive;
pub mod config;
pub mod defaults;
pub mod files_cache;
pub mod index;
pub mod input_map;
pub mod item;
pub mod item_cache;
pub mod key;
pub mod listing;
pub mod lock;
pub mod name;
pub mod object;
pub mod pattern;
pub mod placeholder;
pub mod references;
pub mod select;
pub mod store_object;
pub mod table;

pub mod store;

pub mod check;
pub mod compact;
pub mod create;
pub mod diff;
pub mod extract;
pub mod repo;
