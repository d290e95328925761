//! The files of the item cache: replaced whole, and no more of them than may be.

use crate::system::fs::{DirBuilderExt, OpenOptionsExt};
use portaborg_core::id::ArchiveId;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the files of a repository may take together, in bytes: the items of a hundred archives with 70,000 of them each.
pub const MOST_BYTES: u64 = 512 << 20;
/// A file that is not whole after this time never will be.
const UNFINISHED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// What such a file's name ends with.
const UNFINISHED: &str = ".tmp";

/// Where the files are: each has the name of its archive's id.
#[derive(Clone)]
pub struct Folder(PathBuf);

/// A file that is not whole yet. It is removed when dropped.
pub struct NewFile {
    temporary: PathBuf,
    place: PathBuf,
    folder: Folder,
}

impl Folder {
    /// A folder, which need not be there.
    pub fn new(path: PathBuf) -> Self {
        Folder(path)
    }

    /// The file of an archive, and how long it is; `None` if there is none.
    pub fn open(&self, archive: ArchiveId) -> Option<(File, u64)> {
        let path = self.path(archive);
        // What is no file could make opening it wait.
        fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let file = File::open(path).ok()?;
        let bytes = file.metadata().ok()?.len();
        Some((file, bytes))
    }

    /// Removes the file of an archive.
    pub fn remove(&self, archive: ArchiveId) {
        let _ = fs::remove_file(self.path(archive)); // it is of no use, but does no harm
    }

    /// Begins the file of an archive, readable for its owner only.
    pub fn create(&self, archive: ArchiveId) -> io::Result<(File, NewFile)> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let unique = getrandom::u64().map_err(io::Error::other)?;
        let place = self.path(archive);
        let temporary = self.0.join(format!("{archive}.{unique:016x}{UNFINISHED}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        Ok((file, NewFile { temporary, place, folder: self.clone() }))
    }

    fn path(&self, archive: ArchiveId) -> PathBuf {
        self.0.join(archive.to_string())
    }

    /// Removes what is unfinished for long, and the files whose last use is longest ago, until the others may stay.
    fn trim(&self, most_bytes: u64) {
        let now = SystemTime::now();
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_old = now.duration_since(used).is_ok_and(|age| age > UNFINISHED_FOR);
            if is_unfinished(&path) {
                if is_old {
                    let _ = fs::remove_file(path); // someone else may have removed it
                }
            } else if metadata.is_file() {
                files.push((used, metadata.len(), path));
            }
        }
        files.sort();
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, file_bytes, path) in files {
            if bytes <= most_bytes {
                break;
            }
            let _ = fs::remove_file(path); // as above
            bytes -= file_bytes;
        }
    }
}

impl NewFile {
    /// Gives it its name, in place of another file that had it. Whether it survives a crash of the machine is of no matter: what is
    /// not whole is found so.
    pub fn finish(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.place)?;
        self.folder.trim(MOST_BYTES);
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary); // where it is finished, it has another name
    }
}

fn is_unfinished(path: &Path) -> bool {
    path.to_string_lossy().ends_with(UNFINISHED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_used_longest_ago_goes_first_and_what_is_unfinished_after_a_day() {
        let unique = getrandom::u64().unwrap();
        let path = std::env::temp_dir().join(format!("portaborg-items-{unique:016x}"));
        let folder = Folder::new(path.clone());
        let used = |number: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + number);
        for (number, order) in [(1_u8, 3), (2, 1), (3, 4), (4, 2)] {
            let (mut file, new) = folder.create(ArchiveId([number; 32])).unwrap();
            file.write_all(&[0; 100]).unwrap();
            new.finish().unwrap();
            file.set_modified(used(order)).unwrap();
        }
        let (old, unfinished) = folder.create(ArchiveId([5; 32])).unwrap();
        old.set_modified(used(0)).unwrap();
        let (_young, young) = folder.create(ArchiveId([6; 32])).unwrap();
        std::mem::forget(unfinished);
        folder.trim(250);
        let left = |number: u8| folder.open(ArchiveId([number; 32])).is_some();
        assert_eq!([1, 2, 3, 4].map(left), [true, false, true, false]);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
        drop(young);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2);
        fs::remove_dir_all(path).unwrap();
    }
}
