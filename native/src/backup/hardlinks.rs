//! Hard links: several names of one object (data layer, section 10.3).

use crate::filesystem::stat::{Inode, file_type};
use portaborg_core::item::FileType;
use rustix::fs::Stat;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The objects with several names that were archived, with their contents.
pub struct HardLinks<C> {
    archived: HashMap<Inode, Option<C>>,
}

/// Which of an object's names it is.
pub enum Name<C> {
    /// The only one.
    Only,
    /// The first that is archived.
    First(Inode),
    /// A later one; a regular file has its content already.
    Later(Inode, Option<C>),
}

impl<C: Clone> HardLinks<C> {
    /// Nothing was archived yet.
    pub fn new() -> Self {
        HardLinks { archived: HashMap::new() }
    }

    /// What the object's name is. Directories have one name.
    pub fn name(&self, stat: &Stat) -> Name<C> {
        if stat.st_nlink <= 1 || file_type(stat) == FileType::Directory {
            return Name::Only;
        }
        let inode = Inode::of(stat);
        match self.archived.get(&inode) {
            None => Name::First(inode),
            Some(content) => Name::Later(inode, content.clone()),
        }
    }

    /// Remembers a first name, once its item is in the archive.
    pub fn remember(&mut self, inode: Inode, content: Option<C>) {
        self.archived.insert(inode, content);
    }
}

impl<C> Name<C> {
    /// What all items of the object have in common, if it has several names.
    pub fn hlid(&self) -> Option<Vec<u8>> {
        match self {
            Name::Only => None,
            Name::First(Inode { device, number }) | Name::Later(Inode { device, number }, _) => {
                Some(Sha256::digest(format!("{number}/{device}")).to_vec())
            }
        }
    }
}
