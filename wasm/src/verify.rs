//! Verifying a repository: packs, chunks, archives, and which files it hits (repository layer, section 7.2).

use crate::ahead::Flights;
use crate::archive::{self, shown_name};
use crate::failure::{Failure, Fault};
use crate::held::Held;
use crate::items::Items;
use crate::repository::{Hands, Open, Reader};
use crate::sink::Sink;
use portaborg_core::bytes::lossy;
use portaborg_core::check::{CheckedPacks, DataFinding, PackCheck, PackFinding, Verification, check_packs};
use portaborg_core::extract::{Purpose, ReadAhead};
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::item::Item;
use portaborg_core::repo::{DefaultsError, ReadError};
use portaborg_core::time::Timestamp;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Entries of one list of the report; a lost disk must not exhaust the memory.
const MAX_LISTED: usize = 10_000;
/// How far reading may run ahead: nothing is kept of what is verified.
const AHEAD: ReadAhead = ReadAhead { held_bytes: 32 << 20, read_bytes: 1 << 20 };

/// What was found.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether nothing is wrong.
    ok: bool,
    /// Whether it was stopped before its end.
    interrupted: bool,
    /// Packs and index fragments whose hashes were compared.
    files: usize,
    /// Chunks that were read; without `data`, none are.
    chunks: usize,
    /// What is wrong with objects: packs, fragments, chunks.
    objects: Vec<Failure>,
    /// Archives with something wrong.
    archives: Vec<ArchiveReport>,
    /// Whether there is more than is listed.
    truncated: bool,
}

/// What is wrong with an archive.
#[derive(Serialize)]
struct ArchiveReport {
    id: String,
    name: String,
    /// Its metadata, or parts of its item stream.
    problems: Vec<Failure>,
    /// Files that are not whole.
    files: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    /// What is wrong with the first chunk that can't be had.
    problem: Failure,
    /// How many chunks can't be had.
    broken: usize,
}

/// How far it has come.
#[derive(Serialize)]
struct Progress {
    step: &'static str,
    done: usize,
    total: usize,
}

/// Chunks that are known to be broken or lost.
type Broken = HashMap<ChunkId, Failure>;

/// Compares the hash of every pack, with `data` verifies every chunk, and looks which files of which archives can't be had whole.
pub async fn run(open: &Open, data: bool, sink: &Sink) -> Result<Report, Failure> {
    let mut report = Report::default();
    let mut reader = open.reader();
    defaults(&mut reader, &mut report).await?;
    packs(&mut reader, sink, &mut report).await?;
    let mut broken = Broken::new();
    if data && !report.interrupted {
        chunks(&mut reader, open.hands.clone(), sink, &mut report, &mut broken).await?;
    }
    if !report.interrupted {
        archives(&mut reader, &open.hands, sink, &mut report, &broken).await?;
    }
    report.ok = !report.interrupted && report.objects.is_empty() && report.archives.is_empty();
    open.keep_index(&reader);
    Ok(report)
}

async fn defaults(reader: &mut Reader<'_>, report: &mut Report) -> Result<(), Failure> {
    match reader.repository.defaults(&mut reader.opener).await {
        Ok(_) => Ok(()),
        Err(DefaultsError::Store(error)) => Err(Failure::store(error)),
        Err(error) => {
            report.add(Failure::defaults(error));
            Ok(())
        }
    }
}

async fn packs(reader: &mut Reader<'_>, sink: &Sink, report: &mut Report) -> Result<(), Failure> {
    let ask = PackCheck { max_age_secs: None, max_duration_secs: None };
    let mut objects = Vec::new();
    let mut stopped = false;
    let mut observe = |finding: PackFinding<'_>| {
        let progress = match finding {
            PackFinding::Corrupt(key) | PackFinding::FragmentCorrupt(key) => {
                let text = format!("Data integrity error: {key} is corrupt.");
                objects.push(Failure::new(Fault::Damaged, "IntegrityError", key, text));
                return ControlFlow::Continue(());
            }
            PackFinding::InvalidName(name) => {
                let text = format!("packs/{name} is not the name of a pack.");
                objects.push(Failure::new(Fault::Damaged, "IntegrityError", format_args!("packs/{name}"), text));
                return ControlFlow::Continue(());
            }
            PackFinding::IndexProgress(done, total) => Progress { step: "index", done, total },
            PackFinding::PackProgress(done, total) => Progress { step: "packs", done, total },
            _ => return ControlFlow::Continue(()),
        };
        stopped = !sink.progress(&progress);
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut records = CheckedPacks::default();
    let (repository, opener) = (reader.repository, &mut reader.opener);
    let summary = check_packs(repository, opener, ask, &mut records, &time, &mut observe).await;
    let summary = summary.map_err(Failure::store)?;
    objects.extend(summary.missing.iter().map(missing));
    report.files = summary.index_files + summary.pack_files;
    report.interrupted = stopped;
    objects.into_iter().for_each(|failure| report.add(failure));
    Ok(())
}

async fn chunks(
    reader: &mut Reader<'_>,
    hands: Hands,
    sink: &Sink,
    report: &mut Report,
    broken: &mut Broken,
) -> Result<(), Failure> {
    let mut lost = HashSet::new();
    let mut defects = Vec::new();
    let mut observe = |finding: DataFinding<'_>| match finding {
        DataFinding::Defect(id, error) => {
            defects.push((id, Failure::read(error.clone(), id)));
            ControlFlow::Continue(())
        }
        DataFinding::PackMissing(pack, _) => {
            lost.insert(pack);
            ControlFlow::Continue(())
        }
        DataFinding::Progress(done, total) => match sink.progress(&Progress { step: "chunks", done, total }) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        },
    };
    let mut verification = Verification::new(reader, AHEAD);
    let mut flights = Flights::new(Purpose::Verification, hands);
    loop {
        while flights.have_room()
            && let Some(fetch) = verification.next_fetch(&reader.index)
        {
            flights.begin(fetch, &reader.repository.store);
        }
        if let Some(unpacked) = flights.land(&mut reader.opener).await {
            verification.finish(unpacked.map(Held::into_vec));
        }
        let judged = verification.judge(reader, &mut observe).await.map_err(Failure::store)?;
        if judged.is_break() || verification.is_done() {
            break;
        }
    }
    report.chunks = verification.summary.verified;
    report.interrupted = verification.summary.interrupted;
    for (id, failure) in defects {
        report.add(failure.clone());
        broken.insert(id, failure);
    }
    for (id, location) in reader.index.iter().filter(|(_, location)| lost.contains(&location.pack)) {
        broken.insert(id, missing(&location.pack));
    }
    Ok(())
}

async fn archives(
    reader: &mut Reader<'_>,
    hands: &Hands,
    sink: &Sink,
    report: &mut Report,
    broken: &Broken,
) -> Result<(), Failure> {
    let listing = archive::list(reader, false).await?;
    for stray in listing.strays {
        let text = format!("archives/{stray} is not the name of an archive.");
        report.add(Failure::new(Fault::Damaged, "IntegrityError", format_args!("archives/{stray}"), text));
    }
    let total = listing.archives.len();
    for (done, entry) in listing.archives.into_iter().enumerate() {
        let id = entry.id.to_string();
        let mut of_archive =
            ArchiveReport { name: shown_name(&entry), problems: Vec::new(), files: Vec::new(), id: id.clone() };
        match entry.meta {
            Err(problem) => of_archive.problems.push(Failure::archive(problem, id)),
            Ok(meta) => {
                let mut items = Items::new(&meta.item_ptrs, hands.clone());
                while let Some(next) = items.next(reader).await {
                    let some: Vec<_> = match next {
                        Ok(some) => some.collect(),
                        Err(problem) => vec![Err(problem)],
                    };
                    for item in some {
                        match item {
                            Err(problem) => of_archive.problems.push(Failure::items(problem, &id)),
                            Ok(item) => of_archive.files.extend(of_file(&item, reader, broken)),
                        }
                        report.truncated |= of_archive.cut();
                    }
                    if !sink.progress(&Progress { step: "archives", done, total }) {
                        report.interrupted = true;
                        break;
                    }
                }
            }
        }
        if !of_archive.problems.is_empty() || !of_archive.files.is_empty() {
            report.archives.push(of_archive);
        }
        if report.interrupted || !sink.progress(&Progress { step: "archives", done: done + 1, total }) {
            report.interrupted = true;
            break;
        }
    }
    Ok(())
}

fn of_file(item: &Item, reader: &Reader<'_>, broken: &Broken) -> Option<FileReport> {
    let wrong = |id: ChunkId| match broken.get(&id) {
        Some(failure) => Some(failure.clone()),
        None if reader.index.get(&id).is_none() => Some(Failure::read(ReadError::NotIndexed, id)),
        None => None,
    };
    let mut problems = item.chunks.iter().flatten().filter_map(|chunk| wrong(chunk.id));
    let problem = problems.next()?;
    Some(FileReport { path: lossy(&item.path).0.into_owned(), problem, broken: 1 + problems.count() })
}

fn missing(pack: &PackId) -> Failure {
    let text = format!("Pack {pack} is missing.");
    Failure::new(Fault::Damaged, "Repository.PackNotFound", format_args!("packs/{pack}"), text)
}

fn time() -> Timestamp {
    Timestamp { secs: (js_sys::Date::now() / 1000.0) as i64, nanos: 0 }
}

impl Report {
    fn add(&mut self, failure: Failure) {
        if self.objects.len() < MAX_LISTED { self.objects.push(failure) } else { self.truncated = true }
    }
}

impl ArchiveReport {
    /// Keeps the lists short; `true` if something had to go.
    fn cut(&mut self) -> bool {
        let is_long = self.problems.len() > MAX_LISTED || self.files.len() > MAX_LISTED;
        self.problems.truncate(MAX_LISTED);
        self.files.truncate(MAX_LISTED);
        is_long
    }
}
