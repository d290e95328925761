//! Key texts against the vectors (repository layer, section 3).

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::build::sealer;
use common::msgpack::{bin, int, map, str};
use common::{array, bytes, repository_id, repository_vectors, text};
use portaborg_core::crypto::{
    Argon2Algorithm, Argon2Params, Kdf, KdfError, Keys, Sessions, Suite, store_hash, unwrap_secret,
};
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{KeyError, KeyLocation, KeySource, LockedKey, blob, is_key_of, paper_text, repository_of};
use portaborg_core::repo::{UnlockError, unlock};
use serde_json::Value;
use std::time::{Duration, Instant};

const PASSPHRASE: &str = "/passphrase_utf8";

fn vectors() -> Value {
    repository_vectors()["key"].take()
}

fn suite() -> Suite {
    Suite::from_names("aes256-ocb", "sha256").unwrap()
}

/// A key text around any outer map.
fn key_text(outer: &[u8]) -> Vec<u8> {
    format!("BORG_KEY {}\n{}\n", repository_id(), STANDARD.encode(outer)).into_bytes()
}

/// The vectors' outer map with other values.
fn outer(changes: &[(&str, Option<Vec<u8>>)]) -> Vec<u8> {
    let vectors = vectors();
    let wrapped = text(&vectors, "/outer_msgpack");
    let data = &bytes(&vectors, "/outer_msgpack")[wrapped.find("a464617461c4cf").unwrap() / 2 + 7..][..0xcf];
    let mut pairs = vec![
        ("algorithm", str("argon2 chacha20-poly1305")),
        ("argon2_memory_cost", int(65536)),
        ("argon2_parallelism", int(4)),
        ("argon2_time_cost", int(3)),
        ("argon2_type", str("id")),
        ("data", bin(data)),
        ("label", str("admin")),
        ("salt", bin(bytes(&vectors, "/salt"))),
        ("version", int(1)),
    ];
    for (key, value) in changes {
        let at = pairs.iter().position(|(name, _)| name == key).unwrap();
        match value {
            Some(value) => pairs[at].1 = value.clone(),
            None => drop(pairs.remove(at)),
        }
    }
    map(&pairs)
}

fn unlock_text(text: &[u8], passphrase: &[u8], kdf: Kdf) -> Result<Keys, KeyError> {
    LockedKey::parse(text)?.unlock(passphrase, kdf, suite(), repository_id())
}

#[test]
fn the_key_text_is_recognised_and_named_by_its_hash() {
    let vectors = vectors();
    let key_text = text(&vectors, "/keyfile_text").as_bytes();
    assert_eq!(store_hash(key_text).to_string(), text(&vectors, "/keyfile_name"));
    assert_eq!(repository_of(key_text), Some(repository_id()));
    assert!(is_key_of(key_text, repository_id()));
    assert!(!is_key_of(key_text, RepositoryId([0; 32])));
    for other in ["", "BORG_KEY ", "BORG_KEY 00", "borg_key", "BORG_KEY \u{2602}", "# comment\nBORG_KEY"] {
        assert_eq!(repository_of(other.as_bytes()), None, "{other:?}");
    }
}

#[test]
fn the_key_text_is_read_and_spelled_out_on_paper() {
    let vectors = vectors();
    let key_text = text(&vectors, "/keyfile_text");
    let locked = LockedKey::parse(key_text.as_bytes()).unwrap();
    assert_eq!(locked.label.as_deref(), Some("admin"));
    assert_eq!(locked.algorithm, "argon2 chacha20-poly1305");
    let spelled = blob(key_text.as_bytes()).unwrap();
    assert_eq!(spelled, bytes(&vectors, "/outer_msgpack"));
    assert_eq!(paper_text(repository_id(), &spelled), text(&vectors, "/paper"));
    // Line breaks mean nothing.
    let one_line = key_text.replacen('\n', "\r\n ", 1).replace("\nc", "c");
    assert_eq!(blob(one_line.as_bytes()), Ok(spelled));
}

#[test]
fn the_wrapping_key_is_that_of_the_vectors() {
    let vectors = vectors();
    assert_eq!(text(&vectors, PASSPHRASE), hex(text(&vectors, "/passphrase").as_bytes()));
    assert_eq!(text(&vectors, "/argon2"), "id t=3 m=65536 p=4 len=32");
    let params = Argon2Params { algorithm: Argon2Algorithm::Argon2id, time: 3, memory_kib: 65536, lanes: 4 };
    let data = &outer(&[]);
    let at = data.windows(6).position(|window| window == b"\xa4data\xc4").unwrap() + 7;
    let salt = bytes(&vectors, "/salt");
    let secret = unwrap_secret(&bytes(&vectors, PASSPHRASE), &salt, params, &data[at..at + 0xcf]).unwrap();
    assert_eq!(*secret, bytes(&vectors, "/inner_msgpack"));
}

#[test]
fn the_passphrase_unlocks_the_secrets_and_no_other_does() {
    let vectors = vectors();
    let key_text = text(&vectors, "/keyfile_text").as_bytes();
    assert_eq!(outer(&[]), bytes(&vectors, "/outer_msgpack"));
    let keys = unlock_text(key_text, &bytes(&vectors, PASSPHRASE), Kdf::Stored).unwrap();
    assert_eq!(*keys.id_key(), array(&vectors, "/id_key"));
    assert_eq!(i64::from(keys.chunk_seed()), vectors["chunk_seed"].as_i64().unwrap());
    // The third secret shows in what it seals.
    let given = Keys::new(suite(), array(&vectors, "/crypt_key"), [0; 32], 0);
    let mut sealed = sealer(&given, [1; 24]).seal(b"secret", b"", b"");
    assert_eq!(keys.open(&mut Sessions::new(), &mut sealed, b"", b"").unwrap(), b"secret");
    for wrong in ["", "correct horse", "correct horse \u{2602} ", "Correct horse \u{2602}"] {
        let unlocked = unlock_text(key_text, wrong.as_bytes(), Kdf::Stored);
        assert_eq!(unlocked.unwrap_err(), KeyError::Kdf(KdfError::Passphrase), "{wrong:?}");
    }
}

#[test]
fn weakened_costs_do_not_open_a_key_that_was_made_with_real_ones() {
    let vectors = vectors();
    let key_text = text(&vectors, "/keyfile_text").as_bytes();
    let unlocked = unlock_text(key_text, &bytes(&vectors, PASSPHRASE), Kdf::Weakened);
    assert_eq!(unlocked.unwrap_err(), KeyError::Kdf(KdfError::Passphrase));
}

#[test]
fn a_key_of_another_repository_is_refused_after_unlocking() {
    let vectors = vectors();
    let key_text = text(&vectors, "/keyfile_text").replace("BORG_KEY 00", "BORG_KEY ff");
    let other = repository_of(key_text.as_bytes()).unwrap();
    let locked = LockedKey::parse(key_text.as_bytes()).unwrap();
    let unlocked = locked.unlock(&bytes(&vectors, PASSPHRASE), Kdf::Stored, suite(), other);
    assert_eq!(unlocked.unwrap_err(), KeyError::OtherRepository { found: repository_id() });
}

#[test]
fn absurd_costs_are_refused_before_anything_is_computed() {
    let began = Instant::now();
    for (key, value) in [
        ("argon2_memory_cost", 0),
        ("argon2_memory_cost", 31),
        ("argon2_memory_cost", 1024 * 1024 + 1),
        ("argon2_memory_cost", 0xffff_ffff),
        ("argon2_parallelism", 0),
        ("argon2_parallelism", 17),
        ("argon2_parallelism", 0xffff_ffff),
        ("argon2_time_cost", 0),
        ("argon2_time_cost", 17),
        ("argon2_time_cost", 0xffff_ffff),
    ] {
        let text = key_text(&outer(&[(key, Some(int(value)))]));
        let unlocked = unlock_text(&text, b"", Kdf::Stored);
        assert!(matches!(unlocked, Err(KeyError::Kdf(KdfError::Costs { .. }))), "{key} {value}: {unlocked:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[test]
fn keys_with_missing_or_impossible_entries_are_refused() {
    let keys = ["algorithm", "argon2_memory_cost", "argon2_parallelism", "argon2_time_cost", "argon2_type"];
    for key in keys.into_iter().chain(["data", "salt", "version"]) {
        let error = LockedKey::parse(&key_text(&outer(&[(key, None)]))).unwrap_err();
        assert_eq!(error, KeyError::Attribute { key });
        let error = LockedKey::parse(&key_text(&outer(&[(key, Some(vec![0xc0]))]))).unwrap_err();
        assert!(matches!(error, KeyError::Msgpack(_)), "{key}: {error:?}");
    }
    assert_eq!(LockedKey::parse(&key_text(&outer(&[("label", None)]))).unwrap().label, None);
    let parse = |key, value| LockedKey::parse(&key_text(&outer(&[(key, Some(value))]))).unwrap_err();
    assert_eq!(parse("version", int(2)), KeyError::Attribute { key: "version" });
    assert_eq!(parse("argon2_type", str("x")), KeyError::Attribute { key: "argon2_type" });
    assert!(matches!(parse("algorithm", str("pbkdf2")), KeyError::Algorithm { .. }));
    assert!(matches!(parse("argon2_time_cost", int(-1)), KeyError::Msgpack(_)));
    // Lengths show when the key is used.
    for (key, value) in [("data", bin([0; 15])), ("salt", bin([0; 7]))] {
        let unlocked = unlock_text(&key_text(&outer(&[(key, Some(value))])), b"", Kdf::Weakened);
        assert_eq!(unlocked.unwrap_err(), KeyError::Kdf(KdfError::Malformed), "{key}");
    }
}

#[test]
fn damaged_texts_are_refused() {
    let vectors = vectors();
    let whole = text(&vectors, "/keyfile_text").as_bytes();
    for len in 0..whole.len() - 2 {
        assert!(LockedKey::parse(&whole[..len]).is_err(), "{len} bytes");
    }
    for at in 74..whole.len() - 1 {
        let mut damaged = whole.to_vec();
        damaged[at] = b'!';
        assert_eq!(LockedKey::parse(&damaged).unwrap_err(), KeyError::Base64);
    }
}

#[test]
fn the_first_candidate_that_opens_wins_and_broken_ones_are_passed_over() {
    let vectors = vectors();
    let source = |text: Vec<u8>| KeySource { location: KeyLocation::Repokey, name: store_hash(&text), text };
    let garbage = source(format!("BORG_KEY {}\n????\n", repository_id()).into_bytes());
    let costly = source(key_text(&outer(&[("argon2_time_cost", Some(int(1000)))])));
    let good = source(text(&vectors, "/keyfile_text").as_bytes().to_vec());
    let candidates = [garbage, costly, good];
    let passphrase = bytes(&vectors, PASSPHRASE);
    let unlocked = unlock(&candidates, &passphrase, Kdf::Stored, suite(), repository_id()).unwrap();
    assert_eq!(unlocked.candidate, 2);
    let refused = unlock(&candidates, b"wrong", Kdf::Stored, suite(), repository_id()).unwrap_err();
    assert!(refused.is_passphrase());
    assert!(matches!(refused, UnlockError::Refused(problems) if problems.len() == 3));
    let refused = unlock(&candidates[..2], &passphrase, Kdf::Stored, suite(), repository_id()).unwrap_err();
    assert!(!refused.is_passphrase());
    let refused = unlock(&[], &passphrase, Kdf::Stored, suite(), repository_id()).unwrap_err();
    assert_eq!(refused, UnlockError::NoKey);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
