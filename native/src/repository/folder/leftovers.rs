//! What is left of writers that died (repository layer, sections 1.3 and 1.5).

use super::{Folder, MAX_DEPTH, TEMPORARY_SUFFIX, is_missing, store_error};
use crate::repository::permissions::Right;
use portaborg_core::name::Namespace;
use portaborg_core::store::StoreError;
use std::fs;
use std::io;
use std::path::Path;

/// Where nobody writes beside the holder of an exclusive lock.
const GUARDED: [Namespace; 4] = [Namespace::Archives, Namespace::Cache, Namespace::Index, Namespace::Packs];

impl Folder {
    /// Removes the temporary files of clients that were killed, which nothing else ever does, where it is permitted, and gives their number and
    /// their length in bytes. The caller holds an exclusive lock.
    pub fn remove_leftovers(&self) -> Result<(u64, u64), StoreError> {
        let mut removed = (0, 0);
        for namespace in GUARDED.into_iter().filter(|namespace| self.permissions.allow(*namespace, Right::Delete)) {
            match remove_below(&self.root.join(namespace.name()), 0, &mut removed) {
                Err(error) if !is_missing(&error) => return Err(store_error(error, namespace.name().into())),
                _ => {}
            }
        }
        Ok(removed)
    }
}

fn remove_below(folder: &Path, depth: usize, removed: &mut (u64, u64)) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            if depth < MAX_DEPTH {
                remove_below(&path, depth + 1, removed)?;
            }
        } else if metadata.is_file() && path.extension().is_some_and(|extension| extension == TEMPORARY_SUFFIX) {
            fs::remove_file(&path)?;
            *removed = (removed.0 + 1, removed.1 + metadata.len());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_files_of_guarded_namespaces_are_removed() {
        let root = std::env::temp_dir().join(format!("portaborg-leftovers.{}", std::process::id()));
        let files =
            ["packs/ab/abcd", "packs/ab/abcd.01.tmp", "index/x.tmp", "locks/y.tmp", "keys/z.tmp", "archives/a.del"];
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "12345").unwrap();
        }
        assert_eq!(Folder::open(&root).unwrap().remove_leftovers(), Ok((2, 10)));
        let left: Vec<&str> = files.into_iter().filter(|file| root.join(file).exists()).collect();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(left, ["packs/ab/abcd", "locks/y.tmp", "keys/z.tmp", "archives/a.del"]);
    }
}
