//! Which objects are gone to, and in which order.

use super::*;
use std::os::unix::fs::MetadataExt;

#[test]
fn a_directory_comes_before_what_is_in_it_and_is_told_after_it() {
    let tree = Tree::new();
    tree.file("a/b/f", "x");
    tree.file("a/z", "y");
    let (memory, record) = Run::default().go(&[&tree.at("a")]);
    let paths: Vec<_> = memory.paths().iter().map(|path| tree.plain(path)).collect();
    assert_eq!(paths[0], "T/a");
    let place = |path: &str| paths.iter().position(|other| other == path).unwrap();
    assert_eq!(place("T/a/b") + 1, place("T/a/b/f"));
    assert_eq!(paths.len(), 4);
    assert_eq!(tree.plain(record.lines.borrow().last().unwrap()), "d /T/a");
    assert_eq!(record.sorted_lines(&tree), ["A /T/a/b/f", "A /T/a/z", "d /T/a", "d /T/a/b"]);
    assert_eq!((record.count_of(Status::Added), record.count_of(Status::Directory)), (2, 2));
}

#[test]
fn entries_come_by_inode_number() {
    let tree = Tree::new();
    for name in ["q", "c", "x", "a", "m"] {
        tree.file(&format!("d/{name}"), name);
    }
    let (memory, _) = Run::default().go(&[&tree.at("d")]);
    let numbers: Vec<_> = memory.items[1..].iter().map(|(item, _)| item.inode.unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert_eq!(numbers.len(), 5);
}

#[test]
fn patterns_exclude_and_what_is_not_entered_is_not_looked_at() {
    let tree = Tree::new();
    for path in ["t/a/f", "t/a/b/g", "t/c/x", "t/c/d/y", "t/keep.o"] {
        tree.file(path, path);
    }
    let run = Run { patterns: "! re:t/a/b$\n- re:t/c$\n- re:/y$\n", ..Run::default() };
    let (memory, record) = run.go(&[&tree.at("t")]);
    assert_eq!(
        record.sorted_lines(&tree),
        [
            "- /T/t/a/b",
            "- /T/t/c",
            "- /T/t/c/d/y",
            "A /T/t/a/f",
            "A /T/t/c/x",
            "A /T/t/keep.o",
            "d /T/t",
            "d /T/t/a",
            "d /T/t/c/d"
        ]
    );
    assert!(!memory.paths().iter().any(|path| path.ends_with("t/c") || path.ends_with("t/a/b")));
    assert_eq!(record.count_of(Status::Excluded), 0); // patterns are told, but not counted
}

#[test]
fn tags_leave_directories_out_but_for_themselves() {
    let tree = Tree::new();
    const CACHE: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# more";
    tree.file("t/cache/CACHEDIR.TAG", CACHE);
    tree.file("t/cache/x", "");
    tree.file("t/none/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc5");
    tree.file("t/tagged/sub/y", "");
    tree.directory("t/tagged/.nobackup");
    tree.file("t/tagged/.nobackup/inside", "");
    let options = |caches, keep| walk::Options {
        exclude_caches: caches,
        exclude_if_present: vec![b".nobackup".to_vec(), b"absent".to_vec()],
        keep_exclude_tags: keep,
        ..walk::Options::default()
    };
    let told = |options| {
        let (_, record) = Run { walk: options, ..Run::default() }.go(&[&tree.at("t")]);
        record.sorted_lines(&tree)
    };
    let none = ["A /T/t/none/CACHEDIR.TAG", "d /T/t", "d /T/t/none"];
    assert_eq!(told(options(true, false)), [&["- /T/t/cache", "- /T/t/tagged"], &none[..]].concat());
    assert_eq!(
        told(options(true, true)),
        [
            "- /T/t/cache",
            "- /T/t/tagged",
            "A /T/t/cache/CACHEDIR.TAG",
            none[0],
            "A /T/t/tagged/.nobackup/inside",
            none[1],
            none[2],
            "d /T/t/tagged/.nobackup",
        ]
    );
    assert_eq!(told(options(false, false)).len(), 7);
    // The directory of tags that are kept has an item.
    let (memory, _) = Run { walk: options(true, true), ..Run::default() }.go(&[&tree.at("t")]);
    let paths: Vec<_> = memory.paths().iter().map(|path| tree.plain(path)).collect();
    assert!(paths.contains(&"T/t/cache".into()) && paths.contains(&"T/t/tagged".into()));
    assert!(!paths.contains(&"T/t/cache/x".into()));
}

#[test]
fn a_pipe_that_is_named_like_a_tag_keeps_nobody_waiting() {
    let tree = Tree::new();
    tree.directory("t");
    tree.fifo("t/CACHEDIR.TAG");
    let walk = walk::Options { exclude_caches: true, ..walk::Options::default() };
    let (_, record) = Run { walk, ..Run::default() }.go(&[&tree.at("t")]);
    assert_eq!(record.sorted_lines(&tree), ["d /T/t", "f /T/t/CACHEDIR.TAG"]);
}

#[test]
fn roots_are_followed_and_other_links_are_not() {
    let tree = Tree::new();
    tree.file("t/d/f", "x");
    tree.symlink("t/d/link", "f");
    tree.symlink("start", "t/d");
    tree.symlink("file", "t/d/f");
    tree.symlink("broken", "nowhere");
    let (memory, record) = Run::default().go(&[&tree.at("start"), &tree.at("file"), &tree.at("broken")]);
    assert_eq!(record.sorted_lines(&tree), ["A /T/file", "A /T/start/f", "d /T/start", "s /T/start/link"]);
    assert_eq!(record.problem_lines(&tree), ["112 /T/broken: stat: broken symlink, skipping it"]);
    let prefix = tree.base.to_str().unwrap()[1..].to_owned();
    assert_eq!(memory.item_at(&format!("{prefix}/start/link")).target.as_deref(), Some(&b"f"[..]));
    assert_eq!(memory.content_at(&format!("{prefix}/file")), Some(&b"x"[..]));
    assert_eq!(memory.item_at(&format!("{prefix}/file")).mode.unwrap() & 0o170_000, 0o100_000);
}

#[test]
fn nothing_is_gone_to_twice() {
    let tree = Tree::new();
    tree.file("t/a/f", "x");
    tree.file("t/cache/f", "x");
    let run = Run { skip: vec![tree.at("t/cache"), tree.at("absent")], ..Run::default() };
    let (_, record) = run.go(&[&tree.at("t/a"), &tree.at("t"), &tree.at("t/a")]);
    assert_eq!(record.sorted_lines(&tree), ["A /T/t/a/f", "d /T/t", "d /T/t/a"]);
}

#[test]
fn what_is_before_the_slashdot_is_not_in_the_paths() {
    let tree = Tree::new();
    tree.file("s/k/f", "x");
    let root = tree.base.join("s/./k");
    let (memory, record) = Run::default().go(&[&root]);
    assert_eq!(memory.paths(), ["k", "k/f"]);
    assert_eq!(record.sorted_lines(&tree), ["A /T/s/k/f", "d /T/s/k"]);
    let (memory, _) = Run::default().go(&[&tree.base.join("s/.//"), &tree.base.join("s/./k/..")]);
    assert_eq!(memory.paths(), [".", "k", "k/f"]);
}

#[test]
fn single_objects_are_neither_entered_nor_followed() {
    let tree = Tree::new();
    tree.file("t/f", "x");
    tree.symlink("l", "t");
    let (run, record, mut memory) = (Run { patterns: "! *", ..Run::default() }, Record::default(), Memory::default());
    let order = Order::new(&record);
    let mut collector = Collector::new(&run.selection, &run.reading, &order, &mut memory);
    let mut walk = Walk::new(&run.walk, run.matcher(), &record);
    for path in ["t", "t/./f", "l", "absent"] {
        walk.single(tree.at(path).as_os_str().as_bytes(), &mut collector).unwrap();
    }
    walk.single(b"nul\0inside", &mut collector).unwrap();
    assert_eq!(
        record.lines.borrow().iter().map(|line| tree.plain(line)).collect::<Vec<_>>(),
        ["d /T/t", "A /T/t/f", "s /T/l", "E /T/absent", "E nul\0inside"]
    );
    assert_eq!(record.problem_lines(&tree)[0], "107 /T/absent: stat: [Errno 2] No such file or directory: '/T/absent'");
    assert_eq!(memory.paths()[1], "f");
}

#[test]
fn what_is_not_there_or_not_readable_is_told() {
    let tree = Tree::new();
    let (_, record) = Run::default().go(&[Path::new(""), &tree.at("absent")]);
    assert_eq!(
        record.problem_lines(&tree),
        [
            "1 An empty string was given as PATH, ignoring.",
            "107 /T/absent: stat: [Errno 2] No such file or directory: '/T/absent'"
        ]
    );
    assert_eq!(record.lines.borrow().len(), 0);
    if is_root() {
        return; // may read everything
    }
    use std::os::unix::fs::PermissionsExt;
    tree.file("t/f", "x");
    tree.directory("t/d");
    for path in ["t/f", "t/d"] {
        fs::set_permissions(tree.at(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let (_, record) = Run::default().go(&[&tree.at("t")]);
    let mut problems = record.problem_lines(&tree);
    problems.sort();
    assert_eq!(
        problems,
        [
            "105 /T/t/d: dir_open: [Errno 13] Permission denied: 'd'",
            "105 /T/t/f: open: [Errno 13] Permission denied: 'f'"
        ]
    );
    assert_eq!(record.sorted_lines(&tree), ["E /T/t/d", "E /T/t/f", "d /T/t"]);
    assert_eq!(record.count_of(Status::Error), 2);
    assert_eq!(record.notes.borrow().len(), 0); // it would be no better a second time
}

#[test]
fn other_file_systems_are_not_entered() {
    let proc = Path::new("/proc");
    let Ok(inner) = fs::metadata("/proc/sys") else { return };
    let Ok(outer) = fs::metadata("/") else { return };
    if inner.dev() == outer.dev() {
        return;
    }
    let walk = walk::Options { one_file_system: true, ..walk::Options::default() };
    let mut dry = DryRun::default();
    let record = Record::default();
    let mut matcher = PatternMatcher::new(true);
    matcher.add_rules(parse_pattern_file(b"+ pf:/\n+ pf:/proc\n! *\n").unwrap().rules);
    Walk::new(&walk, matcher, &record).root(b"/", &mut dry).unwrap();
    let lines = record.lines.borrow();
    assert!(lines.contains(&format!("+ {}", proc.display())));
    assert!(!lines.iter().any(|line| line.contains("/proc/")));
}

#[test]
fn a_dry_run_counts_without_reading() {
    let tree = Tree::new();
    tree.file("t/a", "12345");
    tree.file("t/b/c", "123");
    tree.symlink("t/l", "a");
    tree.fifo("t/p");
    tree.symlink("t/lp", "p");
    for (read_special, files) in [(false, 2), (true, 4)] {
        let mut dry = DryRun { read_special, ..DryRun::default() };
        let (options, record) = (walk::Options::default(), Record::default());
        let mut walk = Walk::new(&options, PatternMatcher::new(true), &record);
        walk.root(tree.at("t").as_os_str().as_bytes(), &mut dry).unwrap();
        assert_eq!((dry.files, dry.size), (files, 8));
        assert_eq!(record.lines.borrow().iter().filter(|line| line.starts_with('+')).count(), 7);
    }
}

#[test]
fn a_failure_of_the_sink_ends_the_walk() {
    let tree = Tree::new();
    for number in 0..9 {
        tree.file(&format!("t/{number}"), "x");
    }
    let mut memory = Memory { full_after: Some(4), ..Memory::default() };
    let end = Run::default().fill(&mut memory, &[&tree.at("t")]).err().unwrap();
    assert_eq!(end, Failure::error("no space left"));
    assert_eq!((memory.items.len(), memory.reads), (4, 4));
}
