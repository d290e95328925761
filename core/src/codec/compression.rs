//! What users choose: an algorithm and its level, `auto`, and obfuscation (data layer, section 6.2).

use super::{Algorithm, Obfuscation};
use alloc::vec::Vec;
use core::fmt;
use core::num::{IntErrorKind, ParseIntError};
use core::ops::RangeInclusive;
use core::str::FromStr;
use thiserror::Error;

/// A compression specification: `none`, `lz4`, `zstd[,L]`, `zlib[,L]`, `lzma[,L]`, `auto,C[,L]` or
/// `obfuscate,SPEC,[auto,]C[,L]` (data layer, section 6.2).
///
/// `Display` spells it canonically, as it stands in a repository's defaults: every algorithm that has levels with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// How payloads are made longer to hide their sizes, if they are.
    pub obfuscation: Option<Obfuscation>,
    /// Whether a quick look at each plaintext decides if `compressor` is worth its time.
    pub auto: bool,
    /// What compresses.
    pub compressor: Compressor,
}

impl Compression {
    /// What objects of this compression have in their metadata. Incompressible ones never have it, nor have those for
    /// which `auto` took something cheaper.
    pub fn settings(&self) -> Settings {
        Settings {
            algorithm: self.compressor.algorithm,
            level: self.compressor.level_byte(),
            olevel: self.obfuscation.map(Obfuscation::spec),
        }
    }
}

impl From<Compressor> for Compression {
    /// This compressor for every plaintext, without obfuscation.
    fn from(compressor: Compressor) -> Self {
        Self { obfuscation: None, auto: false, compressor }
    }
}

/// An algorithm at a level that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compressor {
    algorithm: Algorithm,
    level: i32,
}

impl Compressor {
    /// The algorithm at a level, or at its usual one. Algorithms without levels ignore `level`.
    ///
    /// # Errors
    /// [`CompressionError::Level`] for a level that the algorithm does not have.
    pub fn new(algorithm: Algorithm, level: Option<i32>) -> Result<Self, CompressionError> {
        let Some(levels) = algorithm.levels() else { return Ok(Self::without_level(algorithm)) };
        let level = level.unwrap_or(if algorithm == Algorithm::Zstd { 3 } else { 6 });
        if levels.contains(&level) { Ok(Self { algorithm, level }) } else { Err(CompressionError::Level { levels }) }
    }

    /// What compresses.
    pub fn algorithm(self) -> Algorithm {
        self.algorithm
    }

    /// How hard it tries; -1 where the algorithm has no levels.
    pub fn level(self) -> i32 {
        self.level
    }

    /// The `clevel` of an object's metadata (data layer, section 6.2): the level as a byte of two's complement, 255 where
    /// there is no level.
    pub fn level_byte(self) -> u8 {
        self.level as u8
    }

    /// An algorithm that has no levels.
    pub(super) const fn without_level(algorithm: Algorithm) -> Self {
        Self { algorithm, level: NO_LEVEL }
    }

    /// Reads the fields `C[,L]`.
    fn parse(fields: &[&str]) -> Result<Self, CompressionError> {
        let [name, level @ ..] = fields else { return Err(CompressionError::Arguments) };
        if matches!(*name, "auto" | "obfuscate") {
            return Err(CompressionError::Arguments);
        }
        let algorithm = Algorithm::from_name(name).ok_or(CompressionError::Algorithm)?;
        match level {
            // As Borg does, whatever comes behind an algorithm without levels.
            _ if algorithm.levels().is_none() => Self::new(algorithm, None),
            [] => Self::new(algorithm, None),
            [level] => Self::new(algorithm, Some(number(level)?)),
            _ => Err(CompressionError::TooManyArguments),
        }
    }
}

impl Algorithm {
    /// The levels that Borg's specifications take; `None` where the algorithm has no levels.
    pub fn levels(self) -> Option<RangeInclusive<i32>> {
        match self {
            Self::None | Self::Lz4 => None,
            Self::Zstd => Some(-128..=22),
            Self::Zlib | Self::Lzma => Some(0..=9),
        }
    }
}

/// What tells whether an object already has a compression (data layer, section 6.6). Objects that are stored as they came,
/// for being incompressible, have the settings of `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The level byte; 255 where there is no level.
    pub level: u8,
    /// The obfuscation, if there is one.
    pub olevel: Option<i64>,
}

/// Why a text is no compression specification. The words are Borg's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompressionError {
    /// There is no such algorithm.
    #[error("unsupported compression type")]
    Algorithm,
    /// `auto` or `obfuscate` with too few or too many fields, or one of them at a place that is not its own.
    #[error("bad arguments")]
    Arguments,
    /// More fields than an algorithm and a level.
    #[error("too many arguments")]
    TooManyArguments,
    /// A level or an obfuscation that is no number.
    #[error("level must be a number")]
    Number,
    /// A level that the algorithm does not have.
    #[error("level must be >= {} and <= {}", levels.start(), levels.end())]
    Level {
        /// The ones that it has.
        levels: RangeInclusive<i32>,
    },
    /// An obfuscation that does not exist.
    #[error("level must be (inclusively) within 1...6, 110...123 or equal to 250")]
    Obfuscation,
}

impl FromStr for Compression {
    type Err = CompressionError;

    fn from_str(text: &str) -> Result<Self, CompressionError> {
        let fields: Vec<&str> = text.split(',').collect();
        let (obfuscation, fields) = match &fields[..] {
            ["obfuscate", spec, inner @ ..] if (1..=3).contains(&inner.len()) => {
                let obfuscation = Obfuscation::from_spec(number(spec)?.into());
                (Some(obfuscation.ok_or(CompressionError::Obfuscation)?), inner)
            }
            ["obfuscate", ..] => return Err(CompressionError::Arguments),
            fields => (None, fields),
        };
        let (auto, fields) = match fields {
            ["auto", inner @ ..] if (1..=2).contains(&inner.len()) => (true, inner),
            ["auto", ..] => return Err(CompressionError::Arguments),
            fields => (false, fields),
        };
        Ok(Self { obfuscation, auto, compressor: Compressor::parse(fields)? })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(obfuscation) = self.obfuscation {
            write!(f, "obfuscate,{},", obfuscation.spec())?;
        }
        if self.auto {
            f.write_str("auto,")?;
        }
        f.write_str(self.compressor.algorithm.name())?;
        match self.compressor.algorithm.levels() {
            Some(_) => write!(f, ",{}", self.compressor.level),
            None => Ok(()),
        }
    }
}

/// The number in a field. One that is too large is a number all the same: one beyond every limit.
fn number(field: &str) -> Result<i32, CompressionError> {
    field.trim().parse().or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Ok(i32::MAX),
        _ => Err(CompressionError::Number),
    })
}

/// Stands for the level of an algorithm that has none: its byte is 255.
const NO_LEVEL: i32 = -1;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use serde_json::Value;

    fn canonical(text: &str) -> alloc::string::String {
        match text.parse::<Compression>() {
            Ok(compression) => compression.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// What the real client prints for them.
    #[test]
    fn texts_have_one_canonical_form() {
        for text in ["none", "lz4", "zstd,-128", "zstd,0", "zstd,22", "zlib,0", "zlib,9", "lzma,0", "lzma,9"] {
            for prefix in ["", "auto,", "obfuscate,1,", "obfuscate,123,", "obfuscate,250,auto,"] {
                let text = [prefix, text].concat();
                assert_eq!(canonical(&text), text);
            }
        }
        for (text, wanted) in [
            ("zstd", "zstd,3"),
            ("zlib", "zlib,6"),
            ("lzma", "lzma,6"),
            ("auto,zstd", "auto,zstd,3"),
            ("auto,lzma", "auto,lzma,6"),
            ("obfuscate,110,auto,zstd", "obfuscate,110,auto,zstd,3"),
            ("obfuscate,2,zstd,6", "obfuscate,2,zstd,6"),
            ("zstd, +5 ", "zstd,5"),
            ("none,9", "none"),
            ("lz4,1,x", "lz4"),
        ] {
            assert_eq!(canonical(text), wanted, "{text}");
        }
    }

    /// The real client says the same, but for the last four: of what is no number it says that it is an invalid value,
    /// and it takes an `auto` or `obfuscate` in another one.
    #[test]
    fn bad_texts_are_refused_in_the_words_of_borg() {
        let obfuscation = "level must be (inclusively) within 1...6, 110...123 or equal to 250";
        for (text, wanted) in [
            ("", "unsupported compression type"),
            ("nonsense", "unsupported compression type"),
            ("ZSTD,3", "unsupported compression type"),
            ("auto,nonsense", "unsupported compression type"),
            ("zstd,23", "level must be >= -128 and <= 22"),
            ("zstd,-129", "level must be >= -128 and <= 22"),
            ("zstd,99999999999999", "level must be >= -128 and <= 22"),
            ("zlib,10", "level must be >= 0 and <= 9"),
            ("lzma,-1", "level must be >= 0 and <= 9"),
            ("zstd,1,2", "too many arguments"),
            ("obfuscate,1,zstd,3,4", "too many arguments"),
            ("auto", "bad arguments"),
            ("auto,zstd,3,4", "bad arguments"),
            ("obfuscate,1", "bad arguments"),
            ("obfuscate,1,auto,zstd,3,4", "bad arguments"),
            ("auto,obfuscate,1", "bad arguments"),
            ("obfuscate,0,lz4", obfuscation),
            ("obfuscate,7,lz4", obfuscation),
            ("obfuscate,-1,lz4", obfuscation),
            ("obfuscate,109,lz4", obfuscation),
            ("obfuscate,124,lz4", obfuscation),
            ("obfuscate,506,lz4", obfuscation),
            ("zstd,", "level must be a number"),
            ("obfuscate,x,lz4", "level must be a number"),
            ("auto,auto,lz4", "bad arguments"),
            ("obfuscate,1,obfuscate,2,lz4", "bad arguments"),
        ] {
            assert_eq!(canonical(text), wanted, "{text}");
        }
    }

    #[test]
    fn level_bytes_are_those_of_the_vectors() {
        let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
        for vector in vectors["clevel"].as_array().unwrap() {
            let level = vector["zstd_level"].as_i64().unwrap() as i32;
            let compressor = Compressor::new(Algorithm::Zstd, Some(level)).unwrap();
            assert_eq!(vector["byte"], compressor.level_byte(), "{level}");
        }
    }

    #[test]
    fn settings_look_through_auto() {
        let settings = |text: &str| {
            let Settings { algorithm, level, olevel } = text.parse::<Compression>().unwrap().settings();
            (algorithm.ctype(), level, olevel)
        };
        assert_eq!(settings("none"), (0, 255, None));
        assert_eq!(settings("lz4"), (1, 255, None));
        assert_eq!(settings("lzma,0"), (2, 0, None));
        assert_eq!(settings("auto,zstd,-4"), (3, 252, None));
        assert_eq!(settings("obfuscate,110,zlib"), (5, 6, Some(110)));
        assert_eq!(settings("obfuscate,250,auto,zstd"), (3, 3, Some(250)));
    }
}
