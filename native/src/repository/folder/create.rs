//! Making the folder of a repository (repository layer, sections 1.5 and 2.4).

use super::{Folder, store_error};
use portaborg_core::name::Namespace;
use portaborg_core::store::StoreError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Packs are spread over so many folders.
const PACK_FOLDERS: u16 = 256;

/// What was made for a repository that may yet fail to become one.
#[derive(Debug, Default)]
pub struct Made {
    /// The repository's folder, once it is ours to fill.
    ours: Option<PathBuf>,
    /// The repository's folder and its parents, as far as they were not there; outermost first.
    folders: Vec<PathBuf>,
}

impl Folder {
    /// Makes a folder with all that a repository has in it before anything is stored, as the umask allows; durable after
    /// the next sync. A folder that is there already must be empty ([`io::ErrorKind::DirectoryNotEmpty`]). Also after a
    /// failure, `made` tells what [`Made::undo`] has to remove.
    pub fn create(root: &Path, made: &mut Made) -> io::Result<Folder> {
        made.make_with_parents(root)?;
        let folder = Folder::open(root)?;
        if fs::read_dir(root)?.next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        // A parent that must not be read can't be made durable, which is no reason not to use it.
        let syncable = |made: &&PathBuf| made.parent().is_some_and(|parent| fs::File::open(parent).is_ok());
        made.folders.iter().filter(syncable).for_each(|made| folder.changed(made));
        let (first, others) = Namespace::ALL.split_first().expect("there are some");
        // Of two programs that find the folder empty, the one that makes the first namespace has it.
        folder.make_namespace(*first).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::ErrorKind::DirectoryNotEmpty.into(),
            _ => error,
        })?;
        made.ours = Some(root.into());
        others.iter().try_for_each(|namespace| folder.make_namespace(*namespace))?;
        Ok(folder)
    }

    fn make_namespace(&self, namespace: Namespace) -> io::Result<()> {
        let path = self.root.join(namespace.name());
        fs::create_dir(&path)?;
        self.changed(&path);
        if namespace == Namespace::Packs {
            for number in 0..PACK_FOLDERS {
                let path = path.join(format!("{number:02x}"));
                fs::create_dir(&path)?;
                self.changed(&path);
            }
        }
        Ok(())
    }
}

impl Made {
    fn make_with_parents(&mut self, root: &Path) -> io::Result<()> {
        let is_missing =
            |path: &&Path| fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let missing: Vec<&Path> = root.ancestors().take_while(is_missing).collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => self.folders.push(path.into()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {} // made by someone else meanwhile
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes what was made and all that a repository may have in it. A folder that someone else has put something into
    /// stays.
    pub fn undo(self) -> Result<(), StoreError> {
        if let Some(root) = self.ours {
            Folder::open(&root).map_err(|error| store_error(error, root.display().to_string()))?.clear()?;
        }
        for folder in self.folders.iter().rev() {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => break,
                removed => removed.map_err(|error| store_error(error, folder.display().to_string()))?,
            }
        }
        Ok(())
    }
}
