//! One chunk compressed by several of libzstd's workers.

use super::*;
use portaborg_core::tuning::Tuning;

const KIB: usize = 1024;
const JOB_BYTES: usize = 512 * KIB;

/// Four threads, of which so many are idle.
fn help(idle: usize) -> Help {
    Help { tuning: Tuning::new(4), idle }
}

/// Words in no order, and some noise: about a third is left of it at level 3.
fn text(len: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let words: Vec<Vec<u8>> = (0..4000).map(|_| (0..3 + next(7)).map(|_| b'a' + next(26) as u8).collect()).collect();
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        let (rare, often) = (next(words.len()), next(200));
        text.extend_from_slice(&words[if next(3) == 0 { rare } else { often }]);
        text.push(b' ');
    }
    text.truncate(len);
    text
}

/// The frame, and into how many jobs libzstd split it: it says so itself, and 0 where it used no workers.
fn compress(scratch: &mut Scratch, data: &[u8], level: i32, help: Help) -> (Vec<u8>, usize) {
    let mut frame = Vec::new();
    Native.compress(Algorithm::Zstd, level, data, help, scratch, &mut frame).unwrap();
    assert!(decode(&Native, Algorithm::Zstd, &frame, Some(data.len())).unwrap() == data);
    let compressor = scratch.slot::<Compressor>();
    let jobs = if compressor.workers == 0 { 0 } else { compressor.context.get_frame_progression().currentJobID };
    (frame, jobs as usize)
}

#[test]
fn from_768_kib_on_every_512_kib_are_a_job() {
    let data = text(8192 * KIB + 1);
    let mut scratch = Scratch::default();
    let sizes =
        [512 * KIB, 768 * KIB - 1, 768 * KIB, 1024 * KIB, 1024 * KIB + 1, 2500 * KIB, 8192 * KIB, 8192 * KIB + 1];
    for size in sizes {
        for level in [-4, 3, 8] {
            let (frame, jobs) = compress(&mut scratch, &data[..size], level, help(3));
            let wanted = if size < 768 * KIB { 0 } else { size.div_ceil(JOB_BYTES) };
            assert_eq!(jobs, wanted, "{size} bytes at level {level}");
            // Any other implementation reads it.
            assert!(decode(&PureRust, Algorithm::Zstd, &frame, Some(size)).unwrap() == data[..size]);
        }
    }
}

#[test]
fn jobs_grow_with_what_they_take_over_from_each_other() {
    let data = text(8192 * KIB);
    let jobs = |level, size: usize| compress(&mut Scratch::default(), &data[..size], level, help(1)).1;
    assert_eq!([1, 5, 8, 10].map(|level| jobs(level, data.len())), [16, 16, 16, 8]);
    assert_eq!(jobs(18, 768 * KIB), 2);
    // Here one job would be all there is.
    assert_eq!(jobs(19, 768 * KIB), 0);
}

#[test]
fn workers_come_and_go_between_chunks_of_one_context() {
    let data = text(2048 * KIB);
    let mut scratch = Scratch::default();
    let serial = compress(&mut Scratch::default(), &data, 3, Help::NONE).0;
    for idle in [0, 1, 3, 0, 2, 2, 1, 0] {
        let (frame, jobs) = compress(&mut scratch, &data, 3, help(idle));
        assert_eq!(jobs, if idle == 0 { 0 } else { 4 });
        assert_eq!(frame == serial, idle == 0);
        assert_eq!(compress(&mut scratch, &data[..1000], 3, help(idle)).1, 0);
    }
}

#[test]
fn a_set_number_of_workers_needs_no_idle_thread() {
    let data = text(1024 * KIB);
    let with = |workers| {
        let tuning = Tuning { zstd_workers: Some(workers), ..Tuning::new(4) };
        compress(&mut Scratch::default(), &data, 3, Help { tuning, idle: 0 }).1
    };
    assert_eq!([0, 1, 2, 7, 256].map(with), [0, 0, 2, 2, 2]);
}

/// Borg's figure for chunks of 8 MiB.
#[test]
fn frames_are_hardly_longer_than_those_of_one_thread() {
    let data = text(8192 * KIB);
    for level in [-4, 1, 2, 3, 5, 8] {
        let [one, many] = [0, 3].map(|idle| compress(&mut Scratch::default(), &data, level, help(idle)).0.len());
        assert!(many as f64 <= one as f64 * 1.0064, "level {level}: {one} bytes, {many} with workers");
    }
}
