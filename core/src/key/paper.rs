//! Keys on paper (repository layer, section 3.6).

use crate::bytes::Hex;
use crate::crypto::sha256;
use crate::id::RepositoryId;
use alloc::format;
use alloc::string::{String, ToString};

const BYTES_PER_LINE: usize = 18;
const DIGITS_PER_GROUP: usize = 6;

/// A key as lines to be written down by hand: hexadecimal digits in groups, a checksum for each line
/// (repository layer, section 3.6). `blob` is what [`blob`](super::blob) gives.
pub fn paper_text(repository: RepositoryId, blob: &[u8]) -> String {
    let lines = blob.len().div_ceil(BYTES_PER_LINE);
    let repository = &repository.to_string()[..18];
    let digest = &Hex(&sha256(&[blob])).to_string()[..12];
    let checksum = check_digits(&[format!("{lines}/{repository}/{digest}").as_bytes()]);
    let mut text = format!(
        "To restore key use borg key import --paper\n\nBORG PAPER KEY v1\nid: {lines} / {} / {} - {checksum}\n",
        grouped(repository),
        grouped(digest),
    );
    for (number, line) in (1usize..).zip(blob.chunks(BYTES_PER_LINE)) {
        let digits = grouped(&Hex(line).to_string());
        // Two bytes number the lines of a megabyte; keys have half a thousand bytes.
        let checksum = check_digits(&[&(number as u16).to_be_bytes(), line]);
        text.push_str(&format!("{number:2}: {digits} - {checksum}\n"));
    }
    text
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
