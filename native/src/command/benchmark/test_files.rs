//! Made-up files to archive, in a folder of their own that goes when they are no longer needed.

use super::corpus::noise;
use crate::failure::Failure;
use crate::interrupt;
use rustix::fs::{Advice, fadvise};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folder.
pub struct TestFiles {
    path: PathBuf,
    is_there: bool,
}

impl TestFiles {
    /// So many files of so many bytes in a new folder below `parent`: zeros, or else random ones. The system is told to
    /// forget their content, so that reading them is reading them.
    pub fn create(parent: &Path, count: u64, bytes: u64, is_random: bool) -> Result<Self, Failure> {
        let failed = |path: &Path, error| Failure::error(format_args!("can not create {}: {error}", path.display()));
        let path = parent.join(format!("borg-test-data-{}", crate::client::random::uuid()?));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|error| failed(&path, error))?;
        let files = TestFiles { path, is_there: true };
        let mut content = vec![0; if is_random { 0 } else { bytes as usize }];
        for number in 0..count {
            interrupt::check()?;
            if is_random {
                content = noise(bytes as usize)?;
            }
            let path = files.path.join(format!("file_{number}"));
            write(&path, &content).map_err(|error| failed(&path, error))?;
        }
        Ok(files)
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes them.
    pub fn remove(mut self) -> Result<(), Failure> {
        self.is_there = false;
        let removed = fs::remove_dir_all(&self.path);
        removed.map_err(|error| Failure::error(format_args!("can not remove {}: {error}", self.path.display())))
    }
}

impl Drop for TestFiles {
    fn drop(&mut self) {
        if self.is_there {
            // Something else has failed, and that is told.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(content)?;
    // What isn't stored yet can't be forgotten.
    file.sync_data()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_in_any_case() {
        let parent = std::env::temp_dir();
        let zeros = TestFiles::create(&parent, 2, 3, false).unwrap();
        assert_eq!(fs::read(zeros.path().join("file_1")).unwrap(), [0; 3]);
        let random = TestFiles::create(&parent, 1, 5000, true).unwrap();
        let content = fs::read(random.path().join("file_0")).unwrap();
        assert!(content.len() == 5000 && content.iter().any(|&byte| byte != 0));
        let paths = [zeros.path().to_owned(), random.path().to_owned()];
        drop(zeros);
        random.remove().unwrap();
        assert_eq!(paths.map(|path| path.exists()), [false; 2]);
        assert!(TestFiles::create(&parent.join("missing"), 1, 1, false).is_err());
    }
}
