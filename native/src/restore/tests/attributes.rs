//! Everything that is set on objects, and in which order.

use super::*;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::Command;

fn get_xattr(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1 << 16];
    let len = rustix::fs::lgetxattr(path, name, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}

fn times(path: &Path) -> (Timestamp, Timestamp) {
    let metadata = fs::symlink_metadata(path).unwrap();
    (at(metadata.atime(), metadata.atime_nsec() as u32), at(metadata.mtime(), metadata.mtime_nsec() as u32))
}

#[test]
fn times_keep_their_nanoseconds_before_1970_and_after_2038() {
    let place = Place::new();
    let stamps = [at(-1, 999_999_999), at(-1_000_000_000, 1), at(0, 0), at(1_600_000_000, 123_456_789), at(1 << 32, 5)];
    for (number, &stamp) in stamps.iter().enumerate() {
        let name = format!("o{number}");
        let items = [
            with(file(&format!("{name}-file"), b"x"), |item| item.mtime = stamp),
            with(directory(&format!("{name}-directory")), |item| item.mtime = stamp),
            with(symlink(&format!("{name}-link"), Path::new("x")), |item| item.mtime = stamp),
            with((object(&format!("{name}-fifo"), 0o010_644), b""), |item| item.mtime = stamp),
        ];
        assert_eq!(place.extract(&items), [] as [&str; 0]);
        for (item, _) in &items {
            let path = place.at(std::str::from_utf8(&item.path).unwrap());
            assert_eq!(times(&path), (stamp, stamp), "{}", path.display());
        }
    }
    let own = with(file("own", b"x"), |item| item.atime = Some(at(7, 8)));
    assert_eq!(place.extract(&[own]), [] as [&str; 0]);
    assert_eq!(times(&place.at("own")), (at(7, 8), at(1_600_000_000, 0)));
}

#[test]
fn directories_get_their_attributes_when_they_are_left() {
    let place = Place::new();
    let read_only = |path| with(directory(path), |item| (item.mode, item.mtime) = (Some(0o040_555), at(42, 1)));
    let problems = place.extract(&[
        read_only("."),
        read_only("a"),
        file("a/f", b"x"),
        read_only("a/b"),
        file("a/b/f", b"x"),
        file("a/g", b"x"),
        read_only("ab"),
        file("ab/f", b"x"),
        file("z", b"x"),
    ]);
    assert_eq!(problems, [] as [&str; 0]);
    for path in ["", "a", "a/b", "ab"] {
        assert_eq!(times(&place.at(path)).1, at(42, 1), "{path}");
        assert_eq!(fs::metadata(place.at(path)).unwrap().mode(), 0o040_555, "{path}");
    }
    for path in ["", "a", "a/b", "ab"] {
        fs::set_permissions(place.at(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_directory_is_left_before_one_whose_name_it_begins() {
    let place = Place::new();
    let mut extraction = place.restorer(Options::default());
    assert_eq!(extraction.item(&directory("a").0, b""), []);
    assert_eq!(fs::metadata(place.at("a")).unwrap().mode(), 0o040_700);
    assert_eq!(extraction.item(&directory("ab").0, b""), []);
    assert_eq!(fs::metadata(place.at("a")).unwrap().mode(), 0o040_755);
    assert_eq!(extraction.0.finish(), []);
    assert_eq!(fs::metadata(place.at("ab")).unwrap().mode(), 0o040_755);
}

#[test]
fn special_bits_survive_a_change_of_owner() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let own = |item: &mut Item, mode| (item.mode, item.uid, item.gid) = (Some(mode), Some(4711), Some(4712));
    let problems = place.extract(&[
        with(file("f", b"x"), |item| own(item, 0o106_755)),
        with(directory("d"), |item| own(item, 0o043_775)),
        with(symlink("l", Path::new("f")), |item| own(item, 0o120_777)),
        with((object("p", 0), b""), |item| own(item, 0o011_666)),
    ]);
    assert_eq!(problems, [] as [&str; 0]);
    for (path, mode) in [("f", 0o106_755), ("d", 0o043_775), ("l", 0o120_777), ("p", 0o011_666)] {
        let metadata = fs::symlink_metadata(place.at(path)).unwrap();
        assert_eq!((metadata.mode(), metadata.uid(), metadata.gid()), (mode, 4711, 4712), "{path}");
    }
}

#[test]
fn devices_come_back_with_their_numbers() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let device = |path, mode, major, minor| {
        with((object(path, mode), b""), |item| item.rdev = Some(rustix::fs::makedev(major, minor)))
    };
    let problems = place.extract(&[
        device("null", 0o020_666, 1, 3),
        device("disk", 0o060_640, 259, 70_000),
        with(device("absurd", 0o060_640, 0, 0), |item| item.rdev = Some(u64::MAX)),
    ]);
    if problems.iter().any(|problem| problem.starts_with("105 null: mknod:")) {
        return; // containers may not make devices
    }
    let absurd = place.at("absurd").display().to_string();
    assert_eq!(problems, [format!("104 absurd: mknod: [Errno 22] Invalid argument: '{absurd}'")]);
    let null = fs::metadata(place.at("null")).unwrap();
    assert!(null.file_type().is_char_device());
    assert_eq!((null.mode(), null.rdev()), (0o020_666, fs::metadata("/dev/null").unwrap().rdev()));
    let disk = fs::metadata(place.at("disk")).unwrap();
    assert!(disk.file_type().is_block_device());
    assert_eq!((disk.mode(), disk.rdev()), (0o060_640, rustix::fs::makedev(259, 70_000)));
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_and_capabilities_come_last_enough() {
    let place = Place::new();
    // cap_net_raw+ep, as setcap stores it.
    let capability = *b"\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let mut xattrs = vec![(b"user.text".to_vec(), b"value".to_vec()), (b"user.empty".to_vec(), vec![])];
    if is_root() {
        xattrs.push((b"security.capability".to_vec(), capability.into()));
    }
    let set = |item: &mut Item| {
        item.mode = Some(item.mode.unwrap() & !0o777 | 0o444); // not even its owner may write
        item.xattrs = Some(xattrs.clone());
        (item.uid, item.gid) = (Some(4711), Some(4712));
    };
    let problems = place.extract(&[
        with(file("f", b"x"), set),
        with(directory("d"), |item| {
            item.xattrs = Some(xattrs[..2].to_vec());
        }),
    ]);
    assert_eq!(problems, [] as [&str; 0]);
    for (name, value) in &xattrs {
        let name = std::str::from_utf8(name).unwrap();
        assert_eq!(get_xattr(&place.at("f"), name).as_ref(), Some(value), "{name}");
    }
    assert_eq!(get_xattr(&place.at("d"), "user.text").as_deref(), Some(&b"value"[..]));
    if is_root() {
        let trusted = |item: &mut Item| item.xattrs = Some(vec![(b"trusted.of-the-link".to_vec(), b"v".to_vec())]);
        let items = [with(symlink("l", Path::new("f")), trusted), with((object("p", 0o010_644), b""), trusted)];
        assert_eq!(place.extract(&items), [] as [&str; 0]);
        for path in ["l", "p"] {
            assert_eq!(get_xattr(&place.at(path), "trusted.of-the-link").as_deref(), Some(&b"v"[..]));
        }
        assert_eq!(get_xattr(&place.at("f"), "trusted.of-the-link"), None);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_attribute_that_fails_costs_only_itself() {
    let place = Place::new();
    let xattrs = vec![
        (b"no namespace".to_vec(), b"1".to_vec()),
        (b"user.big".to_vec(), vec![1; 1 << 17]),
        (b"user.nul\0".to_vec(), b"3".to_vec()),
        (b"user.good".to_vec(), b"4".to_vec()),
    ];
    let item = with(file("f", b"x"), |item| {
        item.xattrs = Some(xattrs.clone());
        item.acl.access = Some(b"nonsense".to_vec());
    });
    let problems = place.extract(std::slice::from_ref(&item));
    assert_eq!(
        problems,
        [
            "1 f: when setting extended attribute no namespace: [Errno 95] Operation not supported",
            "1 f: when setting extended attribute user.big: too big for this filesystem ([Errno 7] Argument list too long)",
            "1 f: when setting extended attribute user.nul\0: [Errno 22] Invalid argument",
            "104 f: attrs: [Errno 22] Invalid argument",
        ]
    );
    assert_eq!(fs::read(place.at("f")).unwrap(), b"x");
    assert_eq!(get_xattr(&place.at("f"), "user.good").as_deref(), Some(&b"4"[..]));
    assert_eq!(times(&place.at("f")).1, at(1_600_000_000, 0));
    let without = Options { xattrs: false, acls: false, ..Options::default() };
    assert_eq!(place.extract_with(without, &[item]), [] as [&str; 0]);
    assert_eq!(get_xattr(&place.at("f"), "user.good"), None);
}

#[cfg(target_os = "linux")]
#[test]
fn access_control_lists_are_what_getfacl_reads() {
    if Command::new("getfacl").arg("--version").output().is_err() {
        return;
    }
    let place = Place::new();
    let access =
        "user::rw-\nuser:root:r--:9999\nuser:54321:rwx:54321\ngroup::r--\ngroup:root:r-x:9999\nmask::rwx\nother::---";
    let default = "user::rwx\nuser:54322:r-x:54322\ngroup::r-x\nmask::r-x\nother::r--";
    let items = [
        with(file("f", b"x"), |item| item.acl.access = Some(access.into())),
        with(directory("d"), |item| {
            item.acl.access = Some(access.replace("user::rw-", "user::rwx").into());
            item.acl.default = Some(default.into());
        }),
        file("d/inside", b"x"),
    ];
    let getfacl = |path: &str| {
        let output = Command::new("getfacl").arg("-cnE").arg(place.at(path)).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(place.extract(&items), [] as [&str; 0]);
    let named = "user::rw-\nuser:0:r--\nuser:54321:rwx\ngroup::r--\ngroup:0:r-x\nmask::rwx\nother::---";
    if getfacl("f") == "user::rw-\ngroup::r--\nother::r--" {
        return; // the file system keeps no lists
    }
    assert_eq!(getfacl("f"), named);
    let default_lines: Vec<_> = "user::rwx\nuser:54322:r-x\ngroup::r-x\nmask::r-x\nother::r--"
        .lines()
        .map(|line| format!("default:{line}"))
        .collect();
    assert_eq!(getfacl("d"), format!("{}\n{}", named.replace("user::rw-", "user::rwx"), default_lines.join("\n")));
    // The list of a directory is not there yet while it is filled.
    assert_eq!(getfacl("d/inside"), "user::rw-\ngroup::r--\nother::r--");

    let numeric = Options { numeric_ids: true, ..Options::default() };
    assert_eq!(place.extract_with(numeric, &items[..1]), [] as [&str; 0]);
    let by_number = "user::rw-\nuser:9999:r--\nuser:54321:rwx\ngroup::r--\ngroup:9999:r-x\nmask::rwx\nother::---";
    assert_eq!(getfacl("f"), by_number);
}

#[cfg(target_os = "linux")]
#[test]
fn guarding_flags_come_last_of_all() {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    let place = Place::new();
    let flags = |path: &str| ioctl_getflags(fs::File::open(place.at(path)).unwrap());
    let probe = fs::File::create(place.at("probe")).unwrap();
    let able = ioctl_getflags(&probe)
        .and_then(|flags| ioctl_setflags(&probe, IFlags::from_bits_retain(flags.bits() | IFlags::IMMUTABLE.bits())));
    if able.is_err() {
        return; // not permitted, or a file system without flags
    }
    let flagged = |bsdflags| move |item: &mut Item| item.bsdflags = Some(bsdflags);
    let hard = |item: &mut Item| (item.bsdflags, item.hlid) = (Some(2), Some(b"1".to_vec()));
    let problems = place.extract(&[
        with(directory("d"), flagged(2)),
        with(file("d/immutable", b"x"), flagged(2)),
        with(file("d/first", b"x"), hard),
        directory("e"),
        with(file("e/append", b"x"), flagged(4)),
        with(file("e/nodump", b"x"), flagged(1)),
        with(file("e/none", b"x"), flagged(0)),
        // The archive comes back to a directory that was left.
        file("d/late", b"x"),
        with(file("second", b"x"), hard),
    ]);
    assert_eq!(problems, [] as [&str; 0]);
    let borgs = IFlags::IMMUTABLE | IFlags::APPEND | IFlags::NODUMP;
    for (path, expected) in [
        ("d", IFlags::IMMUTABLE),
        ("d/immutable", IFlags::IMMUTABLE),
        ("second", IFlags::IMMUTABLE),
        ("e/append", IFlags::APPEND),
        ("e/nodump", IFlags::NODUMP),
        ("e/none", IFlags::empty()),
    ] {
        assert_eq!(flags(path).unwrap() & borgs, expected, "{path}");
    }
    assert_eq!(fs::metadata(place.at("second")).unwrap().nlink(), 2);
    assert_eq!(times(&place.at("d/immutable")).1, at(1_600_000_000, 0));
    // An immutable file is not replaced, and says so.
    let problems = place.extract(&[file("second", b"other")]);
    assert!(problems[0].starts_with("105 second: open: [Errno 1] Operation not permitted: "), "{problems:?}");
    let without = Options { flags: false, ..Options::default() };
    assert_eq!(place.extract_with(without, &[with(file("plain", b"x"), flagged(3))]), [] as [&str; 0]);
    assert_eq!(flags("plain").unwrap() & borgs, IFlags::empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_flag_of_the_target_is_not_handed_on() {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    let place = Place::new();
    let target = fs::File::open(place.target()).unwrap();
    let able = ioctl_getflags(&target)
        .and_then(|flags| ioctl_setflags(&target, IFlags::from_bits_retain(flags.bits() | IFlags::NODUMP.bits())));
    if able.is_err() {
        return;
    }
    let plain = |item: &mut Item| item.bsdflags = Some(0);
    let items = [with(file("f", b"x"), plain), with(directory("d"), plain), with(file("d/g", b"x"), plain)];
    assert_eq!(place.extract(&items), [] as [&str; 0]);
    for path in ["f", "d", "d/g"] {
        let flags = ioctl_getflags(fs::File::open(place.at(path)).unwrap()).unwrap();
        assert!(!flags.contains(IFlags::NODUMP), "{path}");
    }
}
