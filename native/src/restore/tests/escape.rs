//! Attempts to get out of the target, each on both ways to it.

use super::*;
use std::os::unix::fs::symlink as make_symlink;

/// Runs `attempt` with the kernel's help and without.
fn both_ways(attempt: impl Fn(&Place, &mut Extraction)) {
    for stepwise in [false, true] {
        let place = Place::new();
        let mut extraction = place.restorer(Options::default());
        if stepwise {
            extraction.0.target.go_stepwise();
        }
        attempt(&place, &mut extraction);
        assert_eq!(extraction.0.finish(), []);
        place.assert_outside_untouched();
    }
}

const SYMLINK_PARENT: &str = "not extracted, a parent directory is a symlink (malicious or corrupted archive)";

impl Extraction {
    fn texts(&mut self, (item, content): (Item, &[u8])) -> Vec<String> {
        self.item(&item, content).iter().map(text).collect()
    }
}

#[test]
fn a_parent_that_the_archive_made_a_symlink_is_refused() {
    both_ways(|place, extraction| {
        assert!(extraction.texts(symlink("evil", &place.outside())).is_empty());
        assert!(extraction.texts(symlink("relative", Path::new("../outside"))).is_empty());
        assert!(extraction.texts(symlink("here", Path::new("."))).is_empty());
        for path in ["evil/x", "evil/deeper/x", "relative/x", "here/x", "here/here/x"] {
            assert_eq!(extraction.texts(file(path, b"x")), [format!("108 {path}: {SYMLINK_PARENT}")]);
            assert_eq!(extraction.texts(directory(path)), [format!("108 {path}: {SYMLINK_PARENT}")]);
            let link = symlink(path, Path::new("/"));
            assert_eq!(extraction.texts(link), [format!("108 {path}: {SYMLINK_PARENT}")]);
        }
        assert!(extraction.texts(file("after", b"x")).is_empty());
        assert_eq!(fs::read(place.at("after")).unwrap(), b"x");
    });
}

#[test]
fn a_parent_that_was_a_symlink_before_is_refused() {
    both_ways(|place, extraction| {
        make_symlink(place.outside(), place.at("evil")).unwrap();
        assert_eq!(extraction.texts(file("evil/x", b"x")), [format!("108 evil/x: {SYMLINK_PARENT}")]);
        fs::write(place.at("plain"), "a file").unwrap();
        assert_eq!(extraction.texts(file("plain/x", b"x")), [format!("108 plain/x: {SYMLINK_PARENT}")]);
    });
}

#[test]
fn a_parent_that_becomes_a_symlink_during_the_extraction_is_not_followed() {
    both_ways(|place, extraction| {
        assert!(extraction.texts(directory("a")).is_empty());
        assert!(extraction.texts(file("a/one", b"1")).is_empty());
        fs::rename(place.at("a"), place.at("moved")).unwrap();
        make_symlink(place.outside(), place.at("a")).unwrap();
        // The directory is still the one that was opened, wherever it is now.
        assert!(extraction.texts(file("a/two", b"2")).is_empty());
        assert_eq!(fs::read(place.at("moved/two")).unwrap(), b"2");
        assert_eq!(extraction.texts(file("a/b/three", b"3")), [] as [&str; 0]);
        fs::rename(place.at("moved"), place.at("a2")).unwrap();
        fs::remove_file(place.at("a")).unwrap();
        fs::rename(place.at("a2"), place.at("a")).unwrap();
    });
}

#[test]
fn a_directory_that_is_a_symlink_when_it_is_left_gets_no_attributes() {
    for stepwise in [false, true] {
        let place = Place::new();
        let mut extraction = place.restorer(Options::default());
        if stepwise {
            extraction.0.target.go_stepwise();
        }
        let before = fs::metadata(place.outside()).unwrap();
        assert!(extraction.texts(directory("a")).is_empty());
        fs::remove_dir(place.at("a")).unwrap();
        make_symlink(place.outside(), place.at("a")).unwrap();
        let problems = extraction.0.finish();
        assert_eq!(problems.len(), 1);
        assert!(text(&problems[0]).starts_with("104 a: attrs: [Errno "), "{}", text(&problems[0]));
        let after = fs::metadata(place.outside()).unwrap();
        assert_eq!((before.mode(), before.mtime_nsec()), (after.mode(), after.mtime_nsec()));
        place.assert_outside_untouched();
    }
}

#[test]
fn what_is_at_the_items_own_path_is_replaced_not_followed() {
    both_ways(|place, extraction| {
        let sentinel = place.outside().join("sentinel");
        assert!(extraction.texts(symlink("f", &sentinel)).is_empty());
        assert!(extraction.texts(file("f", b"own")).is_empty());
        assert_eq!(fs::read(place.at("f")).unwrap(), b"own");
        assert!(fs::symlink_metadata(place.at("f")).unwrap().is_file());

        assert!(extraction.texts(symlink("d", &place.outside())).is_empty());
        assert!(extraction.texts(directory("d")).is_empty());
        assert!(extraction.texts(file("d/x", b"x")).is_empty());
        assert!(fs::symlink_metadata(place.at("d")).unwrap().is_dir());

        fs::hard_link(&sentinel, place.at("hard")).unwrap();
        assert!(extraction.texts(file("hard", b"own")).is_empty());
        assert_eq!(fs::read(place.at("hard")).unwrap(), b"own");
    });
}

#[test]
fn a_directory_that_was_open_is_forgotten_when_it_is_replaced() {
    both_ways(|place, extraction| {
        for path in ["d", "d/e"] {
            assert!(extraction.texts(directory(path)).is_empty());
        }
        assert!(extraction.texts(file("d/e/f", b"f")).is_empty());
        fs::remove_file(place.at("d/e/f")).unwrap();
        assert!(extraction.texts(symlink("d/e", &place.outside())).is_empty());
        assert_eq!(extraction.texts(file("d/e/f", b"f")), [format!("108 d/e/f: {SYMLINK_PARENT}")]);
    });
}

#[test]
fn paths_with_dots_are_refused_and_odd_ones_survived() {
    both_ways(|place, extraction| {
        let dots = "not extracted, path contains \"../\" (malicious or corrupted archive)";
        for path in ["..", "../outside/x", "a/../../outside/x", "a/..", "/../outside/x"] {
            assert_eq!(extraction.texts(file(path, b"x")), [format!("109 {path}: {dots}")]);
        }
        assert!(extraction.texts(file("/outside//./x", b"x")).is_empty());
        assert_eq!(fs::read(place.at("outside/x")).unwrap(), b"x");

        let root = place.target().display().to_string();
        let is_directory = [format!("105 .: open: [Errno 21] Is a directory: '{root}/.'")];
        assert_eq!(extraction.texts(file(".", b"x")), is_directory);
        let nul = [format!("104 a\0b: open: [Errno 22] Invalid argument: '{root}/a\\x00b'")];
        assert_eq!(extraction.texts(file("a\0b", b"x")), nul);
        let long = "x".repeat(300);
        assert!(extraction.texts(file(&long, b"x"))[0].contains("open: [Errno 36] File name too long"));
        let endless = "d/".repeat(10_000);
        assert!(extraction.texts(file(&endless, b"x"))[0].contains("makedirs: [Errno 36] File name too long"));
    });
}

#[test]
fn a_path_that_is_too_long_for_the_system_comes_out() {
    both_ways(|place, extraction| {
        let name = "d".repeat(100);
        let path = format!("{}/f", vec![&name[..]; 60].join("/"));
        assert!(extraction.texts(file(&path, b"deep")).is_empty());
        let mut here = place.target();
        let mut depth = 0;
        while here.as_os_str().len() < 3900 {
            here.push(&name);
            depth += 1;
        }
        assert!(depth > 30 && fs::metadata(&here).unwrap().is_dir());
    });
}

#[test]
fn parents_without_an_item_are_made_private() {
    both_ways(|place, extraction| {
        assert!(extraction.texts(file("a/b/c", b"x")).is_empty());
        assert_eq!(fs::metadata(place.at("a")).unwrap().mode() & 0o7777, 0o700);
        assert_eq!(fs::metadata(place.at("a/b")).unwrap().mode() & 0o7777, 0o700);
    });
}
