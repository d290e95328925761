//! The repository's files, for reading: whatever a name says, nothing outside the folder is reached.

use crate::filesystem::stat::{atime, file_type, mtime};
use portaborg_core::item::FileType;
use portaborg_core::name::{Entry, Namespace};
use portaborg_core::time::Timestamp;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The folder, held open.
pub struct ServedFolder {
    root: OwnedFd,
}

/// The nested name of an object or of a folder of objects (repository layer, sections 1.2 and 1.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

/// What is told of an object or a folder (repository layer, section 1.7). Times are in seconds.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The last component of its name.
    pub name: String,
    /// Length in bytes; that of a folder means nothing.
    pub size: u64,
    /// Whether it is a folder.
    pub directory: bool,
    /// The last access.
    pub atime: f64,
    /// The last change.
    pub mtime: f64,
}

/// Why something can't be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is none.
    Missing,
    /// It is a symbolic link, or neither a file nor a folder; or the system does not let us.
    Forbidden,
    /// It could not be read.
    Failed,
}

impl ServedFolder {
    /// The folder at this path; symbolic links in the path itself are the user's, and followed.
    pub fn open(path: &Path) -> io::Result<ServedFolder> {
        Ok(ServedFolder { root: openat(CWD, path, FOLDER, Mode::empty())? })
    }

    /// Namespaces that are symbolic links, and so are not served.
    pub fn linked_namespaces(&self) -> Vec<Namespace> {
        let is_link = |namespace: &Namespace| {
            let stat = statat(&self.root, namespace.name(), AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| file_type(&stat) == FileType::Symlink)
        };
        Namespace::ALL.into_iter().filter(is_link).collect()
    }

    /// Opens an object, and tells how long it is.
    pub fn open_object(&self, name: &Name) -> Result<(File, u64), Refusal> {
        let (parents, last) = name.split();
        let parent = self.descend(parents)?;
        // What is not a file, such as a pipe, must not make us wait.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = openat(parent.as_ref().unwrap_or(&self.root), last, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        match file_type(&stat) {
            FileType::Regular => Ok((file.into(), size(&stat))),
            FileType::Directory => Err(Refusal::Missing),
            _ => Err(Refusal::Forbidden),
        }
    }

    /// What there is under a name.
    pub fn info(&self, name: &Name) -> Result<Info, Refusal> {
        let (parents, last) = name.split();
        let parent = self.descend(parents)?;
        let stat = statat(parent.as_ref().unwrap_or(&self.root), last, AtFlags::SYMLINK_NOFOLLOW)?;
        Info::new(last.into(), &stat).ok_or(Refusal::Forbidden)
    }

    /// What is in a folder, or in the repository's own, sorted by name. Names that no object can have are passed over.
    pub fn list(&self, name: Option<&Name>) -> Result<Vec<Info>, Refusal> {
        let folder = self.descend(name.map_or("", |name| &name.0))?;
        let folder = folder.as_ref().unwrap_or(&self.root);
        let mut infos = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let Ok(own) = entry.file_name().to_str() else { continue };
            let is_known = match name {
                Some(_) => is_component(own),
                None => Namespace::ALL.iter().any(|namespace| namespace.name() == own),
            };
            if !is_known {
                continue;
            }
            match statat(folder, own, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => infos.extend(Info::new(own.into(), &stat)),
                Err(Errno::NOENT) => {} // removed meanwhile
                Err(errno) => return Err(errno.into()),
            }
        }
        infos.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(infos)
    }

    /// Opens the folder of this path; `None` is the repository's own.
    fn descend(&self, path: &str) -> Result<Option<OwnedFd>, Refusal> {
        let mut current = None;
        for component in path.split('/').filter(|component| !component.is_empty()) {
            let from = current.as_ref().unwrap_or(&self.root);
            current = Some(openat(from, component, FOLDER | OFlags::NOFOLLOW, Mode::empty())?);
        }
        Ok(current)
    }
}

impl Name {
    /// The name in a path, which begins with a namespace; `None` if nothing can have it.
    pub fn parse(path: &str) -> Option<Name> {
        let mut components = path.split('/');
        let namespace = components.next()?;
        let valid = path.len() <= MAX_NAME_BYTES
            && Namespace::ALL.iter().any(|known| known.name() == namespace)
            && components.clone().count() <= MAX_DEPTH
            && components.all(is_component);
        valid.then(|| Name(path.into()))
    }

    /// The folder of objects that it is in.
    pub fn namespace(&self) -> Namespace {
        let name = self.0.split('/').next();
        let found = Namespace::ALL.into_iter().find(|namespace| Some(namespace.name()) == name);
        found.expect("names begin with a namespace")
    }

    /// The folder that it is in, and its last component.
    fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Info {
    /// `None` for what is neither a file nor a folder.
    fn new(name: String, stat: &Stat) -> Option<Info> {
        let directory = match file_type(stat) {
            FileType::Regular => false,
            FileType::Directory => true,
            _ => return None,
        };
        Some(Info { name, size: size(stat), directory, atime: secs(atime(stat)), mtime: secs(mtime(stat)) })
    }
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Refusal::Missing,
            // What a link gives that isn't followed is one of these, by the system.
            Errno::LOOP | Errno::MLINK | Errno::ACCESS | Errno::PERM => Refusal::Forbidden,
            // A socket, or a device without a driver.
            Errno::NXIO | Errno::NODEV => Refusal::Forbidden,
            _ => Refusal::Failed,
        }
    }
}

fn is_component(name: &str) -> bool {
    let is_printed = name.bytes().all(|byte| byte.is_ascii_graphic());
    is_printed && !matches!(name, "" | ".") && Entry::from_name(name, 0, None).is_some()
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn secs(time: Timestamp) -> f64 {
    time.secs as f64 + f64::from(time.nanos) / 1e9
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Names longer than this are none.
const MAX_NAME_BYTES: usize = 100;
/// So many components may follow the namespace.
const MAX_DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_a_namespace_and_stay_below_it() {
        for name in ["config", "config/config", "packs/ab/abcd", "archives/ab.del"] {
            assert!(Name::parse(name).is_some(), "{name}");
        }
        let long = format!("packs/{}", "a".repeat(95));
        for name in [
            "",
            "/",
            "etc/passwd",
            "config/..",
            "../config",
            "config/.",
            "config//config",
            "/config",
            "config/",
            "config/a b",
            "config/A",
            "config/%2e%2e",
            "config/a\\b",
            "config/a.tmp",
            "config/ä",
            "config/\0",
            "quota.hid",
            "packs/a/b/c/d/e",
            &long,
        ] {
            let is_escaped = name.contains('%');
            // There is no decoding: this is a name like others, and names nothing.
            assert_eq!(Name::parse(name).is_some(), is_escaped, "{name:?}");
        }
    }
}
