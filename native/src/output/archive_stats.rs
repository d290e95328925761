//! What is said of an archive that was just made (command line, sections 3.5 and 4.6).

use crate::app::App;
use crate::output::display::duration;
use crate::output::display::size::Units;
use crate::output::display::time;
use crate::output::json::Object;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::bytes::lossy;
use portaborg_core::id::ArchiveId;
use portaborg_core::repo::Tally;
use std::collections::BTreeMap;
use std::time::Duration;

/// What was counted while an archive was made.
#[derive(Debug, Clone, Default)]
pub struct ArchiveStats {
    /// Sizes of contents, and at the end of the archive's description.
    pub sizes: Tally,
    /// Files.
    pub nfiles: u64,
    /// Time spent on chunk ids.
    pub hashing: Duration,
    /// Time spent on reading and cutting.
    pub chunking: Duration,
    /// How often each status occurred.
    pub files: BTreeMap<char, u64>,
}

impl ArchiveStats {
    /// The lines of `--stats`, without those of the store.
    pub fn lines(&self, units: Units) -> Vec<String> {
        let count = |status: char| self.files.get(&status).copied().unwrap_or_default();
        vec![
            format!("Number of files: {}", self.nfiles),
            format!("Original size: {}", units.display(self.sizes.original)),
            format!("Deduplicated size: {}", units.display(self.sizes.deduplicated)),
            format!("Time spent in hashing: {}", duration::display(self.hashing)),
            format!("Time spent in chunking: {}", duration::display(self.chunking)),
            format!("Added files: {}", count('A')),
            format!("Unchanged files: {}", count('U')),
            format!("Modified files: {}", count('M')),
            format!("Error files: {}", count('E')),
            format!("Files changed while reading: {}", count('C')),
        ]
    }

    /// The object `stats`; `store` is what was asked of the store.
    pub fn json(&self, store: Object) -> Object {
        let mut files = Object::new();
        for (status, count) in &self.files {
            files.set(&status.to_string(), *count);
        }
        Object::new()
            .with("original_size", self.sizes.original)
            .with("deduplicated_size", self.sizes.deduplicated)
            .with("nfiles", self.nfiles)
            .with("hashing_time", self.hashing.as_secs_f64())
            .with("chunking_time", self.chunking.as_secs_f64())
            .with("files_stats", files)
            .with("store_stats", store)
    }
}

/// The first lines of `--stats`: which archive it is.
pub fn heading(app: &App, location: &str, id: ArchiveId, meta: &ArchiveMeta) -> Vec<String> {
    let at = |stamp: &portaborg_core::archive::Stamp| time::display(stamp.time, &app.zone);
    vec![
        format!("Repository: {location}"),
        format!("Archive name: {}", lossy(&meta.name).0),
        format!("Archive fingerprint: {id}"),
        format!("Time (nominal): {}", at(&meta.time)),
        format!("Time (start):   {}", at(&meta.start)),
        format!("Time (end):     {}", at(&meta.end)),
        format!("Duration: {}", duration::display(took(meta))),
    ]
}

/// The object `archive` of `--json`.
pub fn json(app: &App, id: ArchiveId, meta: &ArchiveMeta, stats: Object) -> Object {
    let iso = |stamp: &portaborg_core::archive::Stamp| time::iso(stamp.time, &app.zone);
    let mut archive = Object::new();
    archive.set_raw("name", &meta.name);
    archive.set("id", id.to_string());
    archive.set("time", iso(&meta.time));
    archive.set("start", iso(&meta.start));
    archive.set("end", iso(&meta.end));
    archive.set("duration", took(meta).as_secs_f64());
    archive.set_raw("command_line", &meta.command_line);
    archive.with("stats", stats)
}

fn took(meta: &ArchiveMeta) -> Duration {
    let nanos = meta.end.time.as_nanos() - meta.start.time.as_nanos();
    Duration::from_nanos(u64::try_from(nanos).unwrap_or_default())
}
