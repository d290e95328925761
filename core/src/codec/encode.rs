//! Plaintext to payload: what is tried, and what of it is taken (data layer, sections 6.2, 6.3 and 6.5).

use super::{Algorithm, Compression, Compressor, EncodeError, Engine, Obfuscation, Scratch, Settings};
use crate::limits::MAX_DATA_SIZE;
use crate::tuning::Help;
use alloc::vec::Vec;
use core::mem;

/// How a payload was made, in the terms of its object's metadata (data layer, section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    /// Length of the plaintext in bytes; absent where `auto` chose the compression.
    pub size: Option<usize>,
    /// How the plaintext is compressed.
    pub algorithm: Algorithm,
    /// The level byte; 255 where there is no level.
    pub level: u8,
    /// Length of the payload with its padding, in bytes.
    pub csize: usize,
    /// Length of the payload without padding, in bytes, if it is obfuscated.
    pub psize: Option<usize>,
    /// How it is obfuscated.
    pub olevel: Option<i64>,
}

impl Payload {
    /// What tells whether it has the compression that is wanted.
    pub fn settings(&self) -> Settings {
        Settings { algorithm: self.algorithm, level: self.level, olevel: self.olevel }
    }
}

impl Compression {
    /// Replaces `out` by the payload of `plaintext`, padding included; `out` is empty after an error.
    ///
    /// `fraction` draws the numbers in [0, 1) that padding needs, at most one of them; there is none for what is not a piece of
    /// a file's content, which is not padded. `help` is what other threads may do.
    ///
    /// # Errors
    /// Any [`EncodeError`]. [`EncodeError::Level`] does not depend on the plaintext.
    pub fn encode(
        &self,
        engine: &dyn Engine,
        plaintext: &[u8],
        fraction: Option<&mut dyn FnMut() -> f64>,
        help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Payload, EncodeError> {
        let compressor = self.compress(engine, plaintext, help, scratch, out).inspect_err(|_| out.clear())?;
        let psize = out.len();
        if let (Some(obfuscation), Some(fraction)) = (self.obfuscation, fraction) {
            out.resize(psize + obfuscation.padding(psize, fraction), 0);
        }
        Ok(Payload {
            size: (!self.auto).then_some(plaintext.len()),
            algorithm: compressor.algorithm(),
            level: compressor.level_byte(),
            csize: out.len(),
            psize: self.obfuscation.map(|_| psize),
            olevel: self.obfuscation.map(Obfuscation::spec),
        })
    }

    /// Replaces `out` by the payload without padding, and tells what made it.
    fn compress(
        &self,
        engine: &dyn Engine,
        plaintext: &[u8],
        help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Compressor, EncodeError> {
        if plaintext.len() > MAX_DATA_SIZE {
            return Err(EncodeError::TooLarge { size: plaintext.len(), limit: MAX_DATA_SIZE });
        }
        engine.check_level(self.compressor.algorithm(), self.compressor.level())?;
        if self.auto {
            self.compressor.compress_if_worthwhile(engine, plaintext, help, scratch, out)
        } else {
            self.compressor.compress_or_copy(engine, plaintext, help, scratch, out)
        }
    }
}

impl Compressor {
    /// The plaintext itself.
    const NONE: Self = Self::without_level(Algorithm::None);
    /// What `auto` measures with.
    const CHEAP: Self = Self::without_level(Algorithm::Lz4);

    /// As `auto` does it: takes LZ4's result for a measure, and this compressor's only if that is better by a margin.
    fn compress_if_worthwhile(
        self,
        engine: &dyn Engine,
        plaintext: &[u8],
        help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Self, EncodeError> {
        let cheap = Self::CHEAP.compress_or_copy(engine, plaintext, help, scratch, out)?;
        let is_compressible = (out.len() as f64) / ((plaintext.len() + 2) as f64) < WORTH_TRYING;
        // Neither of these could be smaller, and nothing is smaller than nothing.
        let is_futile = matches!(self.algorithm(), Algorithm::None | Algorithm::Lz4) || plaintext.is_empty();
        if !is_compressible || is_futile {
            return Ok(cheap);
        }
        let mut candidate = mem::take(&mut scratch.slot::<Candidate>().0);
        let chosen = self.compress_or_copy(engine, plaintext, help, scratch, &mut candidate).map(|made| {
            if (candidate.len() as f64) / (out.len() as f64) < WORTH_TAKING {
                mem::swap(out, &mut candidate);
                made
            } else {
                cheap
            }
        });
        scratch.slot::<Candidate>().0 = candidate;
        chosen
    }

    /// Compresses, or takes the plaintext as it is if that is not longer.
    fn compress_or_copy(
        self,
        engine: &dyn Engine,
        plaintext: &[u8],
        help: Help,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Self, EncodeError> {
        if self.algorithm() != Algorithm::None && !plaintext.is_empty() {
            engine.compress(self.algorithm(), self.level(), plaintext, help, scratch, out)?;
            if out.len() < plaintext.len() {
                return Ok(self);
            }
        }
        out.clear();
        out.extend_from_slice(plaintext);
        Ok(Self::NONE)
    }
}

/// The second buffer of `auto`.
#[derive(Default)]
struct Candidate(Vec<u8>);

/// How much smaller LZ4 must have made the plaintext before the real compressor is tried: below this ratio.
const WORTH_TRYING: f64 = 0.97;

/// How much smaller than LZ4's the real compressor's result must be before it is taken: below this ratio.
const WORTH_TAKING: f64 = 0.99;
