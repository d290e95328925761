//! Payloads that are made: what is taken, what the metadata says, and that they can be read.

use super::*;
use crate::tuning::Help;

/// The vectors whose compressor this engine has. The compressed bytes are another implementation's.
#[test]
fn vectors_are_compressed_as_the_real_client_does() {
    let vectors: Value = serde_json::from_str(include_str!("../../../tests/vectors/data.json")).unwrap();
    let mut scratch = Scratch::default();
    let mut encoded = 0;
    for vector in vectors["compression"].as_array().unwrap() {
        let spec = vector["spec"].as_str().unwrap();
        if spec.contains("zstd") {
            continue;
        }
        let (data, meta) = (plaintext(&vector["data"]), &vector["meta"]);
        let (made, payload) = encode_with(&mut scratch, spec, &data, true, 0.5).unwrap();
        assert_eq!(json(made.size), meta["size"], "{spec}");
        assert_eq!((made.algorithm.ctype().into(), made.level.into()), (meta["ctype"].clone(), meta["clevel"].clone()));
        assert_eq!(made.psize.is_some(), meta["psize"].is_u64(), "{spec}");
        assert_eq!(made.olevel, meta["olevel"].as_i64());
        if made.algorithm == Algorithm::None {
            assert_eq!((json(made.psize), Value::from(made.csize)), (meta["psize"].clone(), meta["csize"].clone()));
            assert!(payload.starts_with(&data));
        }
        assert_eq!(read(made, &payload), data, "{spec}");
        encoded += 1;
    }
    assert_eq!(encoded, 23);
}

#[test]
fn every_level_can_be_read() {
    for data in [b"window ".repeat(20), mixture()] {
        for (name, levels) in [("lz4", 0..=0), ("zstd", 1..=1), ("zlib", 1..=9), ("lzma", 0..=9)] {
            for level in levels {
                let spec = alloc::format!("{name},{level}");
                let (made, payload) = encode(&spec, &data).unwrap();
                let level = if name == "lz4" { 255 } else { level };
                assert_eq!((made.algorithm.name(), made.level), (name, level));
                assert!(payload.len() < data.len() * 3 / 4, "{spec}: {}", payload.len());
                assert_eq!(read(made, &payload), data, "{spec}");
            }
        }
    }
}

/// No check; the dictionary is no larger than the plaintext needs.
#[test]
fn lzma_containers_are_those_of_the_format() {
    let (_, payload) = encode("lzma,9", &window_text()).unwrap();
    // 4 KiB, where the real client announces the 64 MiB of the level.
    assert_eq!(Hex(&payload[..24]).to_string(), "fd377a585a000000ff12d9410200210100000000372797d6");
    let (_, payload) = encode("lzma,0", &b"window ".repeat(100_000)).unwrap();
    // The 256 KiB of level 0, for 700 KB.
    assert_eq!(Hex(&payload[12..17]).to_string(), "020021010c");
}

#[test]
fn zlib_streams_have_the_usual_header() {
    for level in 1..=9 {
        let (_, payload) = encode(&alloc::format!("zlib,{level}"), &window_text()).unwrap();
        assert_eq!(payload[0], 0x78);
        assert_eq!(u16::from_be_bytes([payload[0], payload[1]]) % 31, 0);
    }
}

#[test]
fn zstd_frames_announce_their_content() {
    for (size, head) in [
        (255, "28b52ffd20ff"),
        (256, "28b52ffd600000"),
        (65_791, "28b52ffd60ffff"),
        (65_792, "28b52ffda000010100"),
        (131_072, "28b52ffda000000200"),
        (131_073, "28b52ffd803801000200"),
    ] {
        let data = vec![7; size];
        let (made, payload) = encode("zstd,1", &data).unwrap();
        assert_eq!(Hex(&payload[..head.len() / 2]).to_string(), head);
        assert_eq!(read(made, &payload), data);
    }
}

/// Level 0 of zlib makes everything longer.
#[test]
fn what_does_not_shrink_is_stored_as_it_is() {
    for spec in ["none", "lz4", "zlib,0", "zlib,9", "lzma,0", "lzma,9", "zstd,1", "auto,lzma,6", "auto,zstd,1"] {
        for data in [Vec::new(), b"x".to_vec(), noise(600), noise(300_000)] {
            let (made, payload) = encode(spec, &data).unwrap();
            assert_eq!((made.algorithm, made.level, made.csize), (Algorithm::None, 255, data.len()), "{spec}");
            assert_eq!(payload, data);
            assert_eq!(made.size, (!spec.starts_with("auto")).then_some(data.len()));
            assert_eq!((made.psize, made.olevel), (None, None));
        }
    }
    let (made, _) = encode("zlib,0", &window_text()).unwrap();
    assert_eq!((made.algorithm, made.level), (Algorithm::None, 255));
}

#[test]
fn engines_write_what_is_longer_too() {
    let mut scratch = Scratch::default();
    for data in [Vec::new(), b"x".to_vec(), noise(600), noise(300_000)] {
        for algorithm in [Algorithm::None, Algorithm::Lz4, Algorithm::Lzma, Algorithm::Zstd, Algorithm::Zlib] {
            for level in PureRust.levels(algorithm).unwrap_or(7..=7) {
                let mut out = b"left from the payload before".to_vec();
                PureRust.compress(algorithm, level, &data, Help::NONE, &mut scratch, &mut out).unwrap();
                assert!(out.len() >= data.len());
                assert_eq!(decode(algorithm, &out, None).unwrap(), data, "{algorithm:?} {level}");
            }
        }
    }
}

#[test]
fn the_largest_plaintext_can_be_encoded() {
    let data = vec![0; MAX_DATA_SIZE];
    for spec in ["lz4", "zlib,1", "zstd,1", "obfuscate,250,none"] {
        let (made, payload) = encode(spec, &data).unwrap();
        assert_eq!(read(made, &payload).len(), MAX_DATA_SIZE);
    }
    let larger = vec![0; MAX_DATA_SIZE + 1];
    let error = EncodeError::TooLarge { size: MAX_DATA_SIZE + 1, limit: MAX_DATA_SIZE };
    assert_eq!(encode("lz4", &larger), Err(error.clone()));
    assert_eq!(error.to_string(), "plaintext has 20971480 bytes, at most 20971479 are possible");
}

/// Whatever the plaintext is: also where nothing is to be compressed.
#[test]
fn levels_of_other_engines_are_refused() {
    for data in [Vec::new(), noise(600), window_text()] {
        for spec in ["zstd,-4", "zstd,0", "zstd,3", "auto,zstd,3", "obfuscate,250,zstd,22"] {
            let level = spec.rsplit(',').next().unwrap().parse().unwrap();
            let error = EncodeError::Level { algorithm: Algorithm::Zstd, level, levels: 1..=1 };
            assert_eq!(encode(spec, &data), Err(error), "{spec}");
        }
    }
    let mut out = Vec::new();
    let error = PureRust.compress(Algorithm::Lzma, 10, b"", Help::NONE, &mut Scratch::default(), &mut out).unwrap_err();
    assert_eq!(error.to_string(), "lzma level 10 is not possible here, only 0 to 9");
    let error = PureRust.compress(Algorithm::Zstd, 3, b"", Help::NONE, &mut Scratch::default(), &mut out).unwrap_err();
    assert_eq!(error.to_string(), "zstd level 3 is not possible here, only 1");
    let error = EncodeError::Failed { algorithm: Algorithm::Zstd };
    assert_eq!(error.to_string(), "zstd compression failed");
}

#[test]
fn auto_takes_the_cheaper_of_two_that_are_alike() {
    // What LZ4 shrinks by less than 3 % is not tried; where its result can't be beaten, it is kept.
    let hardly = [noise(98_500), vec![1; 1500]].concat();
    let half = [noise(50_000), vec![1; 50_000]].concat();
    let text = noise(1000).repeat(100);
    for (data, wanted) in [(hardly, Algorithm::Lz4), (half, Algorithm::Lz4), (text, Algorithm::Lzma)] {
        for spec in ["auto,lzma,6", "auto,lz4", "auto,none"] {
            let (made, payload) = encode(spec, &data).unwrap();
            let wanted = if spec == "auto,lzma,6" { wanted } else { Algorithm::Lz4 };
            assert_eq!((made.algorithm, made.size), (wanted, None), "{spec}");
            assert_eq!(made.level, if wanted == Algorithm::Lzma { 6 } else { 255 });
            assert_eq!(read(made, &payload), data);
        }
    }
    // Too short for LZ4, but tried nevertheless: the metadata of a container is longer.
    let (made, _) = encode("auto,lzma,6", &[7; 10]).unwrap();
    assert_eq!((made.algorithm, made.csize), (Algorithm::None, 10));
}

#[test]
fn only_contents_are_padded() {
    let data = vec![b'q'; 1000];
    let mut scratch = Scratch::default();
    let (made, payload) = encode_with(&mut scratch, "obfuscate,3,none", &data, true, 0.5).unwrap();
    assert_eq!((made.size, made.csize, made.psize, made.olevel), (Some(1000), 3000, Some(1000), Some(3)));
    assert_eq!(payload, [&data[..], &[0; 2000]].concat());
    let (made, payload) = encode_with(&mut scratch, "obfuscate,3,none", &data, false, 0.5).unwrap();
    assert_eq!((made.size, made.csize, made.psize, made.olevel), (Some(1000), 1000, Some(1000), Some(3)));
    assert_eq!(payload, data);
    let (made, payload) = encode_with(&mut scratch, "obfuscate,110,auto,lzma,9", &data, true, 0.25).unwrap();
    assert_eq!((made.size, made.csize, made.olevel), (None, made.psize.unwrap() + 256, Some(110)));
    assert_eq!(read(made, &payload), data);
    assert_eq!(made.settings(), Settings { algorithm: made.algorithm, level: made.level, olevel: Some(110) });
}

#[test]
fn what_was_encoded_before_does_not_show() {
    let mut scratch = Scratch::default();
    let plaintexts = [window_text(), mixture(), noise(600), mixture()[..70_000].to_vec(), Vec::new(), window_text()];
    for spec in ["lz4", "zlib,9", "zstd,1", "zlib,1", "auto,zlib,6", "lzma,1", "auto,lzma,2", "zlib,4", "lz4"] {
        for data in &plaintexts {
            let used = encode_with(&mut scratch, spec, data, true, 0.5);
            assert!(used == encode(spec, data), "{spec}, {} bytes", data.len());
        }
    }
}

proptest! {
    #[test]
    fn what_is_encoded_can_be_read(
        spec in prop::sample::select(vec![
            "none", "lz4", "zstd,1", "zlib,1", "zlib,4", "zlib,9", "lzma,0", "lzma,3", "lzma,6", "lzma,9", "auto,zstd,1",
            "auto,lzma,6", "obfuscate,1,lz4", "obfuscate,110,zstd,1", "obfuscate,250,auto,zlib,6",
        ]),
        data in any_plaintext(),
        is_content: bool,
        fraction in 0.0..1.0,
    ) {
        let (made, payload) = encode_with(&mut Scratch::default(), spec, &data, is_content, fraction).unwrap();
        prop_assert_eq!(made.csize, payload.len());
        prop_assert!(made.psize.unwrap_or(made.csize) <= data.len());
        prop_assert_eq!(made.algorithm == Algorithm::None, made.psize.unwrap_or(made.csize) == data.len());
        prop_assert!(read(made, &payload) == data);
    }
}

/// Pieces from few sources, some of them again and again.
fn any_plaintext() -> impl Strategy<Value = Vec<u8>> {
    let piece = (prop::collection::vec(any::<u8>(), 0..200), 1..40_usize, any::<bool>());
    prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let mut data: Vec<u8> = Vec::new();
        for (bytes, times, goes_back) in pieces {
            data.extend(bytes.repeat(times));
            if goes_back {
                data.extend_from_within(..data.len() / 2);
            }
        }
        data
    })
}

fn encode(spec: &str, data: &[u8]) -> Result<(Payload, Vec<u8>), EncodeError> {
    encode_with(&mut Scratch::default(), spec, data, true, 0.5)
}

fn encode_with(
    scratch: &mut Scratch,
    spec: &str,
    data: &[u8],
    is_content: bool,
    fraction: f64,
) -> Result<(Payload, Vec<u8>), EncodeError> {
    let compression: Compression = spec.parse().unwrap();
    let mut out = b"left from the payload before".to_vec();
    let result =
        compression.encode(&PureRust, data, is_content.then_some(&mut || fraction), Help::NONE, scratch, &mut out);
    assert!(result.is_ok() || out.is_empty());
    result.map(|made| (made, out))
}

fn read(made: Payload, payload: &[u8]) -> Vec<u8> {
    assert_eq!(made.csize, payload.len());
    let (payload, padding) = payload.split_at(made.psize.unwrap_or(made.csize));
    assert!(padding.iter().all(|&byte| byte == 0));
    decode(made.algorithm, payload, made.size).unwrap()
}

fn json(length: Option<usize>) -> Value {
    length.map_or(Value::Null, Value::from)
}

/// Text, noise, zeros and repetitions near and far, more than two blocks of zstd.
fn mixture() -> Vec<u8> {
    let lines = (0..9000).flat_map(|line| alloc::format!("{line} {}\n", line * line % 997).into_bytes());
    let text: Vec<u8> = lines.collect();
    [&text[..], &noise(30_000), &vec![0; 100_000], &text[3000..50_000], &noise(3000)].concat()
}

fn noise(length: usize) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let blocks = (0..length.div_ceil(32) as u64).flat_map(|number| Sha256::digest(number.to_le_bytes()));
    blocks.take(length).collect()
}
