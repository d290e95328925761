//! What is stored of an object beside its content.

use super::*;
use portaborg_core::time::Timestamp;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, lsetxattr, utimensat};
use std::os::unix::fs::MetadataExt;

fn set_times(path: &Path, atime: (i64, i64), mtime: (i64, i64)) {
    let spec = |(tv_sec, tv_nsec): (i64, i64)| Timespec { tv_sec, tv_nsec: tv_nsec as _ };
    let times = Timestamps { last_access: spec(atime), last_modification: spec(mtime) };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

fn item(tree: &Tree, selection: Selection, path: &str) -> Item {
    let (memory, record) = Run { selection, ..Run::default() }.go(&[&tree.base.join("./t")]);
    assert_eq!(record.problem_lines(tree), [] as [&str; 0]);
    memory.item_at(path).clone()
}

#[test]
fn times_are_those_before_we_came_and_within_what_is_stored() {
    let tree = Tree::new();
    set_times(&tree.file("t/f", "x"), (1000, 5), (2000, 123_456_789));
    set_times(&tree.file("t/old", "x"), (-5, 0), (-5, 7));
    tree.symlink("t/l", "f");
    set_times(&tree.at("t/l"), (1, 2), (3, 4));
    let with_atime = || Selection { atime: true, ..Selection::default() };
    let file = item(&tree, with_atime(), "t/f");
    assert_eq!(file.mtime, Timestamp { secs: 2000, nanos: 123_456_789 });
    assert_eq!(file.atime, Some(Timestamp { secs: 1000, nanos: 5 }));
    let metadata = fs::metadata(tree.at("t/f")).unwrap();
    assert_eq!(file.ctime, Some(Timestamp { secs: metadata.ctime(), nanos: metadata.ctime_nsec() as u32 }));
    assert_eq!(file.inode, Some(metadata.ino()));
    assert_eq!(item(&tree, with_atime(), "t/old").mtime, Timestamp::default());
    assert_eq!(item(&tree, with_atime(), "t/l").mtime, Timestamp { secs: 3, nanos: 4 });
    let few = item(&tree, Selection { ctime: false, ..Selection::default() }, "t/f");
    assert_eq!((few.atime, few.ctime), (None, None));
    if cfg!(target_os = "linux") {
        assert_eq!(metadata.atime(), 1000); // reading left no trace
        assert_eq!(few.birthtime, None);
    }
}

#[test]
fn owners_have_names_unless_numbers_are_asked_for() {
    let tree = Tree::new();
    let file = tree.file("t/f", "x");
    let strange = tree.file("t/strange", "x");
    let metadata = fs::metadata(&file).unwrap();
    let stored = item(&tree, Selection::default(), "t/f");
    assert_eq!((stored.uid, stored.gid), (Some(metadata.uid().into()), Some(metadata.gid().into())));
    if metadata.uid() == 0 {
        assert_eq!(stored.user.as_deref(), Some(&b"root"[..]));
    }
    let numeric = item(&tree, Selection { numeric_ids: true, ..Selection::default() }, "t/f");
    assert_eq!((numeric.user, numeric.group, numeric.uid), (None, None, stored.uid));
    if is_root() {
        std::os::unix::fs::chown(&strange, Some(3_456_789), Some(3_456_790)).unwrap();
        let stored = item(&tree, Selection::default(), "t/strange");
        assert_eq!((stored.uid, stored.gid, stored.user, stored.group), (Some(3_456_789), Some(3_456_790), None, None));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_sorted_whole_and_without_lists() {
    let tree = Tree::new();
    let file = tree.file("t/f", "x");
    let long = vec![b'v'; 3000];
    let set = |path: &Path, name: &str, value: &[u8]| lsetxattr(path, name, value, XattrFlags::empty());
    if set(&file, "user.b", &long).is_err() {
        return; // this file system has none
    }
    set(&file, "user.a", b"").unwrap();
    tree.symlink("t/l", "f");
    let stored = item(&tree, Selection::default(), "t/f").xattrs.unwrap();
    assert_eq!(stored, [(b"user.a".to_vec(), vec![]), (b"user.b".to_vec(), long)]);
    assert_eq!(item(&tree, Selection::default(), "t").xattrs, Some(vec![]));
    assert_eq!(item(&tree, Selection { xattrs: false, ..Selection::default() }, "t/f").xattrs, None);
    if is_root() {
        set(&tree.at("t/l"), "trusted.link", b"own").unwrap();
        let link = item(&tree, Selection::default(), "t/l");
        assert_eq!(link.xattrs, Some(vec![(b"trusted.link".to_vec(), b"own".to_vec())]));
        set(&tree.fifo("t/p"), "trusted.p", b"1").unwrap();
        assert_eq!(item(&tree, Selection::default(), "t/p").xattrs.unwrap().len(), 1);
    }
}

/// The texts are those of the real client for the same lists.
#[cfg(target_os = "linux")]
#[test]
fn access_control_lists_are_stored_if_they_say_more_than_the_mode() {
    let tree = Tree::new();
    let list = |entries: &[(u16, u16, u32)]| {
        let mut value = vec![2, 0, 0, 0];
        for (tag, bits, id) in entries {
            value.extend_from_slice(&tag.to_le_bytes());
            value.extend_from_slice(&bits.to_le_bytes());
            value.extend_from_slice(&id.to_le_bytes());
        }
        value
    };
    const NONE: u32 = u32::MAX;
    let extended = list(&[(1, 6, NONE), (2, 4, 54321), (4, 4, NONE), (0x10, 7, NONE), (0x20, 0, NONE)]);
    let minimal = list(&[(1, 7, NONE), (4, 5, NONE), (0x20, 0, NONE)]);
    let set = |path: &Path, name: &str, value: &[u8]| {
        lsetxattr(path, format!("system.posix_acl_{name}"), value, XattrFlags::empty())
    };
    if set(&tree.file("t/f", "x"), "access", &extended).is_err() {
        return; // this file system has none
    }
    tree.file("t/plain", "x");
    set(&tree.directory("t/both"), "access", &extended).unwrap();
    set(&tree.directory("t/default"), "default", &minimal).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(tree.at("t/default"), fs::Permissions::from_mode(0o670)).unwrap();
    let acl = |path: &str| item(&tree, Selection::default(), path).acl;
    let text = |text: &str| Some(text.as_bytes().to_vec());
    let named = "user::rw-\nuser:54321:r--:54321\ngroup::r--\nmask::rwx\nother::---";
    assert_eq!((acl("t/f").access, acl("t/f").default), (text(named), None));
    assert_eq!(acl("t/plain"), Default::default());
    assert_eq!((acl("t/both").access, acl("t/both").default), (text(named), text("")));
    assert_eq!(
        (acl("t/default").access, acl("t/default").default),
        (text("user::rw-\ngroup::rwx\nother::---"), text("user::rwx\ngroup::r-x\nother::---"))
    );
    assert_eq!(item(&tree, Selection { acls: false, ..Selection::default() }, "t/f").acl, Default::default());
    assert_eq!(item(&tree, Selection::default(), "t/f").xattrs, Some(vec![]));
}

#[cfg(target_os = "linux")]
#[test]
fn objects_can_say_themselves_that_they_are_left_out() {
    use rustix::fs::{IFlags, ioctl_setflags};
    let tree = Tree::new();
    tree.file("t/f", "x");
    let robots = |path: &Path, value: &[u8]| lsetxattr(path, "user.xdg.robots.backup", value, XattrFlags::empty());
    if robots(&tree.file("t/no", "x"), b"false").is_err() {
        return; // this file system has none
    }
    robots(&tree.file("t/yes", "x"), b"true").unwrap();
    tree.file("t/d/inside", "x");
    robots(&tree.at("t/d"), b"false").unwrap();
    let dump = tree.file("t/nodump", "x");
    let has_flags = ioctl_setflags(fs::File::open(&dump).unwrap(), IFlags::NODUMP).is_ok();
    let (memory, record) = Run::default().go(&[&tree.base.join("./t")]);
    let mut expected = vec!["- /T/t/d", "- /T/t/no", "- /T/t/nodump", "A /T/t/f", "A /T/t/yes", "d /T/t"];
    if !has_flags {
        expected[2] = "A /T/t/nodump";
    }
    expected.sort_unstable();
    assert_eq!(record.sorted_lines(&tree), expected);
    assert_eq!(record.count_of(Status::Excluded), 2 + usize::from(has_flags));
    assert_eq!(memory.reads, 3 - usize::from(has_flags));
    if has_flags {
        let bare = Selection { flags: false, ..Selection::default() };
        assert_eq!(item(&tree, bare, "t/nodump").bsdflags, None);
        fs::File::open(&dump).map(|file| ioctl_setflags(file, IFlags::empty())).unwrap().unwrap();
    }
    assert_eq!(item(&tree, Selection::default(), "t/nodump").bsdflags, Some(0));
}
