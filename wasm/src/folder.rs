//! One page of a folder of an archive, in any order.

use crate::archive;
use crate::batch::Batch;
use crate::failure::{Failure, Fault};
use crate::filter::{below, levels};
use crate::items::{Items, give_problem};
use crate::repository::Open;
use crate::sink::Sink;
use portaborg_core::item::{FileType, Item, make_path_safe};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::convert::Infallible;

/// The mode of a folder that no item tells of.
const DIRECTORY: u32 = 0o040_000;

/// What is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    path: Vec<u8>,
    sort: Sort,
    descending: bool,
    /// Items that are passed over.
    offset: usize,
    /// Items that are given; all if there is none.
    count: Option<usize>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Name,
    Size,
    Mtime,
}

/// What is told of the folder.
#[derive(Serialize)]
pub struct Facts {
    /// How many items are right in it.
    total: usize,
}

/// What is right in a folder, as far as the page goes that is asked for.
struct Page {
    wanted: Wanted,
    /// Of all items so far, those that would be on the page or before it, and some more.
    items: Vec<Item>,
    total: usize,
    /// Names of folders that items tell of, and of those that only what is in them tells of.
    told: BTreeSet<Vec<u8>>,
    implied: BTreeSet<Vec<u8>>,
    /// Whether the folder itself was met, and is one.
    is_folder: Option<bool>,
}

/// Gives a page to the sink, as a batch, after what is wrong with the archive's items.
pub async fn run(open: &Open, archive: &str, wanted: &str, sink: &Sink) -> Result<Facts, Failure> {
    let mut page = Page::parse(wanted)?;
    let mut reader = open.reader();
    let meta = archive::meta(&mut reader, archive).await?;
    let mut items = Items::with_cache(open, archive, &meta.item_ptrs).await;
    let mut batch = Batch::default();
    let mut told = Ok(());
    while let Some(next) = items.next(&mut reader).await {
        match next {
            Ok(mut some) => {
                while let Some(Ok(item)) = some.next_wanted(|path| page.wants(path)) {
                    match item {
                        Ok(item) => page.add(item),
                        Err(problem) => told = give_problem(problem, archive, &mut batch, sink).await,
                    }
                }
            }
            Err(problem) => told = give_problem(problem, archive, &mut batch, sink).await,
        }
        if told.is_err() || !sink.progress(&Facts { total: page.total }) {
            break; // nobody wants to know
        }
    }
    open.keep_index(&reader);
    let facts = page.finish(&mut batch)?;
    let _ = batch.flush(sink).await; // whether or not anyone wants more, this is all
    Ok(facts)
}

impl Page {
    fn parse(wanted: &str) -> Result<Page, Failure> {
        let mut wanted: Wanted = serde_json::from_str(wanted).map_err(|_| Failure::argument("the page"))?;
        wanted.path = make_path_safe(&wanted.path).map_err(|_| Failure::argument("path"))?;
        let (told, implied) = (BTreeSet::new(), BTreeSet::new());
        Ok(Page { wanted, items: Vec::new(), total: 0, told, implied, is_folder: None })
    }

    /// Whether the item with this path is the folder, or right in it. Of what is further below, only the path is of interest.
    fn wants(&mut self, path: &[u8]) -> Result<bool, Infallible> {
        let Some(inside) = below(&self.wanted.path, path) else { return Ok(false) };
        let is_near = levels(inside) <= 1;
        if !is_near {
            let name = inside.split(|&byte| byte == b'/').next().unwrap_or_default();
            if !self.told.contains(name) && !self.implied.contains(name) {
                self.implied.insert(name.to_vec());
            }
        }
        Ok(is_near)
    }

    /// Adds an item that is wanted.
    fn add(&mut self, item: Item) {
        let Some(inside) = below(&self.wanted.path, &item.path) else { return };
        let is_folder = item.file_type() == Some(FileType::Directory);
        if inside.is_empty() {
            self.is_folder = Some(is_folder);
            return;
        }
        if is_folder {
            self.told.insert(inside.to_vec());
        }
        self.keep(item);
    }

    fn keep(&mut self, item: Item) {
        self.total += 1;
        self.items.push(item);
        let end = self.end();
        if self.items.len() / 2 > end {
            let order = self.wanted.order();
            self.items.select_nth_unstable_by(end, order);
            self.items.truncate(end);
        }
    }

    /// How many items there are up to the end of the page.
    fn end(&self) -> usize {
        self.wanted.count.map_or(usize::MAX, |count| self.wanted.offset.saturating_add(count))
    }

    fn finish(mut self, batch: &mut Batch) -> Result<Facts, Failure> {
        for name in std::mem::take(&mut self.implied) {
            if !self.told.contains(&name) {
                let parent = if self.wanted.path == b"." { &[] } else { &self.wanted.path[..] };
                let path = make_path_safe(&[parent, &name[..]].join(&b'/'));
                let path = path.map_err(|_| Failure::argument("path"))?;
                self.keep(Item { path, mode: Some(DIRECTORY), ..Item::default() });
            }
        }
        let path = String::from_utf8_lossy(&self.wanted.path).into_owned();
        match self.is_folder {
            Some(false) => {
                let text = format!("{path} is not a folder.");
                return Err(Failure::new(Fault::Misuse, "CommandError", path, text));
            }
            None if self.total == 0 && path != "." => {
                let text = format!("{path} is not in the archive.");
                return Err(Failure::new(Fault::Misuse, "IncludePatternNeverMatchedWarning", path, text));
            }
            _ => {}
        }
        self.items.sort_unstable_by(self.wanted.order());
        let end = self.end().min(self.items.len());
        self.items.drain(self.wanted.offset.min(end)..end).for_each(|item| batch.add(&item));
        Ok(Facts { total: self.total })
    }
}

impl Wanted {
    /// By what is asked for; items that are equal in that, by their paths.
    fn order(&self) -> impl Fn(&Item, &Item) -> Ordering + use<> {
        let (sort, descending) = (self.sort, self.descending);
        move |a, b| {
            let order = match sort {
                Sort::Name => a.path.cmp(&b.path),
                Sort::Size => a.content_size().cmp(&b.content_size()),
                Sort::Mtime => a.mtime.cmp(&b.mtime),
            };
            (if descending { order.reverse() } else { order }).then_with(|| a.path.cmp(&b.path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(wanted: &str) -> Result<(Vec<String>, usize), &'static str> {
        let file = |path: &str, bytes: u64| Item {
            path: path.into(),
            mode: Some(0o100_644),
            chunks: Some(vec![portaborg_core::item::ChunkEntry {
                id: portaborg_core::id::ChunkId([0; 32]),
                size: bytes,
            }]),
            ..Item::default()
        };
        let folder = |path: &str| Item { path: path.into(), mode: Some(DIRECTORY | 0o755), ..Item::default() };
        let mut page = Page::parse(wanted).map_err(|failure| failure.code)?;
        for item in
            [folder("."), file("z", 1), folder("b"), file("b/2", 7), file("b/1", 9), file("c/d/e", 5), file("c/d/f", 6)]
        {
            if page.wants(&item.path).unwrap() {
                page.add(item);
            }
        }
        let mut batch = Batch::default();
        let facts = page.finish(&mut batch).map_err(|failure| failure.code)?;
        Ok((batch.paths(), facts.total))
    }

    fn wanted(path: &str, more: &str) -> String {
        format!(r#"{{"path": {:?}, "sort": "name", "descending": false, "offset": 0{more}}}"#, path.as_bytes())
    }

    #[test]
    fn a_folder_has_what_is_right_in_it_and_folders_that_only_their_content_tells_of() {
        let names = |path| page(&wanted(path, "")).map(|(paths, _)| paths.join(" "));
        assert_eq!(names(""), Ok("b c z".into()));
        assert_eq!(names("b"), Ok("b/1 b/2".into()));
        assert_eq!(names("/c/"), Ok("c/d".into()));
        assert_eq!(names("c/d"), Ok("c/d/e c/d/f".into()));
        assert_eq!(names("z"), Err("CommandError"));
        assert_eq!(names("x"), Err("IncludePatternNeverMatchedWarning"));
    }

    #[test]
    fn a_page_is_a_part_of_the_order() {
        assert_eq!(page(&wanted("", r#", "count": 1"#)), Ok((vec!["b".into()], 3)));
        let by_size = r#"{"path": [], "sort": "size", "descending": true, "offset": 1, "count": 5}"#;
        assert_eq!(page(by_size), Ok((vec!["b".into(), "c".into()], 3)));
        let beyond = r#"{"path": [], "sort": "mtime", "descending": false, "offset": 7}"#;
        assert_eq!(page(beyond), Ok((vec![], 3)));
    }
}
