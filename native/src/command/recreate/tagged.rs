//! Directories of an archive that are left out because of what is in them.

use super::work::Reading;
use crate::app::App;
use crate::failure::Failure;
use crate::options::tag_files::TagFiles;
use crate::repository::archives::Archive;
use crate::system::ffi::OsStrExt;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::extract::Want;
use portaborg_core::item::{FileType, Item};
use portaborg_core::pattern::PatternMatcher;
use std::collections::BTreeSet;

/// The name of a file that declares a cache, and what it begins with.
const CACHE_TAG: (&[u8], &[u8]) = (b"CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// The tagged directories of an archive.
#[derive(Debug, Default)]
pub struct TaggedDirs {
    dirs: BTreeSet<Vec<u8>>,
    /// What stays of them, if anything does.
    tags: BTreeSet<Vec<u8>>,
    keeps_tags: bool,
}

impl TaggedDirs {
    /// Looks through an archive for tags, if there are any to look for. Damage is for the caller to find again.
    pub fn find(
        app: &App,
        options: &TagFiles,
        meta: &ArchiveMeta,
        matcher: &mut PatternMatcher,
        pipeline: &mut Reading<'_, '_, '_>,
        archive: &Archive,
    ) -> Result<TaggedDirs, Failure> {
        let mut tagged = TaggedDirs { keeps_tags: options.keep_exclude_tags, ..TaggedDirs::default() };
        if !options.exclude_caches && options.exclude_if_present.is_empty() {
            return Ok(tagged);
        }
        pipeline.begin(&meta.item_ptrs);
        while let Some(next) = pipeline.next_items() {
            crate::interrupt::check()?;
            for item in next.into_iter().flatten().flatten() {
                let (dir, name) = match item.path.iter().rposition(|&byte| byte == b'/') {
                    Some(slash) => (&item.path[..slash], &item.path[slash + 1..]),
                    None => (&b""[..], &item.path[..]),
                };
                let is_named = options.exclude_if_present.iter().any(|tag| tag.as_bytes() == name);
                let is_tag = if is_named {
                    matcher.match_path(&item.path).map_err(Failure::command)?.included
                } else {
                    options.exclude_caches && name == CACHE_TAG.0 && declares_cache(app, &item, pipeline, archive)
                };
                if is_tag {
                    tagged.dirs.insert(dir.into());
                    tagged.tags.insert(item.path.clone());
                }
            }
        }
        Ok(tagged)
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.dirs.is_empty()
    }

    /// Whether an item is left out.
    pub fn excludes(&self, path: &[u8]) -> bool {
        if self.dirs.is_empty() || self.keeps_tags && self.tags.contains(path) {
            return false;
        }
        let is_tagged = |dir: &[u8]| self.dirs.contains(dir);
        // The directory itself stays with its tags.
        let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at]);
        above.into_iter().any(is_tagged) || is_tagged(b"") || !self.keeps_tags && is_tagged(path)
    }
}

fn declares_cache(app: &App, item: &Item, pipeline: &mut Reading<'_, '_, '_>, archive: &Archive) -> bool {
    let Some(first) = item.chunks.as_ref().and_then(|chunks| chunks.first()) else { return false };
    if item.file_type() != Some(FileType::Regular) {
        return false;
    }
    match pipeline.read(Want { id: first.id, size: Some(first.size) }) {
        Ok(content) => content.bytes().starts_with(CACHE_TAG.1),
        Err(error) => {
            let name = crate::repository::archives::shown_name(archive);
            app.warning(&format!("Archive {name}: a CACHEDIR.TAG can not be read: {error}"));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(keeps_tags: bool) -> TaggedDirs {
        let set = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        TaggedDirs { dirs: set(&["a/cache"]), tags: set(&["a/cache/TAG"]), keeps_tags }
    }

    #[test]
    fn a_tagged_directory_goes_with_all_that_is_in_it() {
        let tagged = tagged(false);
        for path in ["a/cache", "a/cache/TAG", "a/cache/x", "a/cache/x/y"] {
            assert!(tagged.excludes(path.as_bytes()), "{path}");
        }
        for path in ["a", "a/cached", "cache", "b/a/cache"] {
            assert!(!tagged.excludes(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn or_it_stays_with_its_tags() {
        let tagged = tagged(true);
        assert!(!tagged.excludes(b"a/cache") && !tagged.excludes(b"a/cache/TAG"));
        assert!(tagged.excludes(b"a/cache/x") && tagged.excludes(b"a/cache/x/TAG"));
    }
}
