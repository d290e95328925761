//! The npm package: its module is compiled, its sources are put beside it, and both are packed. The page, which is built with it.
//!
//! `WASM_TOOLCHAIN` names a toolchain that has the target (such as `+web`); without it, the workspace's own is used, and rustup
//! is asked for the target. The generator of the glue between module and JavaScript has to be of the same version as the
//! library; it is built once and kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::dice::Dice;
use crate::fixture::{Fixture, Unpacked};
use crate::program::Program;
use crate::scratch::Scratch;

/// What the module is compiled for.
const TARGET: &str = "wasm32-unknown-unknown";
/// The variable with the toolchain that compiles it.
const TOOLCHAIN: &str = "WASM_TOOLCHAIN";
/// The profile for everything that is downloaded.
pub(crate) const PROFILE: &str = "web";
/// How the package's JavaScript calls the module and its glue.
const MODULE: &str = "module";
/// The same for the module whose threads share its memory.
const THREADS: &str = "threads";

/// What was built.
#[derive(Debug)]
pub struct Package {
    /// The tarball.
    pub tarball: PathBuf,
    /// Its files.
    pub folder: PathBuf,
}

impl Package {
    /// Lengths of the modules in bytes: of the one for a worker, of the one for threads, and of the one that writes.
    #[must_use]
    pub fn module_bytes(&self) -> [u64; 3] {
        [MODULE, THREADS, &format!("write/{MODULE}")].map(|name| bytes(&self.folder.join(format!("{name}_bg.wasm"))))
    }

    /// Length of the tarball in bytes.
    #[must_use]
    pub fn tarball_bytes(&self) -> u64 {
        bytes(&self.tarball)
    }
}

/// Why tests of the package are skipped: the beginning of each obstacle.
pub const MISSING: &str = "the npm package can not be tried here";

/// Why the package can't be built on this machine, whatever its sources are.
#[must_use]
pub fn obstacle() -> Option<String> {
    what_is_missing().map(|what| format!("{MISSING}: {what}"))
}

fn what_is_missing() -> Option<String> {
    for (program, args) in [("node", ["--version"]), ("npm", ["--version"])] {
        let Some(version) = said(Command::new(program).args(args)) else { return Some(format!("no {program}")) };
        let major: Option<u32> = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
        if program == "node" && major.is_none_or(|major| major < OLDEST_NODE) {
            return Some(format!("node {version} is older than {OLDEST_NODE}"));
        }
    }
    add_target(TARGET).and_then(|()| add_source()).err()
}

/// Builds the package into `target/npm`.
///
/// # Errors
/// What could not be run, and what it said is on standard error.
pub fn build() -> Result<Package, String> {
    add_target(TARGET)?;
    add_source()?;
    let generator = generator()?;
    let npm = target_folder().join("npm");
    let folder = npm.join("package");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    copy_all(&root().join("wasm/npm"), &folder)?;
    for (from, to) in [("wasm/README.md", "README.md"), ("LICENSE", "LICENSE")] {
        copy(&root().join(from), &folder.join(to))?;
    }
    set_version(&folder.join("package.json"))?;
    for (features, place) in [("write", folder.join("write")), ("", folder.clone())] {
        let built = compile(cargo().args(["build", "--features", features]), "")?;
        add_glue(&generator, MODULE, &built, &place)?;
    }
    let threads =
        compile(cargo().args(THREADS_BUILD).env(FLAGS, threads_flags()).env("RUSTC_BOOTSTRAP", "1"), THREADS)?;
    add_glue(&generator, THREADS, &threads, &folder)?;
    is_shared(&folder.join(format!("{THREADS}.js")))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(&npm).current_dir(&folder).stdout(Stdio::null());
    run(&mut pack)?;
    Ok(Package { tarball: npm.join(format!("portaborg-{VERSION}.tgz")), folder })
}

/// Builds the module with what measures its parts, and has Node print how fast they are.
///
/// # Errors
/// What could not be run.
pub fn kernels() -> Result<(), String> {
    add_target(TARGET)?;
    let folder = target_folder().join("npm/kernels");
    let built = compile(cargo().args(["build", "--features", "kernels"]), "")?;
    add_glue(&generator()?, MODULE, &built, &folder)?;
    for (from, to) in [("wasm/npm/cipher.js", "cipher.js"), ("tests/npm/kernels.mjs", "kernels.mjs")] {
        copy(&root().join(from), &folder.join(to))?;
    }
    fs::write(folder.join("package.json"), r#"{ "type": "module" }"#).map_err(|error| error.to_string())?;
    run(Command::new("node").arg(folder.join("kernels.mjs")).arg(&folder))
}

/// Compiles the module with this command, into a folder of its own, and gives its file.
fn compile(command: &mut Command, folder: &str) -> Result<PathBuf, String> {
    let folder = target_folder().join(folder);
    command.args(["--package", "portaborg-wasm", "--lib", "--target", TARGET, "--profile", PROFILE]);
    run(command.env("CARGO_TARGET_DIR", &folder))?;
    Ok(folder.join(TARGET).join(PROFILE).join("portaborg_wasm.wasm"))
}

/// Puts a module and the glue between it and JavaScript into a folder, both by that name.
fn add_glue(generator: &Path, name: &str, module: &Path, folder: &Path) -> Result<(), String> {
    let mut generate = Command::new(generator);
    generate.args(["--target", "web", "--omit-default-module-path", "--no-typescript", "--remove-name-section"]);
    run(generate.args(["--remove-producers-section", "--out-name", name, "--out-dir"]).arg(folder).arg(module))
}

/// The standard library comes without atomics, so it is built, too: no stable compiler does that unless it is told to.
const THREADS_BUILD: [&str; 4] = ["build", "-Zbuild-std=std,panic_abort", "--features", "threads"];
const FLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";
/// Two GiB: a shared memory has to say how long it may become.
const THREADS_MEMORY_BYTES: u64 = 2 << 30;

/// Compiler and linker would leave the memory alone otherwise.
fn threads_flags() -> String {
    let mut flags = vec!["-Ctarget-feature=+simd128,+atomics,+bulk-memory,+mutable-globals".to_owned()];
    let exports = ["__wasm_init_tls", "__tls_size", "__tls_align", "__tls_base", "__heap_base"];
    flags.extend(["--shared-memory", "--import-memory"].map(|flag| format!("-Clink-arg={flag}")));
    flags.push(format!("-Clink-arg=--max-memory={THREADS_MEMORY_BYTES}"));
    flags.extend(exports.map(|name| format!("-Clink-arg=--export={name}")));
    flags.join(" ")
}

/// Nothing complains of a memory that isn't shared.
fn is_shared(glue: &Path) -> Result<(), String> {
    let text = fs::read_to_string(glue).map_err(|error| format!("{}: {error}", glue.display()))?;
    let is_shared = text.replace(' ', "").contains("shared:true");
    if is_shared { Ok(()) } else { Err(format!("{}: the memory is not shared", glue.display())) }
}

/// Installs the package into an empty folder, as its users do.
///
/// # Errors
/// What could not be run.
pub fn install(package: &Package, folder: &Path) -> Result<(), String> {
    let manifest = folder.join("package.json");
    fs::write(&manifest, r#"{ "private": true, "type": "module" }"#).map_err(|error| error.to_string())?;
    let mut install = Command::new("npm");
    install.args(["install", "--offline", "--silent", "--no-audit", "--no-fund"]).arg(&package.tarball);
    run(install.current_dir(folder))
}

/// The package installed into a folder of its own, with the scripts of `tests/npm` beside it.
///
/// # Errors
/// What could not be run.
pub fn installed() -> Result<Scratch, String> {
    let package = build()?;
    let folder = Scratch::new("npm");
    install(&package, folder.path())?;
    copy_all(&root().join("tests/npm"), folder.path())?;
    Ok(folder)
}

/// A folder with these packages of npm's registry in its `node_modules`, each `NAME@VERSION`: installed once, and kept.
///
/// # Errors
/// What could not be run.
pub fn packages(wanted: &[&str]) -> Result<PathBuf, String> {
    let folder = tools().join(wanted.join("-").replace(['@', '/'], "-"));
    let done = folder.join("installed");
    if !done.exists() {
        eprintln!("installing {} into {}", wanted.join(" and "), folder.display());
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&folder);
        run(install.args(wanted))?;
        fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))?;
    }
    Ok(folder)
}

/// A repository with contents of some MiB, which take several workers: the folder that it is made in has it as `repo`, and what opens
/// it in `expected.json`.
#[must_use]
pub fn long_contents(encryption: &str) -> Scratch {
    let scratch = Scratch::new("long-contents");
    let (repository, source) = (scratch.path().join("repo"), scratch.folder("source"));
    let mut dice = Dice::new(7);
    let words: Vec<Vec<u8>> = (0..400).map(|_| dice.bytes(12)).collect();
    let text: Vec<u8> = (0..300_000).flat_map(|_| words[dice.below(words.len())].clone()).collect();
    let write =
        |name: &str, content: &[u8]| fs::write(source.join(name), content).expect("a new folder can be written");
    write("text", &text);
    write("text again", &text);
    write("zeros", &vec![0; 3 << 20]);
    write("noise", &dice.bytes(2 << 20));
    for number in 0..200 {
        let bytes = dice.below(9000);
        write(&format!("short {number}"), &dice.bytes(bytes));
    }
    let program = Program::portaborg();
    let run = |args: &[&str]| {
        let call = program.on(&repository, PASSPHRASE).base(scratch.path()).args(args).within(&source);
        let outcome = call.run();
        assert_eq!(outcome.code, Some(0), "{args:?}: {}", outcome.err());
    };
    run(&["repo-create", "--encryption", encryption]);
    run(&["create", "--compression", "zstd,3", "one", "."]);
    let expected = format!(r#"{{ "passphrase": "{PASSPHRASE}" }}"#);
    fs::write(scratch.path().join("expected.json"), expected).expect("a new folder can be written");
    scratch
}

const PASSPHRASE: &str = "long contents";

/// The file with the key, where it isn't in the repository.
#[must_use]
pub fn key_file(fixture: &Fixture, unpacked: &Unpacked) -> Option<PathBuf> {
    if let Some(keys) = unpacked.keys() {
        let mut files: Vec<PathBuf> = fs::read_dir(keys).ok()?.filter_map(|file| Some(file.ok()?.path())).collect();
        files.sort();
        return files.into_iter().next();
    }
    let text = fixture.expected.key_text.as_ref().filter(|_| fixture.name == "keys-exported")?;
    let file = unpacked.scratch().path().join("exported");
    fs::write(&file, text).expect("a new folder can be written");
    Some(file)
}

/// Builds the page into `target/web`, with the package: its own dependencies are installed as its lock file says.
///
/// # Errors
/// What could not be run, and what it said is on standard error.
pub fn page(package: &Package) -> Result<PathBuf, String> {
    let sources = root().join("web");
    let folder = target_folder().join("web");
    // The page's manifest says where the package lies.
    let named = root().join("target/npm").join(package.tarball.file_name().expect("the tarball has a name"));
    if named != package.tarball {
        fs::create_dir_all(root().join("target/npm")).map_err(|error| format!("target/npm: {error}"))?;
        copy(&package.tarball, &named)?;
    }
    run(Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(&sources))?;
    let mut build = Command::new("npm");
    build.args(["run", "--silent", "build", "--", "--logLevel", "warn", "--emptyOutDir", "--outDir"]).arg(&folder);
    run(build.current_dir(&sources))?;
    Ok(folder)
}

/// Makes sure that the compiler has a target.
pub(crate) fn add_target(target: &str) -> Result<(), String> {
    if has_target(target) {
        return Ok(());
    }
    if std::env::var_os(TOOLCHAIN).is_none() {
        eprintln!("adding the target {target}");
        let _ = run(Command::new("rustup").args(["target", "add", target]).current_dir(root())); // see below
    }
    if has_target(target) { Ok(()) } else { Err(format!("the compiler has no target {target}")) }
}

fn has_target(target: &str) -> bool {
    let folder = said(rustc().args(["--print", "target-libdir", "--target", target]));
    folder.is_some_and(|folder| Path::new(&folder).is_dir())
}

/// Makes sure that the standard library can be compiled for threads.
fn add_source() -> Result<(), String> {
    if has_source() {
        return Ok(());
    }
    if std::env::var_os(TOOLCHAIN).is_none() {
        eprintln!("adding the source of the standard library");
        let _ = run(Command::new("rustup").args(["component", "add", "rust-src"]).current_dir(root())); // see below
    }
    if has_source() { Ok(()) } else { Err("the standard library has no source".into()) }
}

fn has_source() -> bool {
    let folder = said(rustc().args(["--print", "sysroot"]));
    folder.is_some_and(|folder| Path::new(&folder).join("lib/rustlib/src/rust/library/Cargo.lock").exists())
}

/// The generator of the library's version, built if it isn't there.
fn generator() -> Result<PathBuf, String> {
    let version = bindgen_version()?;
    let folder = tools().join(format!("wasm-bindgen-{version}"));
    let program = folder.join("bin/wasm-bindgen");
    if !program.exists() {
        eprintln!("building wasm-bindgen {version} into {} (takes a few minutes, once)", folder.display());
        // With what is locked for it, it can't be built from every mirror.
        let mut install = Command::new("cargo");
        install.args(["install", "wasm-bindgen-cli", "--version", &version, "--root"]).arg(&folder);
        run(install.current_dir(tools().parent().unwrap_or(Path::new("/"))).env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(program)
}

/// The version that the workspace pins.
fn bindgen_version() -> Result<String, String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).map_err(|error| format!("Cargo.toml: {error}"))?;
    let pinned = manifest.lines().find_map(|line| line.strip_prefix("wasm-bindgen = \"=")?.strip_suffix('"'));
    pinned.map(str::to_owned).ok_or_else(|| "Cargo.toml does not pin wasm-bindgen".into())
}

/// Where tools that are built from source are kept.
pub(crate) fn tools() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|cache| cache.is_absolute());
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let tools = cache.unwrap_or_else(home).join("portaborg-tools");
    let _ = fs::create_dir_all(&tools); // what needs it will tell
    tools
}

fn set_version(manifest: &Path) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", manifest.display());
    let text = fs::read_to_string(manifest).map_err(|error| failed(&error))?;
    let text = text.replace("\"version\": \"0.0.0\"", &format!("\"version\": \"{VERSION}\""));
    fs::write(manifest, text).map_err(|error| failed(&error))
}

fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let target = to.join(path.file_name().expect("an entry of a folder has a name"));
        if path.is_dir() { copy_all(&path, &target)? } else { copy(&path, &target)? }
    }
    Ok(())
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

fn bytes(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

pub(crate) fn cargo() -> Command {
    with_toolchain("cargo")
}

pub(crate) fn rustc() -> Command {
    with_toolchain("rustc")
}

fn with_toolchain(program: &str) -> Command {
    // The variables of a cargo that runs this would hold for the other toolchain.
    let mut command = Command::new(program);
    if let Some(toolchain) = std::env::var_os(TOOLCHAIN) {
        command.arg(toolchain).env_remove("RUSTUP_TOOLCHAIN");
    }
    command.current_dir(root());
    command
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}

pub(crate) fn said(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

pub(crate) fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

/// The version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the package says that it needs.
const OLDEST_NODE: u32 = 20;
