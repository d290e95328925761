//! The npm package: its module is compiled, its sources are put beside it, and both are packed.
//!
//! `WASM_TOOLCHAIN` names a toolchain that has the target (such as `+web`); without it, the workspace's own is used, and rustup
//! is asked for the target. The generator of the glue between module and JavaScript has to be of the same version as the
//! library; it is built once and kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the module is compiled for.
const TARGET: &str = "wasm32-unknown-unknown";
/// The variable with the toolchain that compiles it.
const TOOLCHAIN: &str = "WASM_TOOLCHAIN";
/// The profile for everything that is downloaded.
pub(crate) const PROFILE: &str = "web";
/// How the package's JavaScript calls the module and its glue.
const MODULE: &str = "module";

/// What was built.
#[derive(Debug)]
pub struct Package {
    /// The tarball.
    pub tarball: PathBuf,
    /// Its files.
    pub folder: PathBuf,
}

impl Package {
    /// Length of the module in bytes.
    #[must_use]
    pub fn module_bytes(&self) -> u64 {
        bytes(&self.folder.join(format!("{MODULE}_bg.wasm")))
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
    add_target(TARGET).err()
}

/// Builds the package into `target/npm`.
///
/// # Errors
/// What could not be run, and what it said is on standard error.
pub fn build() -> Result<Package, String> {
    add_target(TARGET)?;
    let generator = generator()?;
    let mut compile = cargo();
    compile.args(["build", "--package", "portaborg-wasm", "--lib", "--target", TARGET, "--profile", PROFILE]);
    run(compile.env("CARGO_TARGET_DIR", target_folder()))?;
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
    let module = target_folder().join(TARGET).join(PROFILE).join("portaborg_wasm.wasm");
    let mut generate = Command::new(generator);
    generate.args(["--target", "web", "--omit-default-module-path", "--no-typescript", "--remove-name-section"]);
    run(generate.args(["--remove-producers-section", "--out-name", MODULE, "--out-dir"]).arg(&folder).arg(module))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(&npm).current_dir(&folder).stdout(Stdio::null());
    run(&mut pack)?;
    Ok(Package { tarball: npm.join(format!("portaborg-{VERSION}.tgz")), folder })
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
