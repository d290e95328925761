//! `cargo demo [FOLDER]`: backs FOLDER up (the sources of this project, where none is given) into a new encrypted repository
//! in a temporary folder, lists it, restores it elsewhere, compares byte for byte, verifies, and prints sizes, speeds and
//! how to go on by hand. FOLDER is only read.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use portaborg_tests::machine;
use portaborg_tests::program::Program;
use portaborg_tests::tree::{self, Tree};

/// What is left out of the project's own folder.
const NO_SOURCES: [&str; 2] = ["target", ".git"];

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
    let (source, left_out) = source()?;
    let folder = std::env::temp_dir().join(format!("portaborg-demo.{}", std::process::id()));
    let restored = folder.join("restored");
    fs::create_dir_all(&restored).map_err(|error| format!("{}: {error}", restored.display()))?;
    println!("Building portaborg (the first time takes a few minutes) ...");
    let shown = Shown {
        program: Program::portaborg().path().to_owned(),
        environment: [
            ("BORG_REPO", folder.join("repository").display().to_string()),
            ("BORG_PASSPHRASE", passphrase()?),
            ("BORG_BASE_DIR", folder.join("base").display().to_string()),
        ],
    };
    println!("{} goes into a new repository in {}\n", source.display(), folder.display());

    let parent = source.parent().ok_or("the root folder has no name to be archived by")?;
    let name = source.file_name().ok_or("the folder has no name to be archived by")?.to_string_lossy().into_owned();
    let excludes: Vec<String> = left_out.iter().map(|folder| format!("--exclude=pp:{name}/{folder}")).collect();
    let mut create = vec!["create"];
    create.extend(excludes.iter().map(String::as_str));
    create.extend(["demo", &name]);

    let before = tree::read_without(&source, left_out);
    shown.run(parent, &["repo-create", "--encryption", "aes256-ocb"], Output::Silent)?;
    let first_secs = shown.run(parent, &create, Output::Whole)?;
    println!("Once more, with nothing changed:\n");
    let second_secs = shown.run(parent, &create, Output::Whole)?;
    shown.run(parent, &["repo-list"], Output::Whole)?;
    let archive = shown.archive(parent)?;
    shown.run(parent, &["list", &archive], Output::Beginning)?;
    let extract_secs = shown.run(&restored, &["extract", &archive], Output::Whole)?;
    let check_secs = shown.run(parent, &["check", "--verify-data"], Output::Whole)?;

    let bytes: u64 = before.values().filter_map(|node| node.size).sum();
    compare(&before, &tree::read(&restored.join(&name)), &tree::read_without(&source, left_out))?;
    let stored = size_of(Path::new(&shown.environment[0].1));
    println!("What was restored is what was backed up, byte for byte: {} objects, {}.\n", before.len(), mib(bytes));
    println!("  size           {:>10} of files", mib(bytes));
    println!("  repository     {:>10}", mib(stored));
    for (what, secs) in
        [("create", first_secs), ("create again", second_secs), ("extract", extract_secs), ("check", check_secs)]
    {
        println!("  {what:14} {secs:>8.2} s   {:>10}/s", mib((bytes as f64 / secs.max(0.001)) as u64));
    }
    println!("\nGo on by hand:\n");
    for (name, value) in &shown.environment {
        println!("  export {name}='{value}'");
    }
    let program = shown.program.display();
    println!("  {program} repo-info");
    println!("  {program} info {archive}");
    println!("  cd {} && {program} create --stats --list demo {name}", parent.display());
    println!("  mkdir again && cd again && {program} extract --list {archive}");
    println!("\nRemove it all with: rm -r {}", folder.display());
    Ok(())
}

/// The folder to back up, and what is left out of it.
fn source() -> Result<(PathBuf, &'static [&'static str]), String> {
    let project =
        || Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned();
    let (folder, left_out): (PathBuf, &[&str]) = match std::env::args_os().nth(1) {
        Some(folder) => (folder.into(), &[]),
        None => (project(), &NO_SOURCES),
    };
    let full = fs::canonicalize(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    if full.is_dir() { Ok((full, left_out)) } else { Err(format!("{} is not a folder", full.display())) }
}

/// 128 random bits.
fn passphrase() -> Result<String, String> {
    let mut bytes = [0; 16];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(portaborg_tests::expected::to_hex(&bytes))
}

/// What changed in the folder meanwhile is no difference; access times are not archived, sockets never are, and
/// only root can restore owners and all attributes.
fn compare(before: &Tree, restored: &Tree, after: &Tree) -> Result<(), String> {
    const SOCKET: u32 = 0o140_000;
    let comparable = |tree: &Tree| -> Tree {
        let is_same =
            |path: &Vec<u8>| before.get(path).map(|node| &node.sha256) == after.get(path).map(|node| &node.sha256);
        let chosen = tree.iter().filter(|(path, node)| node.mode & 0o170_000 != SOCKET && is_same(path));
        let mut tree: Tree = chosen.map(|(path, node)| (path.clone(), node.clone())).collect();
        for node in tree.values_mut() {
            node.atime_ns = None;
            if !machine::here().root {
                (node.uid, node.gid, node.flags) = (0, 0, None);
                node.xattrs.clear();
            }
        }
        tree
    };
    let differences = tree::differences(&comparable(restored), &comparable(before));
    if differences.is_empty() {
        return Ok(());
    }
    let shown: Vec<&str> = differences.iter().take(5).map(String::as_str).collect();
    Err(format!("{} differences: {}", differences.len(), shown.join("; ")))
}

fn size_of(folder: &Path) -> u64 {
    tree::read(folder).values().filter_map(|node| node.size).sum()
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// How much of its output a command shows.
#[derive(Clone, Copy, PartialEq)]
enum Output {
    Silent,
    Beginning,
    Whole,
}

/// Lines of a [`Output::Beginning`].
const BEGINNING_LINES: usize = 10;

/// Commands that are shown while they run.
struct Shown {
    program: PathBuf,
    environment: [(&'static str, String); 3],
}

impl Shown {
    /// Runs a command, and gives the seconds that it took.
    fn run(&self, folder: &Path, args: &[&str], output: Output) -> Result<f64, String> {
        println!("$ portaborg {}", args.join(" "));
        let start = Instant::now();
        let mut command = self.command(folder, args);
        let ran = match output {
            Output::Whole => command.status(),
            Output::Silent | Output::Beginning => command.output().map(|ran| {
                let out = String::from_utf8_lossy(&ran.stdout).into_owned();
                let lines: Vec<&str> = out.lines().collect();
                let shown = if output == Output::Beginning { lines.len().min(BEGINNING_LINES) } else { 0 };
                lines[..shown].iter().for_each(|line| println!("{line}"));
                if shown > 0 && shown < lines.len() {
                    println!("... and {} more", lines.len() - shown);
                }
                if !ran.status.success() {
                    eprint!("{}", String::from_utf8_lossy(&ran.stderr));
                }
                ran.status
            }),
        };
        println!();
        // A file that changed while it was read is worth a warning, and no reason to stop.
        match ran {
            Ok(status)
                if status.success() || status.code() == Some(1) || status.code().is_some_and(|code| code >= 100) =>
            {
                Ok(start.elapsed().as_secs_f64())
            }
            Ok(status) => Err(format!("portaborg {}: {status}", args.join(" "))),
            Err(error) => Err(format!("{}: {error}", self.program.display())),
        }
    }

    /// The archive to restore.
    fn archive(&self, folder: &Path) -> Result<String, String> {
        let listed = self.command(folder, &["repo-list", "--short", "--last", "1"]).output();
        let listed = listed.map_err(|error| format!("{}: {error}", self.program.display()))?;
        let text = String::from_utf8_lossy(&listed.stdout);
        let id = text.lines().next().and_then(|id| id.get(..8)).ok_or("there is no archive")?;
        Ok(format!("aid:{id}"))
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(folder).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
