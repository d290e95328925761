//! The end of a value, in bytes that arrive piece by piece.

use super::MsgpackError;
use rmp::Marker;

/// Finds the end of one value in data that arrives piece by piece.
///
/// It needs neither recursion nor a stack: all that matters is how many values are still owed, so ten thousand nested arrays
/// cost a counter.
#[derive(Debug)]
pub struct Skipper {
    position: usize,
    owed: u64,
}

impl Skipper {
    /// At the beginning of a value.
    #[allow(clippy::new_without_default)] // there is no empty skipper: one value is always owed
    pub fn new() -> Self {
        Skipper { position: 0, owed: 1 }
    }

    /// How far the value is passed over: its length, once [`Skipper::advance`] has said `true`.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes on with `data`, which begins where the value began and holds at least what it held in the last call.
    /// `true` when the whole value is there, `false` when more data is needed.
    pub fn advance(&mut self, data: &[u8]) -> Result<bool, MsgpackError> {
        while self.owed > 0 {
            let Some((head, values)) = head_of(data.get(self.position..).unwrap_or(&[]))? else {
                return Ok(false);
            };
            let end = self.position as u64 + head;
            if end > data.len() as u64 {
                return Ok(false);
            }
            self.position = end as usize;
            self.owed = self.owed - 1 + values;
        }
        Ok(true)
    }
}

/// Length of a value's own bytes (header, and content of a string), and how many values it contains; `None` if its header is cut.
fn head_of(data: &[u8]) -> Result<Option<(u64, u64)>, MsgpackError> {
    let Some(&first) = data.first() else { return Ok(None) };
    // A length of `width` bytes after the marker.
    let length = |width: usize| -> Option<u64> {
        let digits = data.get(1..1 + width)?;
        Some(digits.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    let string = |width: usize, extra: u64| length(width).map(|len| (1 + width as u64 + extra + len, 0));
    let sequence = |width: usize, per: u64| length(width).map(|len| (1 + width as u64, per * len));
    Ok(match Marker::from_u8(first) {
        Marker::Reserved => return Err(MsgpackError::Reserved),
        Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::True | Marker::False => Some((1, 0)),
        Marker::FixStr(len) => Some((1 + u64::from(len), 0)),
        Marker::FixMap(len) => Some((1, 2 * u64::from(len))),
        Marker::FixArray(len) => Some((1, len.into())),
        Marker::U8 | Marker::I8 => Some((2, 0)),
        Marker::U16 | Marker::I16 | Marker::FixExt1 => Some((3, 0)),
        Marker::U32 | Marker::I32 | Marker::F32 => Some((5, 0)),
        Marker::U64 | Marker::I64 | Marker::F64 => Some((9, 0)),
        Marker::FixExt2 => Some((4, 0)),
        Marker::FixExt4 => Some((6, 0)),
        Marker::FixExt8 => Some((10, 0)),
        Marker::FixExt16 => Some((18, 0)),
        Marker::Str8 | Marker::Bin8 => string(1, 0),
        Marker::Str16 | Marker::Bin16 => string(2, 0),
        Marker::Str32 | Marker::Bin32 => string(4, 0),
        Marker::Ext8 => string(1, 1),
        Marker::Ext16 => string(2, 1),
        Marker::Ext32 => string(4, 1),
        Marker::Array16 => sequence(2, 1),
        Marker::Array32 => sequence(4, 1),
        Marker::Map16 => sequence(2, 2),
        Marker::Map32 => sequence(4, 2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_however_it_is_cut() {
        let data =
            [0x82, 0xa1, b'a', 0xc4, 3, 1, 2, 3, 0xa1, b'b', 0x93, 0xcd, 1, 2, 0xd6, 0xff, 0, 0, 0, 1, 0xc0, 0x42];
        let mut skipper = Skipper::new();
        for len in 0..21 {
            assert_eq!(skipper.advance(&data[..len]), Ok(false), "{len} bytes");
        }
        assert_eq!(skipper.advance(&data), Ok(true));
        assert_eq!(skipper.position(), 21);
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        let mut data = alloc::vec![0x91; 1_000_000];
        data.push(0xc0);
        assert_eq!(Skipper::new().advance(&data), Ok(true));
    }
}
