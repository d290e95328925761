//! Values one after another, as Borg writes them: shortest forms, str for texts and bin for bytes.

use crate::time::{NANOS_PER_SEC, Timestamp};
use alloc::boxed::Box;
use alloc::vec::Vec;
use rmp::Marker;
use rmp::encode::{self, ByteBuf};

/// The extension type of msgpack timestamps.
const TIMESTAMP_EXT: i8 = -1;
/// Why writing into memory can't fail.
const GROWS: &str = "a buffer that grows takes everything";
/// Pairs that a map's one-byte header can tell of.
const FIXMAP_PAIRS: usize = 15;

/// Appends values to a buffer (data layer, section 7).
///
/// Nothing that Borg stores is 4 GiB long or has so many elements: such a length is a fault of the caller, and panics.
#[derive(Debug, Default)]
pub struct Writer {
    out: ByteBuf,
}

impl Writer {
    /// With nothing written.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on behind `bytes`.
    pub fn after(bytes: Vec<u8>) -> Self {
        Writer { out: ByteBuf::from_vec(bytes) }
    }

    /// All that is written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out.into_vec()
    }

    /// The header of an array of `len` elements, which are to follow.
    pub fn array(&mut self, len: usize) {
        encode::write_array_len(&mut self.out, length(len)).expect(GROWS);
    }

    /// The header of a map of `len` pairs, which are to follow; where keys must be sorted, see [`Writer::sorted_map`].
    pub fn map(&mut self, len: usize) {
        encode::write_map_len(&mut self.out, length(len)).expect(GROWS);
    }

    /// Bytes.
    pub fn bin(&mut self, bytes: &[u8]) {
        encode::write_bin(&mut self.out, bytes).expect(GROWS);
    }

    /// A text, which need not be UTF-8.
    pub fn str(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        encode::write_str_len(&mut self.out, length(text.len())).expect(GROWS);
        self.raw(text);
    }

    /// An integer that is not negative.
    pub fn uint(&mut self, value: u64) {
        encode::write_uint(&mut self.out, value).expect(GROWS);
    }

    /// An integer.
    pub fn int(&mut self, value: i64) {
        encode::write_sint(&mut self.out, value).expect(GROWS);
    }

    /// No value.
    pub fn nil(&mut self) {
        self.raw(&[Marker::Null.to_u8()]);
    }

    /// A point in time.
    pub fn timestamp(&mut self, time: Timestamp) {
        let Timestamp { secs, nanos } = time;
        debug_assert!(nanos < NANOS_PER_SEC, "timestamps are kept normal");
        match u64::try_from(secs) {
            Ok(secs) if nanos == 0 && secs <= u32::MAX.into() => {
                self.ext(&(secs as u32).to_be_bytes());
            }
            Ok(secs) if secs < 1 << 34 => self.ext(&(u64::from(nanos) << 34 | secs).to_be_bytes()),
            _ => {
                let mut payload = [0; 12];
                payload[..4].copy_from_slice(&nanos.to_be_bytes());
                payload[4..].copy_from_slice(&secs.to_be_bytes());
                self.ext(&payload);
            }
        }
    }

    /// A value that is encoded already.
    pub fn raw(&mut self, encoded: &[u8]) {
        self.out.as_mut_vec().extend_from_slice(encoded);
    }

    /// A map whose keys come in order. `extra` are pairs whose values are encoded already; they go in among the others.
    pub fn sorted_map(&mut self, extra: &[(Vec<u8>, Box<[u8]>)], pairs: impl FnOnce(&mut SortedMap<'_, '_>)) {
        let mut extra: Vec<&(Vec<u8>, Box<[u8]>)> = extra.iter().collect();
        extra.sort_by(|a, b| b.0.cmp(&a.0));
        let start = self.out.as_vec().len();
        self.map(0);
        let mut map = SortedMap { writer: self, count: 0, extra };
        pairs(&mut map);
        map.extra_before(None);
        let count = map.count;
        let out = self.out.as_mut_vec();
        if count <= FIXMAP_PAIRS {
            out[start] |= count as u8;
        } else {
            let body = out.split_off(start + 1);
            out.truncate(start);
            self.map(count);
            self.raw(&body);
        }
    }

    fn ext(&mut self, payload: &[u8]) {
        encode::write_ext_meta(&mut self.out, length(payload.len()), TIMESTAMP_EXT).expect(GROWS);
        self.raw(payload);
    }
}

/// A map in the making, whose pairs come in order of their keys.
pub struct SortedMap<'w, 'e> {
    writer: &'w mut Writer,
    count: usize,
    /// Pairs that are still to be written, the first last.
    extra: Vec<&'e (Vec<u8>, Box<[u8]>)>,
}

impl SortedMap<'_, '_> {
    /// A pair, whose value `write` writes. Its key is greater than the last one's.
    pub fn pair(&mut self, key: &str, write: impl FnOnce(&mut Writer)) {
        self.extra_before(Some(key.as_bytes()));
        self.count += 1;
        self.writer.str(key);
        write(self.writer);
    }

    /// A pair, if there is a value for it.
    pub fn optional<T>(&mut self, key: &str, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        if let Some(value) = value {
            self.pair(key, |writer| write(writer, value));
        }
    }

    fn extra_before(&mut self, key: Option<&[u8]>) {
        while let Some((extra, value)) = self.extra.pop_if(|(extra, _)| key.is_none_or(|key| &extra[..] < key)) {
            self.count += 1;
            self.writer.str(extra);
            self.writer.raw(value);
        }
    }
}

fn length(len: usize) -> u32 {
    u32::try_from(len).expect("nothing that is stored has 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn maps_are_sorted_whatever_is_mixed_in() {
        let extra = vec![(b"zz".to_vec(), [0xc0].into()), (b"b".to_vec(), [1].into())];
        let mut writer = Writer::new();
        writer.sorted_map(&extra, |map| {
            map.pair("a", |writer| writer.uint(0));
            map.pair("c", |writer| writer.uint(2));
        });
        assert_eq!(writer.into_bytes(), b"\x84\xa1a\0\xa1b\x01\xa1c\x02\xa2zz\xc0");
    }

    #[test]
    fn the_sixteenth_pair_makes_a_longer_header() {
        let names: Vec<alloc::string::String> = (10..26).map(|number| alloc::format!("{number}")).collect();
        let mut writer = Writer::new();
        writer.sorted_map(&[], |map| names.iter().for_each(|name| map.pair(name, Writer::nil)));
        let bytes = writer.into_bytes();
        assert_eq!(&bytes[..7], b"\xde\0\x10\xa210\xc0");
        assert_eq!(bytes.len(), 3 + 16 * 4);
    }
}
