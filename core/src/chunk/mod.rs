//! Chunkers: where the content of a file and an item stream are cut (data layer, section 3).
//!
//! Equal content is found again only if it is cut in the same places: every cut is Borg's. It depends on content,
//! parameters and the repository's secrets, never on how the input was read.

mod bounds;
mod buzhash;
mod buzhash64;
mod candidates;
mod fail;
mod fastcdc;
mod fixed;
mod goldilocks;
mod lanes;
mod params;
mod rabin;
mod stream;
mod toeplitz;
mod universal;
mod window;

pub use candidates::{Candidates, Scan, Segment};
pub use fail::InjectedFault;
pub(crate) use params::{BUZHASH, FAIL};
pub use params::{ChunkerParams, ChunkerParamsError, Exponents};

use crate::crypto::{Keys, sha256};
use fail::Fail;
use fastcdc::FastCdc;
use fixed::Fixed;
use goldilocks::Goldilocks;
use rabin::Rabin;
use stream::Stream;
use toeplitz::Toeplitz;
use universal::Universal;
use window::Window;
use zeroize::Zeroizing;

/// Cuts input into chunks. Its tables are made once and serve all files of a repository; they are secret, and wiped when
/// it is dropped.
pub struct Chunker {
    algorithm: Algorithm,
}

enum Algorithm {
    FastCdc(FastCdc),
    Buzhash(Window<u32>),
    Buzhash64(Window<u64>),
    RabinAes(Universal<Rabin>),
    GoldilocksAes(Universal<Goldilocks>),
    ToeplitzAes(Universal<Toeplitz>),
    Fixed(Fixed),
    Fail(Fail),
}

impl Chunker {
    /// A chunker for a repository with these secrets. Related repositories, which share the id key and the chunk seed, are
    /// cut alike (data layer, section 2.1).
    pub fn new(params: &ChunkerParams, keys: &Keys) -> Chunker {
        let chunker_key = Zeroizing::new(sha256(&[keys.id_key(), params.algorithm().as_bytes()]));
        Chunker::with_key(params, &chunker_key, keys.chunk_seed())
    }

    /// A chunker with the secrets that [`Chunker::new`] takes from the repository's: the key that tables expand from, and
    /// the seed of `buzhash`. Where there is no repository Borg cuts with a key and a seed of zeros.
    pub fn with_key(params: &ChunkerParams, chunker_key: &[u8; 32], chunk_seed: i32) -> Chunker {
        let stream = || Stream::new(chunker_key);
        let algorithm = match *params {
            ChunkerParams::FastCdc(exponents) => Algorithm::FastCdc(FastCdc::new(exponents, &mut stream())),
            ChunkerParams::Buzhash { exponents, window_size } => {
                Algorithm::Buzhash(Window::new(exponents, window_size, buzhash::table(chunk_seed)))
            }
            ChunkerParams::Buzhash64 { exponents, window_size } => {
                Algorithm::Buzhash64(Window::new(exponents, window_size, buzhash64::table(&mut stream())))
            }
            ChunkerParams::RabinAes(exponents) => Algorithm::RabinAes(Universal::new(exponents, &mut stream())),
            ChunkerParams::GoldilocksAes(exponents) => {
                Algorithm::GoldilocksAes(Universal::new(exponents, &mut stream()))
            }
            ChunkerParams::ToeplitzAes(exponents) => Algorithm::ToeplitzAes(Universal::new(exponents, &mut stream())),
            ChunkerParams::Fixed { block_size, header_size } => Algorithm::Fixed(Fixed { block_size, header_size }),
            ChunkerParams::Fail { block_size, ref map } => Algorithm::Fail(Fail::new(block_size, map)),
        };
        Chunker { algorithm }
    }

    /// Length of the longest chunk, in bytes: how far [`cut`](Chunker::cut) wants to look ahead.
    pub fn max_size(&self) -> usize {
        match &self.algorithm {
            Algorithm::FastCdc(fastcdc) => fastcdc.max_size(),
            Algorithm::Buzhash(window) => window.max_size(),
            Algorithm::Buzhash64(window) => window.max_size(),
            Algorithm::RabinAes(universal) => universal.max_size(),
            Algorithm::GoldilocksAes(universal) => universal.max_size(),
            Algorithm::ToeplitzAes(universal) => universal.max_size(),
            Algorithm::Fixed(fixed) => fixed.max_size(),
            Algorithm::Fail(fail) => fail.max_size(),
        }
    }

    /// Whether the same input is always cut alike, so that several chunkers can share the inputs of one repository: all but
    /// `fail`, which counts. Of such, a cut before the end of `ahead` is right also if `ahead` was too short.
    pub fn is_pure(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Fail(_))
    }

    /// Length of the next chunk, in bytes: 1 to [`max_size`](Chunker::max_size).
    ///
    /// `ahead` is what comes next: `max_size` bytes or more, or else all that is left. It is never empty, since there is
    /// no chunk at the end of the input. `offset` is how many bytes came before, since the beginning of the file or of
    /// the part of it that is cut on its own.
    ///
    /// # Errors
    /// Only `fail` fails, where its map says so; the block at which it did counts as read.
    pub fn cut(&mut self, offset: u64, ahead: &[u8]) -> Result<usize, InjectedFault> {
        Ok(match &mut self.algorithm {
            Algorithm::FastCdc(fastcdc) => fastcdc.cut(ahead),
            Algorithm::Buzhash(window) => window.cut(ahead),
            Algorithm::Buzhash64(window) => window.cut(ahead),
            Algorithm::RabinAes(universal) => universal.cut(ahead),
            Algorithm::GoldilocksAes(universal) => universal.cut(ahead),
            Algorithm::ToeplitzAes(universal) => universal.cut(ahead),
            Algorithm::Fixed(fixed) => fixed.cut(offset, ahead),
            Algorithm::Fail(fail) => return fail.cut(ahead),
        })
    }

    /// For cutting one long input on several threads: `fastcdc` and the two buzhashes can be searched in segments, unless
    /// their chunks are so short that it doesn't pay.
    pub fn scan(&self) -> Option<Scan<'_>> {
        match &self.algorithm {
            Algorithm::FastCdc(fastcdc) => Scan::fastcdc(fastcdc),
            Algorithm::Buzhash(window) => Scan::buzhash(window),
            Algorithm::Buzhash64(window) => Scan::buzhash64(window),
            _ => None,
        }
    }
}
