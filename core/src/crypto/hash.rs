//! Hashes: chunk ids and the names of stored objects (data layer, section 5).

use crate::exec::{Exec, Serial};
use crate::id::StoreHash;
use crate::tuning::Tuning;
use alloc::vec::Vec;
use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};
use core::ops::Range;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// How the ids of chunks are made from their plaintext (data layer, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdHash {
    /// HMAC-SHA256.
    Sha256,
    /// BLAKE3 in keyed mode.
    Blake3,
}

impl IdHash {
    /// The name in the repository's config.
    pub fn name(self) -> &'static str {
        match self {
            IdHash::Sha256 => "sha256",
            IdHash::Blake3 => "blake3",
        }
    }

    /// The hash with this name in the repository's config.
    pub fn from_name(name: &str) -> Option<Self> {
        [IdHash::Sha256, IdHash::Blake3].into_iter().find(|hash| hash.name() == name)
    }

    /// The keyed hash of `parts`, one after another.
    pub(crate) fn mac(self, key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
        match self {
            IdHash::Sha256 => {
                let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
                parts.iter().for_each(|part| mac.update(part));
                mac.finalize().into_bytes().into()
            }
            IdHash::Blake3 => {
                let mut hasher = Hasher::new_keyed(key);
                parts.iter().for_each(|part| {
                    hasher.update(part);
                });
                hasher.finalize().into()
            }
        }
    }

    /// The same with the help of other threads, where that pays. Nobody can help with SHA-256.
    pub(crate) fn mac_on(self, key: &[u8; 32], parts: &[&[u8]], tuning: &Tuning, exec: &impl Exec) -> [u8; 32] {
        match self {
            IdHash::Blake3 => Tree { mode: Mode::KeyedHash(key), parts }.hash(tuning, exec),
            IdHash::Sha256 => self.mac(key, parts),
        }
    }
}

/// The name that the store gives to an object with these bytes: unkeyed BLAKE3 (repository layer, section 1.1).
pub fn store_hash(stored: &[u8]) -> StoreHash {
    store_hash_on(stored, &Tuning::default(), &Serial)
}

/// The same with the help of other threads, where that pays.
pub fn store_hash_on(stored: &[u8], tuning: &Tuning, exec: &impl Exec) -> StoreHash {
    store_hash_of(&[stored], tuning, exec)
}

/// BLAKE3's tree over `parts`, one after another: its two halves can be hashed apart, and so can theirs.
struct Tree<'t> {
    mode: Mode<'t>,
    parts: &'t [&'t [u8]],
}

impl Tree<'_> {
    fn hash(&self, tuning: &Tuning, exec: &impl Exec) -> [u8; 32] {
        let len: usize = self.parts.iter().map(|part| part.len()).sum();
        let threads = tuning.hash_threads(len, exec.idle());
        if threads == 1 || len < 2 * LEAST_PIECE_BYTES {
            return self.hasher(0..len).finalize().into();
        }
        // More pieces than threads, so that none waits long for the others.
        let piece = (len / (PIECES_PER_THREAD * threads)).max(LEAST_PIECE_BYTES);
        let (left, right) = self.halves(&(0..len), piece, exec);
        merge_subtrees_root(&left, &right, self.mode).into()
    }

    fn halves(&self, range: &Range<usize>, piece: usize, exec: &impl Exec) -> (ChainingValue, ChainingValue) {
        let middle = range.start + left_subtree_len((range.end - range.start) as u64) as usize;
        exec.join(|| self.subtree(range.start..middle, piece, exec), || self.subtree(middle..range.end, piece, exec))
    }

    fn subtree(&self, range: Range<usize>, piece: usize, exec: &impl Exec) -> ChainingValue {
        if range.len() <= piece {
            return self.hasher(range).finalize_non_root();
        }
        let (left, right) = self.halves(&range, piece, exec);
        merge_subtrees_non_root(&left, &right, self.mode)
    }

    /// Of the bytes of a range.
    fn hasher(&self, range: Range<usize>) -> Hasher {
        let mut hasher = match self.mode {
            Mode::KeyedHash(key) => Hasher::new_keyed(key),
            _ => Hasher::new(),
        };
        hasher.set_input_offset(range.start as u64);
        let mut start = 0;
        for part in self.parts {
            let end = start + part.len();
            let (from, to) = (range.start.clamp(start, end), range.end.clamp(start, end));
            hasher.update(&part[from - start..to - start]);
            start = end;
        }
        hasher
    }
}

/// The same for bytes that lie in several pieces.
pub fn store_hash_of<P: AsRef<[u8]>>(pieces: &[P], tuning: &Tuning, exec: &impl Exec) -> StoreHash {
    let parts: Vec<&[u8]> = pieces.iter().map(AsRef::as_ref).collect();
    StoreHash(Tree { mode: Mode::Hash, parts: &parts }.hash(tuning, exec))
}

/// SHA-256 of `parts`, one after another: the rule by which keys derive from keys (repository layer, section 3.8).
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// So many pieces are hashed for each thread.
const PIECES_PER_THREAD: usize = 4;
/// Smaller pieces cost more to give away than to hash. It is more than BLAKE3's own smallest unit, 1 KiB.
const LEAST_PIECE_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often work was split.
    struct Counting {
        idle: usize,
        joins: AtomicUsize,
    }

    impl Exec for Counting {
        fn idle(&self) -> usize {
            self.idle
        }

        fn join<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
            self.joins.fetch_add(1, Ordering::Relaxed);
            std::thread::scope(|scope| {
                let b = scope.spawn(b);
                (a(), b.join().unwrap())
            })
        }
    }

    fn counting(idle: usize) -> Counting {
        Counting { idle, joins: AtomicUsize::new(0) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn hashes_do_not_depend_on_threads(
            len in prop_oneof![0..5000_usize, 130_000..140_000_usize, 250_000..800_000_usize],
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
            idle in 0..5_usize,
            key: [u8; 32],
        ) {
            let data: Vec<u8> = (0..len as u64).map(|at| ((at * at) >> 3) as u8).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(len + 1)).chain([0, len]).collect();
            cuts.sort();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &data[cut[0]..cut[1]]).collect();
            let tuning = Tuning { blake3_threads_from_bytes: 0, ..Tuning::new(4) };
            let mac = IdHash::Blake3.mac_on(&key, &parts, &tuning, &counting(idle));
            prop_assert_eq!(mac, *blake3::keyed_hash(&key, &data).as_bytes());
            prop_assert_eq!(store_hash_on(&data, &tuning, &counting(idle)).0, *blake3::hash(&data).as_bytes());
        }
    }

    #[test]
    fn only_long_inputs_are_split_and_only_for_idle_threads() {
        let joins = |bytes: usize, idle| {
            let exec = counting(idle);
            IdHash::Blake3.mac_on(&[1; 32], &[&vec![7; bytes]], &Tuning::new(2), &exec);
            exec.joins.into_inner()
        };
        assert_eq!([joins((256 << 10) - 1, 1), joins(256 << 10, 0)], [0, 0]);
        assert_eq!(joins(256 << 10, 1), 3);
        assert_eq!(joins(8 << 20, 1), 7);
        let exec = counting(1);
        IdHash::Sha256.mac_on(&[1; 32], &[&vec![7; 1 << 20]], &Tuning::new(2), &exec);
        assert_eq!(exec.joins.into_inner(), 0);
    }
}
