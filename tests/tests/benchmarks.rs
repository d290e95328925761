//! The benchmarks measure what the real client's measure, and say it in its words.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use portaborg_tests::client::{Client, Pair};
use portaborg_tests::harness::{self, Findings, Trial};
use portaborg_tests::peers;
use portaborg_tests::scratch::Scratch;
use serde_json::Value;

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Trial::new("benchmarks/cpu", cpu),
            Trial::new("benchmarks/crud", crud),
            Trial::new("benchmarks/thresholds", thresholds),
        ]
    })
}

fn cpu(findings: &mut Findings) {
    let scratch = Scratch::new("benchmark-cpu");
    let Some(pair) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        return findings.skip(peers::MISSING);
    };
    let pair = pair.env("_BORG_BENCHMARK_CPU_TEST", "1");
    let [ours, theirs] = [&pair.ours, &pair.peer].map(|client| {
        let outcome = client.ok(&["benchmark", "cpu", "--json"]);
        serde_json::from_slice::<BTreeMap<String, Vec<BTreeMap<String, Value>>>>(&outcome.stdout).unwrap_or_default()
    });
    findings.check(theirs.len() == 5, || format!("the real client has {} sections", theirs.len()));
    for (section, rows) in &theirs {
        findings.check(ours.get(section).map(|rows| names(rows)) == Some(names(rows)), || {
            format!("{section}: {:?}, not {:?}", ours.get(section).map(|rows| names(rows)), names(rows))
        });
    }
}

/// What rows are about: everything but what was measured.
fn names(rows: &[BTreeMap<String, Value>]) -> Vec<Vec<String>> {
    let name = |(key, value): (&String, &Value)| match key.as_str() {
        // Numbers that are not the same in the next run.
        "time" | "csize" => key.clone(),
        _ => format!("{key}: {value}"),
    };
    rows.iter().map(|row| row.iter().map(name).collect()).collect()
}

fn crud(findings: &mut Findings) {
    let scratch = Scratch::new("benchmark-crud");
    let Some(pair) = Pair::new(&scratch, &scratch.path().join("repository")) else {
        return findings.skip(peers::MISSING);
    };
    let pair = pair.env("_BORG_BENCHMARK_CRUD_TEST", "1");
    pair.peer.ok(&["repo-create", "--encryption", "aes256-ocb"]);
    let files = scratch.folder("files");
    let files = files.to_str().expect("scratch folders have plain names");
    let told = |client: &Client, options: &[&str]| {
        let words = [&["benchmark", "crud"], options, &[files]].concat();
        without_numbers(&client.ok(&words).out())
    };
    for options in [&[][..], &["--json-lines"]] {
        let (ours, theirs) = (told(&pair.ours, options), told(&pair.peer, options));
        findings.check(theirs.lines().count() == 8, || format!("the real client has other samples: {theirs}"));
        findings.check(ours == theirs, || format!("{ours}\nis not what the real client says:\n{theirs}"));
    }
    findings.check(fs::read_dir(files).is_ok_and(|mut left| left.next().is_none()), || "files are left".into());
    let archives = pair.peer.ok(&["repo-list", "--short"]).out();
    findings.check(archives.is_empty(), || format!("archives are left: {archives}"));
}

/// Rates and times vary, and with them how many digits there are.
fn without_numbers(text: &str) -> String {
    let mut result = String::new();
    for word in text.split_inclusive([' ', '\n', ',']) {
        let number = word.trim_matches([' ', '\n', ',', '(', ')', '}', 's']);
        let is_measured = number.parse::<f64>().is_ok() && !result.ends_with("sample_count\": ");
        match is_measured {
            true => result.push_str(&word.replace(number, "#")),
            false => result.push_str(word),
        }
    }
    while result.contains("  ") {
        result = result.replace("  ", " ");
    }
    result
}

fn thresholds(findings: &mut Findings) {
    let scratch = Scratch::new("benchmark-thresholds");
    let ours = Client::ours(&scratch, &scratch.path().join("repository"));
    let quick = ["benchmark", "thresholds", "--quick", "--runs", "1", "--mib-per-run", "1"];
    if std::thread::available_parallelism().is_ok_and(|threads| threads.get() == 1) {
        let outcome = ours.call(quick).run();
        return findings
            .check(outcome.code == Some(2) && outcome.err().contains("only one processor"), || outcome.summary());
    }
    let plot = scratch.path().join("plot.svg");
    let outcome = ours.succeeds(ours.call(quick).args(["--json", "--svg"]).args([&plot]));
    let json: Value = serde_json::from_slice(&outcome.stdout).unwrap_or_default();
    let results = json["results"].as_array().cloned().unwrap_or_default();
    findings.check(results.len() >= 30, || format!("{} sizes of BLAKE3", results.len()));
    let all_from = |kib: u64| {
        results
            .iter()
            .filter(|result| result["kib"].as_u64() >= Some(kib))
            .all(|result| result["ratio"].as_f64() >= Some(1.0))
    };
    let threshold = json["threshold_kib"].as_u64();
    findings.check(threshold.is_none_or(all_from), || format!("from {threshold:?} KiB on not all are faster"));
    let default_loses = json["default_loses"].as_bool();
    findings.check(default_loses == Some(!all_from(256)), || format!("the default loses: {default_loses:?}"));
    findings.check(json["zstd"].as_array().is_some_and(|zstd| zstd.len() == 3), || "zstd is not measured".into());
    let drawn = fs::read_to_string(plot).unwrap_or_default();
    findings.check(drawn.starts_with("<svg ") && drawn.contains("BLAKE3"), || "nothing is drawn".into());
}
