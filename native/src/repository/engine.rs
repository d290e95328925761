//! The native program's decompressors: libzstd for zstd, pure Rust for the rest.

use portaborg_core::codec::{Algorithm, DecodeError, Engine, PureRust, Room, Scratch};
use zstd_safe::DCtx;
use zstd_safe::zstd_sys::ZSTD_ErrorCode;

/// [`PureRust`] with libzstd in place of its zstd. Unlike that one it compares the checksums of zstd frames that have one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl Engine for Native {
    fn expand(
        &self,
        algorithm: Algorithm,
        payload: &[u8],
        room: Room,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        match algorithm {
            Algorithm::Zstd => expand_zstd(payload, room, scratch.slot(), out),
            _ => PureRust.expand(algorithm, payload, room, scratch, out),
        }
    }
}

/// One worker's libzstd context.
struct Context(DCtx<'static>);

impl Default for Context {
    fn default() -> Self {
        Self(DCtx::create())
    }
}

/// Replaces `out` by the plaintext of all frames.
///
/// Decodes in one go into a buffer of bounded length, again into a larger one where the plaintext's length was not known
/// and the guess was short: streaming would allocate the window that a frame claims.
fn expand_zstd(
    payload: &[u8],
    room: Room,
    Context(context): &mut Context,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let damaged = DecodeError::Damaged { algorithm: Algorithm::Zstd };
    if payload.is_empty() {
        return Err(damaged);
    }
    let mut length = first_buffer(payload, room)?;
    loop {
        out.resize(length, 0);
        match context.decompress(&mut out[..], payload) {
            Ok(written) => {
                out.truncate(written);
                return Ok(());
            }
            Err(code) if code == TOO_SMALL => length = room.larger_buffer(length)?,
            Err(_) => return Err(damaged),
        }
    }
}

/// The first buffer's length: what the first frame announces (mostly there is no other one), else a guess.
fn first_buffer(payload: &[u8], room: Room) -> Result<usize, DecodeError> {
    let limit = room.limit();
    match zstd_safe::get_frame_content_size(payload) {
        Ok(Some(size)) if size > limit as u64 => Err(DecodeError::TooLarge { limit }),
        // Of a skippable frame the size is 0.
        Ok(Some(size)) if size > 0 => Ok(size as usize + 1),
        _ => Ok(room.first_buffer(payload.len())),
    }
}

/// libzstd returns error numbers as their negatives in an unsigned type.
const TOO_SMALL: usize = (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();

#[cfg(test)]
mod tests {
    use super::*;
    use portaborg_core::limits::MAX_DATA_SIZE;
    use proptest::prelude::*;
    use zstd_safe::{CCtx, CParameter};

    #[test]
    fn engines_agree_on_the_vectors() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../../core/tests/vectors/data.json")).unwrap();
        let mut decoded = 0;
        for vector in vectors["compression"].as_array().unwrap() {
            let meta = &vector["meta"];
            let algorithm = Algorithm::from_ctype(meta["ctype"].as_u64().unwrap() as u8).unwrap();
            let Some(hex) = vector["payload"].as_str() else { continue };
            let payload = unhex(hex);
            let payload = &payload[..meta["psize"].as_u64().map_or(payload.len(), |size| size as usize)];
            for size in [meta["size"].as_u64().map(|size| size as usize), None] {
                let plaintext = decode(&Native, algorithm, payload, size).unwrap();
                assert_eq!(Ok(plaintext), decode(&PureRust, algorithm, payload, size), "{}", vector["spec"]);
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
                        for size in [Some(data.len()), None] {
                            assert!(decode(&Native, Algorithm::Zstd, &payload, size).unwrap() == data);
                            assert!(decode(&PureRust, Algorithm::Zstd, &payload, size).unwrap() == data);
                        }
                        let Some(limit) = data.len().checked_sub(1) else { continue };
                        let error = Err(DecodeError::TooLarge { limit });
                        assert_eq!(decode(&Native, Algorithm::Zstd, &payload, Some(limit)), error);
                        assert_eq!(decode(&PureRust, Algorithm::Zstd, &payload, Some(limit)), error);
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
                for size in [Some(data.len()), None] {
                    assert!(decode(&Native, Algorithm::Zstd, &payload, size).unwrap() == data);
                    assert!(decode(&PureRust, Algorithm::Zstd, &payload, size).unwrap() == data);
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
            assert_eq!(decode(&Native, Algorithm::Zstd, &payload, None), Err(damaged), "{hex}");
            assert_eq!(decode(&PureRust, Algorithm::Zstd, &payload, None), Err(damaged), "{hex}");
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
                assert_eq!(decode(&Native, Algorithm::Zstd, &payload, Some(limit)), error);
                assert_eq!(decode(&PureRust, Algorithm::Zstd, &payload, Some(limit)), error);
            }
            let error = Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE });
            assert_eq!(decode(&Native, Algorithm::Zstd, &payload, None), error);
        }
    }

    proptest! {
        /// Both answer, within the limits. What they make of damage may differ: neither finds all of it in the Huffman
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
            for engine in [&Native as &dyn Engine, &PureRust] {
                for size in [Some(5000), None] {
                    if let Ok(plaintext) = decode(engine, Algorithm::Zstd, &payload, size) {
                        prop_assert!(plaintext.len() <= MAX_DATA_SIZE && size.is_none_or(|size| plaintext.len() == size));
                    }
                }
            }
        }
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
        let text: Vec<u8> =
            (0..40_000).flat_map(|line| format!("{line} {}\n", line * line % 997).into_bytes()).collect();
        let piece = noise(3000);
        let mixture =
            [&piece[..], &text[..200_000], &noise(150_000), &piece, &vec![7; 100_000], &piece, &text[100_000..300_000]];
        vec![Vec::new(), b"x".to_vec(), mixture.concat(), text, noise(5000), vec![0; 300_000]]
    }

    fn unhex(digits: &str) -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        (0..digits.len()).step_by(2).map(byte).collect()
    }
}
