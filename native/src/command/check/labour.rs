//! What workers do for a check: they hash packs and verify chunks, ahead of the one thread that tells of it in order.

use crate::crew::{Crew, with_crew};
use crate::repository::archives::Reader;
use crate::repository::pipeline::fetch;
use crate::repository::session::Session;
use portaborg_core::check::{
    CheckedPacks, DataFinding, DataSummary, PackFinding, PackSummary, Packs, Verification, is_intact,
};
use portaborg_core::extract::{Fetch, ReadAhead, Unpacked};
use portaborg_core::id::PackId;
use portaborg_core::name::Key;
use portaborg_core::object::Opener;
use portaborg_core::store::{StoreError, now};
use portaborg_core::time::Timestamp;
use portaborg_core::tuning::{Help, Tuning};
use std::collections::HashMap;
use std::iter;
use std::ops::ControlFlow;

/// Hashes packs.
pub fn hash(
    session: &Session,
    tuning: &Tuning,
    mut packs: Packs,
    records: &mut CheckedPacks,
    clock: &dyn Fn() -> Timestamp,
    observe: &mut dyn FnMut(PackFinding<'_>) -> ControlFlow<()>,
) -> Result<PackSummary, StoreError> {
    let store = &session.repository.store;
    let width = tuning.extract_threads();
    let work = |(): &mut (), pack, _| (pack, now(is_intact(store, Key::Pack(pack))));
    with_crew(
        width,
        || (),
        work,
        |crew: &mut Crew<'_, PackId, (PackId, Result<bool, StoreError>)>| {
            // What is known of packs that were given out.
            let mut given: HashMap<PackId, Option<Result<bool, StoreError>>> = HashMap::new();
            while let Some(next) = packs.next(records, clock, observe) {
                // What has not come in yet is at most as much as is looked ahead.
                for pack in iter::once(next).chain(packs.ahead(records, clock()).take(tuning.look_ahead(width))) {
                    given.entry(pack).or_insert_with(|| {
                        crew.give(pack);
                        None
                    });
                }
                while given.get(&next).is_none_or(Option::is_none) {
                    let (pack, result) = crew.next().expect("the next pack was given out");
                    given.insert(pack, Some(result));
                }
                let is_intact = given.remove(&next).flatten().expect("it has come in")?;
                packs.record(next, is_intact, records, clock, observe);
            }
            Ok(packs.finish(records, observe))
        },
    )
}

/// Verifies all chunks.
pub fn verify(
    session: &Session,
    tuning: &Tuning,
    reader: &mut Reader<'_>,
    observe: &mut dyn FnMut(DataFinding<'_>) -> ControlFlow<()>,
) -> Result<DataSummary, StoreError> {
    let width = tuning.extract_threads();
    let ahead = tuning.look_ahead(width);
    let limits = ReadAhead { held_bytes: tuning.window_bytes as u64, read_bytes: READ_BYTES };
    let mut verification = Verification::new(reader, limits);
    let work = |opener: &mut Opener<'_>, job, idle| {
        opener.set_help(Help { tuning: *tuning, idle });
        fetch(&session.repository, opener, job)
    };
    with_crew(
        width,
        || session.opener(),
        work,
        |crew: &mut Crew<'_, Fetch, Unpacked>| {
            loop {
                while crew.in_flight() < ahead
                    && let Some(job) = verification.next_fetch(&reader.index)
                {
                    crew.give(job);
                }
                crew.next().into_iter().for_each(|unpacked| verification.finish(unpacked));
                if now(verification.judge(reader, observe))?.is_break() || verification.is_done() {
                    return Ok(verification.summary);
                }
            }
        },
    )
}

/// How much of a pack is read for one job: a small part of it, so that it is still in a processor's cache when it is opened.
const READ_BYTES: usize = 512 << 10;
