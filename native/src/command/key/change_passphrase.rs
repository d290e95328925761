//! `key change-passphrase`: another passphrase for the same secrets (repository layer, section 3.4).

use super::unlocked;
use crate::app::App;
use crate::client::passphrase;
use crate::failure::Failure;
use crate::repository::session::{Lock, Session};
use clap::Args;

/// This command changes the passphrase that protects a key, and none of the secrets in it: who has had both the key and the
/// old passphrase can still read the repository.
#[derive(Debug, Args)]
pub struct ChangePassphraseOptions {}

/// Wraps the secrets anew, in the place of the key that was unlocked.
pub fn run(app: &App) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let old = unlocked(&session)?;
    let mut held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let passphrase = passphrase::new(app)?;
    held.refresh(app)?;
    let keys = session.key_store(app);
    let new = keys.replace(old, &keys.lock(&session.keys, &passphrase, old.label().as_deref())?)?;
    app.info("Key updated");
    app.info(&format!("Key location: {}", new.place(&session.location)));
    Ok(())
}
