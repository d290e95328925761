//! All engines, each reading what the others write.

mod workers;
mod zrip;

use super::*;
use portaborg_core::codec::{Compression, Payload, Zrip};
use portaborg_core::limits::MAX_DATA_SIZE;
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn engines_agree_on_the_vectors() {
    let mut decoded = 0;
    for vector in vectors()["compression"].as_array().unwrap() {
        let meta = &vector["meta"];
        let algorithm = Algorithm::from_ctype(meta["ctype"].as_u64().unwrap() as u8).unwrap();
        let Some(hex) = vector["payload"].as_str() else { continue };
        let payload = unhex(hex);
        let payload = &payload[..meta["psize"].as_u64().map_or(payload.len(), |size| size as usize)];
        for size in [meta["size"].as_u64().map(|size| size as usize), None] {
            let plaintext = decode(&Native, algorithm, payload, size).unwrap();
            for engine in RUST {
                assert_eq!(Ok(&plaintext), decode(engine, algorithm, payload, size).as_ref(), "{}", vector["spec"]);
            }
            decoded += 1;
        }
    }
    assert_eq!(decoded, 76);
}

#[test]
fn engines_agree_on_every_level_and_kind_of_frame() {
    for data in plaintexts() {
        for level in [-128, -5, 1, 3, 6, 10, 16, 19, 22] {
            for announced in [true, false] {
                for checksum in [true, false] {
                    let payload = compress(&data, level, announced, checksum);
                    for (engine, size) in ENGINES.iter().flat_map(|engine| [(engine, Some(data.len())), (engine, None)])
                    {
                        assert!(decode(*engine, Algorithm::Zstd, &payload, size).unwrap() == data);
                    }
                    let Some(limit) = data.len().checked_sub(1) else { continue };
                    let error = Err(DecodeError::TooLarge { limit });
                    ENGINES.iter().for_each(|engine| {
                        assert_eq!(
                            decode(*engine, Algorithm::Zstd, &payload, Some(limit)),
                            error,
                            "{level}, {announced}"
                        );
                    });
                }
            }
        }
    }
}

#[test]
fn engines_agree_on_several_frames() {
    let [small, large] = [b"small ".repeat(9), b"large ".repeat(50_000)];
    let skippable = unhex("502a4d180400000061626364");
    for (first, second) in [(&small, &large), (&large, &small)] {
        for announced in [true, false] {
            let payload = [
                &skippable[..],
                &compress(first, 3, announced, false),
                &skippable,
                &compress(second, 3, true, true),
                &skippable,
            ]
            .concat();
            let data = [&first[..], second].concat();
            for (engine, size) in ENGINES.iter().flat_map(|engine| [(engine, Some(data.len())), (engine, None)]) {
                assert!(decode(*engine, Algorithm::Zstd, &payload, size).unwrap() == data);
            }
        }
    }
}

#[test]
fn engines_agree_on_what_is_no_payload() {
    let damaged = DecodeError::Damaged { algorithm: Algorithm::Zstd };
    let frame = "28b52ffd208c7500003877696e646f772001000251c508";
    for hex in ["", "28b52ffd", &[frame, "00"].concat(), &[frame, "7879777731323334"].concat(), &frame[..44]] {
        let payload = unhex(hex);
        for engine in ENGINES {
            assert_eq!(decode(engine, Algorithm::Zstd, &payload, None), Err(damaged), "{hex}");
        }
    }
    assert_eq!(decode(&Native, Algorithm::Zstd, &unhex("502a4d180400000061626364"), None), Ok(Vec::new()));
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 24_000_000];
    for announced in [true, false] {
        let payload = compress(&zeros, 3, announced, false);
        assert!(payload.len() < 4000);
        for limit in [0, 1024, MAX_DATA_SIZE] {
            let error = Err(DecodeError::TooLarge { limit });
            for engine in ENGINES {
                assert_eq!(decode(engine, Algorithm::Zstd, &payload, Some(limit)), error);
            }
        }
        let error = Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE });
        for engine in ENGINES {
            assert_eq!(decode(engine, Algorithm::Zstd, &payload, None), error);
        }
    }
}

proptest! {
    /// All answer, within the limits. What they make of damage may differ: neither finds all of it in the Huffman
    /// streams of literals, and they overlook different parts.
    #[test]
    fn engines_survive_damaged_frames(
        data in prop::sample::select(plaintexts()),
        level in -5..20,
        announced: bool,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8), 1..4),
    ) {
        let mut payload = compress(&data[..data.len().min(5000)], level, announced, false);
        for (byte, bit) in flips {
            let byte = byte.index(payload.len());
            payload[byte] ^= 1_u8 << bit;
        }
        for engine in ENGINES {
            for size in [Some(5000), None] {
                if let Ok(plaintext) = decode(engine, Algorithm::Zstd, &payload, size) {
                    prop_assert!(plaintext.len() <= MAX_DATA_SIZE && size.is_none_or(|size| plaintext.len() == size));
                }
            }
        }
    }
}

/// Compressed bytes depend on the library's version. What is taken of them does not.
#[test]
fn vectors_are_compressed_as_the_real_client_does() {
    let mut scratch = Scratch::default();
    let mut encoded = 0;
    for kind in ["compression", "auto_decision"] {
        for vector in vectors()[kind].as_array().unwrap() {
            let (spec, meta) = (vector["spec"].as_str().unwrap(), &vector["meta"]);
            let data = recipe(&vector["data"]);
            let (made, payload) = encode(&Native, spec, &data, &mut scratch).unwrap();
            assert_eq!(made.size, meta["size"].as_u64().map(|size| size as usize), "{spec}");
            assert_eq!(u64::from(made.algorithm.ctype()), meta["ctype"], "{spec}, {}", vector["data"]);
            assert_eq!(made.level, meta["clevel"], "{spec}");
            assert_eq!((made.psize.is_some(), made.olevel), (meta["psize"].is_u64(), meta["olevel"].as_i64()));
            if made.algorithm == Algorithm::None {
                assert_eq!((made.csize as u64, made.psize.map(|size| size as u64)), sizes(meta), "{spec}");
            }
            // Up to the content size a frame is the same there.
            if let (Algorithm::Zstd, Some(theirs)) = (made.algorithm, vector["payload"].as_str()) {
                assert_eq!(payload[..7], unhex(&theirs[..14]), "{spec}");
            }
            assert!(read(made, &payload) == data, "{spec}");
            encoded += 1;
        }
    }
    assert_eq!(encoded, 58);
}

#[test]
fn every_level_of_zstd_is_written_and_read() {
    let mut scratch = Scratch::default();
    let plaintexts = plaintexts();
    for level in (-128..=22).chain([3, -4]) {
        for data in &plaintexts {
            // The highest levels need seconds for more.
            let data = &data[..data.len().min(if level > 15 { 20_000 } else { 200_000 })];
            let mut payload = Vec::new();
            Native.compress(Algorithm::Zstd, level, data, Help::NONE, &mut scratch, &mut payload).unwrap();
            let compressor = if level == 0 { 3 } else { level };
            assert!(payload == compress(data, compressor, true, false), "{level}: not what a new context writes");
            let size = Some(data.len());
            assert!(ENGINES.iter().all(|engine| decode(*engine, Algorithm::Zstd, &payload, size).unwrap() == data));
        }
    }
    for level in [-129, 23, i32::MIN, i32::MAX] {
        let error = Native.compress(Algorithm::Zstd, level, b"x", Help::NONE, &mut scratch, &mut Vec::new());
        assert_eq!(error, Err(EncodeError::Level { algorithm: Algorithm::Zstd, level, levels: -128..=22 }));
    }
}

#[test]
fn libzstd_reads_what_pure_rust_writes() {
    let mut scratch = Scratch::default();
    for data in plaintexts() {
        for length in [data.len(), data.len().min(255), data.len().min(131_072), data.len().min(131_073)] {
            let data = &data[..length];
            let mut payload = Vec::new();
            PureRust.compress(Algorithm::Zstd, 1, data, Help::NONE, &mut scratch, &mut payload).unwrap();
            assert_eq!(zstd_safe::get_frame_content_size(&payload).unwrap(), Some(length as u64));
            for size in [Some(length), None] {
                assert!(decode(&Native, Algorithm::Zstd, &payload, size).unwrap() == data);
            }
        }
    }
}

proptest! {
    #[test]
    fn engines_read_each_other(
        spec in prop::sample::select(vec![
            "zstd,1", "lz4", "zlib,6", "lzma,1", "auto,zstd,1", "obfuscate,110,zstd,1", "obfuscate,250,auto,zstd,1",
        ]),
        pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..300), 1..60_usize, any::<bool>()), 0..10),
        level in -128..=12,
    ) {
        let mut data: Vec<u8> = Vec::new();
        for (piece, times, goes_back) in pieces {
            data.extend(piece.repeat(times));
            if goes_back {
                data.extend_from_within(..data.len() / 2);
            }
        }
        let mut scratch = Scratch::default();
        let (made, payload) = encode(&PureRust, spec, &data, &mut scratch).unwrap();
        prop_assert!(read(made, &payload) == data);
        let (made, payload) = encode(&Native, &spec.replace("zstd,1", &format!("zstd,{level}")), &data, &mut scratch).unwrap();
        prop_assert!(read(made, &payload) == data);
    }
}

/// All engines.
const ENGINES: [&dyn Engine; 3] = [&Native, &PureRust, &Zrip];
/// Those without libzstd.
const RUST: [&dyn Engine; 2] = [&PureRust, &Zrip];

fn encode(
    engine: &dyn Engine,
    spec: &str,
    data: &[u8],
    scratch: &mut Scratch,
) -> Result<(Payload, Vec<u8>), EncodeError> {
    let compression: Compression = spec.parse().unwrap();
    let mut out = Vec::new();
    compression.encode(engine, data, Some(&mut || 0.5), Help::NONE, scratch, &mut out).map(|made| (made, out))
}

/// The plaintext, in which all engines agree.
fn read(made: Payload, payload: &[u8]) -> Vec<u8> {
    assert_eq!(made.csize, payload.len());
    let payload = &payload[..made.psize.unwrap_or(made.csize)];
    let plaintext = decode(&Native, made.algorithm, payload, made.size).unwrap();
    assert!(RUST.iter().all(|engine| decode(*engine, made.algorithm, payload, made.size).unwrap() == plaintext));
    plaintext
}

fn decode(
    engine: &dyn Engine,
    algorithm: Algorithm,
    payload: &[u8],
    size: Option<usize>,
) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    engine.decode(algorithm, payload, size, &mut Scratch::default(), &mut out).map(|()| out)
}

/// A frame, with the content size or without.
fn compress(data: &[u8], level: i32, announced: bool, checksum: bool) -> Vec<u8> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
    context.set_parameter(CParameter::ContentSizeFlag(announced)).unwrap();
    context.set_parameter(CParameter::ChecksumFlag(checksum)).unwrap();
    let mut payload = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
    context.compress2(&mut payload, data).unwrap();
    payload
}

/// Nothing, one byte, text with repetitions near and far, noise, zeros, and a mixture beyond one block.
fn plaintexts() -> Vec<Vec<u8>> {
    let mut state = 1_u32;
    let mut noise = |length: usize| -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    };
    let text: Vec<u8> = (0..40_000).flat_map(|line| format!("{line} {}\n", line * line % 997).into_bytes()).collect();
    let piece = noise(3000);
    let mixture =
        [&piece[..], &text[..200_000], &noise(150_000), &piece, &vec![7; 100_000], &piece, &text[100_000..300_000]];
    vec![Vec::new(), b"x".to_vec(), mixture.concat(), text, noise(5000), vec![0; 300_000]]
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../core/tests/vectors/data.json")).unwrap()
}

/// `csize` and `psize`.
fn sizes(meta: &Value) -> (u64, Option<u64>) {
    (meta["csize"].as_u64().unwrap(), meta["psize"].as_u64())
}

/// A recipe of the vectors file.
fn recipe(segments: &Value) -> Vec<u8> {
    let mut data = Vec::new();
    for segment in segments.as_array().unwrap() {
        let length = segment["len"].as_u64().unwrap() as usize;
        let block = segment["block"].as_u64().map_or(length, |block| block as usize);
        let source = match segment["byte"].as_u64() {
            Some(byte) => vec![byte as u8],
            None => shake256(segment["shake256"].as_str().or(segment["cycle"].as_str()).unwrap(), block),
        };
        data.extend(source.iter().cycle().take(length));
    }
    data
}

/// The first bytes of SHAKE-256 (FIPS 202), from which the vectors' noise is. No dependency has it.
fn shake256(message: &str, length: usize) -> Vec<u8> {
    const RATE: usize = 136;
    assert!(message.len() < RATE - 1);
    let mut block = [0; RATE];
    block[..message.len()].copy_from_slice(message.as_bytes());
    block[message.len()] = 0x1f;
    block[RATE - 1] = 0x80;
    let mut lanes = [0_u64; 25];
    for (lane, bytes) in lanes.iter_mut().zip(block.chunks_exact(8)) {
        *lane = u64::from_le_bytes(bytes.try_into().unwrap());
    }
    let mut out = Vec::new();
    while out.len() < length {
        keccak(&mut lanes);
        out.extend(lanes[..RATE / 8].iter().flat_map(|lane| lane.to_le_bytes()));
    }
    out.truncate(length);
    out
}

fn keccak(lanes: &mut [u64; 25]) {
    let mut register = 1_u8;
    for _ in 0..24 {
        let columns: [u64; 5] = std::array::from_fn(|x| (0..5).fold(0, |sum, y| sum ^ lanes[x + 5 * y]));
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane ^= columns[(at + 4) % 5] ^ columns[(at + 1) % 5].rotate_left(1);
        }
        let (mut x, mut y, mut moved) = (1, 0, lanes[1]);
        for step in 1..=24 {
            (x, y) = (y, (2 * x + 3 * y) % 5);
            let target = &mut lanes[x + 5 * y];
            moved = std::mem::replace(target, moved.rotate_left(step * (step + 1) / 2 % 64));
        }
        for row in lanes.chunks_exact_mut(5) {
            let old: [u64; 5] = std::array::from_fn(|x| row[x]);
            for (x, lane) in row.iter_mut().enumerate() {
                *lane ^= !old[(x + 1) % 5] & old[(x + 2) % 5];
            }
        }
        for bit in 0..7 {
            lanes[0] ^= u64::from(register & 1) << ((1 << bit) - 1);
            register = register << 1 ^ if register & 0x80 == 0 { 0 } else { 0x71 };
        }
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}
