//! Just enough msgpack to write what Borg writes, and what it would never write.

/// An integer, in its shortest form.
pub fn int(value: i64) -> Vec<u8> {
    match value {
        0..=0x7f => vec![value as u8],
        0x80..=0xff => vec![0xcc, value as u8],
        0x100..=0xffff => [&[0xcd][..], &(value as u16).to_be_bytes()].concat(),
        0x1_0000..=0xffff_ffff => [&[0xce][..], &(value as u32).to_be_bytes()].concat(),
        -32..=-1 => vec![value as u8],
        _ => [&[0xd3][..], &value.to_be_bytes()].concat(),
    }
}

/// A str, whatever its bytes.
pub fn str(content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    match content.len() {
        len @ 0..=31 => [&[0xa0 | len as u8][..], content].concat(),
        len @ 32..=255 => [&[0xd9, len as u8][..], content].concat(),
        len => [&[0xdb][..], &(len as u32).to_be_bytes(), content].concat(),
    }
}

/// A bin.
pub fn bin(content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    match content.len() {
        len @ 0..=255 => [&[0xc4, len as u8][..], content].concat(),
        len => [&[0xc6][..], &(len as u32).to_be_bytes(), content].concat(),
    }
}

/// An array of encoded values.
pub fn array(values: &[Vec<u8>]) -> Vec<u8> {
    let mut out = match values.len() {
        len @ 0..=15 => vec![0x90 | len as u8],
        len @ 16..=0xffff => [&[0xdc][..], &(len as u16).to_be_bytes()].concat(),
        len => [&[0xdd][..], &(len as u32).to_be_bytes()].concat(),
    };
    values.iter().for_each(|value| out.extend_from_slice(value));
    out
}

/// A map of encoded values, with str keys in the given order.
pub fn map(pairs: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = match pairs.len() {
        len @ 0..=15 => vec![0x80 | len as u8],
        len => [&[0xde][..], &(len as u16).to_be_bytes()].concat(),
    };
    for (key, value) in pairs {
        out.extend_from_slice(&str(key));
        out.extend_from_slice(value);
    }
    out
}

/// The timestamp extension, for times since 1970.
pub fn timestamp(nanos: u64) -> Vec<u8> {
    let (secs, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    if nanos == 0 && secs < 1 << 32 {
        [&[0xd6, 0xff][..], &(secs as u32).to_be_bytes()].concat()
    } else {
        [&[0xd7, 0xff][..], &(nanos << 34 | secs).to_be_bytes()].concat()
    }
}

/// An item with no more than it must have.
pub fn item(path: impl AsRef<[u8]>) -> Vec<u8> {
    map(&[("mode", int(0o100_644)), ("mtime", timestamp(1_700_000_000_000_000_000)), ("path", str(path))])
}
