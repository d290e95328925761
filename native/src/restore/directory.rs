//! Directories: made at once, given their attributes when what is in them is done (data layer, section 11.1).

use super::attributes::{Attributes, Object};
use super::problem::{Cause, Problem};
use super::target::{Refusal, is_below};
use super::{Begun, Guarded, Restorer, relative};
use crate::filesystem::flags;
use crate::filesystem::stat::{Inode, file_type};
use portaborg_core::item::{FileType, Item};
use rustix::fs::{Mode, fstat, mkdirat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

/// The directories that the current item lies in, the outermost first, with what is to be set on each in the end.
///
/// Unlike Borg's, the target itself (item `.`) is left last and keeps its times; and `a` is left before `ab` is made.
#[derive(Default)]
pub struct Directories(Vec<Left>);

/// A directory that no further item lies in, or will soon be: its attributes are still to be set.
pub struct Left {
    /// Below the target; empty for the target itself.
    path: Vec<u8>,
    /// As the item has it, for messages.
    item_path: Vec<u8>,
    attributes: Attributes,
}

impl Left {
    /// Below the target.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    fn contains(&self, path: &[u8]) -> bool {
        !path.is_empty() && (self.path.is_empty() || is_below(path, &self.path))
    }
}

impl Restorer {
    pub fn begin_directory(&mut self, item: &Item, path: &[u8]) -> Result<Begun, Problem> {
        if !path.is_empty() {
            let place = self.place(item, path)?;
            let make = || mkdirat(&place.parent, place.name, Mode::RWXU);
            let result = match make() {
                Err(Errno::EXIST) => match place.stat() {
                    // It may be a subvolume, which would not come back: it is kept with what is in it.
                    Ok(stat) if file_type(&stat) == FileType::Directory => {
                        let mode = Mode::from_raw_mode(stat.st_mode);
                        if !mode.contains(Mode::RWXU) {
                            // If it is not ours to open up, the items in it will tell.
                            let _ = place.change_mode(mode | Mode::RWXU);
                        }
                        self.flags_inherited |=
                            self.options.flags && place.open_directory().is_ok_and(flags::are_inherited);
                        Ok(())
                    }
                    Ok(stat) => self.clear(&place, &stat).and_then(|()| make()),
                    Err(_) => make(),
                },
                result => result,
            };
            result.map_err(|errno| self.refused(item, "mkdir", errno))?;
        }
        let attributes = self.attributes(item);
        self.directories.0.push(Left { path: path.into(), item_path: item.path.clone(), attributes });
        Ok(Begun::Done)
    }

    /// The directories that `item` does not lie in, the deepest first: they are to be [left](Self::leave) when what is in them
    /// is done.
    pub fn depart(&mut self, item: &Item) -> Vec<Left> {
        let Ok(path) = relative(&item.path) else { return Vec::new() };
        let mut left = Vec::new();
        while let Some(open) = self.directories.0.pop_if(|open| !open.contains(&path)) {
            left.push(open);
        }
        left
    }

    /// Leaves the directories that `path` does not lie in.
    pub fn leave_directories(&mut self, path: &[u8]) {
        while let Some(open) = self.directories.0.pop_if(|open| !open.contains(path)) {
            self.leave(open);
        }
    }

    /// Leaves all directories, the deepest first.
    pub fn leave_all_directories(&mut self) {
        while let Some(open) = self.directories.0.pop() {
            self.leave(open);
        }
    }

    /// Gives a directory its attributes.
    pub fn leave(&mut self, mut open: Left) {
        let guarding = open.attributes.take_guarding_flags();
        let result = if open.path.is_empty() {
            let root = self.target.root().clone();
            self.set_attributes(&open, guarding, root.as_fd());
            Ok(())
        } else {
            match self.target.existing_place(&open.path) {
                Ok(place) => place.open_directory().map(|fd| self.set_attributes(&open, guarding, fd.as_fd())),
                Err(Refusal::NotADirectory) => return self.report(&open.item_path, Cause::SymlinkParent),
                Err(Refusal::Os(errno)) => Err(errno),
            }
        };
        if let Err(errno) = result {
            let cause = self.refused(&Item { path: open.item_path.clone(), ..Item::default() }, "attrs", errno).cause;
            self.report(&open.item_path, cause);
        }
    }

    fn set_attributes(&mut self, open: &Left, guarding: Option<u32>, fd: BorrowedFd<'_>) {
        for cause in open.attributes.apply(&Object::Open(fd)) {
            self.report(&open.item_path, cause);
        }
        // Items of this directory may still come if the archive is not in the order of a walk.
        if let (Some(bsdflags), Ok(stat)) = (guarding, fstat(fd)) {
            self.guarded.push(Guarded { path: open.path.clone(), inode: Inode::of(&stat), bsdflags });
        }
    }
}
