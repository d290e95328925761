//! Listing all files of a repository that readers want.

use crate::listing::Listing;
use crate::name::Namespace;
use crate::store::{Store, StoreError};

/// All but locks, which are nobody's business who reads without one. What refers to something is listed before it, as it is
/// written after it: whatever is added meanwhile, nothing in the list refers to what is not.
const ORDER: [Namespace; 6] =
    [Namespace::Archives, Namespace::Cache, Namespace::Config, Namespace::Keys, Namespace::Index, Namespace::Packs];
/// How often it is listed in the hope that nobody changes it meanwhile.
const ATTEMPTS: usize = 5;

/// Lists the files of a repository that readers want, without a lock: what changes meanwhile is listed again, until two
/// lists in a row are equal. `None` if it goes on changing.
pub async fn list_files<S: Store>(store: &S) -> Result<Option<Listing>, StoreError> {
    let mut before = list_once(store).await?;
    for _ in 1..ATTEMPTS {
        let listing = list_once(store).await?;
        if listing == before {
            return Ok(Some(listing));
        }
        before = listing;
    }
    Ok(None)
}

async fn list_once<S: Store>(store: &S) -> Result<Listing, StoreError> {
    let mut listing = Listing::default();
    for namespace in ORDER {
        for entry in store.list(namespace).await? {
            listing.add(namespace, &entry);
        }
    }
    Ok(listing)
}
