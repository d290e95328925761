//! Folders of their own that vanish again, whatever was extracted into them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{IFlags, Mode, OFlags, ioctl_getflags, ioctl_setflags, open};

/// A new, empty folder; removed when dropped (unless `PORTABORG_TESTS_KEEP` is set).
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes a folder whose name begins with `name`, below the temporary directory.
    #[must_use]
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("portaborg-tests.{}.{number}.{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new, empty folder in it.
    #[must_use]
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::env::var_os("PORTABORG_TESTS_KEEP").is_some() {
            eprintln!("kept: {}", self.path.display());
        } else {
            remove_all(&self.path);
        }
    }
}

/// Removes a folder with all its content, also what is immutable, append-only or closed to its owner.
pub fn remove_all(path: &Path) {
    if fs::remove_dir_all(path).is_ok() {
        return;
    }
    unlock(path);
    if let Err(error) = fs::remove_dir_all(path)
        && path.exists()
    {
        eprintln!("{} stays behind: {error}", path.display());
    }
}

/// Makes a folder's content removable.
fn unlock(path: &Path) {
    let Ok(stat) = fs::symlink_metadata(path) else { return };
    if !stat.is_dir() && !stat.is_file() {
        return;
    }
    if let Ok(file) = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW, Mode::empty())
        && let Ok(flags) = ioctl_getflags(&file)
        && flags.intersects(IFlags::IMMUTABLE | IFlags::APPEND)
    {
        let _ = ioctl_setflags(&file, flags - (IFlags::IMMUTABLE | IFlags::APPEND));
    }
    if stat.is_dir() {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            unlock(&entry.path());
        }
    }
}
