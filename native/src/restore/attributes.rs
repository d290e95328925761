//! Owners, modes, extended attributes, access control lists, times and flags (data layer, section 11.3).

use super::Options;
use super::problem::Cause;
use super::target::Place;
use crate::filesystem::acl::{self, InvalidAcl};
use crate::filesystem::flags;
use crate::filesystem::names::Names;
use crate::system::attributes;
use portaborg_core::item::{Item, Pairs};
use portaborg_core::time::{NANOS_PER_SEC, Timestamp};
use rustix::fs::{AtFlags, Mode, Timespec, Timestamps, futimens, utimensat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

/// What is set on an object once it is there, as far as it was stored and is asked for.
pub struct Attributes {
    owner: (Option<u32>, Option<u32>),
    mode: Mode,
    xattrs: Pairs,
    acls: Vec<(&'static str, Result<Vec<u8>, InvalidAcl>)>,
    #[cfg(target_os = "macos")]
    birthtime: Option<Timestamp>,
    times: Timestamps,
    flags: Option<u32>,
}

/// What attributes are set on.
pub enum Object<'a> {
    /// A regular file or a directory, open.
    Open(BorrowedFd<'a>),
    /// A symbolic link, by its name.
    Symlink(&'a Place<'a>),
    /// A named pipe or a device, by its name: opening it could block or do anything.
    Special(&'a Place<'a>),
}

impl Attributes {
    /// What `item` says. With `flags_inherited`, flags may have to be cleared, too.
    pub fn new(item: &Item, options: &Options, flags_inherited: bool, names: &mut Names) -> Attributes {
        let mut acls = Vec::new();
        if options.acls && cfg!(target_os = "linux") {
            for (name, text) in [(acl::ACCESS, &item.acl.access), (acl::DEFAULT, &item.acl.default)] {
                if let Some(text) = text {
                    acls.push((name, acl::to_xattr(text, options.numeric_ids, names)));
                }
            }
        }
        Attributes {
            owner: names.owner(item, options.numeric_ids),
            mode: Mode::from_bits_truncate((item.mode.unwrap_or(0) & 0o7777) as _),
            xattrs: item.xattrs.clone().filter(|_| options.xattrs).unwrap_or_default(),
            acls,
            #[cfg(target_os = "macos")]
            birthtime: item.birthtime,
            times: times(item.atime.unwrap_or(item.mtime), item.mtime),
            flags: item.bsdflags.filter(|&stored| options.flags && (stored != 0 || flags_inherited)),
        }
    }

    /// Takes out the flags that forbid further changes, for [`flags::set`] later; the others stay.
    pub fn take_guarding_flags(&mut self) -> Option<u32> {
        let stored = self.flags.filter(|stored| stored & flags::GUARDING != 0)?;
        self.flags = Some(stored & !flags::GUARDING);
        Some(stored)
    }

    /// Sets everything and goes on after what fails; returns what did.
    ///
    /// The owner comes first because changing it clears setuid bits and capabilities. Extended attributes come before the
    /// mode because a file that its owner can't write to takes none of the owner's. The mode comes before the access
    /// control list because it would change that. The flags come last because they can forbid everything else. A failed
    /// change of owner is no problem of the item: Borg ignores it, too, and sets the whole mode nevertheless.
    pub fn apply(&self, object: &Object<'_>) -> Vec<Cause> {
        let mut problems = Vec::new();
        let attrs = |errno| Cause::Os { operation: "attrs", errno, file: None };
        let (owner, group) = self.owner;
        if owner.is_some() || group.is_some() {
            let _ignored_as_borg_does = object.change_owner(owner, group);
        }
        for (name, value) in &self.xattrs {
            if let Err(errno) = object.set_xattr(name, value) {
                problems.push(Cause::Xattr { name: name.clone(), value_bytes: value.len(), errno });
            }
        }
        problems.extend(object.change_mode(self.mode).err().map(attrs));
        for (name, value) in &self.acls {
            match value {
                Err(InvalidAcl) => problems.push(attrs(Errno::INVAL)),
                Ok(value) if value.is_empty() || !object.takes_acl(name) => {}
                Ok(value) => match object.set_xattr(name.as_bytes(), value) {
                    Ok(()) | Err(Errno::OPNOTSUPP) => {}
                    Err(errno) => problems.push(attrs(errno)),
                },
            }
        }
        #[cfg(target_os = "macos")]
        if let Some(birthtime) = self.birthtime {
            // Moves the time of creation back to it; the real times follow.
            let _only_a_courtesy = object.set_times(&times(birthtime, birthtime));
        }
        match (object.set_times(&self.times), object) {
            (Err(Errno::OPNOTSUPP | Errno::NOSYS), Object::Symlink(_)) => {} // some systems have no times of links
            (result, _) => problems.extend(result.err().map(Cause::Times)),
        }
        if let (Some(bsdflags), Object::Open(fd)) = (self.flags, object) {
            problems.extend(flags::set(fd, bsdflags).err().map(Cause::Flags));
        }
        problems
    }
}

impl Object<'_> {
    fn change_owner(&self, owner: Option<u32>, group: Option<u32>) -> Result<(), Errno> {
        match self {
            Object::Open(fd) => attributes::change_owner(*fd, owner, group),
            Object::Symlink(place) | Object::Special(place) => {
                attributes::change_owner_at(place.parent.as_fd(), place.name, owner, group)
            }
        }
    }

    fn change_mode(&self, mode: Mode) -> Result<(), Errno> {
        match self {
            Object::Open(fd) => attributes::change_mode(*fd, mode),
            Object::Symlink(_) => Ok(()), // a link has no mode of its own
            Object::Special(place) => place.change_mode(mode),
        }
    }

    fn takes_acl(&self, name: &str) -> bool {
        match self {
            Object::Open(_) => true,
            Object::Symlink(_) => false,
            Object::Special(_) => name == acl::ACCESS,
        }
    }

    fn set_xattr(&self, name: &[u8], value: &[u8]) -> Result<(), Errno> {
        match self {
            Object::Open(fd) => attributes::set_xattr(*fd, name, value),
            Object::Symlink(place) | Object::Special(place) => {
                attributes::set_xattr_at(place.parent.as_fd(), place.name, name, value)
            }
        }
    }

    fn set_times(&self, times: &Timestamps) -> Result<(), Errno> {
        match self {
            Object::Open(fd) => futimens(fd, times),
            Object::Symlink(place) | Object::Special(place) => {
                utimensat(&place.parent, place.name, times, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }
}

fn times(access: Timestamp, modification: Timestamp) -> Timestamps {
    let spec = |stamp: Timestamp| Timespec {
        tv_sec: stamp.secs,
        // More would be no time but an instruction to the system: "now", or "leave it".
        tv_nsec: stamp.nanos.min(NANOS_PER_SEC - 1) as _,
    };
    Timestamps { last_access: spec(access), last_modification: spec(modification) }
}
