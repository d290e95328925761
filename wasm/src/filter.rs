//! Which items of an archive are asked for.

use crate::failure::Failure;
use portaborg_core::bytes::lossy;
use portaborg_core::item::make_path_safe;
use portaborg_core::pattern::{Pattern, Style};
use serde::Deserialize;

/// The path of the folder that is the archive itself.
const ROOT: &[u8] = b".";

/// A folder, patterns and a depth, all of which an item must suit.
#[derive(Default)]
pub struct Filter {
    under: Vec<u8>,
    patterns: Vec<(String, Pattern)>,
    depth: Option<usize>,
    /// A part of the path, whatever its case.
    contains: Option<String>,
    /// Only the item whose path `under` is.
    exact: bool,
    /// So many items are enough.
    left: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    under: Option<Vec<u8>>,
    r#match: Vec<String>,
    depth: Option<usize>,
    contains: Option<String>,
    exact: bool,
    limit: Option<usize>,
}

impl Filter {
    /// Reads `{ under, match, depth, contains, exact, limit }`, with `under` as a list of bytes.
    pub fn parse(json: &str) -> Result<Filter, Failure> {
        let wanted: Wanted = serde_json::from_str(json).map_err(|_| Failure::argument("the filter"))?;
        let under = make_path_safe(&wanted.under.unwrap_or_default()).map_err(|_| Failure::argument("under"))?;
        let mut patterns = Vec::new();
        for text in wanted.r#match {
            let pattern = Pattern::parse(text.as_bytes(), Style::Sh).map_err(|error| Failure::pattern(error, &text))?;
            patterns.push((text, pattern));
        }
        Ok(Filter {
            under,
            contains: wanted.contains.map(|text| text.to_lowercase()),
            patterns,
            depth: wanted.depth,
            exact: wanted.exact,
            left: wanted.limit,
        })
    }

    /// Whether no more items are asked for, whatever comes.
    pub fn is_done(&self) -> bool {
        self.left == Some(0)
    }

    /// Whether the item with this path is asked for; then it counts.
    pub fn leaves(&mut self, path: &[u8]) -> Result<bool, Failure> {
        let is_left = !self.is_done() && self.suits(path)?;
        if is_left {
            self.left = self.left.map(|left| left - 1);
        }
        Ok(is_left)
    }

    fn suits(&self, path: &[u8]) -> Result<bool, Failure> {
        let Some(levels) = below(&self.under, path).map(levels) else { return Ok(false) };
        if self.depth.is_some_and(|depth| levels > depth) || self.exact && levels > 0 {
            return Ok(false);
        }
        if let Some(contains) = &self.contains
            && !lossy(path).0.to_lowercase().contains(contains)
        {
            return Ok(false);
        }
        for (text, pattern) in &self.patterns {
            if pattern.matches(path).map_err(|error| Failure::pattern(error, text))? {
                return Ok(true);
            }
        }
        Ok(self.patterns.is_empty())
    }
}

/// The path from a folder on; `None` if it is not in there.
pub fn below<'p>(folder: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let path = if path == ROOT { &[] } else { path };
    if folder.is_empty() || folder == ROOT {
        return Some(path);
    }
    match path.strip_prefix(folder)? {
        [] => Some(&[]),
        [b'/', below @ ..] => Some(below),
        _ => None,
    }
}

/// How many levels below a folder a path is that is given from there on.
pub fn levels(below: &[u8]) -> usize {
    if below.is_empty() { 0 } else { 1 + below.iter().filter(|&&byte| byte == b'/').count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(filter: &str) -> Vec<&'static str> {
        let mut filter = Filter::parse(filter).unwrap();
        let paths = [".", "a", "a/b", "a/b/c.txt", "ab", "d.txt"];
        let is_left = |path: &&str| filter.leaves(path.as_bytes()).unwrap();
        paths.into_iter().filter(is_left).collect()
    }

    #[test]
    fn a_folder_a_depth_and_patterns_narrow_what_is_left() {
        assert_eq!(left("{}").len(), 6);
        assert_eq!(left(r#"{"depth": 1}"#), [".", "a", "ab", "d.txt"]);
        assert_eq!(left(r#"{"under": [47, 97, 47]}"#), ["a", "a/b", "a/b/c.txt"]);
        assert_eq!(left(r#"{"under": [97], "depth": 1}"#), ["a", "a/b"]);
        assert_eq!(left(r#"{"under": [97], "exact": true}"#), ["a"]);
        assert_eq!(left(r#"{"match": ["**/*.txt"]}"#), ["a/b/c.txt", "d.txt"]);
        assert_eq!(left(r#"{"contains": "B/C"}"#), ["a/b/c.txt"]);
        assert_eq!(left(r#"{"contains": "b", "limit": 2}"#), ["a/b", "a/b/c.txt"]);
        assert_eq!(left(r#"{"match": ["pp:ab", "re:^d"]}"#), ["ab", "d.txt"]);
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for filter in
            ["", "7", r#"{"under": [46, 46]}"#, r#"{"match": ["re:("]}"#, r#"{"other": 1}"#, r#"{"depth": -1}"#]
        {
            assert!(Filter::parse(filter).is_err(), "{filter}");
        }
    }
}
