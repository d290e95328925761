//! Chunkers against the vectors (data layer, sections 2 and 3).

mod common;

use common::build::authenticated_keys;
use common::shake::{recipe, shake256};
use common::{array, data_vectors, text};
use portaborg_core::archive::ChunkerParam;
use portaborg_core::chunk::{Chunker, ChunkerParams, ChunkerParamsError, InjectedFault};
use portaborg_core::crypto::{IdHash, Keys, Suite};
use portaborg_core::defaults::BUILTIN_CHUNKER_PARAMS;
use proptest::prelude::*;
use serde_json::Value;

const ZERO_KEY: [u8; 32] = [0; 32];

/// All algorithms whose cuts depend on the content, with small chunks.
const CONTENT_DEFINED: [&str; 6] = [
    "fastcdc,6,10,8,1",
    "rabin-aes,6,10,8,1",
    "goldilocks-aes,6,10,8,1",
    "toeplitz-aes,6,10,8,1",
    "buzhash,6,10,8,31",
    "buzhash64,6,10,8,100,1",
];

fn params(text: &str) -> ChunkerParams {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The stored form of a vector's parameters.
fn tuple(value: &Value) -> Vec<ChunkerParam> {
    let param = |value: &Value| match value {
        Value::String(text) => ChunkerParam::Text(text.clone()),
        number => ChunkerParam::Int(number.as_i64().unwrap()),
    };
    value.as_array().unwrap().iter().map(param).collect()
}

/// Lengths of all chunks, where each cut sees `beyond` bytes more than it wants.
fn lengths(chunker: &mut Chunker, data: &[u8], beyond: usize) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let seen = (data.len() - at).min(chunker.max_size() + beyond);
        let len = chunker.cut(at as u64, &data[at..at + seen]).unwrap();
        assert!((1..=seen.min(chunker.max_size())).contains(&len));
        lengths.push(len);
        at += len;
    }
    lengths
}

fn expect(vector: &Value, chunker_key: &[u8; 32], chunk_seed: i32) {
    let params = ChunkerParams::try_from(&tuple(&vector["params"])[..]).unwrap();
    let data = recipe(&vector["data"]);
    let mut chunker = Chunker::with_key(&params, chunker_key, chunk_seed);
    let found = lengths(&mut chunker, &data, 0);
    assert_eq!(Value::from(found.clone()), vector["lengths"], "{params} seed {chunk_seed}");
    assert_eq!(lengths(&mut chunker, &data, 1000), found, "{params}");
}

#[test]
fn keyed_chunkers_cut_as_the_vectors_do() {
    let vectors = data_vectors();
    for algorithm in ["fastcdc", "buzhash64", "phte"] {
        for vector in vectors[algorithm].as_array().unwrap() {
            expect(vector, &array(vector, "/key"), 0);
        }
    }
}

#[test]
fn buzhash_cuts_as_the_vectors_do() {
    for vector in data_vectors()["buzhash"].as_array().unwrap() {
        expect(vector, &ZERO_KEY, vector["seed_i32"].as_i64().unwrap() as i32);
    }
}

#[test]
fn fixed_cuts_as_the_vectors_do() {
    for vector in data_vectors()["fixed"].as_array().unwrap() {
        let size = |field: &str| vector[field].as_u64().unwrap() as usize;
        let params = params(&format!("fixed,{},{}", size("block"), size("header")));
        let mut chunker = Chunker::with_key(&params, &ZERO_KEY, 0);
        let found = lengths(&mut chunker, &vec![1; size("len")], 7);
        assert_eq!(Value::from(found), vector["lengths"], "{vector}");
    }
}

#[test]
fn a_repositorys_chunkers_have_keys_of_their_own() {
    let vectors = data_vectors();
    let vector = &vectors["chunker_keys"];
    let suite = Suite::from_names("authenticated-sha256", IdHash::Sha256.name()).unwrap();
    let keys = Keys::new(suite, [1; 64], array(vector, "/id_key"), -1_234_567);
    let data = shake256("keys", 50_000);
    for text in CONTENT_DEFINED {
        let params = params(text);
        // buzhash has no key.
        let pointer = format!("/keys/{}", params.algorithm());
        let chunker_key = vector.pointer(&pointer).map_or(ZERO_KEY, |_| array(vector, &pointer));
        let expected = lengths(&mut Chunker::with_key(&params, &chunker_key, -1_234_567), &data, 0);
        assert_eq!(lengths(&mut Chunker::new(&params, &keys), &data, 0), expected, "{text}");
        assert_ne!(lengths(&mut Chunker::with_key(&params, &[9; 32], 9), &data, 0), expected, "{text}");
    }
}

#[test]
fn smallest_windows_are_those_of_the_real_client() {
    let data: Vec<u8> = (0..8).flat_map(|_| 0..=u8::MAX).collect();
    for (text, expected) in [
        ("buzhash64,6,10,8,0,0", vec![64; 32]), // a hash of nothing is zero
        ("buzhash64,6,10,8,1,0", vec![1024; 2]),
        ("buzhash,6,10,8,1", vec![1024; 2]),
        ("buzhash,6,12,8,4031", vec![2048]),
    ] {
        assert_eq!(lengths(&mut Chunker::with_key(&params(text), &ZERO_KEY, 0), &data, 0), expected, "{text}");
    }
}

#[test]
fn fail_fails_where_its_map_says_so() {
    let mut chunker = Chunker::new(&params("fail,4,rEe"), &authenticated_keys());
    assert_eq!(chunker.max_size(), 4);
    assert_eq!(chunker.cut(0, b"1234567"), Ok(4));
    assert_eq!(chunker.cut(4, b"567"), Err(InjectedFault));
    // The blocks of all files count, and the last letter is for all that follow.
    assert_eq!(chunker.cut(0, b"1"), Err(InjectedFault));
    assert_eq!(chunker.cut(0, b"1"), Err(InjectedFault));
    let mut chunker = Chunker::new(&params("fail,4,er"), &authenticated_keys());
    assert_eq!(chunker.cut(0, b"123"), Err(InjectedFault));
    assert_eq!(chunker.cut(0, b"123"), Ok(3));
    assert_eq!(chunker.cut(0, b"1234"), Ok(4));
}

#[test]
fn parameter_texts_are_those_of_the_vectors() {
    for vector in data_vectors()["chunker_params_text"].as_array().unwrap() {
        let typed = text(vector, "/text");
        let parsed = typed.parse::<ChunkerParams>();
        // The marker is not for chunkers.
        if vector["tuple"].is_null() || typed == "default" {
            assert!(parsed.is_err(), "{vector}");
            continue;
        }
        let parsed = parsed.unwrap_or_else(|error| panic!("{vector}: {error}"));
        let stored = tuple(&vector["tuple"]);
        assert_eq!(Vec::from(&parsed), stored);
        assert_eq!(ChunkerParams::try_from(&stored[..]).as_ref(), Ok(&parsed));
        assert_eq!(parsed.to_string().parse().as_ref(), Ok(&parsed));
    }
}

#[test]
fn texts_are_read_as_python_reads_them_and_shown_in_one_form() {
    for (typed, shown) in [
        (" Fastcdc, 1_0 ,+16,13,2\n", "fastcdc,10,16,13,2"),
        ("19, 23 ,21,4095", "buzhash,19,23,21,4095"),
        ("FIXED,64", "fixed,64,0"),
        ("fixed,100,20971479", "fixed,100,20971479"),
        ("FAIL,8,rE", "fail,8,rE"),
        ("buzhash,6,12,8,4031", "buzhash,6,12,8,4031"),
        ("buzhash64,6,10,8,0,0", "buzhash64,6,10,8,0,0"),
    ] {
        assert_eq!(params(typed).to_string(), shown);
    }
    assert_eq!(ChunkerParams::CONTENT.to_string(), BUILTIN_CHUNKER_PARAMS);
    assert_eq!(ChunkerParams::ITEMS.to_string(), "fastcdc,15,19,17,2");
}

#[test]
fn hostile_texts_are_refused_with_the_reason() {
    let huge = "9".repeat(100_000);
    let max_first = format!("fastcdc,6,{huge},8,1");
    let many = format!("fastcdc{}", ",9".repeat(100_000));
    let long_map = format!("fail,64,{}x", "R".repeat(100_000));
    let fixed = format!("fixed,{huge}");
    let window = format!("buzhash64,6,23,8,{huge},1");
    for (typed, reason) in [
        ("", "invalid chunker params"),
        (",", "invalid chunker params"),
        (",,,", "invalid chunker params"),
        ("fastcdc", "fastcdc chunker params must be: fastcdc,chunk_min,chunk_max,chunk_mask,nc_level"),
        (&many, "fastcdc chunker params must be: fastcdc,chunk_min,chunk_max,chunk_mask,nc_level"),
        (
            "buzhash64,10,16,13,63",
            "buzhash64 chunker params must be: buzhash64,chunk_min,chunk_max,chunk_mask,window_size,nc_level",
        ),
        (
            "rabin-aes,10,16,13,1,1",
            "rabin-aes chunker params must be: rabin-aes,chunk_min,chunk_max,chunk_mask,nc_level",
        ),
        ("fastcdc,10,16,13,x", "invalid chunker params"),
        ("fastcdc,10,16,13,", "invalid chunker params"),
        ("fastcdc,10,16,13,1__0", "invalid chunker params"),
        ("fastcdc,10,16,13,+-1", "invalid chunker params"),
        ("fastcdc,10,16,13,0x1", "invalid chunker params"),
        ("fastcdc,10,16,13,\u{662}", "invalid chunker params"),
        ("fastcdc,10,12,13,1", "required: chunk_min <= chunk_mask <= chunk_max"),
        (&max_first, "max. chunk size exponent must not be more than 23 (2^23 = 8MiB max. chunk size)"),
        ("fastcdc,-9,16,13,1", "min. chunk size exponent must not be less than 6 (2^6 = 64B min. chunk size)"),
        ("fastcdc,262,264,263,1", "max. chunk size exponent must not be more than 23 (2^23 = 8MiB max. chunk size)"),
        ("toeplitz-aes,8,8,8,0", "required: chunk_min < chunk_max"),
        (
            "goldilocks-aes,8,10,9,-1",
            "required: 0 <= nc_level and 1 <= chunk_mask - nc_level and chunk_mask + nc_level <= 48",
        ),
        ("fastcdc,8,10,9,9", "required: 0 <= nc_level and 1 <= chunk_mask - nc_level and chunk_mask + nc_level <= 48"),
        ("buzhash,10,16,13,4094", "window_size must be an uneven (odd) number"),
        ("buzhash,6,12,8,4033", "required: window_size + 2^chunk_min + 1 <= 2^chunk_max"),
        ("buzhash,6,6,6,1", "required: window_size + 2^chunk_min + 1 <= 2^chunk_max"),
        (&window, "required: window_size + 2^chunk_min + 1 <= 2^chunk_max"),
        ("buzhash,6,12,8,-1", "window_size is too small"),
        ("buzhash64,6,12,8,-1,0", "window_size is too small"),
        ("6,12,8", "invalid chunker params"),
        ("6,12,8,+31", "invalid chunker params"),
        ("fixed", "invalid chunker params"),
        ("fixed,64,0,0", "invalid chunker params"),
        ("fixed,-64", "block_size must not be less than 64 Bytes"),
        ("fixed,64,-5", "header_size is too small"),
        ("fixed,64,20971480", "block_size and header_size must not exceed MAX_DATA_SIZE [20971479]"),
        (&fixed, "block_size and header_size must not exceed MAX_DATA_SIZE [20971479]"),
        ("fail,0,R", "block_size is too small"),
        ("fail,-1,R", "block_size is too small"),
        ("fail,64,", "unsupported map character"),
        (&long_map, "unsupported map character"),
        ("fail,64", "invalid chunker params"),
        ("default,1", "invalid chunker params"),
    ] {
        let error = typed.parse::<ChunkerParams>().expect_err(&typed[..typed.len().min(40)]);
        assert_eq!(error.to_string(), reason, "{}", &typed[..typed.len().min(40)]);
    }
}

#[test]
fn stored_tuples_are_checked_and_old_ones_are_known() {
    let text = |text: &str| ChunkerParam::Text(text.into());
    let old = [19, 23, 21, 4095].map(ChunkerParam::Int);
    assert_eq!(ChunkerParams::try_from(&old[..]), Ok(params("buzhash,19,23,21,4095")));
    for tuple in [
        vec![],
        vec![text("fastcdc,19,23,21,2")],
        vec![text("fastcdc"), text("19"), text("23"), text("21"), text("2")],
        vec![text("fail"), text("4"), text("R")],
        vec![text("FIXED"), ChunkerParam::Int(64), ChunkerParam::Int(0)],
        old[..3].to_vec(),
        [&old[..], &[ChunkerParam::Int(1)]].concat(),
    ] {
        assert_eq!(ChunkerParams::try_from(&tuple[..]), Err(ChunkerParamsError::Invalid), "{tuple:?}");
    }
    let extreme = [text("fixed"), ChunkerParam::Int(i64::MAX), ChunkerParam::Int(i64::MIN)];
    assert_eq!(ChunkerParams::try_from(&extreme[..]), Err(ChunkerParamsError::BlockTooLarge));
}

/// Content with repetitions, so that chunks come to their longest and all kinds of cuts occur.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let segment = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..1500),
        (any::<u8>(), 0..2500usize).prop_map(|(byte, len)| vec![byte; len]),
    ];
    prop::collection::vec(segment, 0..6).prop_map(|segments| segments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cuts_do_not_depend_on_how_far_the_input_is_seen(data in content(), beyond in 0..5000usize, seed in any::<i32>()) {
        for text in CONTENT_DEFINED.iter().chain(&["fixed,64,100"]) {
            let mut chunker = Chunker::with_key(&params(text), &[seed as u8; 32], seed);
            let found = lengths(&mut chunker, &data, 0);
            prop_assert_eq!(lengths(&mut chunker, &data, beyond), found, "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in r"(fastcdc|buzhash(64)?|rabin-aes|fixed|fail|[ -~]{0,3})(,[-+_ 0-9rE]{0,4}){0,7}") {
        if let Ok(params) = text.parse::<ChunkerParams>() {
            prop_assert_eq!(params.to_string().parse(), Ok(params.clone()));
            let mut chunker = Chunker::with_key(&params, &ZERO_KEY, 0);
            let len = chunker.cut(0, &[0; 100]);
            prop_assert!(len.is_ok_and(|len| (1..=100).contains(&len)) || params.algorithm() == "fail");
        }
    }
}
