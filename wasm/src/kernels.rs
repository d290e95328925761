//! What takes the time, each on its own, for `cargo dist-web --kernels`: not part of any module that is shipped.

use crate::cipher::Cipher;
use portaborg_core::chunk::{Chunker, ChunkerParams};
use portaborg_core::codec::{Compression, Engine, Scratch, Zrip};
use portaborg_core::crypto::{self, IdHash, Keys, Mode, NEW_KEYS, Sessions, Suite, Ticket, wrap_secret};
use portaborg_core::tuning::Help;
use std::future::poll_fn;
use std::task::Poll;
use wasm_bindgen::prelude::*;

/// One of them, and data to work on.
#[wasm_bindgen]
pub struct Kernel {
    work: Box<dyn FnMut()>,
}

#[wasm_bindgen]
impl Kernel {
    /// All names.
    pub fn names() -> Vec<String> {
        NAMES.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The one with this name.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, data: Vec<u8>) -> Kernel {
        Kernel { work: kernel(name, data) }
    }

    /// Does it once.
    pub fn run(&mut self) {
        (self.work)();
    }
}

/// Opens an envelope by Web Crypto, so often.
#[wasm_bindgen]
pub async fn open_by_web_crypto(cipher: Cipher, data: Vec<u8>, times: u32) {
    let keys = keys(Mode::Encrypted(crypto::Cipher::Aes256Ocb), IdHash::Blake3);
    let mut sessions = Sessions::new();
    let sealed = sealed(&keys, &mut sessions, &data);
    for _ in 0..times {
        let mut envelope = sealed.clone();
        let begun = keys.begin(&mut sessions, &mut envelope, 0);
        let (session, place) = begun.expect("the cipher is the right one, and there is enough for it");
        let mut decrypting = cipher.begin(&keys, [(session, &mut envelope[place.clone()])].into_iter());
        poll_fn(|context| {
            decrypting.poll(context);
            if decrypting.is_done() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        decrypting.finish(&keys, [(session, &mut envelope[place])].into_iter());
        assert!(keys.finish(&mut sessions, &mut envelope, b"context", b"id").is_ok());
    }
}

fn kernel(name: &str, data: Vec<u8>) -> Box<dyn FnMut()> {
    let (what, how) = name.split_once(' ').unwrap_or((name, ""));
    match (what, how) {
        ("blake3", _) => hashing(IdHash::Blake3, data),
        ("sha256", _) => hashing(IdHash::Sha256, data),
        ("aes256-ocb", "seals") => sealing(crypto::Cipher::Aes256Ocb, data),
        ("aes256-ocb", _) => opening(crypto::Cipher::Aes256Ocb, data),
        ("chacha20-poly1305", "seals") => sealing(crypto::Cipher::ChaCha20Poly1305, data),
        ("chacha20-poly1305", _) => opening(crypto::Cipher::ChaCha20Poly1305, data),
        ("argon2", _) => Box::new(|| {
            let wrapped = wrap_secret(b"passphrase", &[7; 16], NEW_KEYS, b"secret");
            assert!(wrapped.is_ok());
        }),
        (text, how) => match text.parse::<ChunkerParams>() {
            Ok(params) if how == "cuts" => cutting(&params, data),
            _ => compressing(&text.parse().expect("a kernel's name begins with what it does"), how, data),
        },
    }
}

fn keys(mode: Mode, id_hash: IdHash) -> Keys {
    Keys::new(Suite { mode, id_hash }, [1; 64], [2; 32], 3)
}

fn hashing(id_hash: IdHash, data: Vec<u8>) -> Box<dyn FnMut()> {
    let keys = keys(Mode::Authenticated, id_hash);
    Box::new(move || {
        std::hint::black_box(keys.chunk_id(&data));
    })
}

fn sealed(keys: &Keys, sessions: &mut Sessions, data: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    keys.seal_into(sessions, Ticket::one_shot([7; 24]), data, b"context", b"id", &mut sealed);
    sealed
}

fn sealing(cipher: crypto::Cipher, data: Vec<u8>) -> Box<dyn FnMut()> {
    let (keys, mut sessions) = (keys(Mode::Encrypted(cipher), IdHash::Blake3), Sessions::new());
    let mut out = Vec::new();
    Box::new(move || {
        out.clear();
        keys.seal_into(&mut sessions, Ticket::one_shot([7; 24]), &data, b"context", b"id", &mut out);
    })
}

fn opening(cipher: crypto::Cipher, data: Vec<u8>) -> Box<dyn FnMut()> {
    let (keys, mut sessions) = (keys(Mode::Encrypted(cipher), IdHash::Blake3), Sessions::new());
    let sealed = sealed(&keys, &mut sessions, &data);
    let mut envelope = Vec::new();
    Box::new(move || {
        envelope.clear();
        envelope.extend_from_slice(&sealed);
        assert!(keys.open(&mut sessions, &mut envelope, b"context", b"id").is_ok());
    })
}

fn cutting(params: &ChunkerParams, data: Vec<u8>) -> Box<dyn FnMut()> {
    let mut chunker = Chunker::with_key(params, &[0; 32], 0);
    Box::new(move || {
        let mut at = 0;
        while at < data.len() {
            at += chunker.cut(at as u64, &data[at..]).expect("it is not `fail`");
        }
    })
}

fn compressing(compression: &Compression, how: &str, data: Vec<u8>) -> Box<dyn FnMut()> {
    let compression = *compression;
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let encode = move |scratch: &mut Scratch, out: &mut Vec<u8>, data: &[u8]| {
        compression.encode(&Zrip, data, None, Help::NONE, scratch, out).expect("it has the level").algorithm
    };
    if how != "back" {
        return Box::new(move || {
            std::hint::black_box(encode(&mut scratch, &mut out, &data));
        });
    }
    let mut payload = Vec::new();
    let algorithm = encode(&mut scratch, &mut payload, &data);
    let size = Some(data.len());
    Box::new(move || {
        Zrip.decode(algorithm, &payload, size, &mut scratch, &mut out).expect("it is a payload");
    })
}

const NAMES: [&str; 18] = [
    "zstd,-4 back",
    "zstd,3 back",
    "lz4 back",
    "zlib,6 back",
    "zstd,-4",
    "zstd,1",
    "zstd,3",
    "lz4",
    "zlib,6",
    "blake3",
    "sha256",
    "aes256-ocb opens",
    "aes256-ocb seals",
    "chacha20-poly1305 opens",
    "chacha20-poly1305 seals",
    "fastcdc,19,23,21,2 cuts",
    "buzhash,19,23,21,4095 cuts",
    "argon2",
];
