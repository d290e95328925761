//! Content, holes, replaced and kept objects, and what can't be extracted.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn chunked(path: &str, chunks: &[&[u8]]) -> Item {
    let entries = chunks
        .iter()
        .map(|chunk| ChunkEntry { id: ChunkId(*blake3::hash(chunk).as_bytes()), size: chunk.len() as u64 });
    let size = chunks.iter().map(|chunk| chunk.len() as u64).sum();
    Item { chunks: Some(entries.collect()), size: Some(size), ..object(path, 0o100_600) }
}

fn write_all(place: &Place, options: Options, item: &Item, chunks: &[&[u8]]) {
    let mut extraction = place.restorer(options);
    let Ok(Begun::File(mut file)) = extraction.0.begin(item) else { panic!() };
    for chunk in chunks {
        file.write(chunk).unwrap();
    }
    assert_eq!(file.finish(), []);
}

#[test]
fn zero_chunks_become_holes_only_if_asked_for() {
    let zeros = vec![0; 1 << 20];
    let data = vec![7; 1 << 16];
    let almost = {
        let mut chunk = zeros.clone();
        chunk[(1 << 20) - 1] = 1;
        chunk
    };
    let cases: [(&str, &[&[u8]], u64); 4] = [
        ("middle", &[&data, &zeros, &data], 2 << 16),
        ("end", &[&data, &zeros], 1 << 16),
        ("all", &[&zeros, &zeros], 0),
        ("almost", &[&almost], 1 << 20),
    ];
    let place = Place::new();
    for (path, chunks, expected_bytes) in cases {
        for sparse in [false, true] {
            write_all(&place, Options { sparse, ..Options::default() }, &chunked(path, chunks), chunks);
            assert_eq!(fs::read(place.at(path)).unwrap(), chunks.concat(), "{path}");
            let allocated = fs::metadata(place.at(path)).unwrap().blocks() * 512;
            let expected = if sparse { expected_bytes } else { chunks.concat().len() as u64 };
            assert!(allocated.abs_diff(expected) <= 1 << 14, "{path} {sparse}: {allocated} bytes, not {expected}");
        }
    }
}

#[test]
fn zeros_in_place_of_a_chunk_have_its_length() {
    for sparse in [false, true] {
        let place = Place::new();
        let mut extraction = place.restorer(Options { sparse, ..Options::default() });
        let (item, _) = with(file("f", b""), |item| item.size = Some(200_004));
        let Ok(Begun::File(mut file)) = extraction.0.begin(&item) else { panic!() };
        file.write(b"ab").unwrap();
        file.zeros(200_000).unwrap();
        file.write(b"cd").unwrap();
        assert_eq!(file.finish(), []);
        let content = fs::read(place.at("f")).unwrap();
        assert_eq!(content.len(), 200_004);
        assert!(content.starts_with(b"ab\0") && content.ends_with(b"\0cd"));
    }
}

#[test]
fn a_size_beyond_every_file_system_is_refused() {
    let place = Place::new();
    let mut extraction = place.restorer(Options { sparse: true, ..Options::default() });
    let Ok(Begun::File(mut file)) = extraction.0.begin(&file("f", b"x").0) else { panic!() };
    file.zeros(u64::MAX).unwrap_err();
    file.zeros(i64::MAX as u64).unwrap();
    assert_eq!(file.zeros(1).unwrap_err().to_string(), "write: [Errno 27] File too large");
    assert_eq!(file.write(b"x").unwrap_err().exit_code(), 104);
    drop(file);
    assert!(!place.at("f").exists());
}

#[test]
fn a_stated_size_that_is_wrong_is_told_and_the_content_kept() {
    let place = Place::new();
    let problems = place.extract(&[with(file("f", b"content"), |item| item.size = Some(9))]);
    assert_eq!(problems, ["102 f: Size inconsistency detected: size 9, chunks size 7"]);
    assert_eq!(fs::read(place.at("f")).unwrap(), b"content");
}

#[test]
fn a_file_is_private_until_it_is_complete_and_gone_if_it_never_is() {
    let place = Place::new();
    let mut extraction = place.restorer(Options::default());
    let (item, content) = with(file("f", b"content"), |item| item.mode = Some(0o104_755));
    let Ok(Begun::File(mut open)) = extraction.0.begin(&item) else { panic!() };
    open.write(content).unwrap();
    assert_eq!(fs::metadata(place.at("f")).unwrap().mode(), 0o100_600);
    open.finish();
    assert_eq!(fs::metadata(place.at("f")).unwrap().mode(), 0o104_755);

    let Ok(Begun::File(open)) = extraction.0.begin(&file("g", b"x").0) else { panic!() };
    drop(open);
    assert!(!place.at("g").exists());
    // What somebody else put there is not ours to remove.
    let Ok(Begun::File(open)) = extraction.0.begin(&file("h", b"x").0) else { panic!() };
    fs::remove_file(place.at("h")).unwrap();
    fs::write(place.at("h"), "somebody's").unwrap();
    drop(open);
    assert_eq!(fs::read(place.at("h")).unwrap(), b"somebody's");
}

#[test]
fn several_files_can_be_open_and_finished_in_any_order() {
    let place = Place::new();
    let mut extraction = place.restorer(Options::default());
    let mut open = Vec::new();
    extraction.0.begin(&directory("d").0).unwrap();
    for path in ["d/a", "d/b", "d/c"] {
        let Ok(Begun::File(file)) = extraction.0.begin(&file(path, b"content").0) else { panic!() };
        open.push(file);
    }
    for mut file in open.into_iter().rev() {
        file.write(b"content").unwrap();
        let handle = std::thread::spawn(move || file.finish());
        assert_eq!(handle.join().unwrap(), []);
    }
    assert_eq!(extraction.0.finish(), []);
    assert_eq!(fs::read(place.at("d/c")).unwrap(), b"content");
}

#[test]
fn existing_objects_are_replaced_but_directories_kept() {
    let place = Place::new();
    fs::write(place.at("file"), "old and longer").unwrap();
    fs::create_dir_all(place.at("kept/inside")).unwrap();
    fs::set_permissions(place.at("kept"), fs::Permissions::from_mode(0o111)).unwrap();
    fs::create_dir(place.at("empty")).unwrap();
    fs::create_dir_all(place.at("full/inside")).unwrap();
    fs::write(place.at("becomes-directory"), "old").unwrap();
    let problems = place.extract(&[
        file("file", b"new"),
        directory("kept"),
        file("kept/f", b"new"),
        file("empty", b"new"),
        file("full", b"new"),
        directory("becomes-directory"),
        file("becomes-directory/f", b"new"),
        symlink("file", Path::new("elsewhere")),
    ]);
    assert_eq!(fs::metadata(place.at("kept")).unwrap().mode(), 0o040_755);
    let full = place.at("full").display().to_string();
    assert_eq!(problems, [format!("105 full: open: [Errno 21] Is a directory: '{full}'")]);
    assert!(place.at("kept/inside").is_dir() && place.at("full/inside").is_dir());
    for path in ["kept/f", "empty", "becomes-directory/f"] {
        assert_eq!(fs::read(place.at(path)).unwrap(), b"new");
    }
    assert_eq!(fs::read_link(place.at("file")).unwrap(), Path::new("elsewhere"));
}

#[test]
fn what_has_no_usable_type_is_a_problem_of_its_own() {
    let place = Place::new();
    let problems = place.extract(&[
        (Item { mode: None, ..object("nomode", 0) }, b""),
        (object("socket", 0o140_755), b""),
        (object("zero", 0), b""),
        (object("link", 0o120_777), b""),
        (object("device", 0o020_600), b""),
        (object("file", 0o100_600), b""),
        file("after", b"x"),
    ]);
    assert_eq!(
        problems,
        [
            "102 nomode: not extracted, the archive does not say what type it is",
            "102 socket: not extracted, unknown archive item type 0o140755",
            "102 zero: not extracted, unknown archive item type 0o0",
            "102 link: not extracted, the archive holds no link target for it",
            "102 device: not extracted, the archive holds no device number for it",
            "102 file: not extracted, the archive holds no content for it",
        ]
    );
    assert!(place.at("after").is_file());
}

#[test]
fn a_continued_extraction_keeps_what_is_the_same() {
    let place = Place::new();
    let (item, content) = with(file("f", b"content"), |item| item.mtime = at(-5, 123_456_789));
    assert_eq!(place.extract(&[(item.clone(), content)]), [] as [&str; 0]);
    let mut extraction = place.restorer(Options { continue_extraction: true, ..Options::default() });
    assert!(matches!(extraction.0.begin(&item), Ok(Begun::Unchanged)));
    for change in [
        |item: &mut Item| item.mode = Some(0o100_600),
        |item: &mut Item| item.size = Some(8),
        |item: &mut Item| item.mtime.nanos += 1,
        |item: &mut Item| item.mtime.secs += 1,
    ] {
        let mut changed = item.clone();
        change(&mut changed);
        let Ok(Begun::File(mut file)) = extraction.0.begin(&changed) else { panic!("{changed:?}") };
        file.write(content).unwrap();
        file.finish();
        assert_eq!(extraction.item(&item, content), []); // back to what it was
    }
    assert!(matches!(extraction.0.begin(&item), Ok(Begun::Unchanged)));
    // Not asked to continue, everything is written anew.
    assert!(matches!(place.restorer(Options::default()).0.begin(&item), Ok(Begun::File(_))));
}
