//! A tree to back up in which there is one of everything that a file system of this machine can keep.

use std::ffi::{CString, OsStr};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, IFlags, Mode, OFlags, Timespec, Timestamps, XattrFlags, ioctl_getflags, ioctl_setflags,
    lsetxattr, makedev, mknodat, open, utimensat,
};

use crate::dice::Dice;
use crate::machine::{self, Machine};

/// Makes the tree in a new folder.
///
/// # Panics
///
/// If the folder can't be written.
pub fn make(folder: &Path) {
    let source = Source { folder: folder.to_owned(), machine: machine::here() };
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    source.contents();
    source.links_and_special_files();
    source.names();
    source.owners_and_modes();
    source.attributes();
    source.times();
}

/// Changes it: contents, names, attributes; something is new, something is gone.
///
/// # Panics
///
/// If the folder can't be written.
pub fn change(folder: &Path) {
    let source = Source { folder: folder.to_owned(), machine: machine::here() };
    let noise_before = fs::read(source.path("contents/noise")).expect("it was made");
    let (begin, end) = noise_before.split_at(100_000);
    source.file("contents/noise", &[begin, &Dice::new(7).bytes(3000), end].concat());
    source.file("contents/text", &[text(4000), b"one more line\n".to_vec()].concat());
    source.file("contents/one-byte", b"y");
    source.file("contents/new", &Dice::new(8).bytes(70_000));
    source.file("new folder/file", b"new");
    fs::remove_file(source.path("contents/empty")).expect("it was made");
    fs::rename(source.path("names/ünïcödé"), source.path("names/moved")).expect("it was made");
    fs::remove_file(source.path("links/second")).expect("it was made");
    fs::set_permissions(source.path("modes/private"), Permissions::from_mode(0o640)).expect("it is ours");
}

struct Source {
    folder: PathBuf,
    machine: Machine,
}

impl Source {
    fn contents(&self) {
        self.file("contents/empty", b"");
        self.file("contents/one-byte", b"x");
        self.file("contents/noise", &Dice::new(1).bytes(300_000));
        self.file("contents/noise-again", &Dice::new(1).bytes(300_000));
        self.file("contents/text", &text(4000));
        self.file("contents/zeros", &[0; 200_000]);
        let holes = fs::File::create(self.path("contents/holes")).expect("a new folder can be written");
        for at in [0, 400_000, 1_048_570] {
            holes.write_all_at(&Dice::new(at).bytes(6), at).expect("a new file can be written");
        }
        let hole = fs::File::create(self.path("contents/one-hole")).expect("a new folder can be written");
        hole.set_len(700_001).expect("a new file can be written");
        for number in 0..200 {
            self.file(&format!("many/{}/{number}", number % 7), format!("file {number}\n").as_bytes());
        }
    }

    fn links_and_special_files(&self) {
        self.file("links/first", &Dice::new(2).bytes(5000));
        for name in ["links/second", "links/below/third", "a link of another folder"] {
            self.parent(name);
            fs::hard_link(self.path("links/first"), self.path(name)).expect("file systems have hard links");
        }
        for (target, name) in [("first", "to-file"), ("below", "to-folder"), ("no/where", "dangling"), ("/etc", "away")]
        {
            symlink(target, self.path("links").join(name)).expect("file systems have symlinks");
        }
        symlink("t".repeat(1000), self.path("links/long-target")).expect("file systems have symlinks");
        fs::hard_link(self.path("links/to-file"), self.path("links/to-file-again")).expect("links may be linked");
        fs::create_dir(self.path("empty folder")).expect("a new folder can be written");
        self.special("special/pipe", FileType::Fifo, 0);
        fs::hard_link(self.path("special/pipe"), self.path("special/pipe-again")).expect("pipes may be linked");
        if self.machine.devices {
            self.special("special/null", FileType::CharacterDevice, makedev(1, 3));
            self.special("special/block", FileType::BlockDevice, makedev(259, 70_000));
        }
    }

    fn names(&self) {
        let deep: Vec<String> = (0..40).map(|level| format!("{level:02} of the deep folders")).collect();
        self.file(&format!("{}/bottom", deep.join("/")), b"deep");
        let long = "n".repeat(255);
        for name in
            ["ünïcödé", "u\u{308}", " spaces ", "-dash", "back\\slash", "new\nline", "quote'\"s", "*?[a]", "%20", &long]
        {
            self.file(&format!("names/{name}"), name.as_bytes());
        }
        let odd = self.path("names").join(OsStr::from_bytes(b"latin-\xe4\xff"));
        fs::write(&odd, "not UTF-8").expect("a new folder can be written");
        symlink(OsStr::from_bytes(b"target-\xe4"), self.path("names/to-latin")).expect("file systems have symlinks");
    }

    fn owners_and_modes(&self) {
        let modes = [("setuid", 0o4755), ("setgid", 0o2755), ("sticky", 0o1644), ("private", 0o600), ("all", 0o777)];
        for (name, mode) in modes {
            self.file(&format!("modes/{name}"), name.as_bytes());
            fs::set_permissions(self.path("modes").join(name), Permissions::from_mode(mode)).expect("it is ours");
        }
        fs::create_dir(self.path("modes/sticky folder")).expect("a new folder can be written");
        let mode = Permissions::from_mode(0o3777);
        fs::set_permissions(self.path("modes/sticky folder"), mode).expect("it is ours");
        if self.machine.root {
            self.file("owners/nobody's mode", b"closed");
            fs::set_permissions(self.path("owners/nobody's mode"), Permissions::from_mode(0o000)).expect("root may");
            for (name, user, group) in
                [("daemon", 1, 1), ("unknown", 12_345, 54_321), ("huge", 4_000_000_000, 3_999_999_999)]
            {
                let name = format!("owners/{name}");
                self.file(&name, name.as_bytes());
                chown(self.path(&name), Some(user), Some(group)).expect("root may");
            }
            symlink("daemon", self.path("owners/link")).expect("file systems have symlinks");
            lchown(self.path("owners/link"), Some(2), Some(3)).expect("root may");
        }
    }

    fn attributes(&self) {
        self.file("attributes/file", b"with attributes");
        fs::create_dir(self.path("attributes/folder")).expect("a new folder can be written");
        if self.machine.user_xattrs {
            self.xattr("attributes/file", "user.text", b"some text");
            self.xattr("attributes/file", "user.empty", b"");
            self.xattr("attributes/file", "user.binary", &Dice::new(3).bytes(500));
            self.xattr("attributes/folder", "user.folder", b"of a folder");
        }
        if self.machine.trusted_xattrs {
            self.xattr("attributes/file", "trusted.text", b"root only");
        }
        if self.machine.acls {
            self.file("attributes/acl", b"for user 1");
            self.xattr("attributes/acl", crate::acl::ACCESS, &acl(1));
            self.xattr("attributes/folder", crate::acl::ACCESS, &acl(12_345));
            self.xattr("attributes/folder", crate::acl::DEFAULT, &acl(1));
        }
        if self.machine.flags {
            self.flags("attributes/immutable", IFlags::IMMUTABLE);
            self.flags("attributes/append-only", IFlags::APPEND);
        }
    }

    fn times(&self) {
        let times =
            [("old", 1, 0), ("before-1970", -1_000_000_000, 123_456_789), ("future", 7_000_000_000, 999_999_999)];
        for (name, seconds, nanoseconds) in times {
            let name = format!("times/{name}");
            self.file(&name, name.as_bytes());
            self.set_time(&name, seconds, nanoseconds);
        }
        symlink("old", self.path("times/link")).expect("file systems have symlinks");
        self.set_time("times/link", 1_000_000_000, 1);
        self.set_time("times", 2_000_000_000, 500);
        self.set_time("special/pipe", 1_500_000_000, 0);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn parent(&self, name: &str) {
        let path = self.path(name);
        let parent = path.parent().expect("it lies in a folder");
        fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    }

    fn file(&self, name: &str, content: &[u8]) {
        self.parent(name);
        fs::write(self.path(name), content).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn special(&self, name: &str, kind: FileType, device: u64) {
        self.parent(name);
        let made = mknodat(CWD, self.path(name), kind, Mode::RUSR | Mode::WUSR, device);
        made.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn xattr(&self, name: &str, attribute: &str, value: &[u8]) {
        let attribute = CString::new(attribute).expect("names of attributes have no NUL");
        let set = lsetxattr(self.path(name), &attribute, value, XattrFlags::empty());
        set.unwrap_or_else(|error| panic!("{name}: {attribute:?}: {error}"));
    }

    fn flags(&self, name: &str, flags: IFlags) {
        self.file(name, name.as_bytes());
        let set = || -> io::Result<()> {
            let file = open(self.path(name), OFlags::RDONLY, Mode::empty())?;
            Ok(ioctl_setflags(&file, ioctl_getflags(&file)? | flags)?)
        };
        set().unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn set_time(&self, name: &str, seconds: i64, nanoseconds: i64) {
        let time = Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        let times = Timestamps { last_access: time, last_modification: time };
        let set = utimensat(CWD, self.path(name), &times, AtFlags::SYMLINK_NOFOLLOW);
        set.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// What can be compressed.
fn text(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|line| format!("line {line}, which is much like the others\n").into_bytes()).collect()
}

/// An ACL by which one more user may read, as the kernel keeps it.
fn acl(user: u32) -> Vec<u8> {
    let none = u32::MAX;
    let entries = [(1_u16, 6_u16, none), (2, 4, user), (4, 4, none), (0x10, 4, none), (0x20, 0, none)];
    let entries = entries.iter().flat_map(|(tag, permissions, id)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
    });
    [2, 0, 0, 0].into_iter().chain(entries).collect()
}
