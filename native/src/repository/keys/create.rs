//! The first key of a new repository.

use super::find::FoundKey;
use super::key_store::KeyStore;
use crate::client::passphrase::{self, Passphrase};
use crate::client::random;
use crate::failure::Failure;
use portaborg_core::crypto::{Keys, Suite};
use portaborg_core::key::{ADMIN_LABEL, KeyLocation};

/// A key that was just made.
pub struct NewKey {
    /// What it holds.
    pub secrets: Keys,
    /// Where it is.
    pub stored: FoundKey,
    /// What opens it.
    pub passphrase: Passphrase,
}

/// Makes new secrets and stores them under a passphrase, which the environment gives or the user is asked for. The
/// repository need not be complete; who fails to complete it removes the key again.
pub fn create_key(keys: &KeyStore<'_>, suite: Suite, place: KeyLocation) -> Result<NewKey, Failure> {
    keys.assert_addable(place)?;
    let secrets = Keys::generate(suite, &*random::secret()?);
    let passphrase = passphrase::new(keys.app)?;
    let stored = keys.add(&keys.lock(&secrets, &passphrase, Some(ADMIN_LABEL))?, place)?;
    keys.app.info(&format!("Key in \"{}\" created.", stored.place(keys.location)));
    keys.app.info("Keep this key safe. Your data will be inaccessible without it.");
    Ok(NewKey { secrets, stored, passphrase })
}
