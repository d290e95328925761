//! Whether items are kept in, and taken from, the item cache.

use crate::repository::item_cache::ItemCache;
use crate::repository::session::Session;
use clap::Args;
use std::env;

/// The variable that switches the cache off.
const VARIABLE: &str = "PORTABORG_ITEM_CACHE";

/// The options of commands that may use the cache.
#[derive(Debug, Args)]
pub struct ItemCacheOptions {
    /// do not keep the archive's items in this client's cache, and do not take them from there
    #[arg(long)]
    no_item_cache: bool,
}

impl ItemCacheOptions {
    /// The cache, if it may be used. `asserts_ids` tells that chunks are to be verified each time they are read.
    pub fn cache<'s>(&self, session: &'s Session, asserts_ids: bool) -> Option<ItemCache<'s>> {
        let is_off = self.no_item_cache || env::var(VARIABLE).is_ok_and(|value| is_no(&value)) || asserts_ids;
        if is_off { None } else { ItemCache::of(session) }
    }
}

fn is_no(value: &str) -> bool {
    ["no", "0", "off", "false"].contains(&value.trim().to_ascii_lowercase().as_str())
}
