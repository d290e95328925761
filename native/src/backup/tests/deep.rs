//! Directories in directories in directories.

use super::*;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, symlinkat};
use std::collections::HashSet;

/// Makes a chain of directories below `base`, deeper than any path can tell, with an entry at each level, and a file at the
/// bottom.
fn chain(base: &Path, depth: usize) {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, base, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        symlinkat("x", &at, "s").unwrap();
        at = openat(&at, "d", flags, Mode::empty()).unwrap();
    }
    drop(openat(&at, "last", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR | Mode::WUSR).unwrap());
}

#[test]
fn depth_has_no_limit_but_few_directories_are_open() {
    let tree = Tree::new();
    let root = tree.directory("t");
    chain(&root, 2000);
    let (memory, record) = Run::default().go(&[&root]);
    assert_eq!(record.problem_lines(&tree), [] as [&str; 0]);
    assert_eq!(memory.items.len(), 2001 + 2000 + 1);
    let counts = [Status::Directory, Status::Symlink, Status::Added].map(|status| record.count_of(status));
    assert_eq!(counts, [2001, 2000, 1]);
}

#[test]
fn moving_a_deep_directory_loses_nothing_near_the_root() {
    let tree = Tree::new();
    let root = tree.directory("t");
    chain(&root, 500);
    let (from, to) = (root.join(vec!["d"; 201].join("/")), tree.at("elsewhere"));
    // The only file is at the bottom.
    let meanwhile: Box<dyn FnMut()> = Box::new(move || fs::rename(&from, &to).unwrap());
    let mut memory = Memory { meanwhile: Some(meanwhile), ..Memory::default() };
    let record = Run::default().fill(&mut memory, &[&root]).unwrap();
    let problems = record.problems.borrow();
    assert!(!problems.is_empty());
    assert!(problems.iter().all(|problem| problem.cause == Cause::InodeChanged));
    let prefix = &root.to_str().unwrap()[1..];
    let levels: Vec<_> = (0..500).map(|depth| [prefix, &"/d".repeat(depth), "/s"].concat()).collect();
    let paths: HashSet<_> = memory.paths().into_iter().collect();
    let lost: Vec<_> = (0..500).filter(|&depth| !paths.contains(&levels[depth])).collect();
    assert!(lost.iter().all(|depth| (64..=200).contains(depth)), "{lost:?}");
    assert_eq!(problems.len(), lost.len());
    assert_eq!(record.count_of(Status::Error), lost.len());
}
