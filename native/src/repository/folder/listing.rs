//! The list of a repository's files, beside them ([`portaborg_core::listing`]).

use super::{Folder, store_error};
use crate::client::dirs;
use portaborg_core::listing::{LISTING_NAME, Listing};
use portaborg_core::name::Key;
use portaborg_core::store::StoreError;
use std::fs;

impl Folder {
    /// Stores a list whole, in place of the one that may be there. Whoever can read the config can read it.
    pub fn write_listing(&self, listing: &Listing) -> Result<(), StoreError> {
        let file = self.root.join(LISTING_NAME);
        let readable = fs::metadata(self.path(&Key::Config)).map(|config| config.permissions());
        let stored = readable.and_then(|readable| dirs::save_readable(&file, listing.to_json().as_bytes(), readable));
        stored.map_err(|error| store_error(error, LISTING_NAME.into()))
    }
}
