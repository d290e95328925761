//! Where our program does on purpose something else than the real client, with the reason; everywhere else exit codes
//! and extracted files are the same as its.

/// What must have come out of an `extract`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// The archive as it was before the damage.
    All,
    /// These paths, intact; what else comes out is free.
    Paths(&'static [&'static str]),
    /// The first path, all zeros of this many bytes; the others intact.
    Zeros(&'static str, u64, &'static [&'static str]),
}

/// A deliberate difference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deviation {
    pub(crate) fixture: &'static str,
    /// The command, or its first words.
    pub(crate) command: &'static str,
    /// Any of these exit codes.
    pub(crate) codes: &'static [i32],
    pub(crate) content: Content,
    pub(crate) why: &'static str,
}

/// The deviation for a command; the longest matching one.
pub(crate) fn deviation(fixture: &str, command: &str) -> Option<&'static Deviation> {
    let matches = |d: &&Deviation| {
        d.fixture == fixture && (command == d.command || command.starts_with(&format!("{} ", d.command)))
    };
    DEVIATIONS.iter().filter(matches).max_by_key(|deviation| deviation.command.len())
}

/// Commands beside those that the real client's reactions are known of, each with its exit code.
pub(crate) const FURTHER: &[(&str, &str, i32)] = &[
    ("key-argon2-huge-beside-good", "list one", 0),
    ("key-argon2-huge-beside-good", "extract one", 0),
    ("key-argon2-huge-beside-good", "check --verify-data", 0),
    ("config-missing", "list one", 15),
    ("archive-meta-version3", "extract two", 0),
    ("archive-meta-badtime", "extract two", 0),
    ("archive-meta-itemptrs-map", "extract two", 0),
];

/// Any way to say no.
const REFUSED: &[i32] = &[1, 2, 4, 17, 90, 92];
/// A key of another repository.
const FOREIGN: &[i32] = &[41, 45, 52];
/// An item stream that can't be read to its end.
const STREAM: &[i32] = &[1, 2, 90, 102];
const ONE_UNUSABLE: &str = "the real client fails for every archive because of one";
const CRASH: &str = "the real client crashes";

const fn listed(fixture: &'static str, command: &'static str) -> Deviation {
    Deviation { fixture, command, codes: &[0, 1], content: Content::Paths(&[]), why: ONE_UNUSABLE }
}

const fn intact(fixture: &'static str, command: &'static str, why: &'static str) -> Deviation {
    Deviation { fixture, command, codes: &[0, 1], content: Content::All, why }
}

const fn refused(fixture: &'static str, command: &'static str, codes: &'static [i32], why: &'static str) -> Deviation {
    Deviation { fixture, command, codes, content: Content::Paths(&[]), why }
}

const fn zeros(fixture: &'static str, command: &'static str, path: &'static str, bytes: u64) -> Deviation {
    Deviation { fixture, command, codes: &[113], content: Content::Zeros(path, bytes, &["ok-after"]), why: CRASH }
}

const fn partly(
    fixture: &'static str,
    command: &'static str,
    codes: &'static [i32],
    paths: &'static [&'static str],
    why: &'static str,
) -> Deviation {
    Deviation { fixture, command, codes, content: Content::Paths(paths), why }
}

const BOTH: &[&str] = &["ok-before", "ok-after"];
const BEFORE: &[&str] = &["ok-before"];
const LISTING: &str = "a name with .. is only refused where it would be written";

const DEVIATIONS: &[Deviation] = &[
    listed("archive-meta-badtime", "repo-list"),
    intact("archive-meta-badtime", "list one", ONE_UNUSABLE),
    intact("archive-meta-badtime", "extract one", ONE_UNUSABLE),
    // Its items are intact: who reads them without a time loses nothing.
    refused("archive-meta-badtime", "list badtime", &[0, 1, 2, 4, 90], ONE_UNUSABLE),
    refused("archive-meta-badtime", "extract badtime", &[0, 1, 2, 4, 90], ONE_UNUSABLE),
    refused("archive-meta-badtime", "check", &[1], CRASH),
    listed("archive-meta-itemptrs-map", "repo-list"),
    intact("archive-meta-itemptrs-map", "list one", ONE_UNUSABLE),
    intact("archive-meta-itemptrs-map", "extract one", ONE_UNUSABLE),
    refused("archive-meta-itemptrs-map", "list nolist", REFUSED, CRASH),
    refused("archive-meta-itemptrs-map", "extract nolist", REFUSED, CRASH),
    refused("archive-meta-itemptrs-map", "check", &[1], CRASH),
    listed("archive-meta-list", "repo-list"),
    intact("archive-meta-list", "list", ONE_UNUSABLE),
    intact("archive-meta-list", "extract", ONE_UNUSABLE),
    refused("archive-meta-list", "check", &[1], CRASH),
    listed("archive-meta-noname", "repo-list"),
    intact("archive-meta-noname", "list", ONE_UNUSABLE),
    intact("archive-meta-noname", "extract", ONE_UNUSABLE),
    refused("archive-meta-noname", "check", &[1], CRASH),
    listed("archive-meta-version3", "repo-list"),
    intact("archive-meta-version3", "list one", ONE_UNUSABLE),
    intact("archive-meta-version3", "extract one", ONE_UNUSABLE),
    refused("archive-meta-version3", "list future", REFUSED, CRASH),
    refused("archive-meta-version3", "extract future", REFUSED, CRASH),
    refused("archive-meta-version3", "check", &[1], CRASH),
    listed("archive-pointer-not-hex", "repo-list"),
    intact("archive-pointer-not-hex", "list", ONE_UNUSABLE),
    intact("archive-pointer-not-hex", "extract", ONE_UNUSABLE),
    refused("archive-pointer-not-hex", "check", &[1], CRASH),
    refused("bomb-item-stream", "list bomb", STREAM, CRASH),
    refused("bomb-item-stream", "extract bomb", STREAM, CRASH),
    refused("bomb-item-stream", "check", &[1], CRASH),
    zeros("bomb-without-size", "extract bomb-zstd", "bomb", 1024),
    zeros("bomb-without-size", "extract bomb-zlib", "bomb", 1024),
    zeros("bomb-without-size", "extract bomb-lzma", "bomb", 1024),
    zeros("bomb", "extract bomb-zstd", "bomb", 1024),
    zeros("bomb", "extract bomb-zstd-nosize", "bomb", 1024),
    zeros("bomb", "extract bomb-zlib", "bomb", 1024),
    zeros("bomb", "extract bomb-lzma", "bomb", 1024),
    refused("bomb", "check", &[1], CRASH),
    refused("index-lies-used", "repo-list", &[94], CRASH),
    refused("index-lies-used", "list", &[94], CRASH),
    refused("index-lies-used", "extract", &[94], CRASH),
    refused("index-lies-used", "check", &[94], CRASH),
    refused("item-chunk-missing", "list one", &[1, 17, 90, 113], "the real client is silent"),
    refused("item-chunk-missing", "extract one", &[1, 17, 90, 113], "the real client is silent"),
    refused("item-stream-odd", "list garbage", STREAM, CRASH),
    refused("item-stream-odd", "list cut", STREAM, "the real client is silent"),
    refused("item-stream-odd", "list notmap", STREAM, CRASH),
    refused("item-stream-odd", "list hugelen", STREAM, CRASH),
    refused("item-stream-odd", "list deep", STREAM, CRASH),
    refused("item-stream-odd", "list nopath", STREAM, CRASH),
    refused("item-stream-odd", "list nomode", &[0, 1, 2, 90, 102], "the real client crashes; the item can be listed"),
    refused("item-stream-odd", "list chunksmap", STREAM, CRASH),
    refused("item-stream-odd", "list badid", &[0, 1, 2, 90, 102], "the real client lists it; the item is unusable"),
    refused("item-stream-odd", "extract garbage", STREAM, CRASH),
    partly("item-stream-odd", "extract cut", STREAM, BEFORE, "the real client is silent"),
    partly("item-stream-odd", "extract notmap", STREAM, BOTH, CRASH),
    partly("item-stream-odd", "extract hugelen", STREAM, BEFORE, CRASH),
    partly("item-stream-odd", "extract deep", STREAM, BEFORE, CRASH),
    partly("item-stream-odd", "extract nopath", STREAM, BOTH, CRASH),
    partly("item-stream-odd", "extract nomode", STREAM, BOTH, CRASH),
    partly("item-stream-odd", "extract badid", &[1, 2, 90, 102, 113], BOTH, CRASH),
    partly("item-stream-odd", "extract chunksmap", &[1, 2, 90, 102, 113], BOTH, CRASH),
    refused("item-stream-odd", "check", &[1], CRASH),
    // Each item says what it holds; a hard-link id that says otherwise lies.
    partly("hardlink-escape", "extract hl", &[0, 102], BOTH, "the real client turns a file into a link to elsewhere"),
    partly(
        "hardlink-escape",
        "extract hl2",
        &[0, 102],
        &["ok-after"],
        "the real client takes the first file's content",
    ),
    refused("key-argon2-time-huge", "repo-list", &[52], "the real client would take centuries"),
    refused("key-foreign-relabelled", "repo-list", FOREIGN, "the real client takes the key and blames the index"),
    refused("key-foreign-relabelled", "extract", FOREIGN, "the real client takes the key and blames the index"),
    refused("key-foreign-relabelled", "check", FOREIGN, "the real client takes the key and blames the index"),
    zeros("meta-odd", "extract csize", "f", 100),
    zeros("meta-odd", "extract noctype", "f", 100),
    zeros("meta-odd", "extract ctype7", "f", 100),
    zeros("meta-odd", "extract ctype4", "f", 100),
    zeros("meta-odd", "extract list", "f", 100),
    zeros("meta-odd", "extract notmsgpack", "f", 100),
    refused("meta-odd", "check", &[1], CRASH),
    partly("path-escape", "list", &[0, 109], &[], LISTING),
    partly("path-escape", "extract dotdot", &[109], BOTH, CRASH),
    partly("path-escape", "extract inner", &[109], BOTH, CRASH),
    partly("path-escape", "extract trailing", &[109], BOTH, CRASH),
    partly("path-escape", "extract dots", &[109], BOTH, CRASH),
    // On Unix a backslash is a letter like any other.
    partly("path-escape", "extract backslash", &[0, 109], BOTH, CRASH),
    refused("path-escape", "check", &[0, 1], "paths that can't be extracted may be found"),
    // A path longer than the system's limit for one call can be walked part by part.
    partly("path-odd", "extract long", &[0, 104], BOTH, "the real client hands the whole path to the system"),
    partly("path-odd", "extract nul", &[1, 102, 104, 105, 107, 109], BOTH, CRASH),
    zeros("psize-bad", "extract larger", "f", 190),
    refused("psize-bad", "check", &[1], CRASH),
    zeros("size-lies", "extract up", "f", 20_000_000),
    zeros("size-lies", "extract absurd-lz4", "f", 100),
    zeros("size-lies", "extract absurd-zstd", "f", 100),
    zeros("size-lies", "extract negative", "f", 100),
    zeros("size-lies", "extract item", "f", 10),
    refused("size-lies", "check", &[1], CRASH),
];
