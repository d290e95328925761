//! Keys on paper: hexadecimal digits to be written down by hand, a checksum for each line (repository layer, section 3.6).

use super::text::MAX_TEXT_BYTES;
use crate::bytes::{Hex, from_hex};
use crate::crypto::sha256;
use crate::id::RepositoryId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const BYTES_PER_LINE: usize = 18;
const DIGITS_PER_GROUP: usize = 6;
/// Digits of the repository's id that a paper key names.
const REPOSITORY_DIGITS: usize = 18;
/// Digits of the checksum over all bytes.
const TOTAL_DIGITS: usize = 12;
/// More lines than any key has.
const MAX_LINES: usize = MAX_TEXT_BYTES / BYTES_PER_LINE;

/// A key as lines to be written down. `blob` is what [`blob`](super::blob) gives.
pub fn paper_text(repository: RepositoryId, blob: &[u8]) -> String {
    let lines = blob.len().div_ceil(BYTES_PER_LINE);
    let repository = repository_digits(repository);
    let total = total_digits(blob);
    let mut text = format!(
        "To restore key use borg key import --paper\n\nBORG PAPER KEY v1\nid: {lines} / {} / {} - {}\n",
        grouped(&repository),
        grouped(&total),
        check_digits(&[format!("{lines}/{repository}/{total}").as_bytes()]),
    );
    for (number, line) in (1usize..).zip(blob.chunks(BYTES_PER_LINE)) {
        text.push_str(&format!("{number:2}: {} - {}\n", grouped(&Hex(line).to_string()), line_digits(number, line)));
    }
    text
}

/// Why a line of a paper key is not accepted. `Display` is Borg's text for who types it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PaperError {
    /// No checksum, or several.
    #[error("each line must contain exactly one '-', try again")]
    Hyphens,
    /// Not the three parts of a first line.
    #[error("the id line must contain exactly two '/', try again")]
    Parts,
    /// The first line is mistyped.
    #[error("line checksum did not match, try same line again")]
    IdChecksum,
    /// The first line is typed right, but no key has so many lines.
    #[error("the id line tells of {lines:?} lines, which no key has, try again")]
    Lines {
        /// As typed.
        lines: String,
    },
    /// Something else than digits, or half a byte.
    #[error("only characters 0-9 and a-f and '-' are valid, two of them for each byte, try again")]
    Digits,
    /// A line is mistyped.
    #[error("line checksum did not match, try line {number} again")]
    LineChecksum {
        /// Its number, from 1 on.
        number: usize,
    },
    /// All lines seem right, but they don't make the key.
    #[error("The overall checksum did not match, retry or enter a blank line to abort.")]
    Total,
}

/// Reads a paper key line by line, without the numbers in front. Blanks mean nothing, nor does the case of digits. A line
/// that is not accepted can be given again.
#[derive(Debug, Clone)]
pub struct PaperReader {
    lines: usize,
    repository: String,
    total: String,
    blob: Vec<u8>,
    read: usize,
}

impl PaperReader {
    /// Begins with the first line, which follows `id:`.
    pub fn new(line: &str) -> Result<PaperReader, PaperError> {
        let line = plain(line);
        let (data, checksum) = checked(&line)?;
        let mut parts = data.split('/');
        let (Some(lines), Some(repository), Some(total), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(PaperError::Parts);
        };
        if check_digits(&[data.as_bytes()]) != checksum {
            return Err(PaperError::IdChecksum);
        }
        let count = lines.parse().ok().filter(|count| (1..=MAX_LINES).contains(count));
        Ok(PaperReader {
            lines: count.ok_or_else(|| PaperError::Lines { lines: lines.into() })?,
            repository: repository.into(),
            total: total.into(),
            blob: Vec::new(),
            read: 0,
        })
    }

    /// Whether it is a key of this repository, as far as the first line tells.
    pub fn is_of(&self, repository: RepositoryId) -> bool {
        self.repository == repository_digits(repository)
    }

    /// The number of the line that comes next, from 1 on; `None` if there are no more.
    pub fn next_line(&self) -> Option<usize> {
        (self.read < self.lines).then_some(self.read + 1)
    }

    /// Takes the next line. What follows the last one is passed over.
    pub fn line(&mut self, line: &str) -> Result<(), PaperError> {
        let Some(number) = self.next_line() else { return Ok(()) };
        let line = plain(line);
        let (data, checksum) = checked(&line)?;
        let bytes = unhex(data).ok_or(PaperError::Digits)?;
        if bytes.len() > BYTES_PER_LINE || line_digits(number, &bytes) != checksum {
            return Err(PaperError::LineChecksum { number });
        }
        self.blob.extend_from_slice(&bytes);
        self.read = number;
        Ok(())
    }

    /// All bytes, for [`key_text`](super::key_text).
    pub fn finish(self) -> Result<Vec<u8>, PaperError> {
        if self.read == self.lines && total_digits(&self.blob) == self.total {
            Ok(self.blob)
        } else {
            Err(PaperError::Total)
        }
    }
}

fn repository_digits(repository: RepositoryId) -> String {
    let mut digits = repository.to_string();
    digits.truncate(REPOSITORY_DIGITS);
    digits
}

fn total_digits(blob: &[u8]) -> String {
    Hex(&sha256(&[blob])[..TOTAL_DIGITS / 2]).to_string()
}

fn line_digits(number: usize, line: &[u8]) -> String {
    // Two bytes number the lines of a megabyte; keys have half a thousand bytes.
    check_digits(&[&(number as u16).to_be_bytes(), line])
}

fn check_digits(parts: &[&[u8]]) -> String {
    Hex(&sha256(parts)[..1]).to_string()
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && position % DIGITS_PER_GROUP == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn plain(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect()
}

/// What is before a line's checksum, and the checksum.
fn checked(line: &str) -> Result<(&str, &str), PaperError> {
    line.split_once('-').filter(|(_, checksum)| !checksum.contains('-')).ok_or(PaperError::Hyphens)
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| from_hex(core::str::from_utf8(pair).ok()?));
    pairs.map(|byte| byte.map(|[byte]| byte)).collect()
}
