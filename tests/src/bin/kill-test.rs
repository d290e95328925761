//! `cargo kill-test [--count N] [--seed SEED]`: kills our program N times (500) at random moments while it changes a
//! repository, and looks with both programs whether anything is lost. The seed is printed; the same seed does the same,
//! but for the moments, which depend on the machine.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use portaborg_tests::dice::Dice;
use portaborg_tests::kills::Kills;
use portaborg_tests::program::has_measured;

fn main() -> ExitCode {
    if has_measured() {
        return ExitCode::SUCCESS;
    }
    let mut args = std::env::args_os().skip(1);
    let mut kills = Kills { count: 500, seed: Dice::cast().seed, peer_every: 25 };
    while let Some(arg) = args.next() {
        let number = args.next().and_then(|value| value.to_str()?.parse::<u64>().ok());
        match (arg.to_str(), number) {
            (Some("--count"), Some(number)) => kills.count = usize::try_from(number).unwrap_or(usize::MAX),
            (Some("--seed"), Some(number)) => kills.seed = number,
            _ => {
                eprintln!("usage: cargo kill-test [--count N] [--seed SEED]");
                return ExitCode::from(2);
            }
        }
    }
    println!("seed {}, {} kills", kills.seed, kills.count);
    let start = Instant::now();
    let toll = kills.run(&mut |number| {
        if io::stdout().is_terminal() {
            print!("\r{number}");
            let _ = io::stdout().flush(); // it is a decoration
        }
    });
    println!("\rkilled: {:?}, in {:.0} s", toll.killed, start.elapsed().as_secs_f64());
    println!("{} of them had done their work, {} processes more were faster", toll.done_nevertheless, toll.escaped);
    println!("nothing is lost; the real client looked at all {} times", toll.seen_by_peer);
    ExitCode::SUCCESS
}
