//! Hard links.

use super::*;
use std::os::unix::fs::FileTypeExt;

fn linked<'a>(item: (Item, &'a [u8]), hlid: &str) -> (Item, &'a [u8]) {
    with(item, |item| item.hlid = Some(hlid.into()))
}

fn inode(place: &Place, path: &str) -> u64 {
    fs::symlink_metadata(place.at(path)).unwrap().ino()
}

#[test]
fn later_items_become_names_of_the_first() {
    let place = Place::new();
    let fifo = |path| (object(path, 0o010_644), &b""[..]);
    let link = |path| symlink(path, Path::new("nowhere"));
    let problems = place.extract(&[
        linked(file("a", b"content"), "1"),
        linked(link("s1"), "2"),
        linked(fifo("f1"), "3"),
        linked(file("other", b"content"), "4"),
        directory("d"),
        linked(file("d/b", b"content"), "1"),
        linked(link("d/s2"), "2"),
        linked(fifo("d/f2"), "3"),
        linked(file("d/b", b"content"), "1"),
    ]);
    assert_eq!(problems, [] as [&str; 0]);
    for (one, other) in [("a", "d/b"), ("s1", "d/s2"), ("f1", "d/f2")] {
        assert_eq!(inode(&place, one), inode(&place, other));
        assert_eq!(fs::symlink_metadata(place.at(one)).unwrap().nlink(), 2);
    }
    assert!(fs::symlink_metadata(place.at("d/f2")).unwrap().file_type().is_fifo());
    assert_eq!(fs::read_link(place.at("d/s2")).unwrap(), Path::new("nowhere"));
    assert_eq!(fs::metadata(place.at("other")).unwrap().nlink(), 1);
}

/// The archives of the kit's `hardlink-escape`: the real client links the file to the symbolic link, and the second file
/// to a first one with other content, without a word.
#[test]
fn an_item_that_differs_from_the_first_is_extracted_by_itself() {
    let place = Place::new();
    let sentinel = place.outside().join("sentinel");
    let problems = place.extract(&[
        linked(symlink("s", &sentinel), "1"),
        linked(file("f", b"content"), "1"),
        linked(file("f1", b"content"), "2"),
        linked(file("f2", b""), "2"),
        linked(file("f3", b"content"), "2"),
        linked(with(file("stated", b""), |item| (item.chunks, item.size) = (None, None)), "1"),
    ]);
    let differs = "(malicious or corrupted archive)";
    assert_eq!(
        problems,
        [
            format!(
                "102 f: not hard linked, extracted by itself: it differs from 's' of the same hard link id {differs}"
            ),
            format!(
                "102 f2: not hard linked, extracted by itself: it differs from 'f1' of the same hard link id {differs}"
            ),
            format!(
                "102 stated: not hard linked, extracted by itself: it differs from 's' of the same hard link id {differs}"
            ),
            "102 stated: not extracted, the archive holds no content for it".into(),
        ]
    );
    assert!(fs::symlink_metadata(place.at("f")).unwrap().is_file());
    assert_eq!(fs::read(place.at("f")).unwrap(), b"content");
    assert_eq!(fs::read(place.at("f2")).unwrap(), b"");
    assert_eq!(inode(&place, "f1"), inode(&place, "f3"));
    place.assert_outside_untouched();
}

#[test]
fn a_link_is_never_made_to_what_took_the_first_ones_place() {
    let place = Place::new();
    let sentinel = place.outside().join("sentinel");
    let mut extraction = place.restorer(Options::default());
    let mut item = |path, hlid| {
        let (item, content) = linked(file(path, b"content"), hlid);
        assert_eq!(extraction.item(&item, content), []);
    };
    item("a", "1");
    fs::rename(place.at("a"), place.at("away")).unwrap();
    fs::hard_link(&sentinel, place.at("a")).unwrap();
    item("b", "1");
    assert_eq!(fs::read(place.at("b")).unwrap(), b"content");
    fs::remove_file(place.at("b")).unwrap();
    std::os::unix::fs::symlink(&sentinel, place.at("b")).unwrap();
    item("c", "1");
    assert!(fs::symlink_metadata(place.at("c")).unwrap().is_file());
    fs::remove_file(place.at("c")).unwrap();
    item("d", "1");
    item("e", "1");
    assert_eq!(inode(&place, "d"), inode(&place, "e"));
    fs::remove_file(place.at("a")).unwrap();
    place.assert_outside_untouched();
}

/// File systems give the number of a removed inode to the next one: it must not count as the first one's.
#[test]
fn a_first_item_that_the_archive_replaces_is_forgotten() {
    let place = Place::new();
    let problems = place.extract(&[
        linked(file("a", b"content"), "1"),
        file("a", b"replaced"),
        linked(file("b", b"content"), "1"),
        linked(file("x", b"once"), "2"),
        linked(file("x", b"once"), "2"),
        linked(file("y", b"once"), "2"),
    ]);
    assert_eq!(problems, [] as [&str; 0]);
    assert_eq!(fs::read(place.at("a")).unwrap(), b"replaced");
    assert_eq!(fs::read(place.at("b")).unwrap(), b"content");
    assert_eq!(inode(&place, "x"), inode(&place, "y"));
}

#[test]
fn nothing_is_linked_to_a_file_that_could_not_be_completed() {
    let place = Place::new();
    let mut extraction = place.restorer(Options::default());
    let (first, _) = linked(file("a", b"content"), "1");
    let Ok(Begun::File(mut open)) = extraction.0.begin(&first) else { panic!() };
    open.write(b"con").unwrap();
    drop(open);
    assert!(!place.at("a").exists());
    let (second, content) = linked(file("b", b"content"), "1");
    assert_eq!(extraction.item(&second, content), []);
    assert_eq!(fs::read(place.at("b")).unwrap(), content);
}

#[test]
fn links_are_kept_together_when_an_extraction_is_continued() {
    let place = Place::new();
    let items = [linked(file("a", b"content"), "1"), linked(file("b", b"content"), "1")];
    let options = || Options { continue_extraction: true, ..Options::default() };
    assert_eq!(place.extract(&items), [] as [&str; 0]);
    let before = inode(&place, "a");
    let mut extraction = place.restorer(options());
    for (item, _) in &items {
        assert!(matches!(extraction.0.begin(item), Ok(Begun::Unchanged)));
    }
    // A file of its own with the same attributes becomes a link again.
    fs::remove_file(place.at("b")).unwrap();
    assert_eq!(place.extract_with(options(), &[file("b", b"content")]), [] as [&str; 0]);
    assert_ne!(inode(&place, "b"), before);
    assert_eq!(place.extract_with(options(), &items), [] as [&str; 0]);
    assert_eq!((inode(&place, "a"), inode(&place, "b")), (before, before));
}
