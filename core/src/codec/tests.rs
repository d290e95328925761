//! Payloads of the real client, bombs, and damage of every kind.

mod encoding;

use super::*;
use crate::bytes::Hex;
use crate::limits::MAX_DATA_SIZE;
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn vectors_decode_to_the_data_they_were_made_from() {
    let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
    let mut scratch = Scratch::default();
    let mut decoded = 0;
    for vector in vectors["compression"].as_array().unwrap() {
        let data = plaintext(&vector["data"]);
        let meta = &vector["meta"];
        let algorithm = Algorithm::from_ctype(meta["ctype"].as_u64().unwrap() as u8).unwrap();
        // Objects of `auto` have no size.
        assert!(meta["size"].is_null() || meta["size"] == data.len());
        let payload = match vector["payload"].as_str() {
            Some(hex) => unhex(hex),
            None if algorithm == Algorithm::None => data.clone(),
            None => continue,
        };
        assert_eq!(meta["csize"], payload.len());
        let payload = match meta["psize"].as_u64() {
            Some(without_padding) => &payload[..without_padding as usize],
            None => &payload,
        };
        for size in [Some(data.len()), None] {
            for engine in ENGINES {
                let mut out = b"left from the payload before".to_vec();
                engine.decode(algorithm, payload, size, &mut scratch, &mut out).unwrap();
                assert_eq!(out, data, "{}", vector["spec"]);
            }
            decoded += 1;
        }
    }
    assert_eq!(decoded, 84);
}

#[test]
fn samples_decode_with_their_size_and_without() {
    for (algorithm, payload) in samples() {
        assert_eq!(decode(algorithm, &payload, Some(140)).unwrap(), window_text(), "{algorithm:?}");
        assert_eq!(decode(algorithm, &payload, None).unwrap(), window_text(), "{algorithm:?}");
    }
}

#[test]
fn the_announced_size_is_exact() {
    for (algorithm, payload) in samples() {
        assert_eq!(decode(algorithm, &payload, Some(139)), Err(DecodeError::TooLarge { limit: 139 }), "{algorithm:?}");
        assert_eq!(decode(algorithm, &payload, Some(0)), Err(DecodeError::TooLarge { limit: 0 }), "{algorithm:?}");
        let short = Err(DecodeError::WrongSize { expected: 141, found: 140 });
        assert_eq!(decode(algorithm, &payload, Some(141)), short, "{algorithm:?}");
        let lie = Err(DecodeError::WrongSize { expected: 20_000_000, found: 140 });
        assert_eq!(decode(algorithm, &payload, Some(20_000_000)), lie, "{algorithm:?}");
        let absurd = Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE });
        assert_eq!(decode(algorithm, &payload, Some(MAX_DATA_SIZE + 1)), absurd);
        assert_eq!(decode(algorithm, &payload, Some(usize::MAX)), absurd);
    }
}

/// 24,000,000 zero bytes, more than any object may hold.
#[test]
fn bombs_stop_at_the_limit() {
    let mut scratch = Scratch::default();
    for (name, algorithm, payload) in bombs() {
        assert!(payload.len() < 100_000, "{name}");
        for (engine, more) in ENGINES.into_iter().zip([0, 2 * BLOCK + 1024]) {
            let mut out = Vec::new();
            let result = engine.decode(algorithm, &payload, Some(1024), &mut scratch, &mut out);
            assert_eq!(result, Err(DecodeError::TooLarge { limit: 1024 }), "{name}");
            assert!(out.is_empty() && out.capacity() <= 2048 + more, "{name}: {}", out.capacity());
            let result = engine.decode(algorithm, &payload, None, &mut scratch, &mut out);
            assert_eq!(result, Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE }), "{name}");
            assert!(out.is_empty() && out.capacity() <= 2 * MAX_DATA_SIZE + more, "{name}: {}", out.capacity());
        }
    }
    let oversized = vec![0; MAX_DATA_SIZE + 1];
    assert_eq!(decode(Algorithm::None, &oversized, None), Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE }));
}

#[test]
fn the_largest_plaintext_fits() {
    // One RLE block of 128 KiB after another, then the rest.
    let mut payload = unhex("28b52ffd0088");
    for _ in 0..MAX_DATA_SIZE / BLOCK {
        payload.extend(unhex("02001000"));
    }
    payload.extend(((MAX_DATA_SIZE % BLOCK) << 3 | 3).to_le_bytes()[..3].iter());
    payload.push(0);
    for size in [Some(MAX_DATA_SIZE), None] {
        assert_eq!(decode(Algorithm::Zstd, &payload, size).unwrap().len(), MAX_DATA_SIZE);
    }
}

#[test]
fn zstd_reads_what_other_writers_write() {
    let text = window_text();
    let zstd = |hex: &str| decode(Algorithm::Zstd, &unhex(hex), None);
    // No content size, level 22: the frame claims a window of 128 MiB. With windowLog 31: 2 GiB.
    assert_eq!(zstd("28b52ffd00887d00004077696e646f77207701000151850b").unwrap(), text);
    assert_eq!(zstd("28b52ffd00a87500003877696e646f772001000251c508").unwrap(), text);
    // The largest window that a header can claim: 3.75 TiB.
    assert_eq!(zstd("28b52ffd00ff7500003877696e646f772001000251c508").unwrap(), text);
    // With a checksum.
    assert_eq!(zstd("28b52ffd04587500003877696e646f772001000251c50855ce3684").unwrap(), text);
    // Two frames, and skippable ones before, between and behind.
    assert_eq!(zstd(&[FRAME, FRAME].concat()).unwrap(), [&text[..], &text[..]].concat());
    assert_eq!(zstd(&[SKIPPABLE, FRAME, SKIPPABLE, FRAME, SKIPPABLE].concat()).unwrap().len(), 280);
    assert_eq!(zstd(SKIPPABLE).unwrap(), b"");
    assert_eq!(zstd("28b52ffd2000010000").unwrap(), b"");
}

#[test]
fn zstd_refuses_frames_that_lie() {
    let damaged = Err(DecodeError::Damaged { algorithm: Algorithm::Zstd });
    let zstd = |hex: &str| decode(Algorithm::Zstd, &unhex(hex), None);
    assert_eq!(zstd(""), damaged);
    assert_eq!(zstd(&[FRAME, "00"].concat()), damaged);
    assert_eq!(zstd(&[FRAME, "7879777731323334"].concat()), damaged);
    // A skippable frame longer than the payload.
    assert_eq!(zstd(&[FRAME, "502a4d18ffffffff"].concat()), damaged);
    // Content size 139 and 141 for 140 bytes.
    assert_eq!(zstd("28b52ffd208b7500003877696e646f772001000251c508"), damaged);
    assert_eq!(zstd("28b52ffd208d7500003877696e646f772001000251c508"), damaged);
    // A content size of 2^64 - 1 is not allocated.
    let huge = zstd("28b52ffde0ffffffffffffffff7500003877696e646f772001000251c508");
    assert_eq!(huge, Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE }));
    // Dictionary 7; the reserved bit.
    assert_eq!(zstd("28b52ffd21078c7500003877696e646f772001000251c508"), damaged);
    assert_eq!(zstd("28b52ffd288c7500003877696e646f772001000251c508"), damaged);
}

#[test]
fn lzma_reads_other_checks_and_filters() {
    for hex in [XZ_CRC64, XZ_SHA256, XZ_DELTA] {
        assert_eq!(decode(Algorithm::Lzma, &unhex(hex), Some(140)).unwrap(), window_text());
    }
    let both = unhex(&[XZ, XZ_CRC64].concat());
    assert_eq!(decode(Algorithm::Lzma, &both, None).unwrap(), [window_text(), window_text()].concat());
}

#[test]
fn lzma_dictionaries_are_bounded() {
    let xz = |header: &str| decode(Algorithm::Lzma, &unhex(&header_and_dictionary_text(header)), Some(88));
    // 64 MiB as level 9 has it, and 128 MiB.
    assert_eq!(xz("1c00000010cf58cc").unwrap(), b"dictionary ".repeat(8));
    assert_eq!(xz("1e0000009b075166").unwrap(), b"dictionary ".repeat(8));
    // 192 MiB, 4 GiB.
    let refused = Err(DecodeError::DictionaryTooLarge { algorithm: Algorithm::Lzma, limit: 128 << 20 });
    assert_eq!(xz("1f000000fe60edde"), refused);
    assert_eq!(xz("28000000e6a011b3"), refused);
}

#[test]
fn bytes_behind_the_end_are_refused() {
    for (algorithm, payload) in samples() {
        for tail in [&b"\0"[..], b"\0\0\0\0", b"xyzw1234"] {
            let error = decode(algorithm, &[&payload, tail].concat(), None);
            match algorithm {
                Algorithm::None => assert_eq!(error.unwrap().len(), 140 + tail.len()),
                Algorithm::Lz4 | Algorithm::Zstd => assert_eq!(error, Err(DecodeError::Damaged { algorithm })),
                Algorithm::Zlib | Algorithm::Lzma => {
                    assert_eq!(error, Err(DecodeError::TrailingData { algorithm, bytes: tail.len() }));
                }
            }
        }
    }
}

#[test]
fn truncated_payloads_are_refused_at_every_length() {
    for (algorithm, payload) in samples() {
        for length in 0..payload.len() {
            let error = decode(algorithm, &payload[..length], Some(140)).unwrap_err();
            match (algorithm, error) {
                (_, DecodeError::Damaged { algorithm: named }) => assert_eq!(named, algorithm),
                // These have no end mark, so a part can be well-formed.
                (Algorithm::None | Algorithm::Lz4, DecodeError::WrongSize { expected: 140, .. }) => {}
                (_, error) => panic!("{algorithm:?} cut to {length}: {error}"),
            }
        }
    }
}

#[test]
fn the_adler_32_of_zlib_is_compared() {
    let payload = unhex(ZLIB);
    for bit in 0..32 {
        let mut flipped = payload.clone();
        flipped[payload.len() - 4 + bit / 8] ^= 1 << (bit % 8);
        let damaged = Err(DecodeError::Damaged { algorithm: Algorithm::Zlib });
        assert_eq!(decode(Algorithm::Zlib, &flipped, None), damaged);
    }
}

#[test]
fn a_scratch_survives_errors() {
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for ((algorithm, payload), engine) in samples().iter().flat_map(|sample| ENGINES.map(|engine| (sample, engine))) {
        for cut in [payload.len() / 2, payload.len() - 1] {
            engine.decode(*algorithm, &payload[..cut], Some(140), &mut scratch, &mut out).unwrap_err();
            engine.decode(*algorithm, payload, Some(140), &mut scratch, &mut out).unwrap();
            assert_eq!(out, window_text(), "{algorithm:?}");
        }
    }
}

#[test]
fn algorithms_have_their_numbers_and_names() {
    let known = (0..=255).filter_map(|ctype| Algorithm::from_ctype(ctype).map(|algorithm| (ctype, algorithm)));
    let known: Vec<_> = known.map(|(ctype, algorithm)| (ctype, algorithm.ctype(), algorithm.name())).collect();
    assert_eq!(known, [(0, 0, "none"), (1, 1, "lz4"), (2, 2, "lzma"), (3, 3, "zstd"), (5, 5, "zlib")]);
    assert!(known.iter().all(|(_, ctype, name)| Algorithm::from_name(name).map(Algorithm::ctype) == Some(*ctype)));
}

#[test]
fn errors_are_terse() {
    let algorithm = Algorithm::Zlib;
    assert_eq!(DecodeError::TooLarge { limit: 7 }.to_string(), "plaintext exceeds 7 bytes");
    assert_eq!(DecodeError::WrongSize { expected: 2, found: 1 }.to_string(), "plaintext has 1 bytes, expected 2");
    assert_eq!(DecodeError::Damaged { algorithm }.to_string(), "invalid zlib data");
    assert_eq!(DecodeError::TrailingData { algorithm, bytes: 3 }.to_string(), "3 bytes behind the zlib data");
    let error = DecodeError::DictionaryTooLarge { algorithm: Algorithm::Lzma, limit: 9 };
    assert_eq!(error.to_string(), "lzma dictionary exceeds 9 bytes");
}

proptest! {
    /// Whatever comes: an answer, no panic, and never more than was asked for.
    #[test]
    fn noise_is_survived(algorithm in any_algorithm(), noise: Vec<u8>, size in any_size()) {
        survives(algorithm, &noise, size)?;
    }

    #[test]
    fn noise_behind_a_good_start_is_survived(
        (algorithm, payload) in any_payload(),
        keep in any::<prop::sample::Index>(),
        noise: Vec<u8>,
        size in any_size(),
    ) {
        let mut payload = payload[..keep.index(payload.len() + 1)].to_vec();
        payload.extend(noise);
        survives(algorithm, &payload, size)?;
    }

    #[test]
    fn flipped_bits_are_survived(
        (algorithm, mut payload) in any_payload(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8), 1..6),
        size in any_size(),
    ) {
        for (byte, bit) in flips {
            let byte = byte.index(payload.len());
            payload[byte] ^= 1_u8 << bit;
        }
        survives(algorithm, &payload, size)?;
    }
}

fn survives(algorithm: Algorithm, payload: &[u8], size: Option<usize>) -> Result<(), TestCaseError> {
    for engine in ENGINES {
        let mut out = Vec::new();
        match engine.decode(algorithm, payload, size, &mut Scratch::default(), &mut out) {
            Ok(()) => {
                prop_assert!(out.len() <= MAX_DATA_SIZE);
                prop_assert!(size.is_none_or(|size| out.len() == size));
            }
            Err(_) => prop_assert!(out.is_empty()),
        }
    }
    Ok(())
}

fn any_algorithm() -> impl Strategy<Value = Algorithm> {
    prop::sample::select(vec![Algorithm::None, Algorithm::Lz4, Algorithm::Lzma, Algorithm::Zstd, Algorithm::Zlib])
}

fn any_payload() -> impl Strategy<Value = (Algorithm, Vec<u8>)> {
    let mut payloads = samples();
    payloads
        .extend(bombs().into_iter().filter(|bomb| bomb.2.len() < 8000).map(|(_, algorithm, bomb)| (algorithm, bomb)));
    let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
    for vector in vectors["compression"].as_array().unwrap() {
        let algorithm = Algorithm::from_ctype(vector["meta"]["ctype"].as_u64().unwrap() as u8).unwrap();
        if let (Some(hex), true) = (vector["payload"].as_str(), algorithm != Algorithm::None) {
            payloads.push((algorithm, unhex(hex)));
        }
    }
    payloads.extend([XZ_CRC64, XZ_SHA256, XZ_DELTA].map(|hex| (Algorithm::Lzma, unhex(hex))));
    payloads.push((Algorithm::Zstd, unhex("28b52ffd00887d00004077696e646f77207701000151850b")));
    prop::sample::select(payloads)
}

fn any_size() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(None), Just(Some(140)), Just(Some(5000)), Just(Some(70_000)), any::<usize>().prop_map(Some)]
}

/// What all engines make of a payload.
fn decode(algorithm: Algorithm, payload: &[u8], size: Option<usize>) -> Result<Vec<u8>, DecodeError> {
    let [first, others @ ..] = ENGINES.map(|engine| {
        let mut out = Vec::new();
        engine.decode(algorithm, payload, size, &mut Scratch::default(), &mut out).map(|()| out)
    });
    assert!(others.iter().all(|other| *other == first), "{algorithm:?}: engines differ");
    first
}

/// All engines that there are here.
#[cfg(not(feature = "zrip"))]
const ENGINES: [&dyn Engine; 1] = [&PureRust];
#[cfg(feature = "zrip")]
const ENGINES: [&dyn Engine; 2] = [&PureRust, &Zrip];

/// The plaintext of every sample, 140 bytes.
fn window_text() -> Vec<u8> {
    b"window ".repeat(20)
}

/// [`window_text`] as Borg writes it.
fn samples() -> Vec<(Algorithm, Vec<u8>)> {
    vec![
        (Algorithm::None, window_text()),
        (Algorithm::Lz4, unhex("7f77696e646f772007006d506e646f7720")),
        (Algorithm::Lzma, unhex(XZ)),
        (Algorithm::Zstd, unhex(FRAME)),
        (Algorithm::Zlib, unhex(ZLIB)),
    ]
}

/// Payloads for 24,000,000 zero bytes, made by the libraries that Borg uses.
fn bombs() -> Vec<(&'static str, Algorithm, Vec<u8>)> {
    let mut lz4 = unhex("1f000100");
    lz4.extend([0xff; 94_117]);
    lz4.extend(unhex("8c500000000000"));

    // 24 containers of a million each.
    let lzma = unhex(XZ_MILLION).repeat(24);

    let zstd = |head: &str| [unhex(head), unhex("02001000").repeat(182), unhex("03b00100")].concat();

    let mut zlib = Vec::new();
    for (head, fill, count) in ZLIB_BOMB {
        zlib.extend(unhex(head));
        zlib.extend([fill].repeat(count));
    }
    vec![
        ("lz4", Algorithm::Lz4, lz4),
        ("lzma", Algorithm::Lzma, lzma),
        ("zstd", Algorithm::Zstd, zstd("28b52ffd805800366e015400001000000100fbff39c002")),
        ("zstd without size", Algorithm::Zstd, zstd("28b52ffd00884c000008000100fcff391002")),
        ("zlib", Algorithm::Zlib, zlib),
    ]
}

/// A container of `dictionary ` eight times, with this dictionary size and header checksum.
fn header_and_dictionary_text(header: &str) -> alloc::string::String {
    let blocks = "e0005700125d00321a488e8b077a0dc3a2574586d3959e00000000000001";
    ["fd377a585a000000ff12d94102002101", header, blocks, "2658c9efe88606729e7a010000000000595a"].concat()
}

/// A recipe of the vectors file.
fn plaintext(segments: &Value) -> Vec<u8> {
    let mut data = Vec::new();
    for segment in segments.as_array().unwrap() {
        let length = segment["len"].as_u64().unwrap() as usize;
        if let Some(byte) = segment["byte"].as_u64() {
            data.extend([byte as u8].repeat(length));
        } else if segment["cycle"] == "borg-spec:text" && segment["block"] == 37 {
            data.extend(unhex(SHAKE_TEXT).iter().cycle().take(length));
        } else if segment["shake256"] == "borg-spec:rnd" && length == 600 {
            data.extend(shake_random());
        } else {
            panic!("unknown recipe {segment}");
        }
    }
    data
}

/// The first 600 bytes of SHAKE-256("borg-spec:rnd"): a payload of algorithm `none`, known by its checksum.
fn shake_random() -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
    let vectors = vectors["compression"].as_array().unwrap();
    let stored = vectors.iter().find(|vector| vector["spec"] == "none" && vector["meta"]["size"] == 600).unwrap();
    let data = unhex(stored["payload"].as_str().unwrap());
    assert_eq!(
        Hex(&Sha256::digest(&data)).to_string(),
        "a071e632b07c5d0261d845f7a08371d4fcb37d98c75c90c6bd2959ffd6c6522b"
    );
    data
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

const BLOCK: usize = 128 * 1024;

/// The first 37 bytes of SHAKE-256("borg-spec:text").
const SHAKE_TEXT: &str = "02bd6b1d13ddd917d079b5ace1099f6feeaa53360c1cf4aeaea6cd159fec55ebe2dfdc78a7";

const FRAME: &str = "28b52ffd208c7500003877696e646f772001000251c508";
const SKIPPABLE: &str = "502a4d180400000061626364";
const ZLIB: &str = "789c2bcfcc4bc92f57281f0c14000cfd3661";

/// Level 9, no check.
const XZ: &str = "fd377a585a000000ff12d941020021011c00000010cf58cce0008b000e5d003b9a4a1ef6e4f0f4c68de0300000000000000\
    1228c01000000164a9b45a8000afc020000000000595a";
const XZ_CRC64: &str = "fd377a585a000004e6d6b446020021010c0000008f98419ce0008b000e5d003b9a4a1ef6e4f0f4c68de03000000000\
    0011602ff5f4bfe06600012a8c010000007bc8c8a9b1c467fb020000000004595a";
const XZ_SHA256: &str = "fd377a585a00000ae1fb0ca1020021010c0000008f98419ce0008b000e5d003b9a4a1ef6e4f0f4c68de0300000000\
    000b77e9663a02fa86f99a7c707fbb50e9ea8ce04285a722e9cc8814710882ddd0a0001428c010000004c456f4db6e9df1c02000000000a595a";
const XZ_DELTA: &str = "fd377a585a000000ff12d941020103010621010cdf86cd36e0008b000e5d003b9a4a1ef6e4f0f10458537400000000\
    000001228c01000000164a9b45a8000afc020000000000595a";

/// A million zero bytes.
const XZ_MILLION: &str = "fd377a585a000000ff12d941020021011c00000010cf58ccef423f00d15d00006ffdffffa3b7ff473e481572396151\
    b89228e6a38607f9eee41e82d32fc53a3c014bb17ec98a8a4d2fa30dd97fa6e38c231153e05918c5758ae277f8b6947f0c6ac0de744964e2e95c\
    53b204d8f7440cab5f0d6d46e9e5c37688b79657acb64de1691d6ffb4b88106c42cb883f5c008fd04eaf262894711f3d8f24e1709ea7235fec28\
    cb85d195988a7e2a91f22775f719c006984d98fdd8afd5900fc42553f8f591363105a5b0ee6fc1704d470cd19111aaad601dbaceb127185c5986\
    e9665258bee976ac59e4e55b0508f993c33f36000000000001e501c0843d00b8622542a8000afc020000000000595a";

/// 24,000,000 zero bytes at level 9: each piece is followed by a byte so many times.
const ZLIB_BOMB: [(&str, u8, usize); 6] = [
    ("78daecc101010000008090feafee080a", 0, 4094),
    ("80d98303010000000020ffd74650", 85, 4095),
    ("610f0e040000000080fc5f1b41", 85, 4095),
    ("853d38100000000000f27f6d04", 85, 4095),
    ("15f6e0400000000000c8ffb51154", 85, 4095),
    ("da8343020000000041ff5f3bc20a", 0, 2777),
];
