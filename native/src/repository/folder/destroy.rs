//! Removing a repository from its folder (repository layer, sections 1.5 and 2.4).

use super::{Folder, store_error};
use portaborg_core::listing::LISTING_NAME;
use portaborg_core::name::{Key, Namespace};
use portaborg_core::store::StoreError;
use std::fs::{self, File};
use std::io;

/// What must be there in a folder without a config for it to pass for what is left of a repository.
const SIGNS: [Namespace; 4] = [Namespace::Packs, Namespace::Archives, Namespace::Index, Namespace::Config];
/// In this order a repository goes. If the removal ends early, that is most likely amid the packs, where all [`SIGNS`] are
/// there; other programs see the lock to the end.
const ORDER: [Namespace; 7] = [
    Namespace::Packs,
    Namespace::Cache,
    Namespace::Keys,
    Namespace::Index,
    Namespace::Archives,
    Namespace::Config,
    Namespace::Locks,
];
/// Where a server that limits the size of a repository keeps its count.
const QUOTA: &str = "quota.hid";

impl Folder {
    /// Whether a folder without a config looks like what is left of a repository.
    pub fn looks_like_repository(&self) -> bool {
        SIGNS.iter().all(|namespace| self.root.join(namespace.name()).is_dir())
    }

    /// Removes the repository, and the folder if nothing else is in it; otherwise gives `false`. Symbolic links are removed,
    /// and what they point to is left alone.
    pub fn destroy(&self) -> Result<bool, StoreError> {
        self.clear()?;
        let root = |error| store_error(error, String::new());
        for beside in [QUOTA, LISTING_NAME] {
            unless_missing(fs::remove_file(self.root.join(beside))).map_err(root)?;
        }
        let is_empty = fs::read_dir(&self.root).map_err(root)?.next().is_none();
        if is_empty {
            // A folder that can't be removed is as good as none: another repository can be made in it.
            let _ = fs::remove_dir(&self.root);
        }
        Ok(is_empty)
    }

    /// Removes all that belongs to the repository, and leaves the folder.
    pub fn clear(&self) -> Result<(), StoreError> {
        // Without its config it is no repository any more, whatever is left of it if this ends early.
        let removed = unless_missing(fs::remove_file(self.path(&Key::Config)));
        removed.map_err(|error| store_error(error, Key::Config.to_string()))?;
        // That this could be lost is no reason to keep the rest.
        let _ = File::open(self.root.join(Namespace::Config.name())).and_then(|folder| folder.sync_all());
        for namespace in ORDER {
            let removed = unless_missing(fs::remove_dir_all(self.root.join(namespace.name())));
            removed.map_err(|error| store_error(error, namespace.name().into()))?;
        }
        Ok(())
    }
}

fn unless_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
