//! Which chunker, and its parameters (data layer, section 3.1).

use crate::limits::MAX_DATA_SIZE;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// An algorithm with valid parameters. It is read from the text that options and the repository's defaults have, such as
/// `fastcdc,19,23,21,2`, and shown as that text in its canonical form; archives store the same as a tuple.
///
/// The word `default` is none of them: what it stands for is decided before (data layer, section 17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkerParams {
    /// `fastcdc`: a keyed Gear hash.
    FastCdc(Exponents),
    /// `buzhash`: a hash over a window, as Borg 1 has it. It has no normalization.
    #[non_exhaustive]
    Buzhash {
        /// Sizes and mask.
        exponents: Exponents,
        /// Bytes in the window; odd.
        window_size: usize,
    },
    /// `buzhash64`: a hash over a window, of 64 bits and with a key.
    #[non_exhaustive]
    Buzhash64 {
        /// Sizes, mask and normalization.
        exponents: Exponents,
        /// Bytes in the window.
        window_size: usize,
    },
    /// `rabin-aes`: a Rabin hash of 64 bytes, encrypted.
    RabinAes(Exponents),
    /// `goldilocks-aes`: a polynomial hash of 64 bytes, encrypted.
    GoldilocksAes(Exponents),
    /// `toeplitz-aes`: a Toeplitz hash of 64 bytes, encrypted.
    ToeplitzAes(Exponents),
    /// `fixed`: blocks of one size.
    #[non_exhaustive]
    Fixed {
        /// Bytes in a block.
        block_size: usize,
        /// Bytes in the first chunk; zero if that is a block like all others.
        header_size: usize,
    },
    /// `fail`: blocks of one size, of which some can't be read; for tests.
    #[non_exhaustive]
    Fail {
        /// Bytes in a block.
        block_size: usize,
        /// `R` or `E` for each block: it can be read, or there is an error. The last letter is for all further blocks.
        map: String,
    },
}

/// Sizes of content-defined chunks as powers of two. They exist only with values that a chunker accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exponents {
    /// Chunks but the last one of a file are not shorter than 2 to this power, in bytes.
    pub chunk_min: u8,
    /// No chunk is longer than 2 to this power, in bytes.
    pub chunk_max: u8,
    /// Bits of the hash that decide: most chunks have about 2 to this power, in bytes.
    pub chunk_mask: u8,
    /// Level of normalization: by how many bits the mask is longer for chunks that are short yet, and shorter for long
    /// ones.
    pub nc_level: u8,
}

/// Parameters that no chunker accepts. Who typed them is at fault; the messages are Borg's, where it has any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkerParamsError {
    /// No such algorithm, a wrong number of parameters, or something else than a number.
    #[error("invalid chunker params")]
    Invalid,
    /// A known algorithm with a wrong number of parameters.
    #[error("{algorithm} chunker params must be: {algorithm},{}", fields.join(","))]
    Fields {
        /// The algorithm.
        algorithm: &'static str,
        /// Names of its parameters.
        fields: &'static [&'static str],
    },
    /// The exponents are not in order.
    #[error("required: chunk_min <= chunk_mask <= chunk_max")]
    MaskOutside,
    /// Chunks could be too short.
    #[error("min. chunk size exponent must not be less than {MIN_EXPONENT} (2^{MIN_EXPONENT} = 64B min. chunk size)")]
    MinTooSmall,
    /// Chunks could be too long.
    #[error("max. chunk size exponent must not be more than {MAX_EXPONENT} (2^{MAX_EXPONENT} = 8MiB max. chunk size)")]
    MaxTooLarge,
    /// No sizes are left to choose from.
    #[error("required: chunk_min < chunk_max")]
    MinNotBelowMax,
    /// The window does not fit in behind the shortest chunk.
    #[error("required: window_size + 2^chunk_min + 1 <= 2^chunk_max")]
    WindowTooLarge,
    /// `buzhash` with a window of even size.
    #[error("window_size must be an uneven (odd) number")]
    WindowEven,
    /// The masks would have no bit, or too many.
    #[error("required: 0 <= nc_level and 1 <= chunk_mask - nc_level and chunk_mask + nc_level <= {MAX_MASK_BITS}")]
    Normalization,
    /// Blocks are too short.
    #[error("block_size must not be less than {MIN_BLOCK_BYTES} Bytes")]
    BlockTooSmall,
    /// Blocks are longer than any chunk.
    #[error("block_size and header_size must not exceed MAX_DATA_SIZE [{MAX_DATA_SIZE}]")]
    BlockTooLarge,
    /// A size below zero; or below one, for `fail`.
    #[error("{field} is too small")]
    TooSmall {
        /// Name of the parameter.
        field: &'static str,
    },
    /// The map of `fail` is empty or has other letters than `R` and `E`.
    #[error("unsupported map character")]
    Map,
}

impl ChunkerParams {
    /// How files are cut where nothing else is asked for.
    pub const CONTENT: ChunkerParams =
        ChunkerParams::FastCdc(Exponents { chunk_min: 19, chunk_max: 23, chunk_mask: 21, nc_level: 2 });
    /// How item streams are cut, always (data layer, section 1).
    pub const ITEMS: ChunkerParams =
        ChunkerParams::FastCdc(Exponents { chunk_min: 15, chunk_max: 19, chunk_mask: 17, nc_level: 2 });

    /// Name of the algorithm.
    pub fn algorithm(&self) -> &'static str {
        match self {
            ChunkerParams::FastCdc(_) => FASTCDC,
            ChunkerParams::Buzhash { .. } => BUZHASH,
            ChunkerParams::Buzhash64 { .. } => BUZHASH64,
            ChunkerParams::RabinAes(_) => RABIN_AES,
            ChunkerParams::GoldilocksAes(_) => GOLDILOCKS_AES,
            ChunkerParams::ToeplitzAes(_) => TOEPLITZ_AES,
            ChunkerParams::Fixed { .. } => FIXED,
            ChunkerParams::Fail { .. } => FAIL,
        }
    }

    /// The numbers behind the name; all parameters but the map of `fail`.
    pub fn numbers(&self) -> Vec<usize> {
        match *self {
            ChunkerParams::FastCdc(exponents)
            | ChunkerParams::RabinAes(exponents)
            | ChunkerParams::GoldilocksAes(exponents)
            | ChunkerParams::ToeplitzAes(exponents) => [&exponents.sizes()[..], &[exponents.nc_level.into()]].concat(),
            ChunkerParams::Buzhash { exponents, window_size } => [&exponents.sizes()[..], &[window_size]].concat(),
            ChunkerParams::Buzhash64 { exponents, window_size } => {
                [&exponents.sizes()[..], &[window_size, exponents.nc_level.into()]].concat()
            }
            ChunkerParams::Fixed { block_size, header_size } => vec![block_size, header_size],
            ChunkerParams::Fail { block_size, .. } => vec![block_size],
        }
    }

    /// An algorithm other than `fail` with its parameters.
    pub(crate) fn from_numbers(algorithm: &str, numbers: &[i64]) -> Result<ChunkerParams, ChunkerParamsError> {
        match (algorithm, numbers) {
            (FASTCDC, _) => Exponents::windowless(FASTCDC, numbers).map(ChunkerParams::FastCdc),
            (RABIN_AES, _) => Exponents::windowless(RABIN_AES, numbers).map(ChunkerParams::RabinAes),
            (GOLDILOCKS_AES, _) => Exponents::windowless(GOLDILOCKS_AES, numbers).map(ChunkerParams::GoldilocksAes),
            (TOEPLITZ_AES, _) => Exponents::windowless(TOEPLITZ_AES, numbers).map(ChunkerParams::ToeplitzAes),
            (BUZHASH64, &[min, max, mask, window, level]) => {
                let exponents = Exponents::new(min, max, mask, level)?;
                let window_size = exponents.window(window)?;
                Ok(ChunkerParams::Buzhash64 { exponents, window_size })
            }
            (BUZHASH64, _) => Err(ChunkerParamsError::Fields { algorithm: BUZHASH64, fields: &BUZHASH64_FIELDS }),
            (BUZHASH, &[min, max, mask, window]) => {
                let exponents = Exponents::new(min, max, mask, 0)?;
                if window % 2 == 0 {
                    return Err(ChunkerParamsError::WindowEven);
                }
                let window_size = exponents.window(window)?;
                Ok(ChunkerParams::Buzhash { exponents, window_size })
            }
            (FIXED, &[block]) => ChunkerParams::fixed(block, 0),
            (FIXED, &[block, header]) => ChunkerParams::fixed(block, header),
            _ => Err(ChunkerParamsError::Invalid),
        }
    }

    /// The algorithm `fail`.
    pub(crate) fn fail(block: i64, map: &str) -> Result<ChunkerParams, ChunkerParamsError> {
        if map.is_empty() || !map.bytes().all(|letter| matches!(letter, b'R' | b'r' | b'E' | b'e')) {
            return Err(ChunkerParamsError::Map);
        }
        match size("block_size", block)? {
            0 => Err(ChunkerParamsError::TooSmall { field: "block_size" }),
            block_size => Ok(ChunkerParams::Fail { block_size, map: map.into() }),
        }
    }

    fn fixed(block: i64, header: i64) -> Result<ChunkerParams, ChunkerParamsError> {
        if block < MIN_BLOCK_BYTES {
            return Err(ChunkerParamsError::BlockTooSmall);
        }
        let block_size = size("block_size", block)?;
        let header_size = size("header_size", header)?;
        Ok(ChunkerParams::Fixed { block_size, header_size })
    }
}

impl FromStr for ChunkerParams {
    type Err = ChunkerParamsError;

    fn from_str(text: &str) -> Result<Self, ChunkerParamsError> {
        // No algorithm has more; a longer text is not looked at further.
        let fields: Vec<&str> = text.trim().split(',').take(MAX_FIELDS + 1).collect();
        let algorithm = fields[0].to_lowercase();
        let numbers = |fields: &[&str]| -> Result<Vec<i64>, _> {
            fields.iter().map(|field| number(field).ok_or(ChunkerParamsError::Invalid)).collect()
        };
        match (algorithm.as_str(), &fields[1..]) {
            (FAIL, &[block, map]) => ChunkerParams::fail(number(block).ok_or(ChunkerParamsError::Invalid)?, map),
            (_, [_, _, _]) if fields.iter().all(|field| is_digits(field.trim())) => {
                ChunkerParams::from_numbers(BUZHASH, &numbers(&fields)?)
            }
            (algorithm, rest) => ChunkerParams::from_numbers(algorithm, &numbers(rest)?),
        }
    }
}

impl fmt::Display for ChunkerParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm())?;
        self.numbers().iter().try_for_each(|number| write!(f, ",{number}"))?;
        match self {
            ChunkerParams::Fail { map, .. } => write!(f, ",{map}"),
            _ => Ok(()),
        }
    }
}

impl Exponents {
    fn windowless(algorithm: &'static str, numbers: &[i64]) -> Result<Exponents, ChunkerParamsError> {
        let &[min, max, mask, level] = numbers else {
            return Err(ChunkerParamsError::Fields { algorithm, fields: &WINDOWLESS_FIELDS });
        };
        let exponents = Exponents::new(min, max, mask, level);
        match exponents {
            Ok(Exponents { chunk_min, chunk_max, .. }) if chunk_min == chunk_max => {
                Err(ChunkerParamsError::MinNotBelowMax)
            }
            _ => exponents,
        }
    }

    fn new(min: i64, max: i64, mask: i64, level: i64) -> Result<Exponents, ChunkerParamsError> {
        if !(min <= mask && mask <= max) {
            return Err(ChunkerParamsError::MaskOutside);
        }
        if min < MIN_EXPONENT {
            return Err(ChunkerParamsError::MinTooSmall);
        }
        if max > MAX_EXPONENT {
            return Err(ChunkerParamsError::MaxTooLarge);
        }
        if !(0 <= level && level < mask && level <= MAX_MASK_BITS - mask) {
            return Err(ChunkerParamsError::Normalization);
        }
        let [chunk_min, chunk_max, chunk_mask, nc_level] = [min, max, mask, level].map(|small| small as u8);
        Ok(Exponents { chunk_min, chunk_max, chunk_mask, nc_level })
    }

    /// The size of a window that fits in behind the shortest chunk.
    fn window(self, window: i64) -> Result<usize, ChunkerParamsError> {
        if window >= (1 << self.chunk_max) - (1 << self.chunk_min) {
            return Err(ChunkerParamsError::WindowTooLarge);
        }
        usize::try_from(window).map_err(|_| ChunkerParamsError::TooSmall { field: "window_size" })
    }

    fn sizes(self) -> [usize; 3] {
        [self.chunk_min, self.chunk_max, self.chunk_mask].map(usize::from)
    }
}

/// A size that no chunk's length forbids.
fn size(field: &'static str, bytes: i64) -> Result<usize, ChunkerParamsError> {
    match usize::try_from(bytes) {
        Ok(size) if size <= MAX_DATA_SIZE => Ok(size),
        _ if bytes < 0 => Err(ChunkerParamsError::TooSmall { field }),
        _ => Err(ChunkerParamsError::BlockTooLarge),
    }
}

/// A number as Python reads it: with blanks around it, a sign, and underscores between digits. One that is too large for
/// the type becomes the largest, which is beyond every limit too.
fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.split('_').all(is_digits) {
        return None;
    }
    let digits = digits.bytes().filter(u8::is_ascii_digit).map(|digit| i64::from(digit - b'0'));
    let number = digits.fold(0, |number: i64, digit| number.saturating_mul(10).saturating_add(digit));
    Some(if negative { -number } else { number })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

const FASTCDC: &str = "fastcdc";
pub(crate) const BUZHASH: &str = "buzhash";
const BUZHASH64: &str = "buzhash64";
const RABIN_AES: &str = "rabin-aes";
const GOLDILOCKS_AES: &str = "goldilocks-aes";
const TOEPLITZ_AES: &str = "toeplitz-aes";
const FIXED: &str = "fixed";
pub(crate) const FAIL: &str = "fail";

const WINDOWLESS_FIELDS: [&str; 4] = ["chunk_min", "chunk_max", "chunk_mask", "nc_level"];
const BUZHASH64_FIELDS: [&str; 5] = ["chunk_min", "chunk_max", "chunk_mask", "window_size", "nc_level"];
/// Fields of `buzhash64`, which has the most.
const MAX_FIELDS: usize = 1 + BUZHASH64_FIELDS.len();

const MIN_EXPONENT: i64 = 6;
const MAX_EXPONENT: i64 = 23;
const MAX_MASK_BITS: i64 = 48;
const MIN_BLOCK_BYTES: i64 = 64;
