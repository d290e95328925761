//! No pair of session and number is ever used twice (repository layer, section 4.2).

mod common;

use common::{array, repository_vectors};
use portaborg_core::crypto::{Keys, Sealer, SessionId, Sessions, Suite, Ticket};
use portaborg_core::random::Random;
use std::collections::HashSet;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;

const SEALS: usize = 1_000_000;
const WORKERS: usize = 8;
/// A message costs 4 blocks for the header and the id, 2, and every other one 1 for its payload: a million fill 11 sessions.
const BLOCKS_OF_A_SESSION: u64 = 600_000;
const BATCH: usize = 1000;

/// Session ids that are random enough to be distinct.
struct Counter(u64);

impl Random for Counter {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        bytes.fill(0);
        bytes[..8].copy_from_slice(&self.0.to_le_bytes());
    }
}

/// One sealer issues tickets, eight workers seal with them; the pairs are read from the envelopes.
#[cfg_attr(target_os = "wasi", ignore = "there are no threads")]
#[test]
fn a_million_seals_on_eight_workers_use_no_nonce_twice() {
    for (encryption, limit) in [("aes256-ocb", Some(BLOCKS_OF_A_SESSION)), ("chacha20-poly1305", None)] {
        let keys = keys(encryption);
        let seals = if limit.is_some() { SEALS } else { SEALS / 10 };
        let pairs = seal_on_workers(&keys, seals, limit);
        assert_eq!(pairs.len(), seals);
        let unique: HashSet<(SessionId, u64)> = pairs.iter().copied().collect();
        assert_eq!(unique.len(), seals, "a nonce was used twice");
        let sessions: HashSet<SessionId> = pairs.iter().map(|(session, _)| *session).collect();
        assert_eq!(sessions.len(), if limit.is_some() { 11 } else { 1 });
        for session in &sessions {
            // Nothing is skipped, so no number was given away to something that sealed nothing.
            let mut numbers: Vec<u64> =
                pairs.iter().filter(|(of, _)| of == session).map(|(_, number)| *number).collect();
            numbers.sort_unstable();
            assert!(numbers.iter().copied().eq(1..=numbers.len() as u64));
        }
    }
}

#[test]
fn a_lock_has_a_session_of_its_own() {
    let keys = keys("aes256-ocb");
    let mut envelope = Vec::new();
    keys.seal_into(&mut Sessions::new(), Ticket::one_shot([9; 24]), b"lock", b"", b"", &mut envelope);
    assert_eq!(pair(&envelope), ([9; 24], 0));
}

fn keys(encryption: &str) -> Keys {
    let key = &repository_vectors()["key"];
    let suite = Suite::from_names(encryption, "sha256").unwrap();
    Keys::new(suite, array(key, "/crypt_key"), array(key, "/id_key"), 0)
}

fn seal_on_workers(keys: &Keys, seals: usize, limit: Option<u64>) -> Vec<(SessionId, u64)> {
    let mut sealer = Sealer::new(keys, Box::new(Counter(0)));
    if let Some(limit) = limit {
        sealer.limit_sessions(limit);
    }
    let (send, receive) = sync_channel::<Vec<(Ticket, usize)>>(WORKERS);
    let receive = Arc::new(Mutex::new(receive));
    thread::scope(|scope| {
        let work = || {
            let receive = Arc::clone(&receive);
            scope.spawn(move || {
                let (mut sessions, mut envelope, mut pairs) = (Sessions::new(), Vec::new(), Vec::new());
                loop {
                    let batch = receive.lock().unwrap().recv();
                    let Ok(batch) = batch else { return pairs };
                    for (ticket, len) in batch {
                        envelope.clear();
                        keys.seal_into(&mut sessions, ticket, &[7; 8][..len], b"", &[1; 32], &mut envelope);
                        pairs.push(pair(&envelope));
                    }
                }
            })
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| work()).collect();
        for first in (0..seals).step_by(BATCH) {
            let issue = |number: usize| (sealer.ticket(number % 2 * 8, 32), number % 2 * 8);
            send.send((first..first + BATCH).map(issue).collect()).unwrap();
        }
        drop(send);
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

/// Session and number as they stand in an envelope (section 4.1).
fn pair(envelope: &[u8]) -> (SessionId, u64) {
    let number = envelope[2..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    (envelope[8..32].try_into().unwrap(), number)
}
