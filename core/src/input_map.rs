//! Input maps: somebody else knows which parts of a file need not be read (data layer, section 4).

use crate::id::ChunkId;
use crate::item::ChunkEntry;
use alloc::string::String;
use alloc::vec::Vec;

/// What is known of the whole of a file, from its beginning to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputMap {
    ranges: Vec<Range>,
}

/// What is known of a part of a file; it begins where the one before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    end: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Has to be read.
    Data,
    /// Reads as zeros.
    Zero,
    /// Is what it was when the reference was archived.
    Same,
}

/// Why a text is no input map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputMapError {
    /// It has no ranges.
    #[error("empty input map")]
    Empty,
    /// A line makes no sense.
    #[error("{number}: invalid input map line: {source}")]
    Line {
        /// Number of the line, from 1.
        number: usize,
        /// What is wrong with it.
        source: InputMapLineError,
    },
}

/// What is wrong with a line of an input map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputMapLineError {
    /// Not three words, the first two of which are numbers.
    #[error("expected 'START LENGTH STATE', got: '{line}'")]
    Words {
        /// The line, without its comment.
        line: String,
    },
    /// A state that there is not, or not without a reference.
    #[error("invalid state '{state}' (expected: {})", if *allow_same { "data, same, zero" } else { "data, zero" })]
    State {
        /// As written.
        state: String,
        /// Whether there is a reference.
        allow_same: bool,
    },
    /// The range is empty.
    #[error("LENGTH must be positive")]
    Length,
    /// The range ends where no file does.
    #[error("the range ends beyond 2^63 bytes")]
    TooFar,
    /// The range does not begin where the one before it ends.
    #[error("ranges must be sorted, contiguous and start at offset 0 (expected START {expected}, got {found})")]
    Start {
        /// In bytes.
        expected: u64,
        /// In bytes.
        found: i128,
    },
}

/// A part of a file's content, as a plan has it. Each is cut into chunks on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedPart<'r> {
    /// The chunks of the reference, as they are.
    Reuse(&'r [ChunkEntry]),
    /// These extents, which follow upon each other.
    Read(Vec<Extent>),
}

/// Some bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Offset of the first, in bytes.
    pub start: u64,
    /// Offset after the last, in bytes; greater than `start`.
    pub end: u64,
    /// They are zeros, and need not be read.
    pub is_zero: bool,
}

impl InputMap {
    /// Parses lines of `START LENGTH STATE`. `same` is allowed where there is a reference that the file is the same as.
    pub fn parse(text: &str, allow_same: bool) -> Result<InputMap, InputMapError> {
        let mut map = InputMap { ranges: Vec::new() };
        for (at, line) in text.lines().enumerate() {
            let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
            if !line.is_empty() {
                let range = parse_line(line, map.size(), allow_same);
                map.ranges.push(range.map_err(|source| InputMapError::Line { number: at + 1, source })?);
            }
        }
        if map.ranges.is_empty() { Err(InputMapError::Empty) } else { Ok(map) }
    }

    /// The size of the file that it is of, in bytes.
    pub fn size(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// What to do to have the file's content.
    ///
    /// A chunk of the reference is used if all of it is the same and the repository has it. So all that changed is read,
    /// whatever chunker made those chunks.
    pub fn plan<'r>(&self, reference: &'r [ChunkEntry], has: impl Fn(&ChunkId) -> bool) -> Vec<PlannedPart<'r>> {
        let same = self.same();
        let is_same = |start: u64, end: u64| {
            let extent = same.get(same.partition_point(|extent| extent.end <= start));
            extent.is_some_and(|extent| extent.start <= start && end <= extent.end)
        };
        let mut parts = Vec::new();
        let (mut start, mut done) = (0u64, 0);
        for (number, entry) in reference.iter().enumerate() {
            let end = start.checked_add(entry.size).filter(|end| *end > start && *end <= self.size());
            let Some(end) = end else { break };
            if is_same(start, end) && has(&entry.id) {
                self.read(done, start, &mut parts);
                match parts.last_mut() {
                    // No part was read in between, so its last chunk is the one before this.
                    Some(PlannedPart::Reuse(chunks)) => *chunks = &reference[number - chunks.len()..=number],
                    _ => parts.push(PlannedPart::Reuse(&reference[number..=number])),
                }
                done = end;
            }
            start = end;
        }
        self.read(done, self.size(), &mut parts);
        parts
    }

    /// What is the same, in extents as long as can be.
    fn same(&self) -> Vec<core::ops::Range<u64>> {
        let mut same: Vec<core::ops::Range<u64>> = Vec::new();
        let mut start = 0;
        for range in self.ranges.iter() {
            match same.last_mut().filter(|last| last.end == start) {
                _ if range.state != State::Same => {}
                Some(last) => last.end = range.end,
                None => same.push(start..range.end),
            }
            start = range.end;
        }
        same
    }

    /// Plans to read what is between two offsets.
    fn read(&self, start: u64, end: u64, parts: &mut Vec<PlannedPart<'_>>) {
        let mut extents = Vec::new();
        let mut from = start;
        for range in &self.ranges[self.ranges.partition_point(|range| range.end <= start)..] {
            if from >= end {
                break;
            }
            let to = range.end.min(end);
            extents.push(Extent { start: from, end: to, is_zero: range.state == State::Zero });
            from = to;
        }
        if !extents.is_empty() {
            parts.push(PlannedPart::Read(extents));
        }
    }
}

fn parse_line(line: &str, expected: u64, allow_same: bool) -> Result<Range, InputMapLineError> {
    let mut words = line.split_whitespace();
    let (Some(start), Some(len), Some(state), None) =
        (words.next().and_then(number), words.next().and_then(number), words.next(), words.next())
    else {
        return Err(InputMapLineError::Words { line: line.into() });
    };
    let state = match state {
        "data" => State::Data,
        "zero" => State::Zero,
        "same" if allow_same => State::Same,
        other => return Err(InputMapLineError::State { state: other.into(), allow_same }),
    };
    if len <= 0 {
        return Err(InputMapLineError::Length);
    }
    if start != i128::from(expected) {
        return Err(InputMapLineError::Start { expected, found: start });
    }
    let end = u64::try_from(start + len).ok().filter(|end| *end <= MAX_FILE_BYTES).ok_or(InputMapLineError::TooFar)?;
    Ok(Range { end, state })
}

/// A whole number, decimal or `0x` and hexadecimal.
fn number(word: &str) -> Option<i128> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(i128::from),
        None => word.parse::<i64>().ok().map(i128::from),
    }
}

/// No file is longer: offsets are signed where files are read.
const MAX_FILE_BYTES: u64 = i64::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    /// Chunks of these sizes, the number of each as the first byte of its id.
    fn chunks(sizes: &[u64]) -> Vec<ChunkEntry> {
        let entry = |(number, size): (usize, &u64)| {
            let mut id = [0; 32];
            id[0] = number as u8;
            ChunkEntry { id: ChunkId(id), size: *size }
        };
        sizes.iter().enumerate().map(entry).collect()
    }

    /// A plan in short: the numbers of chunks that are reused, and the extents that are read (or `z`ero).
    fn plan(map: &str, sizes: &[u64], missing: &[u8]) -> String {
        let map = InputMap::parse(map, true).unwrap();
        let reference = chunks(sizes);
        let shown = |part: PlannedPart<'_>| match part {
            PlannedPart::Reuse(chunks) => format!("{:?}", chunks.iter().map(|c| c.id.0[0]).collect::<Vec<_>>()),
            PlannedPart::Read(extents) => {
                let shown = |e: &Extent| format!("{}{}-{}", if e.is_zero { "z" } else { "" }, e.start, e.end);
                extents.iter().map(shown).collect::<Vec<_>>().join(",")
            }
        };
        map.plan(&reference, |id| !missing.contains(&id.0[0])).into_iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    /// The cases are those of Borg's own tests.
    #[test]
    fn plans_reuse_what_is_the_same() {
        assert_eq!(plan("0 8192 same", &[4096, 4096], &[]), "[0, 1]");
        assert_eq!(plan("0 4096 data\n4096 4096 zero", &[4096, 4096], &[]), "0-4096,z4096-8192");
        assert_eq!(plan("0 4096 same\n4096 4096 data\n8192 4096 same", &[4096, 4096, 4096], &[]), "[0] 4096-8192 [2]");
        assert_eq!(plan("0 6000 same\n6000 2192 data", &[4096, 4096], &[]), "[0] 4096-6000,6000-8192");
        assert_eq!(plan("0 2048 same\n2048 6144 same", &[4096, 4096], &[]), "[0, 1]");
        assert_eq!(plan("0 4096 same\n4096 4096 zero", &[4096, 4096], &[]), "[0] z4096-8192");
        assert_eq!(plan("0 8192 same\n8192 4096 data", &[4096, 4096], &[]), "[0, 1] 8192-12288");
        assert_eq!(plan("0 4096 same", &[4096, 4096, 4096], &[]), "[0]");
        assert_eq!(plan("0 6000 same", &[4096, 4096], &[]), "[0] 4096-6000");
        assert_eq!(plan("0 8192 same", &[4096, 4096], &[1]), "[0] 4096-8192");
    }

    #[test]
    fn references_that_lie_do_no_harm() {
        assert_eq!(plan("0 10 same", &[5, 0, 5], &[]), "[0] 5-10");
        assert_eq!(plan("0 10 same", &[u64::MAX, 5], &[]), "0-10");
        assert_eq!(plan("0 10 same", &[5, u64::MAX], &[]), "[0] 5-10");
        assert_eq!(plan("0 10 same", &[], &[]), "0-10");
    }

    #[test]
    fn maps_are_read_as_borg_reads_them() {
        let text = "# a comment\n\n0 0x1000 data\n0x1000 4096 zero  # behind\n8192 100 data\n";
        let map = InputMap::parse(text, false).unwrap();
        assert_eq!((map.ranges.len(), map.size()), (3, 8292));
        let told = |text: &str| InputMap::parse(text, false).unwrap_err().to_string();
        for (text, wanted) in [
            ("", "empty input map"),
            ("0 100", "1: invalid input map line: expected 'START LENGTH STATE', got: '0 100'"),
            ("0 100 data extra", "1: invalid input map line: expected 'START LENGTH STATE', got: '0 100 data extra'"),
            ("x 100 data", "1: invalid input map line: expected 'START LENGTH STATE', got: 'x 100 data'"),
            ("0 100 nodata", "1: invalid input map line: invalid state 'nodata' (expected: data, zero)"),
            ("0 100 same", "1: invalid input map line: invalid state 'same' (expected: data, zero)"),
            ("\n0 0 data", "2: invalid input map line: LENGTH must be positive"),
            ("0 -5 data", "1: invalid input map line: LENGTH must be positive"),
            (
                "0 9223372036854775807 data\n0x7fffffffffffffff 1 data",
                "2: invalid input map line: the range ends beyond 2^63 bytes",
            ),
        ] {
            assert_eq!(told(text), wanted);
        }
        for (text, expected, found) in
            [("100 100 data", 0, 100), ("0 100 data\n50 100 zero", 100, 50), ("-1 1 data", 0, -1)]
        {
            let text = told(text);
            assert!(text.ends_with(&format!("offset 0 (expected START {expected}, got {found})")), "{text}");
        }
    }
}
