//! What `check` found, in Borg's words.

use crate::app::App;
use crate::interrupt;
use crate::options::archive_filters::ArchiveFilters;
use crate::output::progress::{Label, Percent, Unit};
use portaborg_core::bytes::lossy;
use portaborg_core::check::{DataSummary, MissingChunks, PackFinding, PackSummary};

/// The two bars of the repository check, one after the other.
pub struct Progress<'a> {
    app: &'a App,
    bar: Option<(&'static str, Percent<'a>)>,
}

impl<'a> Progress<'a> {
    /// Nothing is shown yet.
    pub fn new(app: &'a App) -> Self {
        Progress { app, bar: None }
    }

    fn show(&mut self, msgid: &'static str, before: &'static str, total: usize) {
        if self.bar.as_ref().is_none_or(|(shown, _)| *shown != msgid) {
            self.end();
            let label = Label::whole(before);
            let bar = Percent::new(label, msgid, Unit::Count, total as u64, &self.app.log);
            self.bar = Some((msgid, bar));
        }
        if let Some((_, bar)) = &mut self.bar {
            bar.advance(1, None);
        }
    }

    /// Takes down what is shown.
    pub fn end(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish();
        }
    }
}

/// What the check of the files meets.
pub fn tell_packs<'a>(app: &'a App, progress: &mut Progress<'a>, finding: PackFinding<'_>) {
    match finding {
        PackFinding::IndexInvalid => {
            app.warning("chunk index is invalid (interrupted operation); it will be rebuilt on next use.");
        }
        PackFinding::Corrupt(key) => {
            app.error(&format!("Store object {key} is corrupted: content does not match its name (store hash)."))
        }
        PackFinding::FragmentCorrupt(key) => {
            app.error(&format!("Store object {key} is corrupted: it fails the authentication or does not deserialize."))
        }
        PackFinding::InvalidName(name) => app.error(&format!("Store object packs/{name} has an invalid name.")),
        PackFinding::NoCrossCheck => app.warning(
            "Cannot cross-check packs against the chunk index: the index could not be loaded from its fragments; \
             skipping missing-pack detection.",
        ),
        PackFinding::OrphanPacks(count) => app.info(&format!("{count} pack(s) are not referenced by the index.")),
        PackFinding::IndexProgress(_, total) => progress.show("check.index", "Checking index ", total),
        PackFinding::PackProgress(_, total) => progress.show("check.packs", "Checking packs ", total),
        PackFinding::IndexCorrupt => {
            app.error("Repository index is corrupted and must be repaired; skipping the pack check.");
        }
        PackFinding::PacksDone { complete: true, .. } => app.info("Finished checking packs."),
        PackFinding::PacksDone { complete: false, records } => {
            app.info(&format!("Finished partial repository check, {records} pack check results on record."));
        }
    }
}

/// The outcome of the check of the files.
pub fn tell_summary(app: &App, summary: &PackSummary, mode: &str) {
    let mut line = format!(
        "Checked {} index files ({} errors) and {} packs ({} errors).",
        summary.index_files, summary.index_errors, summary.pack_files, summary.pack_errors
    );
    if summary.pack_reused > 0 {
        line.push_str(&format!(" Reused {} recent pack check result(s).", summary.pack_reused));
    }
    app.info(&line);
    if !summary.missing.is_empty() {
        app.error(&format!("{} pack(s) referenced by the index are missing:", summary.missing.len()));
        for pack in &summary.missing {
            app.error(&format!("Missing pack: {pack}"));
        }
        app.error("The chunks stored in these packs are lost.");
        app.error("Run \"borg check --repair\" to remove their entries from the repository index.");
    }
    if !summary.corrupt.is_empty() {
        app.error(&format!("Found {} corrupt pack(s):", summary.corrupt.len()));
        for pack in &summary.corrupt {
            app.error(&format!("Corrupt pack: {pack}"));
        }
    }
    let (done, so_far) = if interrupt::requested() { ("Interrupted", " so far") } else { ("Finished", "") };
    let found = if summary.is_clean() { "no problems found" } else { "errors found" };
    app.say(summary.is_clean(), &format!("{done} {mode} repository check, {found}{so_far}."));
}

/// The outcome of the verification of all data.
pub fn tell_data(app: &App, summary: DataSummary, total: usize) {
    if summary.defects > 0 {
        app.warning("Found defect chunks. Run with --repair to remove them.");
    }
    let DataSummary { verified, errors, .. } = summary;
    app.say(
        errors == 0,
        &if summary.interrupted {
            format!(
                "Interrupted cryptographic data integrity verification, \
                 verified {verified} of {total} chunks with {errors} integrity errors."
            )
        } else {
            format!(
                "Finished cryptographic data integrity verification, \
                 verified {verified} chunks with {errors} integrity errors."
            )
        },
    );
}

/// Chunks that are missing, with the files that lack them.
pub fn tell_missing(app: &App, missing: &MissingChunks) {
    if missing.chunks.is_empty() {
        return;
    }
    app.error("The following chunks are missing in the repository:");
    for (id, chunk) in &missing.chunks {
        app.error(&format!("- Chunk {id}, {}", app.units().display(chunk.size)));
        for (path, archives) in &chunk.files {
            app.error(&format!("    - {}: {}", lossy(path).0, archives.join(", ")));
        }
        if chunk.truncated {
            app.error(&format!("    - ... (only the first {} files are listed)", chunk.files.len()));
        }
    }
    if missing.truncated {
        app.error(&format!(
            "... (only the first {} missing chunks are listed; {} missing chunk references total)",
            missing.chunks.len(),
            missing.references
        ));
    }
}

/// Filters that leave less than they were asked for.
pub fn warn_of_too_few(app: &App, filters: &ArchiveFilters, found: usize) {
    if !filters.match_archives.is_empty() && found == 0 {
        app.warning(&format!("--match-archives {:?} does not match any archives", filters.match_archives));
    }
    for (option, wanted) in [("first", filters.first), ("last", filters.last)] {
        if let Some(wanted) = wanted.filter(|&wanted| found < wanted) {
            app.warning(&format!("--{option} {wanted} archives: only found {found} archives"));
        }
    }
}
