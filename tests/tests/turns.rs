//! The two programs in turns on one repository, each first once: what one wrote, the other lists, extracts and verifies
//! equal, and adds to as if it had written it itself. Needs the real client.
//!
//! Of the six modes, six compressions and three chunkers, a third of the combinations is run, in which each value of one
//! meets each value of the chunkers and, over both orders, most of the others; `PORTABORG_TESTS_ALL=1` runs them all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use portaborg_tests::census::{self, Census};
use portaborg_tests::client::{Client, PASSPHRASE, Pair, aid};
use portaborg_tests::dice::Dice;
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::scratch::Scratch;
use portaborg_tests::tree::{self, Node, Tree};
use portaborg_tests::{peers, source};

const MODES: [(&str, &str); 6] = [
    ("aes256-ocb", "sha256"),
    ("aes256-ocb", "blake3"),
    ("chacha20-poly1305", "sha256"),
    ("chacha20-poly1305", "blake3"),
    ("authenticated-sha256", "sha256"),
    ("authenticated-blake3", "blake3"),
];
const COMPRESSIONS: [&str; 6] = ["zstd,-4", "lz4", "zlib,6", "lzma,3", "auto,zstd,3", "obfuscate,110,lz4"];
/// With chunks so small that a small tree has many.
const CHUNKERS: [&str; 3] = ["fastcdc,10,16,13,2", "buzhash64,10,16,13,4095,2", "toeplitz-aes,10,16,13,2"];
/// With their usual parameters.
const USUAL_CHUNKERS: [&str; 3] = ["fastcdc,19,23,21,2", "buzhash64,19,23,21,4095,2", "toeplitz-aes,19,23,21,2"];

fn main() -> ExitCode {
    harness::main(|| {
        let all = std::env::var_os("PORTABORG_TESTS_ALL").is_some();
        let mut trials = vec![Trial::new("turns/60000-entries", many_entries)];
        for (number, chunker) in USUAL_CHUNKERS.into_iter().enumerate() {
            let case =
                Case { mode: MODES[number], compression: COMPRESSIONS[number], chunker, ours_first: number % 2 == 0 };
            trials.push(Trial::new(format!("turns/large-files/{case}"), move |findings| large_files(case, findings)));
        }
        for (number, mode) in MODES.into_iter().enumerate().filter(|(number, _)| [0, 3, 4].contains(number)) {
            let case =
                Case { mode, compression: COMPRESSIONS[number], chunker: CHUNKERS[0], ours_first: number % 2 == 0 };
            trials.push(Trial::new(format!("turns/tidying/{case}"), move |findings| tidying(case, findings)));
        }
        for case in if all { product() } else { covering() } {
            trials.push(Trial::new(format!("turns/archives/{case}"), move |findings| archives(case, findings)));
        }
        trials.push(Trial::new("turns/default-compression", default_compression));
        trials.push(Trial::new("turns/checks/ours-first", |findings| checks(true, findings)));
        trials.push(Trial::new("turns/checks/peer-first", |findings| checks(false, findings)));
        trials.push(Trial::new("turns/one-files-cache/ours-first", |findings| one_files_cache(true, findings)));
        trials.push(Trial::new("turns/one-files-cache/peer-first", |findings| one_files_cache(false, findings)));
        trials
    })
}

/// How a repository is made and used, and by whom first.
#[derive(Debug, Clone, Copy)]
struct Case {
    mode: (&'static str, &'static str),
    compression: &'static str,
    chunker: &'static str,
    ours_first: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { mode: (encryption, id_hash), compression, chunker, ours_first } = self;
        let first = if *ours_first { "ours" } else { "peer" };
        let chunker = chunker.split(',').next().unwrap_or_default();
        write!(f, "{encryption}-{id_hash}/{compression}/{chunker}/{first}-first")
    }
}

/// Every mode and every compression with every chunker, and all of them with either program first.
fn covering() -> Vec<Case> {
    let mut cases = Vec::new();
    for (m, mode) in MODES.into_iter().enumerate() {
        for (c, chunker) in CHUNKERS.into_iter().enumerate() {
            let compression = COMPRESSIONS[(m + 2 * c + m / 2) % 6];
            cases.push(Case { mode, compression, chunker, ours_first: (m + c) % 2 == 0 });
        }
    }
    cases
}

fn product() -> Vec<Case> {
    let mut cases = Vec::new();
    for mode in MODES {
        for compression in COMPRESSIONS {
            for chunker in CHUNKERS {
                cases.extend([true, false].map(|ours_first| Case { mode, compression, chunker, ours_first }));
            }
        }
    }
    cases
}

/// A new repository in a folder of its own, and both programs in the order of their turns.
struct Turns {
    scratch: Scratch,
    first: Client,
    second: Client,
    options: [&'static str; 4],
}

impl Turns {
    /// The first program makes the repository. `None` where the real client is missing.
    fn new(case: Case) -> Option<Self> {
        let scratch = Scratch::new("turns");
        let Pair { ours, peer } = Pair::new(&scratch, &scratch.path().join("repository"))?;
        let (first, second) = if case.ours_first { (ours, peer) } else { (peer, ours) };
        let (encryption, id_hash) = case.mode;
        first.ok(&["repo-create", "--encryption", encryption, "--id-hash", id_hash]);
        let options = ["--compression", case.compression, "--chunker-params", case.chunker];
        Some(Self { scratch, first, second, options })
    }

    fn create(&self, client: &Client) -> String {
        client.create(&self.options, self.scratch.path(), SOURCE)
    }

    fn source(&self) -> PathBuf {
        self.scratch.path().join(SOURCE)
    }

    fn census(&self) -> Census {
        Census::take(self.first.repository(), PASSPHRASE)
    }

    /// The second program's archive of what the first one has just archived: it adds what a new archive needs, and no more.
    fn adds_nothing(&self, first: &Client, second: &Client, findings: &mut Findings) -> [String; 2] {
        let one = self.create(first);
        let before = self.census();
        let two = self.create(second);
        let after = self.census();
        for (letter, what) in [('F', "file"), ('S', "item-stream"), ('C', "item-pointer")] {
            let (before, after) = (before.stored(letter), after.stored(letter));
            findings.check(before == after, || {
                format!(
                    "{}: {} {what} chunks more of an unchanged tree, beside {before}",
                    second.name(),
                    after - before
                )
            });
        }
        findings.check(after.item_ptrs[&one] == after.item_ptrs[&two], || {
            let pointers = [&after.item_ptrs[&one], &after.item_ptrs[&two]];
            format!("{}: another item stream of an unchanged tree: {pointers:?}", second.name())
        });
        findings.check(after.stored('A') == before.stored('A') + 1, || "not one archive more".to_owned());
        let twice = |letter: &char| after.ids(*letter).len() != after.stored(*letter);
        findings.check(!['A', 'C', 'S', 'F'].iter().any(twice), || "a chunk is stored twice".to_owned());
        [one, two]
    }
}

/// What is archived, below the scratch folder.
const SOURCE: &str = "source";

fn archives(case: Case, findings: &mut Findings) {
    let Some(turns) = Turns::new(case) else { return findings.skip(peers::MISSING) };
    let Turns { scratch, first, second, .. } = &turns;
    source::make(&turns.source());
    let tree = tree::read(&turns.source());
    let [one, _] = turns.adds_nothing(first, second, findings);
    source::change(&turns.source());
    let changed_tree = tree::read(&turns.source());
    let [three, _] = turns.adds_nothing(second, first, findings);

    same_text(&first.list(&three), &second.list(&three), findings);
    for (client, id, wanted) in [(first, &three, &changed_tree), (second, &one, &tree)] {
        let extracted = client.extract(id, &scratch.path().join(id), SOURCE);
        same_tree(client.name(), &extracted, wanted, findings);
    }
    first.verify();
    second.verify();
    findings.check(census::leftovers(first.repository()).is_empty(), || "temporary files are left".to_owned());
}

fn same_text(ours: &str, theirs: &str, findings: &mut Findings) {
    let different = ours.lines().zip(theirs.lines()).find(|(one, two)| one != two);
    findings.check(ours == theirs, || format!("list: {different:?}, of {} lines", ours.lines().count()));
    findings.check(ours.lines().count() > 1, || "nothing is listed".to_owned());
}

/// Compares with the source. Access times are not archived, and Borg knows no time before 1970.
fn same_tree(who: &str, extracted: &Tree, source: &Tree, findings: &mut Findings) {
    let comparable = |tree: &Tree| -> Tree {
        let known = |node: &Node| Node { atime_ns: None, mtime_ns: node.mtime_ns.max(0), ..node.clone() };
        tree.iter().map(|(path, node)| (path.clone(), known(node))).collect()
    };
    let differences = tree::differences(&comparable(extracted), &comparable(source));
    findings.extend(differences.into_iter().map(|difference| format!("{who}: {difference}")));
}

/// Each adds to the record of checked packs that the other has left.
fn checks(ours_first: bool, findings: &mut Findings) {
    let case = Case { mode: MODES[0], compression: COMPRESSIONS[1], chunker: CHUNKERS[0], ours_first };
    let Some(turns) = Turns::new(case) else { return findings.skip(peers::MISSING) };
    fs::create_dir_all(turns.source()).expect("a scratch folder can be written");
    for number in 0..6 {
        fs::write(turns.source().join("noise"), Dice::new(number).bytes(9000))
            .expect("a scratch folder can be written");
        turns.create(&turns.second);
        let client = if number % 2 == 0 { &turns.first } else { &turns.second };
        client.ok(&["check"]);
    }
}

/// Deletes, brings back, compacts and recompresses in turns.
fn tidying(case: Case, findings: &mut Findings) {
    let Some(turns) = Turns::new(case) else { return findings.skip(peers::MISSING) };
    let Turns { scratch, first, second, .. } = &turns;
    let mut files = BTreeMap::new();
    let mut ids = Vec::new();
    for (number, client) in [first, second, first, second].into_iter().enumerate() {
        fs::create_dir_all(turns.source()).expect("a scratch folder can be written");
        fs::write(turns.source().join("noise"), Dice::new(number as u64).bytes(200_000))
            .expect("a scratch folder can be written");
        fs::write(turns.source().join(format!("{number}")), Dice::new(number as u64 + 9).bytes(9000))
            .expect("it can be written");
        ids.push(turns.create(client));
        files.insert(number, tree::read(&turns.source()));
    }
    let mut there = |who: &Client, wanted: &[usize]| {
        let found = who.archives();
        let wanted = wanted.iter().map(|number| ids[*number].clone()).collect();
        findings.check(found == wanted, || format!("{}: archives {found:?}, not {wanted:?}", who.name()));
    };
    first.ok(&["delete", &aid(&ids[1])]);
    there(second, &[0, 2, 3]);
    second.ok(&["undelete", &aid(&ids[1])]);
    there(first, &[0, 1, 2, 3]);
    second.ok(&["delete", &aid(&ids[0])]);
    first.ok(&["compact", "--threshold", "0"]);
    there(second, &[1, 2, 3]);
    first.ok(&["delete", &aid(&ids[1])]);
    second.ok(&["compact", "--threshold", "0"]);
    there(first, &[2, 3]);
    let census = turns.census();
    findings.check(census.stored('A') == 2, || format!("{} archives are stored, not 2", census.stored('A')));

    for (client, other, compression) in [(first, second, "zlib,1"), (second, first, "zstd,-4")] {
        client.ok(&["repo-compress", "--compression", compression]);
        let stats = other.ok(&["repo-compress", "--compression", compression, "--stats"]);
        findings.check(stats.err().contains(" 0 recompressed"), || format!("{}: {}", other.name(), stats.summary()));
        other.verify();
    }
    for (client, number) in [(first, 3), (second, 2)] {
        let extracted = client.extract(&ids[number], &scratch.path().join(&ids[number]), SOURCE);
        same_tree(client.name(), &extracted, &files[&number], findings);
    }
}

/// What our program compresses by default is for the real client as it would be by `zstd,-4`, and they count alike.
fn default_compression(findings: &mut Findings) {
    let scratch = Scratch::new("turns");
    let Some(Pair { ours, peer }) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        return findings.skip(peers::MISSING);
    };
    source::make(&scratch.path().join(SOURCE));
    ours.ok(&["repo-create", "--encryption", "aes256-ocb"]);
    ours.create(&[], scratch.path(), SOURCE);
    let stats = |client: &Client| client.ok(&["repo-compress", "--compression", "zstd,-4", "--stats"]).err();
    let (theirs, ours) = (stats(&peer), stats(&ours));
    findings.check(theirs.contains(" 0 recompressed"), || format!("the real client: {theirs}"));
    findings.check(theirs == ours, || format!("ours: {ours}the real client: {theirs}"));
}

/// Where both programs use the same files cache, neither reads again what the other has just read.
fn one_files_cache(ours_first: bool, findings: &mut Findings) {
    let case = Case { mode: MODES[0], compression: COMPRESSIONS[0], chunker: CHUNKERS[0], ours_first };
    let Some(turns) = Turns::new(case) else { return findings.skip(peers::MISSING) };
    let (first, second) = (&turns.first, turns.second.beside(&turns.first));
    source::make(&turns.source());
    // The newest files are kept in no cache: they might change once more at the same time.
    thread::sleep(Duration::from_secs(4));
    fs::write(turns.source().join("the newest"), "new").expect("a scratch folder can be written");
    turns.create(first);
    for (client, other) in [(&second, first), (first, &second)] {
        let args = [
            "create",
            "--list",
            "--filter",
            "AMCE",
            turns.options[0],
            turns.options[1],
            turns.options[2],
            turns.options[3],
        ];
        let listed = client.succeeds(client.call(args).args(["series", SOURCE]).within(turns.scratch.path())).err();
        let may_change = |line: &str| line.ends_with("the newest") || line.ends_with("times/future");
        let read_again: Vec<&str> = listed.lines().filter(|line| !may_change(line)).collect();
        findings.check(read_again.is_empty(), || format!("{} after {}: {read_again:?}", client.name(), other.name()));
    }
}

/// Large files, cut as usual.
fn large_files(case: Case, findings: &mut Findings) {
    let Some(turns) = Turns::new(case) else { return findings.skip(peers::MISSING) };
    let Turns { scratch, first, second, .. } = &turns;
    let folder = turns.source();
    fs::create_dir_all(&folder).expect("a scratch folder can be written");
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).expect("it can be written");
    let large = Dice::new(5).bytes(11 << 20);
    write("noise", &large);
    write("shifted", &[b"shifted", &large[..9 << 20]].concat());
    write("zeros", &vec![0; 17 << 20]);
    let sparse = fs::File::create(folder.join("hole")).expect("a scratch folder can be written");
    sparse.set_len(20 << 20).expect("it can be written");
    let tree = tree::read(&folder);
    let [one, two] = turns.adds_nothing(first, second, findings);
    same_text(&first.list(&one), &second.list(&one), findings);
    for (client, id) in [(first, &two), (second, &one)] {
        let extracted = client.extract(id, &scratch.path().join(id), SOURCE);
        same_tree(client.name(), &extracted, &tree, findings);
    }
    first.verify();
    second.verify();
}

/// An item stream of more than one largest chunk.
fn many_entries(findings: &mut Findings) {
    let case = Case { mode: MODES[3], compression: COMPRESSIONS[0], chunker: USUAL_CHUNKERS[0], ours_first: true };
    let Some(turns) = Turns::new(case) else { return findings.skip(peers::MISSING) };
    let Turns { first, second, .. } = &turns;
    for number in 0..60_000 {
        let folder = turns.source().join(format!("{:02}", number % 60));
        if number < 60 {
            fs::create_dir_all(&folder).expect("a scratch folder can be written");
        }
        write_tiny(&folder.join(format!("entry {number} of many")), number);
    }
    let [one, two] = turns.adds_nothing(first, second, findings);
    let census = turns.census();
    findings.check(census.stored('S') > 2, || "the item stream is too short for this test".to_owned());
    same_text(&first.list(&two), &second.list(&one), findings);
    second.verify();
}

/// Most entries are empty, which is fast.
fn write_tiny(path: &Path, number: usize) {
    let content = if number.is_multiple_of(50) { format!("content {number}") } else { String::new() };
    fs::write(path, content).expect("a scratch folder can be written");
}
