//! Everything that a folder holds: types, modes, owners, contents, times, attributes, flags, links, devices.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{IFlags, Mode, OFlags, ioctl_getflags, lgetxattr, llistxattr, major, minor, open};
use sha2::{Digest, Sha256};

use crate::expected::to_hex;

/// Path relative to the folder (the folder itself is `.`) to what is there.
pub type Tree = BTreeMap<Vec<u8>, Node>;

/// One file, folder, link or special file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Type and permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes, of regular files.
    pub size: Option<u64>,
    /// SHA-256 of the content, of regular files.
    pub sha256: Option<String>,
    /// Modification time in nanoseconds.
    pub mtime_ns: i128,
    /// Access time in nanoseconds, of all but folders (looking into a folder changes it).
    pub atime_ns: Option<i128>,
    /// Extended attributes with those that hold ACLs.
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Flags as BSD numbers them, of files and folders.
    pub flags: Option<u64>,
    /// The first path of the same inode, where it has several.
    pub linked_to: Option<Vec<u8>>,
    /// Where a symlink points.
    pub target: Option<Vec<u8>>,
    /// Major and minor number of a device.
    pub device: Option<(u32, u32)>,
    /// Blocks of 512 bytes on disk, of regular files.
    pub blocks: Option<u64>,
}

/// Reads a folder with all that is below it, following no link.
#[must_use]
pub fn read(folder: &Path) -> Tree {
    read_without(folder, &[])
}

/// The same, without some of the names that lie directly in the folder.
#[must_use]
pub fn read_without(folder: &Path, left_out: &[&str]) -> Tree {
    let mut tree = Tree::new();
    let mut inodes = BTreeMap::new();
    let mut to_do = vec![b".".to_vec()];
    while let Some(path) = to_do.pop() {
        let full = folder.join(OsStr::from_bytes(&path));
        let Ok(stat) = fs::symlink_metadata(&full) else { continue };
        let node = look_at(&full, &stat);
        if stat.is_dir() {
            for entry in fs::read_dir(&full).into_iter().flatten().flatten() {
                let name = entry.file_name().into_vec();
                if path == b"." && left_out.iter().any(|out| out.as_bytes() == name) {
                    continue;
                }
                to_do.push(if path == b"." { name } else { [&path[..], b"/", &name].concat() });
            }
        } else if stat.nlink() > 1 {
            inodes.entry((stat.dev(), stat.ino())).or_insert_with(Vec::new).push(path.clone());
        }
        tree.insert(path, node);
    }
    // Reading changes access times, so all were looked at before.
    for (path, node) in &mut tree {
        let full = folder.join(OsStr::from_bytes(path));
        if node.size.is_some() {
            node.sha256 = Some(sha256(&full).unwrap_or_else(|error| error.to_string()));
        }
        if node.mode & 0o170_000 == 0o120_000 {
            node.target = fs::read_link(&full).ok().map(|target| target.into_os_string().into_vec());
        }
    }
    for mut paths in inodes.into_values() {
        paths.sort();
        for path in &paths {
            if let Some(node) = tree.get_mut(path) {
                node.linked_to = Some(paths[0].clone());
            }
        }
    }
    tree
}

fn sha256(full: &Path) -> io::Result<String> {
    let mut file = fs::File::open(full)?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 128 << 10]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(to_hex(&hash.finalize())),
            len => hash.update(&piece[..len]),
        }
    }
}

fn look_at(full: &Path, stat: &fs::Metadata) -> Node {
    let kind = stat.file_type();
    let nanoseconds = |secs: i64, ns: i64| i128::from(secs) * 1_000_000_000 + i128::from(ns);
    Node {
        mode: stat.mode(),
        uid: stat.uid(),
        gid: stat.gid(),
        size: kind.is_file().then(|| stat.size()),
        sha256: None,
        mtime_ns: nanoseconds(stat.mtime(), stat.mtime_nsec()),
        atime_ns: (!kind.is_dir()).then(|| nanoseconds(stat.atime(), stat.atime_nsec())),
        xattrs: xattrs(full),
        flags: (kind.is_file() || kind.is_dir()).then(|| flags(full)),
        linked_to: None,
        target: None,
        device: is_device(stat.mode()).then(|| (major(stat.rdev()), minor(stat.rdev()))),
        blocks: kind.is_file().then(|| stat.blocks()),
    }
}

fn is_device(mode: u32) -> bool {
    matches!(mode & 0o170_000, 0o020_000 | 0o060_000)
}

fn xattrs(full: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut names = vec![0; 64 << 10];
    let length = llistxattr(full, &mut names).unwrap_or(0);
    let mut found = BTreeMap::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 64 << 10];
        let c_name = CString::new(name).expect("the list was split at its NULs");
        if let Ok(length) = lgetxattr(full, &c_name, &mut value) {
            value.truncate(length);
            found.insert(name.to_vec(), value);
        }
    }
    found
}

fn flags(full: &Path) -> u64 {
    let Ok(file) = open(full, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW, Mode::empty()) else { return 0 };
    let Ok(flags) = ioctl_getflags(&file) else { return 0 };
    BSD_FLAGS.iter().filter(|(linux, _)| flags.contains(*linux)).map(|(_, bsd)| bsd).sum()
}

/// Linux' flags that Borg keeps, with BSD's numbers (data layer, items).
const BSD_FLAGS: [(IFlags, u64); 4] =
    [(IFlags::NODUMP, 1), (IFlags::IMMUTABLE, 2), (IFlags::APPEND, 4), (IFlags::COMPRESSED, 0x20)];

/// How a file system lays out blocks may vary a little, and the real client sets the time of the folder that it
/// extracts into before it writes into it.
fn comparable(path: &[u8], node: &Node) -> Node {
    let mtime_ns = if path == b"." { 0 } else { node.mtime_ns };
    Node { blocks: None, mtime_ns, ..node.clone() }
}

/// In what two trees differ; `ours` and `theirs` name them.
#[must_use]
pub fn differences(ours: &Tree, theirs: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, node) in theirs {
        let name = String::from_utf8_lossy(path);
        match ours.get(path) {
            None => found.push(format!("{name}: is missing")),
            Some(our) if comparable(path, our) != comparable(path, node) => {
                found.push(format!("{name}: {our:?} instead of {node:?}"));
            }
            Some(_) => {}
        }
    }
    for path in ours.keys().filter(|path| !theirs.contains_key(*path)) {
        found.push(format!("{}: should not be there", String::from_utf8_lossy(path)));
    }
    found
}
