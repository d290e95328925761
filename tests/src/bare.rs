//! Checks that core compiles where there is no std at all: for a bare 64-bit and a bare 32-bit machine. Where rustup can't
//! bring these targets, for this machine with a sysroot that holds nothing but core, alloc and compiler_builtins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Targets without std.
const TARGETS: [&str; 2] = ["x86_64-unknown-none", "thumbv7m-none-eabi"];

/// The commands that check it, by name.
#[must_use]
pub fn checks(root: &Path) -> Vec<(String, Command)> {
    let there: Vec<&str> = TARGETS.into_iter().filter(|target| bring(target)).collect();
    if there.is_empty() {
        return vec![by_sysroot(root)];
    }
    there.into_iter().map(|target| (format!("core for {target}"), check(target))).collect()
}

fn check(target: &str) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["check", "--package", "portaborg-core", "--no-default-features", "--target", target]);
    cargo
}

/// Whether the target is installed; asks rustup for it if not.
fn bring(target: &str) -> bool {
    let folder = sysroot().join("lib/rustlib").join(target);
    if folder.is_dir() {
        return true;
    }
    println!("asking rustup for {target}");
    let added = Command::new("rustup").args(["target", "add", target]).stdin(Stdio::null()).status();
    added.is_ok_and(|status| status.success()) && folder.is_dir()
}

fn by_sysroot(root: &Path) -> (String, Command) {
    let host = tell("rustc", &["--print", "host-tuple"]);
    let bare = root.join("target/bare-sysroot");
    let libraries = bare.join("lib/rustlib").join(&host).join("lib");
    let _ = fs::remove_dir_all(&bare);
    fs::create_dir_all(&libraries).expect("the target folder can be written");
    for entry in fs::read_dir(sysroot().join("lib/rustlib").join(&host).join("lib")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ["libcore-", "liballoc-", "libcompiler_builtins-"].iter().any(|start| name.starts_with(start)) {
            std::os::unix::fs::symlink(entry.path(), libraries.join(name)).expect("the target folder can be written");
        }
    }
    let mut command = check(&host);
    command.env("CARGO_TARGET_DIR", root.join("target/bare")).env(
        format!("CARGO_TARGET_{}_RUSTFLAGS", host.to_uppercase().replace('-', "_")),
        format!("--sysroot={}", bare.display()),
    );
    (format!("core for {host} without std"), command)
}

fn sysroot() -> PathBuf {
    PathBuf::from(tell("rustc", &["--print", "sysroot"]))
}

fn tell(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
