//! A few kills at random moments, by a seed that is told; `cargo kill-test` does more of them.

use std::process::ExitCode;

use portaborg_tests::dice::Dice;
use portaborg_tests::harness::{self, Trial};
use portaborg_tests::kills::Kills;

fn main() -> ExitCode {
    harness::main(|| {
        vec![Trial::new("kills/30", |findings| {
            let kills = Kills { count: 30, seed: Dice::cast().seed, peer_every: 10 };
            findings.note(format!("`cargo kill-test --count {} --seed {}`", kills.count, kills.seed));
            let toll = kills.run(&mut |_| {});
            findings.note(format!("killed {:?}", toll.killed));
        })]
    })
}
