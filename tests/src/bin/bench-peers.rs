//! `cargo bench-peers [FILES]`: `create` of many small files (50,000) by our program and by the real client, in turns, on
//! one thread of one machine. Prints the seconds and the ratio; nothing is judged.

use std::fs;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use portaborg_tests::client::{Client, Pair};
use portaborg_tests::dice::Dice;
use portaborg_tests::peers;
use portaborg_tests::scratch::Scratch;

const ROUNDS: usize = 3;
const FILES: u64 = 50_000;

fn main() -> ExitCode {
    let files = std::env::args().nth(1).and_then(|files| files.parse().ok()).unwrap_or(FILES);
    let scratch = Scratch::new("bench");
    let (folder, repository) = (scratch.folder("source"), scratch.path().join("repository"));
    let Some(Pair { ours, peer }) = Pair::new(&scratch, &repository) else {
        eprintln!("{}", peers::MISSING);
        return ExitCode::FAILURE;
    };
    make(&folder, files);
    println!(
        "{files} files; seconds of the first create, of one that finds nothing changed, and of one that reads all again"
    );
    let mut best = [[f64::MAX; 3]; 2];
    for _ in 0..ROUNDS {
        for (client, best) in [&ours, &peer].into_iter().zip(&mut best) {
            let seconds = creates(client, scratch.path());
            println!("{:16} {:8.2} {:8.2} {:8.2}", client.name(), seconds[0], seconds[1], seconds[2]);
            best.iter_mut().zip(seconds).for_each(|(best, seconds)| *best = best.min(seconds));
        }
    }
    let [ours, theirs] = best;
    let ratios: Vec<String> = ours.iter().zip(theirs).map(|(ours, theirs)| format!("{:8.3}", ours / theirs)).collect();
    println!("{:16} {}", "ours / theirs", ratios.join(" "));
    ExitCode::SUCCESS
}

/// Files of 0 to 8 KB, half of each can be compressed.
fn make(folder: &Path, files: u64) {
    let mut dice = Dice::new(1);
    for number in 0..files {
        let below = folder.join(format!("{:03}", number / 200));
        if number % 200 == 0 {
            fs::create_dir_all(&below).expect("a scratch folder can be written");
        }
        let len = dice.below(8000);
        let mut content = dice.bytes(len / 2);
        content.resize(len, b'x');
        fs::write(below.join(format!("file {number}")), content).expect("a scratch folder can be written");
    }
}

/// Three archives of the same folder in a new repository.
fn creates(client: &Client, folder: &Path) -> [f64; 3] {
    let _ = fs::remove_dir_all(client.repository());
    client.ok(&["repo-create", "--encryption", "aes256-ocb", "--id-hash", "sha256", "--compression", "zstd,-4"]);
    let create = |options: &[&str]| {
        let args = [&["create"], options, &["series", "source"]].concat();
        let mut command = client.call(args).within(folder).command();
        command.stdout(Stdio::null()).stderr(Stdio::inherit());
        let start = Instant::now();
        assert!(command.status().is_ok_and(|status| status.success()), "{}: create failed", client.name());
        start.elapsed().as_secs_f64()
    };
    [create(&[]), create(&[]), create(&["--files-cache", "disabled"])]
}
