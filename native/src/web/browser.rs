//! Starts a browser on the page.
//!
//! The command line of a process can be read by all users of a machine, so the address, which has the token, must not stand there.
//! What the browser is given is a file that only its owner can read and that leads on to the address.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// The file, which is removed when this is dropped: once the page has been opened, nobody needs it.
pub struct Start {
    file: PathBuf,
}

impl Start {
    /// Starts the user's browser on an address, which consists of letters that HTML takes as they are.
    pub fn browser(address: &str) -> io::Result<Start> {
        if !cfg!(target_os = "macos") && ["DISPLAY", "WAYLAND_DISPLAY"].iter().all(|name| env::var_os(name).is_none()) {
            return Err(io::Error::other("there is no display"));
        }
        let start = Start::new(address, &folder())?;
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(program);
        command.arg(&start.file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C is for the server.
        let mut child = command.process_group(0).spawn()?;
        thread::spawn(move || child.wait());
        Ok(start)
    }

    fn new(address: &str, folder: &Path) -> io::Result<Start> {
        let unique = getrandom::u64().map_err(io::Error::other)?;
        let file = folder.join(format!("portaborg-{unique:016x}.html"));
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        let start = Start { file };
        let address = address.replace('&', "&amp;");
        write!(
            out,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>Portaborg</title>\n\
             <a href=\"{address}\">Open the repository</a>\n"
        )?;
        Ok(start)
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Where a file is that only its owner and his browser can read. Browsers that come as a snap see no hidden folders and a `/tmp` of
/// their own.
fn folder() -> PathBuf {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let home = env::home_dir().filter(|_| Path::new("/snap/bin").is_dir());
    home.or(runtime).filter(|folder| folder.is_dir()).unwrap_or_else(env::temp_dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_file_that_leads_on_is_its_owners_and_goes_away() {
        let start = Start::new("http://127.0.0.1:1/#repository=/repository/&token=x", &env::temp_dir()).unwrap();
        let file = start.file.clone();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("url=http://127.0.0.1:1/#repository=/repository/&amp;token=x\""), "{text}");
        drop(start);
        assert!(!file.exists());
    }
}
