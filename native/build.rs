//! Embeds the page that `cargo dist-web` built, if it did, as data for `web`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let page = target_folder(&out).join("web");
    // If what is watched isn't there, cargo builds the program anew each time.
    fs::create_dir_all(&page)?;
    println!("cargo::rerun-if-changed={}", page.display());
    let mut files = Vec::new();
    let has_sockets = env::var_os("CARGO_CFG_TARGET_OS").is_none_or(|system| system != "wasi");
    if has_sockets && page.join("index.html").is_file() {
        collect(&page, "", &mut files)?;
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in &files {
        writeln!(list, "    ({name:?}, include_bytes!({path:?}).as_slice()),").expect("a string takes everything");
    }
    fs::write(out.join("page.rs"), list + "]\n")
}

/// Where cargo puts what it builds: the folder in which it keeps what it knows of the compiler.
fn target_folder(out: &Path) -> PathBuf {
    let found = out.ancestors().find(|folder| folder.join(".rustc_info.json").is_file());
    found.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), Path::to_owned)
}

/// The files in a folder by their names below the page's, but no maps of sources, which only debuggers want.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let (Some(name), Some(text)) = (path.file_name().and_then(|name| name.to_str()), path.to_str()) else {
            println!("cargo::warning={} is left out: its name is not UTF-8", path.display());
            continue;
        };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else if !name.ends_with(".map") {
            files.push((name, text.into()));
        }
    }
    Ok(())
}
