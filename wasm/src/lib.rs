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
//! Workers with a module each help where there are several ([`Crew`]): the one that has the repository reads, keeps the order
//! and hands out; they decrypt, decompress and verify.
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
mod crew;
mod damage;
mod diff;
mod engine;
mod failure;
mod filter;
mod folder;
mod held;
mod item_cache;
mod items;
#[cfg(feature = "kernels")]
mod kernels;
mod keys;
#[cfg(feature = "threads")]
mod pool;
mod repository;
mod restore;
mod sink;
mod source;
mod verify;
#[cfg(feature = "write")]
mod write;

pub use cipher::Cipher;
pub use crew::{Crew, Inbox, help};
pub use item_cache::ItemCache;
#[cfg(feature = "threads")]
pub use pool::{enter, make_pool};
pub use repository::Repository;
pub use sink::Sink;
pub use source::Source;
#[cfg(feature = "write")]
pub use write::{Feed, Target, Writer};
