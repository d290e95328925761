//! The engine of WebAssembly against libzstd: whatever that can be made to write, and what is left of it after damage.

use super::*;

/// How libzstd is set up.
#[derive(Debug, Clone)]
struct Settings {
    level: i32,
    window_log: Option<u32>,
    far_matches: bool,
    workers: u32,
    announced: bool,
    checksum: bool,
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let level = prop_oneof![3 => -20..=9, 1 => 10..=22];
    let window_log = prop::option::of(10..=31_u32);
    (level, window_log, any::<bool>(), 0..=2_u32, any::<bool>(), any::<bool>()).prop_map(
        |(level, window_log, far_matches, workers, announced, checksum)| Settings {
            level,
            // Tables as large as the largest windows take seconds at the highest levels.
            window_log: window_log.map(|log| if level > 9 { log.min(24) } else { log }),
            far_matches,
            workers,
            announced,
            checksum,
        },
    )
}

impl Settings {
    /// The frame. Where the size is not announced it is written piece by piece, as a pipe is compressed.
    fn compress(&self, data: &[u8]) -> Vec<u8> {
        let mut context = CCtx::create();
        let mut set = |parameter| context.set_parameter(parameter).unwrap();
        set(CParameter::CompressionLevel(self.level));
        set(CParameter::ContentSizeFlag(self.announced));
        set(CParameter::ChecksumFlag(self.checksum));
        set(CParameter::EnableLongDistanceMatching(self.far_matches && self.level < 16));
        set(CParameter::NbWorkers(self.workers));
        if let Some(log) = self.window_log {
            set(CParameter::WindowLog(log));
        }
        if self.workers > 0 {
            set(CParameter::JobSize(512 << 10));
        }
        let mut payload = Vec::with_capacity(zstd_safe::compress_bound(data.len()) + 1000);
        if self.announced {
            context.compress2(&mut payload, data).unwrap();
            return payload;
        }
        let mut out = zstd_safe::OutBuffer::around(&mut payload);
        for piece in data.chunks(100_000) {
            let mut input = zstd_safe::InBuffer::around(piece);
            while input.pos() < piece.len() {
                context
                    .compress_stream2(&mut out, &mut input, zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_continue)
                    .unwrap();
            }
        }
        let mut nothing = zstd_safe::InBuffer::around(&[]);
        while context
            .compress_stream2(&mut out, &mut nothing, zstd_safe::zstd_sys::ZSTD_EndDirective::ZSTD_e_end)
            .unwrap()
            > 0
        {}
        payload
    }
}

/// Noise, words, runs, and repetitions near and far.
fn any_data() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (prop::collection::vec(any::<u8>(), 0..400), 1..200_usize).prop_map(|(piece, times)| piece.repeat(times)),
        (prop::collection::vec(prop::sample::select(b"etaoin shrdlu\n".to_vec()), 0..30_000)),
        (any::<u8>(), 0..300_000_usize).prop_map(|(byte, length)| vec![byte; length]),
        (any::<u32>(), 0..200_000_usize).prop_map(|(seed, length)| {
            (0..length as u32).map(|at| (seed.wrapping_add(at).wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
        }),
    ];
    prop::collection::vec((piece, any::<bool>()), 0..7).prop_map(|pieces| {
        let mut data: Vec<u8> = Vec::new();
        for (piece, goes_back) in pieces {
            data.extend(piece);
            if goes_back && data.len() < 2 << 20 {
                data.extend_from_within(..data.len() / 2);
            }
        }
        data
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_libzstd_writes_is_read(data in any_data(), settings in any_settings()) {
        let payload = settings.compress(&data);
        for size in [Some(data.len()), None] {
            prop_assert!(decode(&Zrip, Algorithm::Zstd, &payload, size).unwrap() == data);
        }
        if let Some(limit) = data.len().checked_sub(1) {
            let error = Err(DecodeError::TooLarge { limit });
            prop_assert_eq!(decode(&Zrip, Algorithm::Zstd, &payload, Some(limit)), error);
        }
        let longer = Err(DecodeError::WrongSize { expected: data.len() + 1, found: data.len() });
        prop_assert_eq!(decode(&Zrip, Algorithm::Zstd, &payload, Some(data.len() + 1)), longer);
    }

    /// Two frames in one worker's scratch, the first of them damaged: what is left of its tables must not matter.
    #[test]
    fn damage_has_no_consequences(
        data in any_data(),
        settings in any_settings(),
        damaged in any_settings(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8), 1..6),
        keep in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let good = settings.compress(&data);
        let whole = Settings { checksum: true, ..damaged }.compress(&data);
        let mut bad = whole.clone();
        let header = 18.min(bad.len() - 1);
        for (byte, bit) in flips {
            let byte = header + byte.index(bad.len() - header);
            bad[byte] ^= 1_u8 << bit;
        }
        if let Some(keep) = keep {
            bad.truncate(keep.index(bad.len()));
        }
        let mut scratch = Scratch::default();
        let mut out = Vec::new();
        for _ in 0..2 {
            match Zrip.decode(Algorithm::Zstd, &bad, Some(data.len()), &mut scratch, &mut out) {
                // The checksum vouches for it.
                Ok(()) => prop_assert!(out == data && (bad.len() == whole.len())),
                Err(_) => prop_assert!(out.is_empty()),
            }
            Zrip.decode(Algorithm::Zstd, &good, Some(data.len()), &mut scratch, &mut out).unwrap();
            prop_assert!(out == data);
        }
    }

    #[test]
    fn truncated_frames_are_refused(data in any_data(), settings in any_settings(), keep: prop::sample::Index) {
        let payload = settings.compress(&data);
        let cut = &payload[..keep.index(payload.len())];
        let damaged = Err(DecodeError::Damaged { algorithm: Algorithm::Zstd });
        for size in [Some(data.len()), None] {
            prop_assert_eq!(decode(&Zrip, Algorithm::Zstd, cut, size), damaged.clone());
        }
    }

    #[test]
    fn all_read_what_it_writes(data in any_data(), level in -7..=4) {
        let mut payload = Vec::new();
        Zrip.compress(Algorithm::Zstd, level, &data, Help::NONE, &mut Scratch::default(), &mut payload).unwrap();
        prop_assert_eq!(zstd_safe::get_frame_content_size(&payload).unwrap(), Some(data.len() as u64));
        for engine in ENGINES {
            for size in [Some(data.len()), None] {
                prop_assert!(decode(engine, Algorithm::Zstd, &payload, size).unwrap() == data);
            }
        }
    }
}

/// The longest chunk, at the level with the largest window.
#[test]
fn the_largest_chunk_at_the_highest_level_is_read() {
    let mut data = plaintexts().concat();
    while data.len() < 8 << 20 {
        data.extend_from_within(..);
    }
    let data = &data[..8 << 20];
    for announced in [true, false] {
        let payload = compress(data, 22, announced, true);
        assert!(decode(&Zrip, Algorithm::Zstd, &payload, Some(data.len())).unwrap() == data);
    }
}

#[test]
fn what_it_can_not_do_is_an_error() {
    for level in [-128, -8, 5, 22] {
        let result = Zrip.compress(Algorithm::Zstd, level, b"x", Help::NONE, &mut Scratch::default(), &mut Vec::new());
        let error = result.unwrap_err();
        assert_eq!(error, EncodeError::Level { algorithm: Algorithm::Zstd, level, levels: -7..=4 });
        assert_eq!(error.to_string(), format!("zstd level {level} is not possible here, only -7 to 4"));
    }
    // 0 stands for the usual level.
    let [usual, three] = [0, 3].map(|level| {
        let mut payload = Vec::new();
        let plaintext = &plaintexts()[3];
        Zrip.compress(Algorithm::Zstd, level, plaintext, Help::NONE, &mut Scratch::default(), &mut payload).unwrap();
        payload
    });
    assert!(usual == three);
}
