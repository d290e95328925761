//! Keeps the shape of the source: the floors of core, what depends on what, the size of files.
//!
//! It reads source text only; what a compiler can check is checked by the compiler (lints, the bare-target build).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

#[test]
fn a_floor_of_core_imports_only_downwards() {
    let floors = floors();
    assert!(floors.len() > 5, "the code map of core/src/lib.rs was not understood: {floors:?}");
    let mut wrong = Vec::new();
    for (path, text) in sources("core/src") {
        let Some(own) = module_of(&path) else { continue };
        let Some(floor) = floors.get(&own) else {
            wrong.push(format!("{}: module {own} is not in the code map", path.display()));
            continue;
        };
        for (number, line) in code_lines(&text) {
            for used in crate_paths(line).into_iter().filter(|used| *used != own) {
                match floors.get(&used) {
                    Some(below) if below <= floor => {}
                    Some(above) => wrong.push(format!(
                        "{}:{number}: floor {floor} ({own}) uses {used} of floor {above}",
                        path.display()
                    )),
                    None => wrong.push(format!("{}:{number}: {used} is not in the code map", path.display())),
                }
            }
        }
    }
    report(&wrong);
}

#[test]
fn core_names_std_only_under_its_feature() {
    let mut wrong = Vec::new();
    for (path, text) in sources("core/src") {
        let mut gated = false;
        for (number, line) in code_lines(&text) {
            if names_std(line) && !gated {
                wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
            gated = line.contains("cfg(feature = \"std\")");
        }
    }
    report(&wrong);
}

/// `std::` as a word of its own, or the crate brought in.
fn names_std(line: &str) -> bool {
    let word = |at: usize| !line[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    line.contains("extern crate std") || line.match_indices("std::").any(|(at, _)| word(at))
}

#[test]
fn core_needs_no_c_library_executor_or_face() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args =
        ["tree", "--offline", "-p", "portaborg-core", "-e", "normal", "--no-default-features", "--prefix", "none"];
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"sha2"), "cargo tree was not understood: {text}");
    let forbidden = |name: &&&str| {
        name.ends_with("-sys")
            || FORBIDDEN_IN_CORE.contains(*name)
            || name.starts_with("portaborg") && **name != "portaborg-core"
    };
    let wrong: Vec<String> = names.iter().filter(forbidden).map(|name| format!("core depends on {name}")).collect();
    report(&wrong);
}

const FORBIDDEN_IN_CORE: [&str; 16] = [
    "async-std",
    "clap",
    "crossbeam-channel",
    "futures-executor",
    "getrandom",
    "js-sys",
    "libc",
    "log",
    "nix",
    "pollster",
    "rustix",
    "smol",
    "tokio",
    "tracing",
    "wasm-bindgen",
    "web-sys",
];

#[test]
fn native_and_wasm_do_not_know_each_other() {
    let mut wrong = Vec::new();
    for (folder, other) in [("native", "portaborg-wasm"), ("wasm", "portaborg")] {
        let Ok(text) = fs::read_to_string(root().join(folder).join("Cargo.toml")) else { continue };
        for line in text.lines().skip_while(|line| !line.contains("dependencies")) {
            if line.split(['=', '.', ' ']).next() == Some(other) {
                wrong.push(format!("{folder} depends on {other}"));
            }
        }
    }
    report(&wrong);
}

#[test]
fn every_dependency_has_its_reason() {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let table = text.split("[workspace.dependencies]\n").nth(1).expect("the manifest has the table");
    let table = table.split("\n[").next().unwrap_or_default();
    let mut wrong = Vec::new();
    let mut group_has_reason = false;
    for line in table.lines() {
        match line.trim() {
            "" => group_has_reason = false,
            comment if comment.starts_with('#') => group_has_reason = true,
            line if line.contains(" #") || line.contains("path = ") || group_has_reason => {}
            line => wrong.push(format!("Cargo.toml: no reason beside or above: {line}")),
        }
    }
    report(&wrong);
}

#[test]
fn no_package_names_a_version_of_its_own() {
    let mut wrong = Vec::new();
    for folder in ["core", "native", "wasm", "tests"] {
        let Ok(text) = fs::read_to_string(root().join(folder).join("Cargo.toml")) else { continue };
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with('[') {
                inside = line.contains("dependencies");
            } else if inside && line.contains('=') && !line.contains("workspace") && !line.starts_with('#') {
                wrong.push(format!("{folder}/Cargo.toml: {line}"));
            }
        }
    }
    report(&wrong);
}

#[test]
fn no_file_has_more_than_600_lines_before_its_tests() {
    let mut wrong = Vec::new();
    for folder in ["core", "native", "wasm", "tests"] {
        for (path, text) in sources(folder) {
            let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
            if lines > 600 {
                wrong.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    report(&wrong);
}

#[test]
fn nothing_names_the_place_where_it_was_written() {
    // In parts, or this file would find itself.
    let needles: Vec<String> = [["/wo", "rk/"], ["/ro", "ot/"], ["/tmp/", "wt"], ["../sha", "red"]]
        .iter()
        .map(|parts| parts.concat())
        .collect();
    let mut wrong = Vec::new();
    for path in tracked() {
        let Ok(bytes) = fs::read(root().join(&path)) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        for needle in needles.iter().filter(|needle| text.contains(needle.as_str())) {
            wrong.push(format!("{path}: names {needle}"));
        }
    }
    report(&wrong);
}

#[test]
fn the_root_folder_holds_only_what_belongs_there() {
    let allowed =
        ["CHANGELOG.md", "Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "core", "native", "tests", "wasm", "web"];
    let names = tracked().into_iter().filter_map(|path| path.split('/').next().map(str::to_owned));
    let mut wrong: Vec<String> =
        names.filter(|name| !name.starts_with('.') && !allowed.contains(&name.as_str())).collect();
    wrong.dedup();
    report(&wrong);
}

#[test]
fn every_fixture_has_its_tar_and_its_expectation() {
    let mut found: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for entry in fs::read_dir(root().join("tests/fixtures/borg2")).expect("the fixtures are part of the source") {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(".tar") {
            found.entry(name.to_owned()).or_default().0 = true;
        } else if let Some(name) = name.strip_suffix(".expected.json") {
            found.entry(name.to_owned()).or_default().1 = true;
        } else {
            assert_eq!(name, "README.md", "an odd file among the fixtures");
        }
    }
    let wrong: Vec<String> =
        found.iter().filter(|(_, both)| **both != (true, true)).map(|(name, _)| name.clone()).collect();
    report(&wrong);
    assert_eq!(found.len(), 143, "fixtures");
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Module of core to its floor, from the code map in `core/src/lib.rs`.
fn floors() -> BTreeMap<String, u32> {
    let text = fs::read_to_string(root().join("core/src/lib.rs")).expect("core has a root module");
    let mut floors = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let Some(number) = line.split(' ').next().and_then(|word| word.parse().ok()) else { continue };
        for name in line.split("[`").skip(1).filter_map(|rest| rest.split('`').next()) {
            floors.insert(name.to_owned(), number);
        }
    }
    floors
}

/// The module of core that a source file belongs to; none for the root module.
fn module_of(path: &Path) -> Option<String> {
    let below = path.strip_prefix("core/src").ok()?;
    let first = below.components().next()?.as_os_str().to_string_lossy().into_owned();
    let name = first.trim_end_matches(".rs").to_owned();
    (name != "lib").then_some(name)
}

/// The modules that a line reaches through `crate::`.
fn crate_paths(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let parts: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => split_list(list),
            None => vec![rest],
        };
        for part in parts {
            let name: String = part.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                found.push(name);
            }
        }
    }
    found
}

/// Splits `a, b::{c, d}, e};` at the commas of its outermost level.
fn split_list(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&list[start..at]);
                return parts;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Lines of code with their numbers: no comments, nothing from the tests at the end on.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let before_tests = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    before_tests.map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
}

/// All Rust files below a folder of the workspace, with paths relative to the workspace.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                found.push((path.strip_prefix(root()).expect("it was found there").to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// What git keeps (or would keep); without git, nothing is checked of it.
fn tracked() -> Vec<String> {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let Ok(output) = Command::new("git").args(args).current_dir(root()).output() else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
