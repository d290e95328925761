//! Items on their way from where they are stored to whoever wants them.

use super::items::ItemProblem;
use crate::item::Item;
use crate::item_cache::{Block, BlockItems};
use alloc::vec::{self, Vec};

/// Some whole items that follow each other, not decoded yet. Iterating decodes them.
#[derive(Debug)]
pub struct EncodedItems(Form);

#[derive(Debug)]
enum Form {
    /// As they are in the stream: the bytes, where the next item begins, and where items end.
    Stream(Vec<u8>, usize, vec::IntoIter<usize>),
    /// As they are in the item cache.
    Cached(BlockItems),
    /// Decoded before their time.
    Decoded(vec::IntoIter<Item>),
}

impl EncodedItems {
    /// Of a stream: the first item begins at `start`, and each ends where the next one begins.
    pub(super) fn of_stream(bytes: Vec<u8>, start: usize, ends: Vec<usize>) -> Self {
        EncodedItems(Form::Stream(bytes, start, ends.into_iter()))
    }

    /// The next item whose path is wanted, or what is wrong with one, whatever its path. Of items from the item cache, which are
    /// all right, only those are decoded.
    pub fn next_wanted<E>(
        &mut self,
        mut wants: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Option<Result<Result<Item, ItemProblem>, E>> {
        loop {
            if let Form::Cached(items) = &mut self.0 {
                match wants(items.next_path()?) {
                    Ok(true) => return items.item().map(|item| Ok(Ok(item))),
                    Ok(false) => continue,
                    Err(error) => return Some(Err(error)),
                }
            }
            match self.next()? {
                Ok(item) => match wants(&item.path) {
                    Ok(true) => return Some(Ok(Ok(item))),
                    Ok(false) => {}
                    Err(error) => return Some(Err(error)),
                },
                Err(problem) => return Some(Ok(Err(problem))),
            }
        }
    }

    /// Passes over so many items, or as many as there are, and gives their number.
    pub fn pass_over(&mut self, items: usize) -> usize {
        let items = items.min(self.len());
        for _ in 0..items {
            match &mut self.0 {
                Form::Stream(_, start, ends) => *start = ends.next().unwrap_or(*start),
                Form::Cached(items) => drop(items.next_path()),
                Form::Decoded(items) => drop(items.next()),
            }
        }
        items
    }

    /// The block that has these items in the item cache; `None` if something is wrong with one of them, or if no block is so long.
    /// What is decoded for that stays so.
    pub fn to_block(&mut self) -> Option<Vec<u8>> {
        if matches!(self.0, Form::Stream(..)) {
            let decoded: Result<Vec<Item>, ItemProblem> = self.again()?.collect();
            self.0 = Form::Decoded(decoded.ok()?.into_iter());
        }
        match &self.0 {
            Form::Decoded(items) => Block::encode(items.as_slice()),
            Form::Stream(..) | Form::Cached(_) => None,
        }
    }

    /// The items of a stream once more.
    fn again(&self) -> Option<impl Iterator<Item = Result<Item, ItemProblem>>> {
        let Form::Stream(bytes, start, ends) = &self.0 else { return None };
        let mut start = *start;
        Some(ends.as_slice().iter().map(move |&end| {
            let item = decode(&bytes[start..end]);
            start = end;
            item
        }))
    }
}

impl Default for EncodedItems {
    fn default() -> Self {
        EncodedItems(Form::Decoded(Vec::new().into_iter()))
    }
}

impl From<Block> for EncodedItems {
    fn from(block: Block) -> Self {
        EncodedItems(Form::Cached(block.items()))
    }
}

impl Iterator for EncodedItems {
    type Item = Result<Item, ItemProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Form::Stream(bytes, start, ends) => {
                let end = ends.next()?;
                let item = decode(&bytes[*start..end]);
                *start = end;
                Some(item)
            }
            Form::Cached(items) => items.next().map(Ok),
            Form::Decoded(items) => items.next().map(Ok),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Form::Stream(_, _, ends) => ends.size_hint(),
            Form::Cached(items) => items.size_hint(),
            Form::Decoded(items) => items.size_hint(),
        }
    }
}

impl ExactSizeIterator for EncodedItems {}

fn decode(encoded: &[u8]) -> Result<Item, ItemProblem> {
    Item::decode(encoded).map_err(ItemProblem::Item)
}
