//! `benchmark cpu`: what the processor does with chunks (command line, section 6.1).

use super::corpus;
use super::legacy::{CtrThenMac, blake2b_256};
use super::report::{Report, Row};
use crate::app::App;
use crate::client::random;
use crate::failure::Failure;
use crate::output::json::Object;
use crate::repository::engine::Native;
use crate::tuning;
use clap::Args;
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::codec::{Compression, Scratch};
use portaborg_core::crypto::{Cipher, IdHash, Keys, Mode, Sessions, Suite, Ticket};
use portaborg_core::exec::{Rayon, Serial};
use portaborg_core::item::Item;
use portaborg_core::tuning::{Help, Tuning};
use std::convert::Infallible;
use std::env;
use std::hint::black_box;
use std::path::PathBuf;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Benchmark miscellaneous CPU-bound Borg operations
#[derive(Debug, Args)]
pub struct CpuOptions {
    /// format output as JSON
    #[arg(long)]
    json: bool,

    /// benchmark the chunkers
    #[arg(long)]
    chunking: bool,

    /// benchmark the hashes / MACs
    #[arg(long)]
    hashing: bool,

    /// benchmark the encryption modes
    #[arg(long)]
    encrypting: bool,

    /// benchmark the compressors
    #[arg(long)]
    compressing: bool,

    /// benchmark the compressors with the data from this file or directory (default: synthetic data)
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,

    /// benchmark msgpack item packing
    #[arg(long)]
    msgpacking: bool,

    /// benchmark what one thread does and what several do with one buffer
    #[arg(long)]
    threading: bool,
}

/// How much is done. In a row each size is named.
struct Plan {
    tuning: Tuning,
    /// Length of a buffer for chunkers and ciphers.
    buffer: usize,
    /// How often it is used.
    rounds: usize,
    blake3: &'static [(&'static str, usize)],
    mac: (&'static str, usize),
    /// How much is hashed.
    hashed: usize,
    compressed: &'static [(&'static str, usize)],
    /// How much is compressed.
    compressed_total: usize,
}

/// Measures what is asked for, or all of it.
pub fn run(app: &App, options: &CpuOptions) -> Result<(), Failure> {
    let CpuOptions { chunking, hashing, encrypting, compressing, msgpacking, threading, .. } = *options;
    let all = ![chunking, hashing, encrypting, compressing, msgpacking, threading].contains(&true);
    let data = options.data.as_deref().filter(|_| all || compressing).map(corpus::of_user).transpose()?;
    let plan = Plan::new(tuning::for_writing(&zstd(3))?);
    let mut report = Report::new(app, options.json);
    if all || chunking {
        plan.chunk(&mut report)?;
    }
    if all || hashing {
        plan.hash(&mut report)?;
    }
    if all || encrypting {
        plan.encrypt(&mut report)?;
    }
    if all || compressing {
        plan.compress(&mut report, data.as_deref())?;
    }
    if all || msgpacking {
        plan.pack(&mut report)?;
    }
    if all || threading {
        plan.spread(&mut report)?;
    }
    report.finish()
}

impl Plan {
    fn new(tuning: Tuning) -> Plan {
        let small = ("128kiB", 128 * KIB);
        if env::var_os("_BORG_BENCHMARK_CPU_TEST").is_some() {
            let (buffer, rounds) = (small.1, 1);
            let (hashed, compressed_total) = (small.1, small.1);
            let sizes = &[("128kiB", 128 * KIB)];
            return Plan {
                tuning,
                buffer,
                rounds,
                blake3: sizes,
                mac: small,
                hashed,
                compressed: sizes,
                compressed_total,
            };
        }
        Plan {
            tuning,
            buffer: 8 * MIB,
            rounds: 128,
            blake3: &[("64MiB", 64 * MIB), ("2MiB", 2 * MIB)],
            mac: ("2MiB", 2 * MIB),
            hashed: 1024 * MIB,
            compressed: &[("2MiB", 2 * MIB), ("128kiB", 128 * KIB)],
            compressed_total: 10 * MIB,
        }
    }

    fn total(&self) -> u64 {
        (self.buffer * self.rounds) as u64
    }

    fn chunk(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        report.section("chunkers", "Chunkers")?;
        let data = corpus::noise(self.buffer)?;
        for spec in CHUNKERS {
            let params: ChunkerParams = spec.parse().expect("it is in the list");
            let mut chunker = Chunker::with_key(&params, &[0; 32], 0);
            let (algo, algo_params) = spec.split_once(',').unwrap_or((spec, ""));
            let facts = Object::new().with("algo", algo).with("algo_params", algo_params);
            report.row(Row { name: spec, bytes: self.total(), facts }, || {
                let mut buffer = Vec::with_capacity(data.len());
                for _ in 0..self.rounds {
                    // As if it were read.
                    buffer.clear();
                    buffer.extend_from_slice(&data);
                    let mut at = 0;
                    while at < buffer.len() {
                        at += chunker.cut(at as u64, &buffer[at..])?;
                    }
                }
                Ok::<_, portaborg_core::chunk::InjectedFault>(None)
            })?;
        }
        Ok(())
    }

    fn hash(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        report.section("hashes", "Cryptographic hashes / MACs")?;
        let key = random::bytes::<32>()?;
        let idle = Rayon::new(self.tuning.threads - 1);
        let [blake3, sha256] = [IdHash::Blake3, IdHash::Sha256].map(|id_hash| id_keys(id_hash, key));
        for &size in self.blake3 {
            self.hash_row(report, "blake3", size, |data| blake3.chunk_id_on(data, &self.tuning, &idle).0)?;
        }
        self.hash_row(report, "hmac-sha256", self.mac, |data| sha256.chunk_id(data).0)?;
        self.hash_row(report, "blake2b-256", self.mac, |data| blake2b_256(&key, data))
    }

    fn hash_row(
        &self,
        report: &mut Report<'_>,
        algo: &str,
        (label, bytes): (&str, usize),
        hash: impl Fn(&[u8]) -> [u8; 32],
    ) -> Result<(), Failure> {
        let data = corpus::noise(bytes)?;
        let rounds = (self.hashed / bytes).max(1);
        let facts = Object::new().with("algo", algo).with("buffer_size", bytes as u64);
        report.row(Row { name: &format!("{algo} ({label})"), bytes: (bytes * rounds) as u64, facts }, || {
            for _ in 0..rounds {
                black_box(hash(black_box(&data)));
            }
            Ok::<_, Infallible>(None)
        })
    }

    fn encrypt(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        report.section("encryption", "Encryption")?;
        let data = corpus::noise(self.buffer)?;
        let key = random::bytes::<32>()?;
        let mut sealed = Vec::new();
        let mut row = |algo: &str, seal: &mut dyn FnMut(&mut Vec<u8>)| {
            let facts = Object::new().with("algo", algo);
            report.row(Row { name: algo, bytes: self.total(), facts }, || {
                (0..self.rounds).for_each(|_| seal(&mut sealed));
                Ok::<_, Infallible>(None)
            })
        };
        for (algo, cipher) in [("aes-256-ocb", Cipher::Aes256Ocb), ("chacha20-poly1305", Cipher::ChaCha20Poly1305)] {
            let keys = keys(Suite { mode: Mode::Encrypted(cipher), id_hash: IdHash::Blake3 }, key);
            let mut sessions = Sessions::new();
            row(algo, &mut |sealed| {
                sealed.clear();
                // Nobody keeps what is sealed here, so the message's number may be the same each time.
                keys.seal_into(&mut sessions, Ticket::one_shot([0; 24]), &data, b"X", b"", sealed);
            })?;
        }
        let hmac = CtrThenMac::hmac_sha256(&key, &key);
        row("aes-256-ctr-hmac-sha256", &mut |sealed| hmac.seal(&data, sealed))?;
        let blake2b = CtrThenMac::blake2b(&key, &key.repeat(4));
        row("aes-256-ctr-blake2b", &mut |sealed| blake2b.seal(&data, sealed))
    }

    fn compress(&self, report: &mut Report<'_>, data: Option<&[u8]>) -> Result<(), Failure> {
        report.section("compression", "Compression")?;
        for &(label, bytes) in self.compressed {
            let words = corpus::words(bytes);
            let buffers = match data {
                Some(data) => corpus::slices(data, bytes),
                None => vec![&words[..]; (self.compressed_total / bytes).max(3)],
            };
            for spec in COMPRESSIONS {
                let (algo, level) = spec.split_once(',').unwrap_or((spec, ""));
                let facts = Object::new().with("algo", algo).with("algo_params", level);
                let facts = facts.with("buffer_size", bytes as u64);
                let help = Help { tuning: self.tuning, idle: self.tuning.threads - 1 };
                compression_row(report, &format!("{spec} ({label})"), spec, &buffers, help, facts)?;
            }
        }
        Ok(())
    }

    fn pack(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        report.section("msgpack", "msgpack")?;
        let item = Item { path: b"foo/bar/baz".to_vec(), mode: Some(660), ..Item::default() };
        let mut out = Vec::new();
        report.items("msgpack", (ITEMS * self.rounds) as u64, || {
            for _ in 0..self.rounds {
                out.clear();
                (0..ITEMS).for_each(|_| item.encode_into(&mut out));
                black_box(&out);
            }
        })
    }

    /// What Borg does not show: the same work with and without other threads.
    fn spread(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        report.section("threads", "Threads")?;
        let key = random::bytes::<32>()?;
        let (blake3, threads) = (id_keys(IdHash::Blake3, key), self.tuning.threads);
        let always = Tuning { blake3_threads_from_bytes: 0, ..self.tuning };
        for &size in self.blake3 {
            self.hash_row(report, "blake3, 1 thread", size, |data| blake3.chunk_id_on(data, &always, &Serial).0)?;
            let all = Rayon::new(threads - 1);
            let name = format!("blake3, {threads} threads");
            self.hash_row(report, &name, size, |data| blake3.chunk_id_on(data, &always, &all).0)?;
        }
        let (label, bytes) = self.compressed[0];
        let words = corpus::words(bytes);
        let buffers = vec![&words[..]; (self.compressed_total / bytes).max(3)];
        for level in [-4, 3, 10] {
            for workers in [0, 2, 4] {
                let tuning = Tuning { zstd_workers: Some(workers), ..self.tuning };
                let facts = Object::new().with("algo", "zstd").with("algo_params", level.to_string());
                let facts = facts.with("buffer_size", bytes as u64).with("workers", workers as u64);
                let name = format!("zstd,{level} x{workers} ({label})");
                let help = Help { tuning, idle: 0 };
                compression_row(report, &name, &format!("zstd,{level}"), &buffers, help, facts)?;
            }
        }
        let data = corpus::noise(self.buffer)?;
        for spec in CHUNKERS {
            let params: ChunkerParams = spec.parse().expect("it is in the list");
            let chunker = Chunker::with_key(&params, &[0; 32], 0);
            let Some(scan) = chunker.scan() else { continue };
            let algo = params.algorithm();
            let facts = Object::new().with("algo", algo).with("algo_params", "segments");
            report.row(Row { name: &format!("{algo}, segments"), bytes: self.total(), facts }, || {
                (0..self.rounds).for_each(|_| drop(black_box(scan.segment(0, &data))));
                Ok::<_, Infallible>(None)
            })?;
        }
        Ok(())
    }
}

fn compression_row(
    report: &mut Report<'_>,
    name: &str,
    spec: &str,
    buffers: &[&[u8]],
    help: Help,
    facts: Object,
) -> Result<(), Failure> {
    let compression: Compression = spec.parse().expect("it is in the list");
    let bytes = buffers.iter().map(|buffer| buffer.len() as u64).sum();
    report.row(Row { name, bytes, facts }, || {
        let (mut scratch, mut out, mut csize) = (Scratch::default(), Vec::new(), 0);
        for buffer in buffers {
            compression.encode(&Native, buffer, None, help, &mut scratch, &mut out)?;
            csize += out.len() as u64;
        }
        Ok::<_, portaborg_core::codec::EncodeError>(Some(csize))
    })
}

fn keys(suite: Suite, key: [u8; 32]) -> Keys {
    let mut crypt_key = [0; 64];
    crypt_key[..32].copy_from_slice(&key);
    Keys::new(suite, crypt_key, key, 0)
}

fn id_keys(id_hash: IdHash, key: [u8; 32]) -> Keys {
    keys(Suite { mode: Mode::Authenticated, id_hash }, key)
}

fn zstd(level: i32) -> Compression {
    format!("zstd,{level}").parse().expect("the level exists")
}

/// Items that are packed at once.
const ITEMS: usize = 1000;

const CHUNKERS: [&str; 7] = [
    "fixed,1048576",
    "fastcdc,19,23,21,2",
    "buzhash64,19,23,21,4095,2",
    "buzhash,19,23,21,4095",
    "toeplitz-aes,19,23,21,2",
    "rabin-aes,19,23,21,2",
    "goldilocks-aes,19,23,21,2",
];

const COMPRESSIONS: [&str; 14] = [
    "lz4", "zstd,-4", "zstd,1", "zstd,3", "zstd,5", "zstd,10", "zstd,16", "zstd,22", "zlib,1", "zlib,6", "zlib,9",
    "lzma,0", "lzma,6", "lzma,9",
];
