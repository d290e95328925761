//! Making an archive of what a feed gives (data layer, sections 9 and 10).

use super::client::{now, of_millis};
use super::cut::Cutter;
use super::entry::Entry;
use super::failure::{write_failure, written};
use super::lock::Held;
use super::{ENGINE, Open, Reader, Target};
use crate::failure::{Failure, Fault};
use crate::sink::{Sink, json};
use js_sys::{Date, Promise, Reflect, Uint8Array};
use portaborg_core::archive::{ArchiveMeta, Stamp, archive_name, comment, tag};
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::codec::{Compression, Engine};
use portaborg_core::defaults::{BUILTIN_CHUNKER_PARAMS, BUILTIN_COMPRESSION};
use portaborg_core::item::Item;
use portaborg_core::repo::{
    ArchiveWriter, ChunkWriter, PackLimits, PreparedArchive, SizeRule, Tally, load_index_to_add,
};
use portaborg_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// What an archive is made of, one after another: `next()` promises an entry as JSON, or a `Uint8Array` of the content of
    /// the entry before it, or `null` where there is no more. Its rejection ends the archive.
    pub type Feed;

    #[wasm_bindgen(method, structural, catch)]
    fn next(this: &Feed) -> Result<Promise, JsValue>;
}

/// What is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    name: String,
    compression: Option<String>,
    chunker_params: Option<String>,
    #[serde(default)]
    comment: String,
    #[serde(default)]
    tags: Vec<String>,
    /// In milliseconds since 1970.
    time: Option<f64>,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    command_line: String,
    cwd: Option<String>,
}

/// How far it is, and in the end what there is.
#[derive(Serialize, Default, Clone)]
struct Progress {
    items: u64,
    files: u64,
    bytes: u64,
}

/// What is said of the new archive.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    id: String,
    name: String,
    time: String,
    items: u64,
    nfiles: u64,
    size: u64,
    deduplicated_size: u64,
}

/// Makes an archive. After a failure there is none, but what was stored for it is found by the next one.
pub async fn run(open: &Open, options: &str, feed: &Feed, sink: &Sink) -> Result<String, Failure> {
    let started = now();
    let options = Options::parse(options)?;
    let params: ChunkerParams =
        open.chosen("chunker_params", options.chunker_params.as_deref(), BUILTIN_CHUNKER_PARAMS).await?;
    let compression: Compression =
        open.chosen("compression", options.compression.as_deref(), BUILTIN_COMPRESSION).await?;
    let compressor = compression.compressor;
    ENGINE
        .check_level(compressor.algorithm(), compressor.level())
        .map_err(|error| Failure::new(Fault::Misuse, "CommandError", "compression", format_args!("{error}.")))?;
    let creation = Creation { open, options, params, compression, started };
    let mut held = open.lock(false).await?;
    let made = creation.create(feed, sink, &mut held).await;
    held.release().await;
    Ok(json(&made?))
}

/// What is known before anything is stored.
struct Creation<'o> {
    open: &'o Open,
    options: Options,
    params: ChunkerParams,
    compression: Compression,
    started: Timestamp,
}

impl Creation<'_> {
    async fn create(&self, feed: &Feed, sink: &Sink, held: &mut Held<'_>) -> Result<Facts, Failure> {
        let Creation { open, options, params, .. } = self;
        let mut observe = |damage| open.warn(damage);
        let loaded = load_index_to_add(&open.repository, &mut open.opener(), &mut observe).await;
        let loaded = loaded.map_err(Failure::index)?;
        let reader = Reader::new(&open.repository, &open.keys, &ENGINE, loaded.index);
        let mut writer = ChunkWriter::new(reader, open.sealer()?, &ENGINE, self.compression, PackLimits::default());
        if loaded.is_rebuilt {
            writer.save_all();
        }
        let mut archiving = Archiving {
            writer: &mut writer,
            archive: ArchiveWriter::new(&open.keys),
            cutter: Cutter::new(Chunker::new(params, &open.keys)),
            content: Tally::default(),
            done: Progress::default(),
            index_saved: Date::now(),
            held: &mut *held,
        };
        let archived = archiving.run(feed, sink).await;
        let Archiving { archive, mut content, done, .. } = archiving;
        if let Err(failure) = archived {
            // Without the lock, what was added may be gone already.
            if held.assert_held().await.is_ok() {
                let _ = writer.save_index().await; // the failure that counts is the first one
            }
            return Err(failure);
        }
        let meta = options.meta(params, self.started, &content, &done);
        let prepared = archive.prepare(meta, SizeRule::WithoutLastItems, &mut writer).await.map_err(write_failure)?;
        held.assert_held().await?;
        prepared.commit(&open.repository.store).await.map_err(written)?;
        content += prepared.metadata;
        // What fails here is done by the next one.
        let _ = writer.consolidate().await;
        Ok(Facts::of(&prepared, &content, &done))
    }
}

/// An archive in the making.
struct Archiving<'a, 'o, 'h> {
    writer: &'a mut ChunkWriter<'o, Target>,
    archive: ArchiveWriter,
    cutter: Cutter,
    content: Tally,
    done: Progress,
    index_saved: f64,
    held: &'a mut Held<'h>,
}

impl Archiving<'_, '_, '_> {
    async fn run(&mut self, feed: &Feed, sink: &Sink) -> Result<(), Failure> {
        let mut current: Option<(Item, bool)> = None;
        loop {
            let given = JsFuture::from(feed.next().map_err(fed)?).await.map_err(fed)?;
            if let Some(piece) = given.dyn_ref::<Uint8Array>() {
                match &current {
                    Some((_, true)) => {}
                    _ => return Err(Failure::argument("content")),
                }
                self.done.bytes += u64::from(piece.length());
                self.cutter.add(&piece.to_vec(), self.writer, &mut self.content).await?;
            } else {
                if let Some((item, has_content)) = current.take() {
                    self.add(item, has_content).await?;
                }
                match given.as_string() {
                    Some(text) => current = Some(Entry::parse(&text)?.into_item(now())?),
                    None => return Ok(()),
                }
            }
            if !sink.progress(&self.done) {
                return Err(Failure::new(Fault::Misuse, "Error", "create", "The archive is not wanted any more."));
            }
            self.stay_alive().await?;
        }
    }

    /// Adds an item whose content is complete.
    async fn add(&mut self, mut item: Item, has_content: bool) -> Result<(), Failure> {
        if has_content {
            item.chunks = Some(self.cutter.finish(self.writer, &mut self.content).await?);
            item.size = Some(item.content_size());
            self.done.files += 1;
        }
        self.archive.add(&item, self.writer).await.map_err(write_failure)?;
        self.done.items += 1;
        Ok(())
    }

    /// Keeps the lock alive, and what was added from being lost.
    async fn stay_alive(&mut self) -> Result<(), Failure> {
        self.held.refresh().await?;
        if Date::now() - self.index_saved >= INDEX_MILLIS {
            self.writer.save_index().await.map_err(written)?;
            self.index_saved = Date::now();
        }
        Ok(())
    }
}

impl Options {
    fn parse(text: &str) -> Result<Options, Failure> {
        let mut options: Options = serde_json::from_str(text).map_err(|_| Failure::argument("options"))?;
        let refused =
            |what: &str, why: String| Failure::new(Fault::Misuse, "CommandError", what, format_args!("{why}."));
        options.name = archive_name(&options.name).map_err(|why| refused("name", why))?;
        options.comment = comment(&options.comment).map_err(|why| refused("comment", why))?;
        for one in &options.tags {
            tag(one).map_err(|why| refused("tags", why))?;
        }
        options.tags.sort_unstable();
        options.tags.dedup();
        Ok(options)
    }

    fn meta(&self, params: &ChunkerParams, started: Timestamp, content: &Tally, done: &Progress) -> ArchiveMeta {
        ArchiveMeta {
            name: self.name.clone().into_bytes(),
            comment: self.comment.clone().into_bytes(),
            tags: self.tags.iter().map(|tag| tag.clone().into_bytes()).collect(),
            item_ptrs: Vec::new(),
            command_line: self.command_line.clone().into_bytes(),
            cwd: self.cwd.clone().map(String::into_bytes),
            hostname: self.hostname.clone().into_bytes(),
            username: self.username.clone().into_bytes(),
            time: Stamp::utc(self.time.map_or(started, of_millis)),
            start: Stamp::utc(started),
            end: Stamp::utc(now()),
            chunker_params: Some(params.into()),
            size: content.original,
            nfiles: done.files,
            recreate_command_line: None,
            unknown: Vec::new(),
        }
    }
}

impl Facts {
    fn of(PreparedArchive { id, meta, .. }: &PreparedArchive, sizes: &Tally, done: &Progress) -> Facts {
        Facts {
            id: id.to_string(),
            name: String::from_utf8_lossy(&meta.name).into_owned(),
            time: meta.time.text.clone(),
            items: done.items,
            nfiles: meta.nfiles,
            size: meta.size,
            deduplicated_size: sizes.deduplicated,
        }
    }
}

/// The caller's entries or contents failed.
fn fed(error: JsValue) -> Failure {
    let text = Reflect::get(&error, &"message".into()).ok().and_then(|message| message.as_string());
    let text = text.or_else(|| error.as_string()).unwrap_or_else(|| "the entries failed".into());
    Failure::new(Fault::Misuse, "BackupError", "entries", format_args!("{text}."))
}

/// How often the index of what was added is stored, so that what dies need not be repeated from the beginning.
const INDEX_MILLIS: f64 = 600_000.0;
