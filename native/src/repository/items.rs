//! What is wrong with an archive's items, told in Borg's words (command line, sections 3.2 and 3.3).

use crate::app::App;
use crate::failure::Failure;
use crate::repository::archives::{Archive, shown_name};
use portaborg_core::bytes::lossy;
use portaborg_core::item::ItemError;
use portaborg_core::repo::{ItemProblem, ReadError};
use portaborg_core::select::Candidate;

/// Tells of a part of an item stream that is missing from what the command gives; the command goes on with the rest. `done`
/// is what was not done to it, such as `extracted`.
pub fn report(app: &App, archive: &Archive, problem: &ItemProblem, done: &str, location: &str) {
    match problem {
        ItemProblem::Item(ItemError::UnsafePath { path }) => {
            let path = lossy(path).0;
            let text = format!("{path}: not {done}, path contains \"../\" (malicious or corrupted archive)");
            app.warn(109, "BackupPathTraversalError", &text);
        }
        ItemProblem::Pointers { id, source, .. } | ItemProblem::Chunk { id, source, .. } => {
            let failure = Failure::read(source.clone(), id, location);
            app.fail(&Failure {
                text: format!("{}. Items are missing from the archive.", failure.text.trim_end_matches('.')),
                ..failure
            });
        }
        other => {
            let (name, id) = (shown_name(archive), archive.id());
            app.fail(&Failure::integrity(format_args!("Archive {name} {id}: {other}")));
        }
    }
}

/// What `check` says of it (command line, section 5.8).
pub fn finding(problem: &ItemProblem) -> String {
    match problem {
        ItemProblem::Pointers { number, id, source } if is_missing(source) => {
            format!("item pointers chunk {number} {id} is missing!")
        }
        ItemProblem::Pointers { number, id, source } => {
            format!("item pointers chunk {number} {id} is corrupted: Data integrity error: Chunk {id}: {source}")
        }
        ItemProblem::NoPointers { number, id, source } => {
            format!("item pointers chunk {number} {id} is not unpackable ({source}).")
        }
        ItemProblem::Chunk { number, id, source } if is_missing(source) => {
            format!("item metadata chunk missing [chunk: {number:06}_{id}]")
        }
        ItemProblem::Chunk { number, id, source } => {
            format!("Data integrity error: Chunk {id}: {source} [chunk: {number:06}_{id}]")
        }
        other => other.to_string(),
    }
}

fn is_missing(error: &ReadError) -> bool {
    matches!(error, ReadError::NotIndexed | ReadError::PackMissing { .. })
}
