//! Hashes, ids and envelopes against the vectors (repository layer, sections 3.8 and 4; data layer, section 5).

mod common;

use common::build::sealer;
use common::shake::{recipe, shake256};
use common::{array, bytes, data_vectors, repository_vectors, suites, text, unhex};
use portaborg_core::crypto::{EnvelopeError, Keys, Mode, Sessions, Suite, Ticket, store_hash};
use portaborg_core::store_object::{Place, seal_one_shot};

const HELLO_ID: [u8; 32] = [0xff; 32];

/// An envelope, and the payload, context and id that it has.
type Vector = (Vec<u8>, &'static [u8], &'static [u8], &'static [u8]);

/// Each suite's envelopes.
fn envelopes(values: &serde_json::Value) -> Vec<Vector> {
    let fields = [
        ("/envelope_iv5_payload_hello_aad_AAD_id_ff32", &b"hello"[..], &b"AAD"[..], &HELLO_ID[..]),
        ("/envelope_payload_hello_aad_AAD_id_ff32", b"hello", b"AAD", &HELLO_ID),
        ("/envelope_iv0_empty_payload_empty_aad", b"", b"", b""),
    ];
    let there = fields.into_iter().filter(|(field, ..)| values.pointer(field).is_some());
    there.map(|(field, payload, context, id)| (bytes(values, field), payload, context, id)).collect()
}

#[test]
fn the_input_recipe_is_shake_256() {
    // The first example of FIPS 202's SHAKE-256.
    let empty = "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f";
    assert_eq!(shake256("", 32), unhex(empty));
}

#[test]
fn store_hashes_are_those_of_the_vectors() {
    let vectors = repository_vectors();
    for (input, hash) in vectors["store_hash"].as_object().unwrap() {
        assert_eq!(store_hash(input.as_bytes()).to_string(), hash.as_str().unwrap(), "{input:?}");
    }
}

#[test]
fn ids_are_those_of_the_vectors() {
    let vectors = data_vectors();
    let id_key = array(&vectors, "/id_hash/id_key");
    for case in vectors["id_hash"]["cases"].as_array().unwrap() {
        let data = recipe(&case["data"]);
        for name in ["sha256", "blake3"] {
            let suite = Suite::from_names(&format!("authenticated-{name}"), name).unwrap();
            let keys = Keys::new(suite, [0; 64], id_key, 0);
            assert_eq!(keys.chunk_id(&data).to_string(), text(case, &format!("/{name}")), "{}", case["data"]);
        }
        assert_eq!(store_hash(&data).to_string(), text(case, "/store_hash_unkeyed_blake3"));
    }
}

#[test]
fn suites_have_the_names_bytes_and_ids_of_the_vectors() {
    let sentence = b"The quick brown fox jumps over the lazy dog\n";
    for vectors in suites() {
        let values = &vectors.values;
        assert_eq!(u64::from(vectors.suite.type_byte()), values["type_byte"].as_u64().unwrap());
        assert_eq!(vectors.suite.encryption_name(), text(values, "/encryption"));
        assert_eq!(vectors.suite.id_hash.name(), text(values, "/id_hash"));
        assert_eq!(vectors.keys.chunk_id(b"").to_string(), text(values, "/id_hash_of_empty"));
        assert_eq!(vectors.keys.chunk_id(sentence).to_string(), text(values, "/id_hash_of_content"));
    }
    for (encryption, id_hash) in
        [("aes256-ocb", "md5"), ("authenticated-sha256", "blake3"), ("none", "sha256"), ("", "")]
    {
        assert_eq!(Suite::from_names(encryption, id_hash), None);
    }
}

#[test]
fn envelopes_of_the_vectors_open() {
    for mut vectors in suites() {
        let envelopes = envelopes(&vectors.values);
        assert_eq!(envelopes.len(), if matches!(vectors.suite.mode, Mode::Encrypted(_)) { 2 } else { 1 });
        for (mut envelope, payload, context, id) in envelopes {
            assert_eq!(envelope.len(), payload.len() + vectors.suite.overhead());
            let opened = vectors.keys.open(&mut vectors.sessions, &mut envelope, context, id);
            assert_eq!(opened.unwrap(), payload, "{}", vectors.name);
        }
    }
}

#[test]
fn sealing_gives_the_envelopes_of_the_vectors() {
    for vectors in suites() {
        let session = vectors.values.get("session_id").map_or([0; 24], |_| array(&vectors.values, "/session_id"));
        for (envelope, payload, context, id) in envelopes(&vectors.values) {
            let number = match vectors.suite.mode {
                Mode::Encrypted(_) => envelope[7],
                Mode::Authenticated => 0,
            };
            let ticket = match number {
                0 => Ticket::one_shot(session),
                number => {
                    let mut sealer = sealer(&vectors.keys, session);
                    for _ in 1..number {
                        sealer.ticket(6, 0);
                    }
                    sealer.ticket(payload.len(), context.len() + id.len())
                }
            };
            let mut sealed = Vec::new();
            vectors.keys.seal_into(&mut Sessions::new(), ticket, payload, context, id, &mut sealed);
            assert_eq!(sealed, envelope, "{}", vectors.name);
        }
    }
}

#[test]
fn locks_are_sealed_as_the_vectors_have_them() {
    for vectors in suites() {
        let session = vectors.values.get("session_id").map_or([0; 24], |_| array(&vectors.values, "/session_id"));
        let place = Place::Hashed(portaborg_core::name::Namespace::Locks);
        let plain = text(&vectors.values, "/lock/plain").as_bytes();
        let sealed = seal_one_shot(&vectors.keys, session, common::repository_id(), place, plain);
        assert_eq!(sealed, bytes(&vectors.values, "/lock/envelope"), "{}", vectors.name);
        assert_eq!(store_hash(&sealed).to_string(), text(&vectors.values, "/lock/name"));
    }
}

#[test]
fn an_envelope_with_any_bit_changed_is_refused() {
    for mut vectors in suites() {
        for (envelope, _, context, id) in envelopes(&vectors.values) {
            for at in 0..envelope.len() {
                for bit in 0..8 {
                    let mut forged = envelope.clone();
                    forged[at] ^= 1 << bit;
                    let error = vectors.keys.open(&mut vectors.sessions, &mut forged, context, id).unwrap_err();
                    let is_type = matches!(error, EnvelopeError::Type { .. });
                    assert_eq!(is_type, at == 0, "{} byte {at}", vectors.name);
                }
            }
            for len in 0..envelope.len() {
                let mut cut = envelope[..len].to_vec();
                let error = vectors.keys.open(&mut vectors.sessions, &mut cut, context, id).unwrap_err();
                let is_short = matches!(error, EnvelopeError::TooShort { .. });
                assert_eq!(is_short, len < vectors.suite.overhead());
            }
            let mut longer = [&envelope[..], b"x"].concat();
            assert_eq!(vectors.keys.open(&mut vectors.sessions, &mut longer, context, id), Err(EnvelopeError::Tag));
        }
    }
}

#[test]
fn an_envelope_is_bound_to_its_context_and_id() {
    for mut vectors in suites() {
        let (mut envelope, _, context, id) = envelopes(&vectors.values).swap_remove(0);
        let other_id = [&id[..31], b"x"].concat();
        let longer = [context, &id[..1]].concat();
        let (moved, shorter) = ([&id[..31], b"\xff\xff"].concat(), &id[1..]);
        for (context, id) in [(&b"AAE"[..], id), (b"", id), (context, &other_id[..]), (context, &[]), (context, &moved)]
        {
            let mut copy = envelope.clone();
            let opened = vectors.keys.open(&mut vectors.sessions, &mut copy, context, id);
            assert_eq!(opened, Err(EnvelopeError::Tag), "{}", vectors.name);
        }
        // The parts are authenticated as one: where one ends and the next begins is fixed by their lengths.
        let opened = vectors.keys.open(&mut vectors.sessions, &mut envelope, &longer, shorter);
        assert!(opened.is_ok());
    }
}

#[test]
fn another_suites_envelope_is_refused_by_its_type() {
    let all = suites();
    for mine in &all {
        for other in all.iter().filter(|other| other.suite != mine.suite) {
            let (mut envelope, _, context, id) = envelopes(&other.values).swap_remove(0);
            envelope.resize(100, 0);
            let opened = mine.keys.open(&mut Sessions::new(), &mut envelope, context, id);
            let (expected, found) = (mine.suite.type_byte(), other.suite.type_byte());
            assert_eq!(opened, Err(EnvelopeError::Type { expected, found }));
        }
    }
}

#[test]
fn more_sessions_than_are_kept_ready_all_open() {
    let vectors = suites().swap_remove(0);
    let seal = |session: u8| sealer(&vectors.keys, [session; 24]).seal(&[session], b"c", b"i");
    let mut sealed: Vec<_> = (0..40).map(seal).collect();
    let mut sessions = Sessions::new();
    for (number, mut envelope) in sealed.clone().into_iter().chain(sealed.drain(..)).enumerate() {
        let opened = vectors.keys.open(&mut sessions, &mut envelope, b"c", b"i");
        assert_eq!(opened.unwrap(), [(number % 40) as u8]);
    }
}

#[test]
fn a_lost_key_reads_authenticated_repositories_without_verifying() {
    for vectors in suites() {
        let lost = Keys::lost(vectors.suite);
        assert_eq!(lost.is_some(), vectors.suite.mode == Mode::Authenticated);
        let Some(lost) = lost else { continue };
        assert!(!lost.verifies() && vectors.keys.verifies());
        let (mut envelope, payload, ..) = envelopes(&vectors.values).swap_remove(0);
        assert_eq!(lost.open(&mut Sessions::new(), &mut envelope, b"", b"").unwrap(), payload);
    }
}

#[test]
fn keys_print_no_secret() {
    let printed = format!("{:?}", suites()[0].keys);
    assert!(printed.starts_with("Keys { suite: Suite"), "{printed}");
    assert!(!printed.contains("key:"), "{printed}");
}
