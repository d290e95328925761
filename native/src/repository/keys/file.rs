//! Key files: found, stored whole or not at all, and removed so that nothing is left to be read (repository layer, section
//! 3.4).

use crate::client::dirs;
use crate::system::fs::{FileExt, OpenOptionsExt};
use portaborg_core::key::MAX_TEXT_BYTES;
use rustix::fs::fstat;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{self, Path, PathBuf};

/// The one key file that `BORG_KEY_FILE` names in place of the folder of key files.
pub fn explicit_file() -> Option<PathBuf> {
    let file = env::var_os("BORG_KEY_FILE").filter(|file| !file.is_empty()).map(PathBuf::from)?;
    Some(path::absolute(&file).unwrap_or(file))
}

/// The content of a file that may be a key.
pub fn read(file: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() || metadata.len() > MAX_TEXT_BYTES as u64 {
        return Err(io::Error::other("is no key file"));
    }
    fs::read(file)
}

/// Stores a file whole or not at all, readable for its owner only. Where a symbolic link has the name, its target is stored.
pub fn save(file: &Path, text: &str) -> io::Result<()> {
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.into());
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let unique = getrandom::u64().map_err(io::Error::other)?;
    let mut temporary = OsString::from(name);
    temporary.push(format!(".{unique:016x}.tmp"));
    let temporary = folder.join(temporary);
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = out.write_all(text.as_bytes()).and_then(|()| out.sync_all());
    let stored = written.and_then(|()| fs::rename(&temporary, file)).and_then(|()| dirs::sync(folder));
    if stored.is_err() {
        let _ = fs::remove_file(&temporary); // the error that counts is the first one
    }
    stored
}

/// Stores a file as [`save`] does, and overwrites what was there before.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let before = fs::OpenOptions::new().write(true).open(file);
    save(file, text)?;
    // That the old text may be found on the disk is no reason to fail: the new one is stored.
    let _ = before.and_then(|before| if fstat(&before)?.st_nlink == 0 { overwrite(&before) } else { Ok(()) });
    Ok(())
}

/// Removes a file, whose content is overwritten first unless it has other names.
pub fn remove(file: &Path) -> io::Result<()> {
    let overwritten = fs::OpenOptions::new()
        .write(true)
        .open(file)
        .and_then(|content| if fstat(&content)?.st_nlink == 1 { overwrite(&content) } else { Ok(()) });
    fs::remove_file(file)?;
    overwritten
}

fn overwrite(file: &File) -> io::Result<()> {
    let len = file.metadata()?.len().min(MAX_TEXT_BYTES as u64);
    let mut noise = vec![0; len as usize];
    getrandom::fill(&mut noise).map_err(io::Error::other)?;
    file.write_all_at(&noise, 0)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt, symlink};

    /// A folder of its own, with what a second name of a file shows of the file's fate.
    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("portaborg-key-file.{}.{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_stored_whole_for_their_owner_and_links_stay() {
        let folder = folder("save");
        let (file, link) = (folder.join("key.tmp"), folder.join("link"));
        save(&file, "one").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        symlink("key.tmp", &link).unwrap();
        save(&link, "two").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(&folder), ["key.tmp", "link"]);
        assert!(save(&folder.join("missing/key"), "").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_removed_or_replaced_is_overwritten_unless_it_has_other_names() {
        let folder = folder("remove");
        let (file, other) = (folder.join("key"), folder.join("other"));
        for forget in [remove as fn(&Path) -> io::Result<()>, |file| replace(file, "new")] {
            fs::write(&file, "secret").unwrap();
            let open = File::open(&file).unwrap();
            forget(&file).unwrap();
            let mut left = [0; 6];
            open.read_exact_at(&mut left, 0).unwrap();
            assert_ne!(&left, b"secret");

            fs::write(&file, "secret").unwrap();
            fs::hard_link(&file, &other).unwrap();
            forget(&file).unwrap();
            assert_eq!(fs::read(&other).unwrap(), b"secret");
            fs::remove_file(&other).unwrap();
            let _ = fs::remove_file(&file);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
