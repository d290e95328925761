//! Repositories that are made for one script each.

use std::fs;
use std::process::Command;

use portaborg_core::codec::PureRust;
use portaborg_core::id::{ChunkId, PackId};
use portaborg_core::index::Location;
use portaborg_core::object::Opener;
use portaborg_core::repo::{load_index, replace_fragments};
use portaborg_core::store::now;
use portaborg_tests::client::{Client, Pair, aid};
use portaborg_tests::fixture;
use portaborg_tests::peers;
use portaborg_tests::recording;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::writing::Opened;
use serde_json::{Value, json};

/// The package derives keys as they say, whatever is set for tests.
const REAL_KEYS: (&str, &str) = ("BORG_TESTONLY_WEAKEN_KDF", "0");

/// Scripts for repositories that are made for them.
pub const MADE: [(&str, Make); 3] =
    [("diff", made_to_compare), ("latency", made_to_wait_for), ("index", made_with_a_large_index)];

/// A repository, and what a script is told of it.
pub struct Made {
    /// What the script is called with.
    pub args: Vec<String>,
    /// Variables for it.
    pub environment: Vec<(&'static str, String)>,
}

/// Makes one, or says why it can't.
pub type Make = fn(&Scratch) -> Result<Made, &'static str>;

/// Archives of trees of which one became the other, and what the real client says of that.
fn made_to_compare(scratch: &Scratch) -> Result<Made, &'static str> {
    let pair = Pair::new(scratch, &scratch.path().join("repository")).ok_or(peers::MISSING)?;
    let client = &pair.env(REAL_KEYS.0, REAL_KEYS.1).peer;
    client.ok(&["repo-create", "-e", "aes256-ocb"]);
    let folder = scratch.folder("tree");
    let fill = |script: &str| {
        let status = Command::new("sh").args(["-ec", script]).current_dir(&folder).status();
        assert!(status.is_ok_and(|status| status.success()), "{script}");
    };
    fill(TREE_BEFORE);
    let before = client.create(&["--chunker-params", "fixed,4096"], scratch.path(), "tree");
    fill(TREE_AFTER);
    let after = client.create(&["--chunker-params", "fixed,4096"], scratch.path(), "tree");
    let cut_anew = client.create(&["--chunker-params", "fixed,8192"], scratch.path(), "tree");
    let compared = [(&before, &after), (&after, &before), (&after, &after), (&before, &cut_anew), (&after, &cut_anew)];
    let expected: Vec<Value> = compared
        .into_iter()
        .map(|(a, b)| {
            let out = client.ok(&["diff", "--json-lines", &aid(a), &aid(b)]).out();
            json!({ "a": a, "b": b, "lines": out.lines().collect::<Vec<_>>() })
        })
        .collect();
    let file = scratch.path().join("expected.json");
    fs::write(&file, Value::from(expected).to_string()).expect("a new folder can be written");
    let args = [client.repository(), &file].map(|path| path.display().to_string()).into();
    Ok(Made { args, environment: vec![("FIRST", json!([before, after]).to_string())] })
}

/// A repository of a thousand packs and a hundred archives, one of them with a hundred thousand items.
fn made_to_wait_for(scratch: &Scratch) -> Result<Made, &'static str> {
    const FOLDERS: usize = 100;
    const FILES: usize = 1000;
    let client = Client::ours(scratch, &scratch.path().join("repository"));
    let client = client.env("BORG_PACK_MAX_COUNT", "110").env(REAL_KEYS.0, REAL_KEYS.1);
    client.ok(&["repo-create", "-e", "aes256-ocb"]);
    let large = scratch.folder("large");
    for folder in 0..FOLDERS {
        let path = large.join(folder.to_string());
        fs::create_dir(&path).expect("a new folder can be written");
        for file in 0..FILES {
            let content = format!("content of large/{folder}/{file}\n");
            fs::write(path.join(file.to_string()), content).expect("a new folder can be written");
        }
    }
    let small = scratch.folder("small");
    let mut archive = String::new();
    for number in 0..99 {
        for file in 0..3 {
            fs::write(small.join(file.to_string()), format!("{number} {file}")).expect("a new folder can be written");
        }
        client.create(&[], scratch.path(), "small");
        if number == 50 {
            archive = client.create(&[], scratch.path(), "large");
        }
    }
    client.ok(&["listing"]);
    Ok(Made {
        args: vec![client.repository().display().to_string(), archive, "large/50/500".to_owned()],
        environment: Vec::new(),
    })
}

/// A repository whose chunk index has so many entries that a browser could run out of memory. The packs with them are not there.
fn made_with_a_large_index(scratch: &Scratch) -> Result<Made, &'static str> {
    /// The bound is that of five million entries in 600 MB, of which something is there for the module and one fragment.
    const MOST_BYTES_PER_CHUNK: u32 = 110;
    const CHUNKS_PER_PACK: u64 = 500;
    let chunks =
        std::env::var("PORTABORG_TESTS_CHUNKS").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000_000);
    let fixture = fixture::named("mode-authenticated-blake3-repokey");
    let (opened, objects) = Opened::fixture(&fixture);
    let repository = opened.repository(&objects);
    let mut opener = Opener::new(&opened.keys, &PureRust);
    let mut index = now(load_index(&repository, &mut opener, &mut |_| ())).expect("a good fixture has an index");
    let id = |number: u64, salt: u64| {
        // As evenly spread as hashes are.
        let mut id = [0; 32];
        let mut word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt;
        for eight in id.chunks_mut(8) {
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            eight.copy_from_slice(&word.to_be_bytes());
        }
        id
    };
    for number in 0..chunks {
        let pack = PackId(id(number / CHUNKS_PER_PACK, 1));
        let offset = (number % CHUNKS_PER_PACK) as u32 * 100_000;
        index.insert(ChunkId(id(number, 0)), Location { pack, offset, size: 100_000 });
    }
    now(replace_fragments(&repository, &mut opened.sealer(), &index)).expect("a recorder does not fail");
    let folder = scratch.folder("repository");
    recording::store(&repository.store.0.objects(), &folder);
    Ok(Made {
        args: vec![folder.display().to_string(), chunks.to_string(), MOST_BYTES_PER_CHUNK.to_string()],
        environment: vec![("BORG_PASSPHRASE", fixture.expected.passphrase.clone())],
    })
}

/// A tree, and what becomes of it: files that change, come, go, turn into something else, and have other attributes.
const TREE_BEFORE: &str = r#"
    mkdir -p same gone/deep becomes-file moves
    for n in 1 2 3; do head -c 20000 /dev/zero | tr '\0' $n > same/$n; done
    seq 1 5000 > grows; seq 1 5000 > shrinks; seq 1 5000 > changes-inside; : > empty; echo x > gone/deep/file
    echo a > mode; echo a > owner; echo a > times; touch -d @1000000000 times
    ln -s one link; ln -s one becomes-link-target; echo a > becomes-link; ln -s x becomes-folder; mkfifo pipe; mkfifo gone-pipe
    echo hard > hard1; ln hard1 hard2; echo content > becomes-pipe; mknod null c 1 3 || true; echo y > moves/file
    echo y > becomes-file/inside; printf 'not \377 text' > "$(printf 'name \377')"
"#;
const TREE_AFTER: &str = r#"
    seq 5001 6000 >> grows; seq 1 100 > shrinks; sed -i s/2500/xxxx/ changes-inside; echo new > empty; rm -r gone
    chmod 4711 mode; chown 12:34 owner || true; touch -d @1000000001.5 times
    ln -sfn two link; rm becomes-link; ln -s there becomes-link; rm becomes-folder; mkdir becomes-folder; rm gone-pipe
    echo harder > hard1; rm becomes-pipe; mkfifo becomes-pipe; mkdir moved; mv moves/file moved; rm -r becomes-file; echo z > becomes-file
    mkfifo new-pipe; mkdir -p new/folder; echo n > new/folder/file; ln -s n new/link; rm -f null; mknod zero b 1 5 || true
    printf 'other \377 text' > "$(printf 'name \377')"; echo a > same/0
"#;
