//! `cargo bench-peers`: whole commands of our program and of the real client, in turns, on the same data, each round with a new
//! repository. Prints tables of medians, and how many times as fast ours is, pair by pair; nothing is judged.
//!
//! Keys are made with `BORG_TESTONLY_WEAKEN_KDF=1`, which both programs obey, so that the passphrase's fixed cost hides nothing;
//! `repo-list` with its real cost is a table of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use clap::Parser;
use portaborg_tests::client::{Client, Pair};
use portaborg_tests::corpora::Corpus;
use portaborg_tests::peers;
use portaborg_tests::program::{Outcome, has_measured};
use portaborg_tests::scratch::{Scratch, remove_all};

/// Times our program and the real client in turns.
#[derive(Debug, Parser)]
#[command(name = "bench-peers", bin_name = "cargo bench-peers")]
struct Options {
    /// Data to measure with: files, binaries, image, entropy (default: all of them)
    #[arg(long, value_delimiter = ',')]
    corpus: Vec<String>,
    /// A folder of yours to measure with besides
    #[arg(long)]
    folder: Option<PathBuf>,
    /// How many small files
    #[arg(long, default_value_t = 50_000)]
    files: u64,
    /// Size of each of the other corpora, in MiB
    #[arg(long, default_value_t = 512)]
    mib: u64,
    /// Compressions
    #[arg(long, value_delimiter = ',', default_value = "zstd/-4", value_parser = |text: &str| Ok::<_, String>(text.replace('/', ",")))]
    compression: Vec<String>,
    /// How often everything is done
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// What is timed, in this order.
const STEPS: [&str; 6] = ["create", "create, nothing changed", "list", "extract", "check --verify-data", "repo-list"];

fn main() -> ExitCode {
    if has_measured() {
        return ExitCode::SUCCESS;
    }
    let options = Options::parse();
    let scratch = Scratch::new("bench");
    let Some(pair) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        eprintln!("{}", peers::MISSING);
        return ExitCode::FAILURE;
    };
    // As they are for users, where tests take turns with numbers.
    let pair = pair.env("BORG_CREATE_WORKERS", "").env("BORG_EXTRACT_WORKERS", "");
    println!("{}", machine());
    use_memory();
    for (name, folder) in corpora(&options, &scratch) {
        for compression in &options.compression {
            compare(&pair, &name, &folder, compression, options.rounds, &scratch);
        }
    }
    passphrase(&pair, options.rounds);
    ExitCode::SUCCESS
}

/// Uses the memory that is free, once. A virtual machine's memory that nobody has used yet costs ten times as much when it is
/// used first: whoever happens to get it would look slow.
fn use_memory() {
    let facts = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = facts.lines().find_map(|line| line.strip_prefix("MemFree:")?.trim().strip_suffix(" kB")?.parse().ok());
    let bytes = free.map_or(0, |kib: usize| kib * 1024 / 10 * 9);
    drop(std::hint::black_box(vec![1_u8; bytes]));
}

/// The folders to measure with, by their names in tables.
fn corpora(options: &Options, scratch: &Scratch) -> Vec<(String, PathBuf)> {
    let Options { files, mib, .. } = *options;
    let known = [
        ("files", Corpus::Files { count: files }),
        ("binaries", Corpus::Binaries { mib }),
        ("image", Corpus::Image { mib }),
        ("entropy", Corpus::Entropy { mib }),
    ];
    let mut folders = Vec::new();
    for (word, corpus) in known {
        if options.corpus.is_empty() || options.corpus.iter().any(|wanted| wanted == word) {
            let folder = scratch.path().join(word);
            corpus.make(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            folders.push((corpus.name(), folder));
        }
    }
    // What has just been written would be read again by the second run, to be sure.
    thread::sleep(Duration::from_secs(4));
    folders.extend(options.folder.iter().map(|folder| (folder.display().to_string(), folder.clone())));
    folders
}

/// What one program did in one round: its steps, and the size of its repository in bytes.
struct Round {
    steps: Vec<Outcome>,
    repository_bytes: u64,
    /// Of create and extract (ours only).
    serial: Option<[Serial; 2]>,
}

fn compare(pair: &Pair, name: &str, folder: &Path, compression: &str, rounds: usize, scratch: &Scratch) {
    let mut done: [Vec<Round>; 2] = [Vec::new(), Vec::new()];
    for number in 0..rounds {
        let mut turns = [(&pair.ours, 0), (&pair.peer, 1)];
        turns.rotate_left(number % 2);
        for (client, whose) in turns {
            done[whose].push(round(client, folder, compression, scratch));
        }
    }
    let [ours, theirs] = &done;
    println!("\n### {name}, {compression}\n");
    println!("| | ours, s | Borg, s | times as fast | ours, cpu s | Borg, cpu s | ours, MiB | Borg, MiB |");
    println!("|-|-|-|-|-|-|-|-|");
    for (at, step) in STEPS.into_iter().enumerate() {
        let figure =
            |rounds: &[Round], figure: fn(&Outcome) -> f64| median(rounds.iter().map(|round| figure(&round.steps[at])));
        let pairs = ours.iter().zip(theirs);
        let ratio = median(pairs.map(|(ours, theirs)| wall(&theirs.steps[at]) / wall(&ours.steps[at])));
        println!(
            "| {step} | {:.2} | {:.2} | {ratio:.1} | {:.2} | {:.2} | {:.0} | {:.0} |",
            figure(ours, wall),
            figure(theirs, wall),
            figure(ours, cpu),
            figure(theirs, cpu),
            figure(ours, peak),
            figure(theirs, peak)
        );
    }
    let sizes = [ours, theirs].map(|rounds| median(rounds.iter().map(|round| round.repository_bytes as f64 / 1e6)));
    println!(
        "\nRepository: {:.1} MB, Borg's {:.1} MB ({:+.2} %).",
        sizes[0],
        sizes[1],
        (sizes[0] / sizes[1] - 1.0) * 100.0
    );
    for (at, step) in ["create", "extract"].into_iter().enumerate() {
        let figure = |figure: fn(&Serial) -> f64| {
            median(ours.iter().filter_map(|round| round.serial.as_ref().map(|serial| figure(&serial[at]))))
        };
        let share = figure(Serial::share);
        let speed_up = |cores: f64| 1.0 / (share + (1.0 - share) / cores);
        println!(
            "{step}: {:.0} % of the processor time only one thread can do; speed-up by 4, 8, 12 cores: {:.1}, {:.1}, \
             {:.1}. With 2 workers {:.2} times as fast as with 1 (Karp-Flatt: {:.0} %).",
            share * 100.0,
            speed_up(4.0),
            speed_up(8.0),
            speed_up(12.0),
            figure(Serial::speed_up),
            figure(Serial::karp_flatt) * 100.0
        );
    }
}

/// Reads all files, so that both programs find them in memory, however long ago they were read last.
fn warm_up(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => warm_up(&entry.path()),
            Ok(kind) if kind.is_file() => drop(fs::read(entry.path())),
            _ => {}
        }
    }
}

/// A folder to extract into. It stays until the end: ext4 creates files slowly for a minute after others were removed.
fn fresh(scratch: &Scratch) -> PathBuf {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    scratch.folder(&format!("out/{}", FOLDERS.fetch_add(1, Ordering::Relaxed)))
}

fn round(client: &Client, folder: &Path, compression: &str, scratch: &Scratch) -> Round {
    remove_all(client.repository());
    client.ok(&["repo-create", "--encryption", "aes256-ocb", "--id-hash", "blake3"]);
    let out = fresh(scratch);
    let timed = |args: &[&str], within: &Path| {
        rustix::fs::sync();
        client.succeeds(client.call(args).within(within))
    };
    let create = ["create", "--compression", compression, "series", "."];
    warm_up(folder);
    let mut steps = vec![timed(&create, folder)];
    steps.push(timed(&create, folder));
    let repository_bytes = size(client.repository());
    let newest = client.ok(&["repo-list", "--last", "1", "--short"]).out();
    let archive = format!("aid:{}", newest.trim());
    steps.push(timed(&["list", &archive], folder));
    steps.push(timed(&["extract", &archive], &out));
    steps.push(timed(&["check", "--verify-data"], folder));
    steps.push(timed(&["repo-list"], folder));
    let serial = (client.name() == "ours").then(|| serial(client, folder, compression, scratch));
    Round { steps, repository_bytes, serial }
}

/// What only one thread can do, of our program's create and extract.
fn serial(client: &Client, folder: &Path, compression: &str, scratch: &Scratch) -> [Serial; 2] {
    let [one, two] = ["1", "2"].map(|workers| {
        let client = client.clone().env("BORG_CREATE_WORKERS", workers).env("BORG_EXTRACT_WORKERS", workers);
        let timed = |args: &[&str], within: &Path| {
            rustix::fs::sync();
            client.succeeds(client.call(args).within(within))
        };
        remove_all(client.repository());
        client.ok(&["repo-create", "--encryption", "aes256-ocb", "--id-hash", "blake3"]);
        let create = ["create", "--debug", "--files-cache", "disabled", "--compression", compression, "series", "."];
        warm_up(folder);
        let created = timed(&create, folder);
        let newest = client.ok(&["repo-list", "--last", "1", "--short"]).out();
        let out = fresh(scratch);
        let extracted = timed(&["extract", "--debug", &format!("aid:{}", newest.trim())], &out);
        [created, extracted]
    });
    [0, 1].map(|at| Serial { threads: threads(&two[at]), walls: [wall(&one[at]), wall(&two[at])] })
}

struct Serial {
    /// Processor seconds of the first thread and of all, with two workers.
    threads: (f64, f64),
    /// Seconds with one worker and with two.
    walls: [f64; 2],
}

impl Serial {
    fn share(&self) -> f64 {
        self.threads.0 / self.threads.1
    }

    fn speed_up(&self) -> f64 {
        self.walls[0] / self.walls[1]
    }

    /// The serial share that would explain the speed-up by two workers, were nothing else in the way.
    fn karp_flatt(&self) -> f64 {
        (1.0 / self.speed_up() - 0.5) / 0.5
    }
}

/// Processor seconds of the first thread and of all, as our program tells them to `--debug`.
fn threads(outcome: &Outcome) -> (f64, f64) {
    let text = outcome.err();
    let line =
        text.lines().find_map(|line| line.split_once("processor time: ")).expect("--debug tells the processor time").1;
    let mut seconds = line.split(' ').filter_map(|word| word.parse::<f64>().ok());
    let (all, first) = (seconds.next().unwrap_or(1.0), seconds.next().unwrap_or(1.0));
    (first, all)
}

/// `repo-list` of ten archives where the passphrase costs what it costs users.
fn passphrase(pair: &Pair, rounds: usize) {
    let dear = |client: &Client| client.clone().env("BORG_TESTONLY_WEAKEN_KDF", "0");
    let clients = [dear(&pair.ours), dear(&pair.peer)];
    remove_all(pair.ours.repository());
    clients[0].ok(&["repo-create", "--encryption", "aes256-ocb", "--id-hash", "blake3"]);
    let empty = pair.ours.repository().with_file_name("empty");
    fs::create_dir_all(&empty).unwrap_or_else(|error| panic!("{}: {error}", empty.display()));
    (0..10).for_each(|_| drop(clients[0].create(&[], &empty, ".")));
    let times = |client: &Client| median((0..rounds).map(|_| wall(&client.ok(&["repo-list"]))));
    let version = |client: &Client| median((0..rounds).map(|_| wall(&client.ok(&["--version"]))));
    println!("\n### ten archives, with the passphrase's real cost\n");
    println!("| | ours, s | Borg, s |\n|-|-|-|");
    println!("| repo-list | {:.3} | {:.3} |", times(&clients[0]), times(&clients[1]));
    println!("| --version | {:.3} | {:.3} |", version(&clients[0]), version(&clients[1]));
}

fn wall(outcome: &Outcome) -> f64 {
    outcome.wall.max(Duration::from_micros(1)).as_secs_f64()
}

fn cpu(outcome: &Outcome) -> f64 {
    outcome.cpu.as_secs_f64()
}

fn peak(outcome: &Outcome) -> f64 {
    outcome.peak_kib as f64 / 1024.0
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(stat) if stat.is_dir() => size(&entry.path()),
            Ok(stat) => stat.len(),
            Err(_) => 0,
        })
        .sum()
}

fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("a processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{model}, {cores} cores; medians, \"times as fast\" from pairs of runs; processor time is of all threads")
}
