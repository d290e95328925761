//! From a path that is given to the path of an item (data layer, sections 8.1 and 10.2).

use super::problem::Cause;
use portaborg_core::item::make_path_safe;
use portaborg_core::pattern::normpath;

/// What comes before `/./` in a path, normalised and with a slash behind: it is left out of the items' paths.
pub fn strip_prefix(given: &[u8]) -> Option<Vec<u8>> {
    let at = given.windows(3).position(|three| three == b"/./").filter(|&at| at > 0)?;
    let mut prefix = normpath(&given[..at]);
    prefix.push(b'/');
    Some(prefix)
}

/// The path of the item for the object at a normalised path; `None` if it is above what is left of the paths.
pub fn item_path(path: &[u8], strip_prefix: Option<&[u8]>) -> Result<Option<Vec<u8>>, Cause> {
    let mut rest = path;
    if let Some(prefix) = strip_prefix {
        if prefix.strip_suffix(b"/") == Some(path) {
            rest = b".";
        } else if prefix.strip_prefix(path).is_some_and(|rest| rest.starts_with(b"/")) {
            return Ok(None);
        } else if let Some(below) = path.strip_prefix(prefix) {
            rest = below;
        }
    }
    while let Some(shorter) = rest.strip_prefix(b"/") {
        rest = shorter;
    }
    while let Some(shorter) = rest.strip_prefix(b"../") {
        rest = shorter;
    }
    if matches!(rest, b"" | b"..") {
        rest = b".";
    }
    match make_path_safe(rest) {
        Ok(safe) if safe == rest => Ok(Some(safe)),
        _ => Err(Cause::UnsafePath),
    }
}

/// The path of the entry `name` of the directory at `path`.
pub fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    match path {
        b"." => name.to_vec(),
        _ => {
            let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
            [path, slash, name].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(key: &str) -> Vec<(String, Option<String>)> {
        let all: serde_json::Value =
            serde_json::from_slice(include_bytes!("../../../core/tests/vectors/data.json")).unwrap();
        let cases = all["paths"][key].as_array().unwrap();
        cases.iter().map(|case| (case[0].as_str().unwrap().into(), case[1].as_str().map(Into::into))).collect()
    }

    #[test]
    fn items_have_the_paths_of_the_vectors() {
        for (given, expected) in cases("create_item_path") {
            let path = item_path(&normpath(given.as_bytes()), None).unwrap();
            assert_eq!(path.as_deref(), expected.as_deref().map(str::as_bytes), "{given}");
        }
    }

    #[test]
    fn what_is_stripped_is_what_the_vectors_say() {
        for (given, expected) in cases("strip_prefix") {
            assert_eq!(strip_prefix(given.as_bytes()).as_deref(), expected.as_deref().map(str::as_bytes), "{given}");
        }
    }

    #[test]
    fn stripped_levels_have_no_item_and_the_last_one_is_the_root() {
        let prefix = Some(&b"/a/b/"[..]);
        assert_eq!(item_path(b"/a", prefix), Ok(None));
        assert_eq!(item_path(b"/a/b", prefix), Ok(Some(b".".to_vec())));
        assert_eq!(item_path(b"/a/b/c", prefix), Ok(Some(b"c".to_vec())));
        assert_eq!(item_path(b"/a/bc", prefix), Ok(Some(b"a/bc".to_vec())));
    }

    #[test]
    fn a_path_that_readers_refuse_is_not_written() {
        assert_eq!(item_path(br"a/x\..", None), Err(Cause::UnsafePath));
        assert_eq!(item_path(br"a/..\x", None), Err(Cause::UnsafePath));
        assert_eq!(item_path(br"a/..x", None), Ok(Some(b"a/..x".to_vec())));
    }

    #[test]
    fn entries_of_the_current_directory_have_bare_names() {
        assert_eq!(join(b".", b"x"), b"x");
        assert_eq!(join(b"/", b"x"), b"/x");
        assert_eq!(join(b"a", b"x"), b"a/x");
    }
}
