//! Key texts against the vectors (repository layer, section 3).

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::build::sealer;
use common::msgpack::{bin, int, map, str};
use common::{array, bytes, repository_id, repository_vectors, text};
use portaborg_core::crypto::{
    Argon2Algorithm, Argon2Params, Kdf, KdfError, Keys, NEW_KEYS, SECRET_BYTES, Sessions, Suite, store_hash,
    unwrap_secret, wrap_secret,
};
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{
    KeyError, KeyLocation, KeySource, LockedKey, PaperError, PaperReader, blob, is_key, is_key_of,
    key_text as text_around, paper_text, repository_of,
};
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
    assert!(is_key(key_text) && is_key(b"BORG_KEY 00") && !is_key(b"borg_key 00"));
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

/// The secrets of the vectors.
fn keys() -> Keys {
    let vectors = vectors();
    let seed = vectors["chunk_seed"].as_i64().unwrap() as i32;
    Keys::new(suite(), array(&vectors, "/crypt_key"), array(&vectors, "/id_key"), seed)
}

#[test]
fn secrets_are_wrapped_as_in_the_vectors() {
    let vectors = vectors();
    let passphrase = bytes(&vectors, PASSPHRASE);
    let wrapped =
        wrap_secret(&passphrase, &bytes(&vectors, "/salt"), NEW_KEYS, &bytes(&vectors, "/inner_msgpack")).unwrap();
    let outer = bytes(&vectors, "/outer_msgpack");
    assert!(outer.windows(wrapped.len()).any(|window| window == wrapped));
    let locked =
        LockedKey::lock(&keys(), repository_id(), &passphrase, Some("admin"), array(&vectors, "/salt"), Kdf::Stored);
    assert_eq!(locked.unwrap().text(repository_id()), text(&vectors, "/keyfile_text"));
    assert_eq!(text_around(repository_id(), &outer), text(&vectors, "/keyfile_text"));
}

#[test]
fn keys_of_weakened_costs_tell_of_the_usual_ones() {
    let locked = LockedKey::lock(&keys(), repository_id(), b"", None, [7; 16], Kdf::Weakened).unwrap();
    assert_eq!(locked.label, None);
    let key_text = locked.text(repository_id());
    let spelled = blob(key_text.as_bytes()).unwrap();
    for cost in [&b"memory_cost\xce\x00\x01\x00\x00"[..], b"time_cost\x03", b"parallelism\x04"] {
        assert!(spelled.windows(cost.len()).any(|window| window == cost), "{cost:?}");
    }
    assert!(!spelled.windows(5).any(|window| window == b"label"));
    let opened = unlock_text(key_text.as_bytes(), b"", Kdf::Weakened).unwrap();
    assert_eq!(opened.id_key(), keys().id_key());
    let opened = unlock_text(key_text.as_bytes(), b"", Kdf::Stored);
    assert_eq!(opened.unwrap_err(), KeyError::Kdf(KdfError::Passphrase));
}

#[test]
fn lost_secrets_are_not_stored() {
    let lost = Keys::lost(Suite::from_names("authenticated-sha256", "sha256").unwrap()).unwrap();
    let locked = LockedKey::lock(&lost, repository_id(), b"", None, [7; 16], Kdf::Weakened);
    assert_eq!(locked.unwrap_err(), KeyError::Lost);
}

#[test]
fn new_secrets_are_parts_of_the_random_bytes() {
    let mut random = [0; SECRET_BYTES];
    for (at, byte) in random.iter_mut().enumerate() {
        *byte = at as u8;
    }
    random[96..].copy_from_slice(&(-559_038_737i32).to_be_bytes());
    let made = Keys::generate(suite(), &random);
    // The vectors' secrets count up, too.
    let given = keys();
    assert_eq!(made.id_key(), given.id_key());
    assert_eq!(made.chunk_seed(), -559_038_737);
    let mut sealed = sealer(&given, [1; 24]).seal(b"secret", b"", b"");
    assert_eq!(made.open(&mut Sessions::new(), &mut sealed, b"", b"").unwrap(), b"secret");
}

/// The lines of the vectors' paper key, without what is in front of each.
fn paper_lines(vectors: &Value) -> Vec<&str> {
    text(vectors, "/paper").lines().skip(3).map(|line| line.split_once(": ").unwrap().1).collect()
}

#[test]
fn a_paper_key_is_read_line_by_line() {
    let vectors = vectors();
    let lines = paper_lines(&vectors);
    let mut reader = PaperReader::new(&lines[0].to_uppercase().replace(' ', "\t")).unwrap();
    assert!(reader.is_of(repository_id()) && !reader.is_of(RepositoryId([0; 32])));
    for (number, line) in (1..).zip(&lines[1..]) {
        assert_eq!(reader.next_line(), Some(number));
        assert_eq!(reader.clone().finish(), Err(PaperError::Total));
        // Lines in another order, mistyped ones and half ones are refused, and can be given again.
        let other = lines[if number == 1 { 2 } else { 1 }];
        assert_eq!(reader.line(other), Err(PaperError::LineChecksum { number }));
        assert_eq!(reader.line(&line.replace('-', "")), Err(PaperError::Hyphens));
        assert_eq!(reader.line(&format!("{line}-")), Err(PaperError::Hyphens));
        assert_eq!(reader.line(&line[1..]), Err(PaperError::Digits));
        assert_eq!(reader.line(&format!("\u{e4}{}", &line[1..])), Err(PaperError::Digits));
        reader.line(line).unwrap();
    }
    assert_eq!(reader.next_line(), None);
    assert_eq!(reader.line("whatever"), Ok(()));
    let spelled = reader.finish().unwrap();
    assert_eq!(text_around(repository_id(), &spelled), text(&vectors, "/keyfile_text"));
}

#[test]
fn first_lines_of_paper_keys_are_checked() {
    let vectors = vectors();
    let first = paper_lines(&vectors)[0].to_owned();
    let refused = |line: &str| PaperReader::new(line).unwrap_err();
    assert_eq!(refused(&first.replace('-', "")), PaperError::Hyphens);
    assert_eq!(refused(&first.replacen('/', "", 1)), PaperError::Parts);
    assert_eq!(refused(&first.replacen('/', "//", 1)), PaperError::Parts);
    assert_eq!(refused(&first.replacen("21", "20", 1)), PaperError::IdChecksum);
    assert_eq!(refused(""), PaperError::Hyphens);
    // The checksums are right, as `sha256sum` says, but there is no such key.
    for (lines, checksum) in [("0", "7e"), ("3641", "b0"), ("99999999999999999999999", "43"), ("x", "6f")] {
        let line = format!("{lines}/000102030405060708/e385df61c8b6-{checksum}");
        assert_eq!(refused(&line), PaperError::Lines { lines: lines.into() });
    }
}

/// The lines are of Borg's own test of `key import --paper`.
#[test]
fn lines_whose_checksums_match_by_chance_show_in_the_total() {
    let mut reader = PaperReader::new("2 / e29442 3506da 4e1ea7 / 25f62a 5a3d41 - 02").unwrap();
    reader.line("616263 646566 676869 6a6b6c 6d6e6f 707172 - 6d").unwrap();
    let mut other = reader.clone();
    assert_eq!(other.line("73 74 75  -  89"), Err(PaperError::LineChecksum { number: 2 }));
    other.line("00a1 - 88").unwrap();
    assert_eq!(other.finish(), Err(PaperError::Total));
    reader.line("73 74 75  -  88").unwrap();
    assert_eq!(reader.finish().unwrap(), b"abcdefghijklmnopqrstu");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
