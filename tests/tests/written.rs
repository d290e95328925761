//! What core writes, in the eyes of the real client, and what the real client wrote of which core makes its own.

use std::collections::BTreeSet;
use std::process::ExitCode;

use portaborg_core::codec::PureRust;
use portaborg_core::compact::{load_references, scan_references};
use portaborg_core::object::Opener;
use portaborg_core::repo::{ChunkReader, ChunkWriter, PackLimits, list_archives, load_index};
use portaborg_core::store::now;
use portaborg_tests::dice::Dice;
use portaborg_tests::fixture;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::recording;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::writing::{Files, Opened, create};

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Trial::new("sessions_that_end_early_are_read_by_the_real_client", short_sessions),
            Trial::new("references_are_those_of_the_real_client", references),
        ]
    })
}

/// Blocks of 16 bytes: a chunk of 3000 bytes takes most of them.
const SESSION_BLOCKS: u64 = 300;

/// AES-OCB ends a session after 2 TiB. Here it ends after every object.
fn short_sessions(findings: &mut Findings) {
    let fixture = fixture::named("mode-aes256-ocb-sha256-repokey");
    let (opened, start) = Opened::fixture(&fixture);
    let repository = opened.repository(&start);
    let index = now(load_index(&repository, &mut Opener::new(&opened.keys, &PureRust), &mut |_| ()));
    let reader = ChunkReader::new(&repository, &opened.keys, &PureRust, index.expect("the fixture has an index"));
    let mut sealer = opened.sealer();
    sealer.limit_sessions(SESSION_BLOCKS);
    let limits = PackLimits { size: Some(10_000), count: None };
    let compression = "lz4".parse().expect("that is a compression");
    let mut writer = ChunkWriter::new(reader, sealer, &PureRust, compression, limits);
    let mut dice = Dice::new(1);
    let files: Files = (0..5).map(|number| (format!("file{number}"), dice.bytes(8000))).collect();
    let id = create(&mut writer, "rekeyed", &files);

    let objects = repository.store.0.objects();
    let new = objects.iter().filter(|(path, _)| !start.contains_key(*path));
    let mut pairs = Vec::new();
    for (path, content) in new.filter(|(path, _)| path.starts_with("packs/")) {
        pairs.extend(nonces(content).unwrap_or_else(|| panic!("{path} is no pack")));
    }
    let sessions: BTreeSet<&[u8]> = pairs.iter().map(|nonce| &nonce[NUMBER_BYTES..]).collect();
    let unique: BTreeSet<&Vec<u8>> = pairs.iter().collect();
    findings.check(sessions.len() > 10, || format!("{} sessions", sessions.len()));
    findings.check(unique.len() == pairs.len() && pairs.len() > 30, || format!("{} nonces", unique.len()));
    let read = opened.read_all(&objects);
    findings.check(read.is_ok_and(|archives| archives.contains_key(&id.to_string())), || "core can't read it".into());

    let Some(client) = peers::borg2() else { return findings.skip(peers::MISSING) };
    let scratch = Scratch::new("sessions");
    let (folder, target) = (scratch.folder("repository"), scratch.folder("target"));
    recording::store(&objects, &folder);
    for args in [vec!["check", "--verify-data"], vec!["extract", "rekeyed"]] {
        let done = client.on(&folder, &fixture.expected.passphrase).within(&target).args(args).run();
        findings.check(done.code == Some(0), || done.summary());
    }
    for (path, content) in &files {
        let same = std::fs::read(target.join(path)).is_ok_and(|extracted| extracted == *content);
        findings.check(same, || format!("{path} is not what it was"));
    }
}

const NUMBER_BYTES: usize = 6;

/// Number and session of every envelope in a pack (repository layer, sections 4.1 and 5.1).
fn nonces(pack: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut rest = pack;
    while !rest.is_empty() {
        let size = |at: usize| Some(u32::from_le_bytes(rest.get(at..at + 4)?.try_into().ok()?) as usize);
        let (meta, data) = (size(41)?, size(45)?);
        for start in [49, 49 + meta] {
            found.push(rest.get(start + 2..start + 32)?.to_vec());
        }
        rest = rest.get(49 + meta + data..)?;
    }
    Some(found)
}

/// The real client kept what its archives refer to; a look at the items must give the same.
fn references(findings: &mut Findings) {
    let (opened, objects) = Opened::fixture(&fixture::named("state-compacted"));
    let repository = opened.repository(&objects);
    let index = now(load_index(&repository, &mut Opener::new(&opened.keys, &PureRust), &mut |_| ()));
    let mut reader = ChunkReader::new(&repository, &opened.keys, &PureRust, index.expect("the fixture has an index"));
    let archives = now(list_archives(&mut reader, false)).expect("a recorder does not fail").archives;
    findings.check(archives.len() == 2, || format!("{} archives", archives.len()));
    for archive in archives {
        let meta = archive.meta.as_ref().expect("the fixture is good");
        let kept = now(load_references(&mut reader, archive.id)).expect("a recorder does not fail");
        let Ok(Some(mut kept)) = kept else { panic!("{kept:?}") };
        let scanned = now(scan_references(&mut reader, archive.id, meta)).expect("the fixture is good");
        kept.chunks.sort_unstable();
        findings.check(kept.chunks.len() > 3, || format!("{} chunks", kept.chunks.len()));
        findings.check(kept == scanned, || format!("{kept:?}, but {scanned:?}"));
    }
}
