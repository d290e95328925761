//! Message numbers: what keeps a key and a nonce from ever being used twice (repository layer, section 4.2).

use super::keys::Keys;
use super::session::{SessionId, Sessions};
use super::suite::{Cipher, Mode};
use crate::random::Random;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// AES-256-OCB seals at most 2 TiB in one session.
pub const OCB_SESSION_BLOCKS: u64 = 1 << 37;
const BLOCK_BYTES: u64 = 16;
/// The part of an envelope's header that is authenticated with every message.
const HEADER_BYTES: u64 = 32;
/// Message numbers have six bytes.
const MAX_IV: u64 = (1 << 48) - 1;
/// The number of a session's first message. Borg begins so; 0 is the only message of a one-shot session.
const FIRST_IV: u64 = 1;

/// The right to seal one message: a session, and a number in it that no other message has. Sealing consumes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket {
    pub(super) session: SessionId,
    pub(super) iv: u64,
}

impl Ticket {
    /// For the only message of a session: a lock, which is refreshed beside other work. `session` must be fresh random
    /// bytes.
    pub fn one_shot(session: SessionId) -> Self {
        Ticket { session, iv: 0 }
    }

    /// The session and the number.
    pub fn nonce(&self) -> (SessionId, u64) {
        (self.session, self.iv)
    }
}

/// Issues [`Ticket`]s, and seals with them what needs no worker.
///
/// One for all work on a repository: whoever issues tickets books what they cost against the session's limit, and begins a
/// new session in time. It must not survive a fork.
pub struct Sealer<'k> {
    keys: &'k Keys,
    random: Box<dyn Random + 'k>,
    sessions: Sessions,
    session: Option<SessionId>,
    next_iv: u64,
    blocks: u64,
    limit_blocks: Option<u64>,
}

impl<'k> Sealer<'k> {
    /// Sessions are drawn from `random` as they are needed.
    pub fn new(keys: &'k Keys, random: Box<dyn Random + 'k>) -> Self {
        let limit_blocks = match keys.suite().mode {
            Mode::Encrypted(Cipher::Aes256Ocb) => Some(OCB_SESSION_BLOCKS),
            Mode::Encrypted(Cipher::ChaCha20Poly1305) | Mode::Authenticated => None,
        };
        let sessions = Sessions::new();
        Sealer { keys, random, sessions, session: None, next_iv: FIRST_IV, blocks: 0, limit_blocks }
    }

    /// Begins a new session after so many blocks of 16 bytes, whatever the suite: for tests, which can't seal 2 TiB.
    pub fn limit_sessions(&mut self, blocks: u64) {
        self.limit_blocks = Some(blocks);
    }

    /// The keys that it seals with.
    pub fn keys(&self) -> &'k Keys {
        self.keys
    }

    /// Its source of randomness.
    pub fn random(&mut self) -> &mut dyn Random {
        &mut *self.random
    }

    /// The right to seal a message of at most `payload_bytes` with a context and an id of `aad_bytes` together.
    pub fn ticket(&mut self, payload_bytes: usize, aad_bytes: usize) -> Ticket {
        let cost =
            (payload_bytes as u64).div_ceil(BLOCK_BYTES) + (HEADER_BYTES + aad_bytes as u64).div_ceil(BLOCK_BYTES) + 2;
        let is_full = self.next_iv > MAX_IV || self.limit_blocks.is_some_and(|limit| self.blocks + cost > limit);
        let session = match self.session.filter(|_| !is_full) {
            Some(session) => session,
            None => {
                let mut session = SessionId::default();
                self.random.fill(&mut session);
                (self.next_iv, self.blocks) = (FIRST_IV, 0);
                *self.session.insert(session)
            }
        };
        let iv = self.next_iv;
        self.next_iv += 1;
        self.blocks += cost;
        Ticket { session, iv }
    }

    /// Seals `payload` for this `context` and `id`.
    pub fn seal(&mut self, payload: &[u8], context: &[u8], id: &[u8]) -> Vec<u8> {
        let ticket = self.ticket(payload.len(), context.len() + id.len());
        let mut envelope = Vec::new();
        self.keys.seal_into(&mut self.sessions, ticket, payload, context, id, &mut envelope);
        envelope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::{IdHash, Suite};

    struct Counting(u8);

    impl Random for Counting {
        fn fill(&mut self, bytes: &mut [u8]) {
            self.0 += 1;
            bytes.fill(self.0);
        }
    }

    fn tickets(cipher: Cipher, limit: Option<u64>, payloads: &[usize]) -> Vec<(u8, u64)> {
        let suite = Suite { mode: Mode::Encrypted(cipher), id_hash: IdHash::Sha256 };
        let keys = Keys::new(suite, [1; 64], [2; 32], 3);
        let mut sealer = Sealer::new(&keys, Box::new(Counting(0)));
        if let Some(limit) = limit {
            sealer.limit_sessions(limit);
        }
        let nonce = |ticket: Ticket| (ticket.session[0], ticket.iv);
        payloads.iter().map(|&payload| nonce(sealer.ticket(payload, 74))).collect()
    }

    #[test]
    fn a_session_is_left_before_it_is_overdrawn() {
        // A message of 160 bytes costs 10 blocks for the payload, 7 for what is authenticated besides, and 2.
        let payloads = [160; 5];
        assert_eq!(tickets(Cipher::Aes256Ocb, Some(38), &payloads), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]);
        assert_eq!(tickets(Cipher::Aes256Ocb, Some(37), &payloads), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
        assert_eq!(tickets(Cipher::Aes256Ocb, None, &payloads[..2]), [(1, 1), (1, 2)]);
    }

    /// With 32 bits, it would take too many messages.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn only_ocb_has_a_limit_of_its_own() {
        let terabyte = 1 << 40;
        assert_eq!(tickets(Cipher::Aes256Ocb, None, &[terabyte, terabyte, 1]), [(1, 1), (2, 1), (2, 2)]);
        assert_eq!(tickets(Cipher::ChaCha20Poly1305, None, &[terabyte; 3]), [(1, 1), (1, 2), (1, 3)]);
    }
}
