//! Borg 2 repositories in browsers and in Node: the module behind the npm package `portaborg`.
//!
//! This crate lends [`portaborg_core`] what it needs from JavaScript: a place to read from ([`Source`]), promises to wait for,
//! someone to tell ([`Sink`]), a fast block cipher ([`Cipher`]), and a place for what was read before ([`ItemCache`]). Its exports are for the package's worker alone; people use the package:
//!
//! ```js
//! import { openRepository, sources } from 'portaborg'
//!
//! const repo = await openRepository(await sources.directory('/mnt/backup'), { passphrase: 'secret' })
//! const archive = await repo.archive('documents')
//! for await (const item of archive.items()) console.log(item.path, item.size)
//! ```
//!
//! # How work is done
//!
//! One [`Repository`] serves many calls at once; each has a reader and a window of its own, and shares the chunk index.
//! A call that gives many results is one future: it hands each result to its sink and goes on when the sink's promise is
//! fulfilled, which is how back-pressure comes from a stream's consumer to the reads, and cancellation, too. Nothing here
//! waits but for JavaScript's promises, and nothing is kept of a call when its future has ended.
//!
//! Decisions, limits and the order of things are those of the native program, because they are made in core: which chunks are
//! in flight and in which order they leave is for [`portaborg_core::extract::Window`] to say.
//!
//! The crate also builds for other targets, where calling it panics: there is no JavaScript to call.

#![deny(missing_docs, rustdoc::broken_intra_doc_links)]

mod ahead;
mod archive;
mod batch;
mod cipher;
mod content;
mod damage;
mod engine;
mod failure;
mod filter;
mod folder;
mod item_cache;
mod items;
mod keys;
mod repository;
mod restore;
mod sink;
mod source;
mod verify;

pub use cipher::Cipher;
pub use item_cache::ItemCache;
pub use repository::Repository;
pub use sink::Sink;
pub use source::Source;
