//! What items become of objects of all types.

use super::*;
use portaborg_core::item::FileType;
use sha2::{Digest, Sha256};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;

fn relative(tree: &Tree) -> PathBuf {
    tree.base.join("./t")
}

#[test]
fn every_type_has_its_item() {
    let tree = Tree::new();
    tree.file("t/f", "content");
    tree.file("t/empty", "");
    tree.symlink("t/l", "no/where");
    tree.fifo("t/p");
    let _socket = UnixListener::bind(tree.at("t/socket")).unwrap();
    let (memory, record) = Run::default().go(&[&relative(&tree)]);
    assert_eq!(record.sorted_lines(&tree), ["A /T/t/empty", "A /T/t/f", "d /T/t", "f /T/t/p", "s /T/t/l"]);
    let kind = |path: &str| memory.item_at(path).file_type().unwrap();
    assert_eq!(kind("t"), FileType::Directory);
    assert_eq!(kind("t/f"), FileType::Regular);
    assert_eq!(kind("t/l"), FileType::Symlink);
    assert_eq!(kind("t/p"), FileType::Fifo);
    assert_eq!(memory.content_at("t/f"), Some(&b"content"[..]));
    assert_eq!(memory.content_at("t/empty"), Some(&b""[..]));
    assert_eq!(memory.content_at("t/p"), None);
    assert_eq!(memory.item_at("t/l").target.as_deref(), Some(&b"no/where"[..]));
    for (item, _) in &memory.items {
        assert!(item.hlid.is_none() && item.chunks.is_none() && item.size.is_none() && item.rdev.is_none());
    }
    assert_eq!(memory.memorized.len(), 2);
}

#[test]
fn devices_are_not_opened_and_keep_their_numbers() {
    let tree = Tree::new();
    tree.directory("t");
    let (memory, record) = Run::default().go(&[&tree.directory("t"), Path::new("/dev/null")]);
    assert_eq!(record.lines.borrow().last().unwrap(), "c /dev/null");
    let null = memory.item_at("dev/null");
    assert_eq!(null.file_type(), Some(FileType::CharDevice));
    assert_eq!(null.rdev, Some(fs::metadata("/dev/null").unwrap().rdev()));
    assert_eq!(null.bsdflags, Some(0));
    assert!(null.xattrs.is_some());
}

#[test]
fn names_that_are_not_utf8_stay_as_they_are() {
    use std::ffi::OsStr;
    let tree = Tree::new();
    tree.directory("t");
    if fs::write(tree.at("t").join(OsStr::from_bytes(b"b\xffad")), "x").is_err() {
        return; // some file systems take no such names
    }
    std::os::unix::fs::symlink(OsStr::from_bytes(b"to\xfe"), tree.at("t/l")).unwrap();
    let (memory, _) = Run::default().go(&[&relative(&tree)]);
    assert!(memory.items.iter().any(|(item, _)| item.path == b"t/b\xffad"));
    assert_eq!(memory.item_at("t/l").target.as_deref(), Some(&b"to\xfe"[..]));
}

#[test]
fn names_of_one_object_have_one_hlid_and_all_of_its_content() {
    let tree = Tree::new();
    let file = tree.file("t/a/f", "shared");
    fs::hard_link(&file, tree.directory("t/b").join("g")).unwrap();
    fs::hard_link(&file, tree.at("h")).unwrap();
    let fifo = tree.fifo("t/p");
    fs::hard_link(&fifo, tree.at("t/q")).unwrap();
    let (memory, record) = Run::default().go(&[&relative(&tree)]);
    let metadata = fs::metadata(&file).unwrap();
    let hlid = Sha256::digest(format!("{}/{}", metadata.ino(), metadata.dev())).to_vec();
    for path in ["t/a/f", "t/b/g"] {
        assert_eq!(memory.item_at(path).hlid.as_ref(), Some(&hlid));
        assert_eq!(memory.content_at(path), Some(&b"shared"[..]));
    }
    assert_eq!(memory.reads, 1);
    assert_eq!(record.count_of(Status::Added), 1);
    assert_eq!(record.count_of(Status::HardLink), 3); // the second name, and both of the pipe
    assert_eq!(memory.item_at("t/p").hlid, memory.item_at("t/q").hlid);
    assert!(memory.item_at("t").hlid.is_none());
}

#[test]
fn what_is_known_is_not_read() {
    let tree = Tree::new();
    tree.file("t/same", "new");
    tree.file("t/other", "new");
    let known =
        vec![(b"t/same".to_vec(), Known::Unchanged(Rc::new(b"old".to_vec()))), (b"t/other".to_vec(), Known::Modified)];
    let mut memory = Memory { known, ..Memory::default() };
    let record = Run::default().fill(&mut memory, &[&relative(&tree)]).unwrap();
    assert_eq!(record.sorted_lines(&tree), ["M /T/t/other", "U /T/t/same", "d /T/t"]);
    assert_eq!(memory.content_at("t/same"), Some(&b"old"[..]));
    assert_eq!(memory.content_at("t/other"), Some(&b"new"[..]));
    assert_eq!((memory.reads, &*memory.memorized), (1, &[b"t/other".to_vec()][..]));
}

/// Borg crashes on such a name, which it refuses to read as well.
#[test]
fn a_name_that_looks_like_a_way_out_is_told_and_left_out() {
    let tree = Tree::new();
    tree.file("t/f", "x");
    tree.file("t/x\\..", "x");
    let (memory, record) = Run::default().go(&[&relative(&tree)]);
    assert_eq!(record.sorted_lines(&tree), ["A /T/t/f", "E /T/t/x\\..", "d /T/t"]);
    assert_eq!(record.problems.borrow()[0].exit_code(), 102);
    assert_eq!(memory.items.len(), 2);
}

#[test]
fn what_comes_through_a_pipe_is_a_file() {
    let tree = Tree::new();
    let file = fs::File::open(tree.file("in", "from elsewhere")).unwrap();
    let (selection, reading) = (Selection::default(), read::Options::default());
    let (record, mut memory) = (Record::default(), Memory::default());
    let order = Order::new(&record);
    let mut collector = Collector::new(&selection, &reading, &order, &mut memory);
    let pipe = Pipe { name: b"stdin".to_vec(), mode: 0o660, user: Some(b"root".to_vec()), group: None };
    let mut input = read::Reader::Plain(std::os::fd::AsFd::as_fd(&file), None);
    assert_eq!(collector.pipe(&pipe, &mut input), Ok(Ok(())));
    let nobody = Pipe { user: Some(b"no such user here".to_vec()), ..pipe };
    let failure = collector.pipe(&nobody, &mut input).unwrap_err();
    assert_eq!(failure.text, "Error: no such user: no such user here");
    assert_eq!(*record.lines.borrow(), ["i stdin", "i stdin"]);
    assert_eq!(record.counts.borrow().len(), 0);
    let item = memory.item_at("stdin");
    assert_eq!((item.mode, item.uid, item.gid), (Some(0o100_660), Some(0), None));
    assert_eq!((item.user.as_deref(), item.group.as_deref()), (Some(&b"root"[..]), None));
    assert_eq!((item.atime, item.ctime, item.mtime.nanos), (Some(item.mtime), Some(item.mtime), 0));
    assert!(item.xattrs.is_none() && item.bsdflags.is_none() && item.inode.is_none());
    assert_eq!(memory.content_at("stdin"), Some(&b"from elsewhere"[..]));
}
