//! `cargo demo [FOLDER]`: opens a repository that the real client wrote, lists, verifies and restores it, and prints what
//! it did and how to go on by hand. FOLDER (new or empty) takes what is restored and the repository's copy; without it a
//! temporary folder does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use portaborg_tests::fixture;
use portaborg_tests::program::Program;

/// The repository that is shown.
const SAMPLE: &str = "mode-chacha20-poly1305-blake3-repokey";

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<(), String> {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => empty(&PathBuf::from(folder))?,
        None => std::env::temp_dir().join(format!("portaborg-demo.{}", std::process::id())),
    };
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    println!("Building portaborg (the first time takes a few minutes) ...");
    let program = Program::portaborg();
    let sample = fixture::named(SAMPLE);
    sample.unpack_into(&folder);
    let archive = sample.expected.archives.iter().find(|archive| !archive.soft_deleted).ok_or("the sample is empty")?;
    let shown = Shown {
        program: program.path(),
        environment: [
            ("BORG_REPO", folder.join("repo").display().to_string()),
            ("BORG_PASSPHRASE", sample.expected.passphrase.clone()),
            ("BORG_BASE_DIR", folder.join("base").display().to_string()),
        ],
    };
    let restored = folder.join("restored");
    fs::create_dir_all(&restored).map_err(|error| format!("{}: {error}", restored.display()))?;
    let id = format!("aid:{}", &archive.id[..8]);

    println!("A repository written by Borg 2.0.0b25, in {}\n", folder.display());
    shown.run(&folder, &["repo-list"])?;
    shown.run(&folder, &["list", &id])?;
    shown.run(&folder, &["check", "--verify-data", "--verbose"])?;
    shown.run(&restored, &["extract", "--list", &id])?;

    let files = count(&restored);
    println!("Restored {files} files and folders into {}\n", restored.display());
    println!("Go on by hand:\n");
    for (name, value) in &shown.environment {
        println!("  export {name}='{value}'");
    }
    let name = shown.program.display();
    println!("  {name} repo-info");
    println!("  {name} info {id}");
    println!("  {name} list --json-lines {id}");
    println!("  mkdir again && cd again && {name} extract {id} sub");
    Ok(())
}

/// A folder of the user's must be new or empty: nothing of theirs is overwritten.
fn empty(folder: &Path) -> Result<PathBuf, String> {
    let full = std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let used = fs::read_dir(&full).is_ok_and(|mut entries| entries.next().is_some());
    if used { Err(format!("{} is not empty", full.display())) } else { Ok(full) }
}

fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| 1 + if entry.path().is_dir() && !entry.path().is_symlink() { count(&entry.path()) } else { 0 })
        .sum()
}

/// Commands that are shown while they run.
struct Shown<'a> {
    program: &'a Path,
    environment: [(&'static str, String); 3],
}

impl Shown<'_> {
    fn run(&self, folder: &Path, args: &[&str]) -> Result<(), String> {
        println!("$ portaborg {}", args.join(" "));
        let variables = self.environment.iter().map(|(name, value)| (name, value));
        let status = Command::new(self.program).args(args).current_dir(folder).envs(variables).status();
        println!();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("portaborg {}: {status}", args.join(" "))),
            Err(error) => Err(format!("{}: {error}", self.program.display())),
        }
    }
}
