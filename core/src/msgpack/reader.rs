//! Values one after another, from bytes that are all there.

use super::{MsgpackError, Skipper};
use crate::time::{NANOS_PER_SEC, Timestamp};
use rmp::Marker;

/// The extension type of msgpack timestamps.
const TIMESTAMP_EXT: i8 = -1;

/// Takes values one after another from the front of a byte slice; borrowed results live as long as the slice.
///
/// Declared lengths are checked against the bytes that are there before anything is done with them; nothing here allocates.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `data`.
    pub fn new(data: &'a [u8]) -> Self {
        Reader { rest: data }
    }

    /// The bytes that are not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Requires that everything is read.
    pub fn finish(self) -> Result<(), MsgpackError> {
        if self.rest.is_empty() { Ok(()) } else { Err(MsgpackError::TrailingData) }
    }

    /// The number of pairs of a map. The count is a claim: each pair takes at least two of the remaining bytes.
    pub fn map_len(&mut self) -> Result<usize, MsgpackError> {
        let len = match self.marker()? {
            Marker::FixMap(len) => usize::from(len),
            Marker::Map16 => self.be_u16()?.into(),
            Marker::Map32 => self.be_u32()? as usize,
            other => return Err(unexpected("a map", other)),
        };
        if len > self.rest.len() / 2 { Err(MsgpackError::Truncated) } else { Ok(len) }
    }

    /// The number of elements of an array. The count is a claim: each element takes at least one of the remaining bytes.
    pub fn array_len(&mut self) -> Result<usize, MsgpackError> {
        let len = match self.marker()? {
            Marker::FixArray(len) => usize::from(len),
            Marker::Array16 => self.be_u16()?.into(),
            Marker::Array32 => self.be_u32()? as usize,
            other => return Err(unexpected("an array", other)),
        };
        if len > self.rest.len() { Err(MsgpackError::Truncated) } else { Ok(len) }
    }

    /// The content of a str or bin.
    pub fn bytes(&mut self) -> Result<&'a [u8], MsgpackError> {
        let len = match self.marker()? {
            Marker::FixStr(len) => usize::from(len),
            Marker::Str8 | Marker::Bin8 => self.take(1)?[0].into(),
            Marker::Str16 | Marker::Bin16 => self.be_u16()?.into(),
            Marker::Str32 | Marker::Bin32 => self.be_u32()? as usize,
            other => return Err(unexpected("a string", other)),
        };
        self.take(len)
    }

    /// A string of exactly `N` bytes.
    pub fn byte_array<const N: usize>(&mut self) -> Result<[u8; N], MsgpackError> {
        self.bytes()?.try_into().map_err(|_| MsgpackError::OutOfRange)
    }

    /// A string that is valid UTF-8.
    pub fn text(&mut self) -> Result<&'a str, MsgpackError> {
        core::str::from_utf8(self.bytes()?).map_err(|_| MsgpackError::OutOfRange)
    }

    /// An integer of any width.
    pub fn integer(&mut self) -> Result<i128, MsgpackError> {
        Ok(match self.marker()? {
            Marker::FixPos(value) => value.into(),
            Marker::FixNeg(value) => value.into(),
            Marker::U8 => self.take(1)?[0].into(),
            Marker::U16 => self.be_u16()?.into(),
            Marker::U32 => self.be_u32()?.into(),
            Marker::U64 => self.be_u64()?.into(),
            Marker::I8 => (self.take(1)?[0] as i8).into(),
            Marker::I16 => (self.be_u16()? as i16).into(),
            Marker::I32 => (self.be_u32()? as i32).into(),
            Marker::I64 => (self.be_u64()? as i64).into(),
            other => return Err(unexpected("an integer", other)),
        })
    }

    /// An integer that fits `T`.
    pub fn int<T: TryFrom<i128>>(&mut self) -> Result<T, MsgpackError> {
        T::try_from(self.integer()?).map_err(|_| MsgpackError::OutOfRange)
    }

    /// Takes a nil if one is next.
    pub fn nil(&mut self) -> bool {
        let is_nil = self.rest.first() == Some(&Marker::Null.to_u8());
        if is_nil {
            self.rest = &self.rest[1..];
        }
        is_nil
    }

    /// A timestamp extension, or the integer nanoseconds that early data has.
    pub fn timestamp(&mut self) -> Result<Timestamp, MsgpackError> {
        let mut ahead = self.clone();
        let len = match ahead.marker()? {
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::Ext8 => ahead.take(1)?[0].into(),
            _ => return Ok(Timestamp::from_nanos(self.integer()?)),
        };
        if ahead.take(1)?[0] as i8 != TIMESTAMP_EXT {
            return Err(MsgpackError::OutOfRange);
        }
        *self = ahead;
        let (secs, nanos) = match len {
            4 => (self.be_u32()?.into(), 0),
            8 => {
                let both = self.be_u64()?;
                ((both & ((1 << 34) - 1)) as i64, (both >> 34) as u32)
            }
            12 => {
                let nanos = self.be_u32()?;
                (self.be_u64()? as i64, nanos)
            }
            _ => return Err(MsgpackError::OutOfRange),
        };
        if nanos < NANOS_PER_SEC { Ok(Timestamp { secs, nanos }) } else { Err(MsgpackError::OutOfRange) }
    }

    /// Passes over one value of any type and gives its encoding.
    pub fn skip(&mut self) -> Result<&'a [u8], MsgpackError> {
        let mut skipper = Skipper::new();
        if !skipper.advance(self.rest)? {
            return Err(MsgpackError::Truncated);
        }
        self.take(skipper.position())
    }

    fn marker(&mut self) -> Result<Marker, MsgpackError> {
        Ok(Marker::from_u8(self.take(1)?[0]))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], MsgpackError> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or(MsgpackError::Truncated)?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MsgpackError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(MsgpackError::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    fn be_u16(&mut self) -> Result<u16, MsgpackError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    fn be_u32(&mut self) -> Result<u32, MsgpackError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn be_u64(&mut self) -> Result<u64, MsgpackError> {
        Ok(u64::from_be_bytes(self.array()?))
    }
}

fn unexpected(wanted: &'static str, found: Marker) -> MsgpackError {
    match found {
        Marker::Reserved => MsgpackError::Reserved,
        other => MsgpackError::Unexpected { wanted, found: other.to_u8() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_the_data_cannot_hold_is_refused_before_use() {
        assert_eq!(Reader::new(&[0xdd, 0xff, 0xff, 0xff, 0xff, 0]).array_len(), Err(MsgpackError::Truncated));
        assert_eq!(Reader::new(&[0xdf, 0, 0, 0, 2, 0, 0, 0]).map_len(), Err(MsgpackError::Truncated));
        assert_eq!(Reader::new(&[0xc6, 0xff, 0xff, 0xff, 0xff, 0]).bytes(), Err(MsgpackError::Truncated));
    }

    #[test]
    fn integers_have_one_meaning_whatever_their_width() {
        assert_eq!(Reader::new(&[0xd2, 0xde, 0xad, 0xbe, 0xef]).int::<i32>(), Ok(-559_038_737));
        assert_eq!(Reader::new(&[0xff]).int::<i8>(), Ok(-1));
        assert_eq!(Reader::new(&[0xff]).int::<u64>(), Err(MsgpackError::OutOfRange));
        assert_eq!(Reader::new(&[0xcf, 0, 0, 0, 0, 0, 0, 0, 7]).int::<u8>(), Ok(7));
    }

    #[test]
    fn nested_values_are_skipped_whole() {
        // {"a": [1, {"b": nil}]} followed by 5
        let data = [0x81, 0xa1, b'a', 0x92, 1, 0x81, 0xa1, b'b', 0xc0, 5];
        let mut reader = Reader::new(&data);
        assert_eq!(reader.skip(), Ok(&data[..9]));
        assert_eq!(reader.int::<u8>(), Ok(5));
        assert_eq!(reader.finish(), Ok(()));
    }
}
