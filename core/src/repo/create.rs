//! Making a repository (repository layer, section 2.4).

use super::fragments::replace_fragments;
use super::open::Repository;
use crate::config::Config;
use crate::crypto::Sealer;
use crate::defaults::Defaults;
use crate::index::ChunkIndex;
use crate::name::Key;
use crate::store::{StoreError, StoreMut};
use crate::store_object::{Place, seal_store_object};

impl<S: StoreMut> Repository<S> {
    /// What is to become a repository: nothing is stored yet. The store is empty but for keys and the caller's lock.
    pub fn unborn(store: S, config: Config) -> Self {
        Repository { store, config }
    }

    /// Stores what a repository has from its beginning: the defaults and an empty index, and then the config, which makes it
    /// one, also after a power failure.
    pub async fn initialise(&self, defaults: &Defaults, sealer: &mut Sealer<'_>) -> Result<(), StoreError> {
        self.store_defaults(defaults, sealer).await?;
        replace_fragments(self, sealer, &ChunkIndex::new()).await?;
        self.store.write(&Key::Config, self.config.encode().as_bytes()).await?;
        self.store.sync().await
    }

    /// Stores the defaults.
    pub async fn store_defaults(&self, defaults: &Defaults, sealer: &mut Sealer<'_>) -> Result<(), StoreError> {
        let name = alloc::format!("{}", Key::Defaults);
        let stored = seal_store_object(sealer, self.id(), Place::Name(&name), &defaults.encode());
        self.store.write(&Key::Defaults, &stored).await
    }
}
