//! Kernels on buffers of noise and of words: chunkers, hashes, ciphers, compression.
//!
//! `cargo bench -p portaborg-core` runs all; a filter behind `--` chooses.

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::codec::{Algorithm, Compression, Engine, PureRust, Scratch};
use portaborg_core::crypto::{Cipher, IdHash, Keys, Mode, Sessions, Suite, Ticket, store_hash};
use portaborg_core::tuning::Help;
use std::hint::black_box;

const MIB: usize = 1 << 20;

/// Noise that no compressor shrinks.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Words in no order.
fn words(len: usize) -> Vec<u8> {
    let noise = noise(len);
    let words: Vec<&[u8]> = noise.chunks(7).take(256).collect();
    noise.iter().flat_map(|&at| words[usize::from(at) % words.len()]).copied().take(len).collect()
}

fn group<'c>(criterion: &'c mut Criterion, name: &str, bytes: usize) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(10);
    group
}

fn chunkers(criterion: &mut Criterion) {
    let data = noise(8 * MIB);
    let mut group = group(criterion, "chunkers", data.len());
    for text in [
        "fastcdc,19,23,21,2",
        "buzhash64,19,23,21,4095,2",
        "buzhash,19,23,21,4095",
        "toeplitz-aes,19,23,21,2",
        "rabin-aes,19,23,21,2",
        "goldilocks-aes,19,23,21,2",
    ] {
        let params: ChunkerParams = text.parse().expect("a chunker");
        let mut chunker = Chunker::with_key(&params, &[0; 32], 0);
        group.bench_function(text, |bencher| {
            bencher.iter(|| {
                let mut at = 0;
                while at < data.len() {
                    at += chunker.cut(at as u64, &data[at..]).expect("it is not `fail`");
                }
                at
            });
        });
        if let Some(scan) = chunker.scan() {
            group.bench_function(format!("{text} in a segment"), |bencher| bencher.iter(|| scan.segment(0, &data)));
        }
    }
}

fn hashes(criterion: &mut Criterion) {
    let data = noise(2 * MIB);
    let mut group = group(criterion, "hashes", data.len());
    for id_hash in [IdHash::Blake3, IdHash::Sha256] {
        let keys = Keys::new(Suite { mode: Mode::Authenticated, id_hash }, [1; 64], [2; 32], 3);
        group.bench_function(format!("id, {}", id_hash.name()), |bencher| bencher.iter(|| keys.chunk_id(&data)));
    }
    group.bench_function("store hash", |bencher| bencher.iter(|| store_hash(&data)));
}

fn ciphers(criterion: &mut Criterion) {
    for (name, len) in [("ciphers, 2 MiB", 2 * MIB), ("ciphers, 1500 bytes", 1500)] {
        let data = noise(len);
        let mut group = group(criterion, name, len);
        for cipher in [Cipher::Aes256Ocb, Cipher::ChaCha20Poly1305] {
            let suite = Suite { mode: Mode::Encrypted(cipher), id_hash: IdHash::Blake3 };
            let keys = Keys::new(suite, [1; 64], [2; 32], 3);
            let mut sessions = Sessions::new();
            let mut sealed = Vec::new();
            let mut seal = |sealed: &mut Vec<u8>| {
                sealed.clear();
                keys.seal_into(&mut sessions, Ticket::one_shot([7; 24]), &data, b"context", b"id", sealed);
            };
            let name = suite.encryption_name();
            group.bench_function(format!("{name} seals"), |bencher| bencher.iter(|| seal(&mut sealed)));
            seal(&mut sealed);
            group.bench_function(format!("{name} opens"), |bencher| {
                bencher.iter_batched_ref(
                    || sealed.clone(),
                    |sealed| keys.open(&mut sessions, sealed, b"context", b"id").map(|payload| payload.len()),
                    criterion::BatchSize::LargeInput,
                );
            });
        }
    }
}

fn compression(criterion: &mut Criterion) {
    let data = words(2 * MIB);
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    let mut group = group(criterion, "compression, pure Rust", data.len());
    for text in ["lz4", "zstd,1", "zlib,6", "lzma,0"] {
        let compression: Compression = text.parse().expect("a compression");
        let encode = |scratch: &mut Scratch, out: &mut Vec<u8>| {
            compression.encode(&PureRust, &data, Some(&mut || 0.0), Help::NONE, scratch, out).expect("it has the level")
        };
        group.bench_function(text, |bencher| bencher.iter(|| encode(&mut scratch, &mut out)));
        let algorithm: Algorithm = encode(&mut scratch, &mut out).algorithm;
        let payload = out.clone();
        group.bench_function(format!("{text} back"), |bencher| {
            bencher.iter(|| {
                let result = PureRust.decode(algorithm, black_box(&payload), Some(data.len()), &mut scratch, &mut out);
                result.expect("it is a payload");
            });
        });
    }
}

criterion_group!(benches, chunkers, hashes, ciphers, compression);
criterion_main!(benches);
