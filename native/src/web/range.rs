//! Parts of objects that a request asks for (repository layer, section 1.7).

/// A part of an object whose size is still to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// `bytes=A-B`: from one byte to another, which is part of it.
    Between(u64, u64),
    /// `bytes=A-`: from a byte to the end.
    From(u64),
    /// `bytes=-N`: the last bytes.
    Last(u64),
}

impl Range {
    /// Parses a `Range` header. What is no single range of bytes is `None`, and then everything is sent.
    pub fn parse(header: &str) -> Option<Range> {
        let (first, last) = header.strip_prefix("bytes=")?.trim().split_once('-')?;
        Some(match (first, last) {
            ("", last) => Range::Last(number(last)?),
            (first, "") => Range::From(number(first)?),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Range::Between(first, last))?
            }
        })
    }

    /// Where it begins in an object of `size` bytes, and how long it is there. Beyond the end it is empty.
    pub fn within(self, size: u64) -> (u64, u64) {
        let (offset, length) = match self {
            Range::Between(first, last) => (first, (last - first).saturating_add(1)),
            Range::From(first) => (first, u64::MAX),
            Range::Last(count) => (size.saturating_sub(count), count),
        };
        let offset = offset.min(size);
        (offset, length.min(size - offset))
    }
}

/// Digits only: `parse` alone would take a sign.
fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_the_protocol_are_understood() {
        for (header, wanted) in [
            ("bytes=0-0", (0, 1)),
            ("bytes=2-5", (2, 4)),
            ("bytes=7-", (7, 3)),
            ("bytes=-4", (6, 4)),
            ("bytes=-40", (0, 10)),
            ("bytes=-0", (10, 0)),
            ("bytes=8-99", (8, 2)),
            ("bytes=10-", (10, 0)),
            ("bytes=99-100", (10, 0)),
            ("bytes=0-18446744073709551615", (0, 10)),
        ] {
            assert_eq!(Range::parse(header).unwrap().within(10), wanted, "{header}");
        }
    }

    #[test]
    fn what_is_no_single_range_is_none() {
        for header in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=5-2",
            "bytes=1-2,4-5",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=--1",
            "items=0-1",
            "bytes=18446744073709551616-",
            "bytes=-1-2",
        ] {
            assert_eq!(Range::parse(header), None, "{header}");
        }
    }
}
