//! Contents: holes, files that change, and what keeps a reader waiting.

use super::*;
use portaborg_core::input_map::InputMap;
use portaborg_core::item::ChunkEntry;
use read::Reader;
use rustix::fs::fstat;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::{Duration, Instant};

fn sparse() -> read::Options {
    read::Options { sparse: true, files_changed: FilesChanged::Disabled, ..read::Options::default() }
}

#[test]
fn holes_read_as_zeros_wherever_they_are() {
    let tree = Tree::new();
    const MIB: u64 = 1 << 20;
    for (name, size, data) in [
        ("middle", 4 * MIB + 5, &[0, 3 * MIB][..]),
        ("ends", 3 * MIB, &[MIB]),
        ("all", 2 * MIB + 1, &[]),
        ("none", 0, &[]),
    ] {
        let path = tree.file(&format!("t/{name}"), "");
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(size).unwrap();
        for &at in data {
            file.write_all_at(&[7; 10_000], at).unwrap();
        }
        let (memory, record) = Run { reading: sparse(), ..Run::default() }.go(&[&path]);
        assert_eq!(record.problem_lines(&tree), [] as [&str; 0]);
        let read = memory.items[0].1.as_deref().unwrap();
        assert!(*read == fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn a_pipe_is_not_asked_for_holes() {
    let (from, to) = std::io::pipe().unwrap();
    let writer = thread::spawn(move || (&to).write_all(b"through a pipe").unwrap());
    let stat = fstat(&from).unwrap();
    let options = read::Options { special_timeout: None, ..sparse() };
    let reader = Reader::new(from.as_fd(), &stat, &options);
    assert!(matches!(reader, Reader::Patient(_)));
    let mut memory = Memory::default();
    assert_eq!(**memory.content(vec![Part::Read(Box::new(reader))]).unwrap(), *b"through a pipe");
    writer.join().unwrap();
}

fn mapped(map: &str, chunk_sizes: &[u64]) -> read::Options {
    // The content of a chunk is known here by the first byte of its id.
    let entry = |&size: &u64| ChunkEntry { id: ChunkId([b'#'; 32]), size };
    let mapped =
        Mapped { map: InputMap::parse(map, true).unwrap(), reference: chunk_sizes.iter().map(entry).collect() };
    read::Options { mapped: Some(mapped), files_changed: FilesChanged::Disabled, ..read::Options::default() }
}

#[test]
fn a_map_tells_what_is_read() {
    let tree = Tree::new();
    let path = tree.file("t", "abcdefghij");
    let read = |map, sizes: &[u64]| {
        let (memory, record) = Run { reading: mapped(map, sizes), ..Run::default() }.go(&[&path]);
        assert_eq!(record.problem_lines(&tree), [] as [&str; 0]);
        assert_eq!(memory.memorized, [] as [&[u8]; 0]); // a map may be wrong
        String::from_utf8(memory.items[0].1.as_deref().unwrap().clone()).unwrap()
    };
    assert_eq!(read("0 2 data\n2 3 zero\n5 5 data", &[]), "ab\0\0\0fghij");
    assert_eq!(read("0 7 same\n7 3 data", &[4, 4, 2]), "#efghij");
    assert_eq!(read("0 1 zero\n1 9 same", &[3, 3, 4]), "\0bc##");
}

#[test]
fn a_map_must_be_of_the_whole_file() {
    let tree = Tree::new();
    let path = tree.file("t", "abc");
    for (map, size) in [("0 2 data", 2), ("0 4 zero", 4)] {
        let run = Run { reading: mapped(map, &[]), ..Run::default() };
        let failure = run.fill(&mut Memory::default(), &[&path]).err().unwrap();
        assert_eq!(failure.text, format!("Error: input map covers {size} bytes, but the input has 3 bytes"));
        assert_eq!(failure.code, 2);
    }
}

#[test]
fn a_file_that_changes_is_read_again_until_it_rests() {
    let tree = Tree::new();
    let path = tree.file("t", "first");
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let mut times = 2;
    let meanwhile: Box<dyn FnMut()> = Box::new(move || {
        if times > 0 {
            times -= 1;
            file.seek(SeekFrom::Start(0)).unwrap();
            write!(file, "round {times}").unwrap();
        }
    });
    let mut memory = Memory { meanwhile: Some(meanwhile), ..Memory::default() };
    let reading = read::Options::default();
    let record = Run { reading, ..Run::default() }.fill(&mut memory, &[&path]).unwrap();
    assert_eq!(record.problem_lines(&tree), [] as [&str; 0]);
    assert_eq!(**memory.items[0].1.as_ref().unwrap(), *b"round 0");
    assert_eq!((memory.items.len(), memory.memorized.len()), (1, 1));
    let notes = record.notes.borrow();
    assert!(memory.reads >= 3 && notes.len() == memory.reads - 1);
    assert_eq!(
        tree.plain(&notes[0]),
        "/T/t: file changed while we read it!: backup error, slept 0.001s, next: retry: 1 of 9..."
    );
    assert_eq!(record.count_of(Status::Added), 1);
}

#[test]
fn a_change_is_noticed_by_its_time_or_by_being_recent() {
    use portaborg_core::time::Timestamp;
    let tree = Tree::new();
    let path = tree.file("t", "x");
    let before = fstat(fs::File::open(&path).unwrap()).unwrap();
    let ctime = crate::filesystem::stat::ctime(&before);
    let shifted = |nanos: i128| Timestamp::from_nanos(ctime.as_nanos() + nanos);
    let far = (shifted(60_000_000_000), shifted(61_000_000_000));
    assert!(!FilesChanged::Ctime.noticed(&before, &before, far.0, far.1));
    for (start, end, noticed) in [
        (20_000_000, 20_000_001, false),
        (19_999_999, 20_000_000, true),
        (-90_000_000, -20_000_000, false),
        (-90_000_000, -19_999_999, true),
    ] {
        let both = (shifted(start), shifted(end));
        assert_eq!(FilesChanged::Ctime.noticed(&before, &before, both.0, both.1), noticed, "{start} {end}");
        assert!(!FilesChanged::Disabled.noticed(&before, &before, both.0, both.1));
    }
    fs::File::open(&path).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let after = fstat(fs::File::open(&path).unwrap()).unwrap();
    assert!(FilesChanged::Ctime.noticed(&before, &after, far.0, far.1));
    assert!(FilesChanged::Mtime.noticed(&before, &after, far.0, far.1));
    assert!(!FilesChanged::Mtime.noticed(&after, &after, far.0, far.1));
}

fn special(timeout: Duration) -> Run {
    let reading = read::Options { special: true, special_timeout: Some(timeout), ..sparse() };
    Run { reading, ..Run::default() }
}

#[test]
fn a_pipe_that_is_read_is_a_file_with_what_comes_out_of_it() {
    let tree = Tree::new();
    tree.directory("t");
    let fifo = tree.fifo("t/p");
    let writer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(150));
        let mut pipe = fs::OpenOptions::new().write(true).open(fifo).unwrap();
        pipe.write_all(&[b'a'; 100_000]).unwrap();
        thread::sleep(Duration::from_millis(150));
        pipe.write_all(b"end").unwrap();
    });
    let (memory, record) = special(Duration::from_secs(20)).go(&[&tree.base.join("./t")]);
    writer.join().unwrap();
    assert_eq!(record.sorted_lines(&tree), ["A /T/t/p", "d /T/t"]);
    assert_eq!(memory.content_at("t/p").unwrap().len(), 100_003);
    assert_eq!(memory.item_at("t/p").mode.unwrap() & 0o170_000, 0o100_000);
    assert_eq!(memory.memorized.len(), 0);
}

#[test]
fn waiting_for_nobody_ends() {
    let tree = Tree::new();
    let fifo = tree.fifo("p");
    let start = Instant::now();
    let (memory, record) = special(Duration::from_millis(300)).go(&[&fifo]);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(record.problem_lines(&tree), ["111 /T/p: read: [Errno 110] no data received for more than 0.3 seconds"]);
    assert_eq!(memory.items.len(), 0);
    assert_eq!(record.notes.borrow().len(), 0);
    // The line of a file comes before it is read.
    assert_eq!(record.sorted_lines(&tree), ["A /T/p", "E /T/p"]);
}

#[test]
fn links_to_what_is_read_are_followed_and_others_are_not() {
    let tree = Tree::new();
    tree.file("t/f", "x");
    tree.symlink("t/file", "f");
    tree.symlink("t/null", "/dev/null");
    tree.symlink("t/broken", "nowhere");
    let (memory, record) = special(Duration::from_millis(100)).go(&[&tree.base.join("./t")]);
    let lines = record.sorted_lines(&tree);
    assert_eq!(lines, ["A /T/t/f", "A /T/t/null", "d /T/t", "s /T/t/broken", "s /T/t/file"]);
    assert_eq!(memory.content_at("t/null"), Some(&b""[..]));
}
