//! Hard links: later items of one `hlid` become further names of what the first one made (data layer, section 11.2).

use super::Restorer;
use super::problem::{Cause, Problem};
use super::target::Place;
use crate::filesystem::stat::{Inode, mode};
use portaborg_core::item::{FileType, Item};
use rustix::fs::{AtFlags, Stat, fstat, linkat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the first item of each `hlid` made, and where. Ids are kept as digests: an archive may hold long ones.
#[derive(Default)]
pub struct HardLinks {
    first: HashMap<Digest, First>,
    made: HashMap<Inode, Digest>,
}

/// The object that later items are linked to.
#[derive(Clone)]
struct First {
    path: Arc<[u8]>,
    identity: Identity,
    what: What,
    failed: Arc<AtomicBool>,
}

/// Identifies an object even if its inode number is given to another one after its removal, where the file system tells
/// when it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub inode: Inode,
    format_bits: u32,
    birth: Option<(i64, u32)>,
}

/// What all items of one `hlid` must have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct What {
    file_type: Option<FileType>,
    /// Of the chunk list, the link's text and the device number; `None` if a file's chunks were not stored.
    content: Option<Digest>,
}

/// What became of an attempt to link.
pub enum Linked {
    /// There is nothing to link to: the item is extracted in full.
    No,
    /// It is another name of the first one now.
    Yes,
    /// It already was, and an extraction is continued.
    Unchanged,
}

type Digest = [u8; 32];

impl HardLinks {
    /// Remembers what was made for `item` if it is the first of its `hlid`. The flag that is returned is to be raised if
    /// its content turns out to be incomplete.
    pub fn remember(&mut self, item: &Item, path: &[u8], identity: Identity) -> Option<Arc<AtomicBool>> {
        let id = digest_of_id(item)?;
        if self.first.contains_key(&id) {
            return None;
        }
        let failed = Arc::new(AtomicBool::new(false));
        self.first.insert(id, First { path: path.into(), identity, what: What::of(item), failed: failed.clone() });
        self.made.insert(identity.inode, id);
        Some(failed)
    }

    /// Must be called when a name of this inode is removed: its number may be given to another object.
    pub fn forget_inode(&mut self, inode: Inode) {
        if let Some(id) = self.made.remove(&inode) {
            self.first.remove(&id);
        }
    }
}

impl What {
    fn of(item: &Item) -> What {
        let file_type = item.file_type();
        let mut hasher = blake3::Hasher::new();
        for chunk in item.chunks.iter().flatten() {
            hasher.update(&chunk.id.0).update(&chunk.size.to_le_bytes());
        }
        match file_type {
            Some(FileType::Symlink) => hasher.update(item.target.as_deref().unwrap_or_default()),
            Some(FileType::CharDevice | FileType::BlockDevice) => {
                hasher.update(&item.rdev.unwrap_or_default().to_le_bytes())
            }
            _ => &mut hasher,
        };
        let stored = file_type != Some(FileType::Regular) || item.chunks.is_some();
        What { file_type, content: stored.then(|| *hasher.finalize().as_bytes()) }
    }

    fn agrees_with(&self, other: &What) -> bool {
        let contents = self.content.zip(other.content);
        self.file_type == other.file_type && contents.is_none_or(|(one, other)| one == other)
    }
}

impl Identity {
    /// Of what is at `place`, not followed if it is a symbolic link.
    pub fn at(place: &Place<'_>) -> Result<Identity, Errno> {
        Identity::examine(place.parent.as_fd(), place.name, AtFlags::SYMLINK_NOFOLLOW, || place.stat())
    }

    /// Of an open file.
    pub fn of_file(file: &impl AsFd) -> Result<Identity, Errno> {
        Identity::examine(file.as_fd(), b"", EMPTY_PATH, || fstat(file))
    }

    fn examine(
        _fd: BorrowedFd<'_>,
        _path: &[u8],
        _flags: AtFlags,
        stat: impl FnOnce() -> Result<Stat, Errno>,
    ) -> Result<Identity, Errno> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{StatxFlags, makedev, statx};
            let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BTIME;
            match statx(_fd, _path, _flags, wanted) {
                Ok(found) => {
                    let birth = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
                    let told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
                    return Ok(Identity {
                        inode: Inode {
                            device: makedev(found.stx_dev_major, found.stx_dev_minor),
                            number: found.stx_ino,
                        },
                        format_bits: u32::from(found.stx_mode) & S_IFMT,
                        birth: told.then_some(birth),
                    });
                }
                Err(Errno::NOSYS) => {}
                Err(errno) => return Err(errno),
            }
        }
        let found = stat()?;
        Ok(Identity { inode: Inode::of(&found), format_bits: mode(&found) & S_IFMT, birth: None })
    }
}

impl Restorer {
    /// Makes `place` another name of the first object of the item's `hlid`, if there is one and it is still there.
    ///
    /// An item that says something else than the first one is never linked. Where a link can't be made, the item is
    /// extracted in full: its content matters more than the link.
    pub fn link(&mut self, item: &Item, place: &Place<'_>) -> Result<Linked, Problem> {
        let Some(first) = digest_of_id(item).and_then(|id| self.links.first.get(&id)).cloned() else {
            return Ok(Linked::No);
        };
        if first.failed.load(Ordering::Relaxed) || *first.path == *place.path {
            self.links.forget_inode(first.identity.inode);
            return Ok(Linked::No);
        }
        if !first.what.agrees_with(&What::of(item)) {
            self.report(&item.path, Cause::HardLinkDiffers { first: first.path.to_vec() });
            return Ok(Linked::No);
        }
        let Ok(source) = self.target.existing_place(&first.path) else {
            self.links.forget_inode(first.identity.inode);
            return Ok(Linked::No);
        };
        // Without AT_SYMLINK_FOLLOW: a link to a symbolic link is one to the link itself.
        let link = || linkat(&source.parent, source.name, &place.parent, place.name, AtFlags::empty());
        let mut result = link();
        if result == Err(Errno::EXIST) {
            match Identity::at(place) {
                Ok(there) if there == first.identity && self.options.continue_extraction => {
                    return Ok(Linked::Unchanged);
                }
                Ok(there) if there == first.identity => return Ok(Linked::Yes),
                _ => {
                    let cleared = place.stat().and_then(|stat| self.clear(place, &stat));
                    cleared.map_err(|errno| self.refused(item, "link", errno))?;
                    result = link();
                }
            }
        }
        match result {
            // What was at the remembered path may have been replaced: the new name tells what was linked to.
            Ok(()) => {
                if Identity::at(place) == Ok(first.identity) {
                    return Ok(Linked::Yes);
                }
                if let Ok(stat) = place.stat() {
                    place.remove(&stat).map_err(|errno| self.refused(item, "link", errno))?;
                }
            }
            Err(Errno::NOENT) => {}
            Err(errno) => {
                let problem = self.refused(item, "link", errno);
                self.problems.push(problem);
            }
        }
        self.links.forget_inode(first.identity.inode);
        Ok(Linked::No)
    }
}

fn digest_of_id(item: &Item) -> Option<Digest> {
    item.hlid.as_ref().map(|id| *blake3::hash(id).as_bytes())
}

/// The bits of a mode that tell the type.
const S_IFMT: u32 = 0o170_000;

#[cfg(target_os = "linux")]
const EMPTY_PATH: AtFlags = AtFlags::EMPTY_PATH;
#[cfg(not(target_os = "linux"))]
const EMPTY_PATH: AtFlags = AtFlags::empty();
