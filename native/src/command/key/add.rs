//! `key add`: a further key with a passphrase of its own (repository layer, section 3.5).

use super::{shown, unlocked};
use crate::app::App;
use crate::client::passphrase;
use crate::failure::Failure;
use crate::repository::keys::explicit_file;
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::key::{ADMIN_LABEL, KeyLocation};

/// This command adds a borg key: the same secrets under a passphrase of its own, so that each user of a repository can have
/// one. No data is encrypted anew, and no other key changes. The new key is stored where the one is that was unlocked.
#[derive(Debug, Args)]
pub struct AddOptions {
    /// label for the new borg key (must be unique)
    #[arg(long, value_name = "LABEL")]
    label: String,
}

/// Adds a key.
pub fn run(app: &App, options: &AddOptions) -> Result<(), Failure> {
    let label = &*options.label;
    let session = Session::open(app)?;
    let place = unlocked(&session)?.source.location;
    let mut held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    if place == KeyLocation::Keyfile && explicit_file().is_some() {
        return Err(Failure::error(
            "Cannot add a borg key while BORG_KEY_FILE points to a single keyfile; \
             unset it so the new keyfile can be stored in the keys directory.",
        ));
    }
    if label.is_empty() {
        return Err(Failure::error("A label is required when adding a borg key (--label)."));
    }
    if label == ADMIN_LABEL {
        return Err(Failure::error(format_args!(
            "The \"{ADMIN_LABEL}\" label is reserved for the borg key created at repository creation."
        )));
    }
    if session.key_sources.iter().any(|key| key.label().as_deref() == Some(label)) {
        let label = shown(Some(label));
        return Err(Failure::error(format_args!("A borg key with label {label} already exists.")));
    }
    let passphrase = passphrase::new(app)?;
    held.refresh(app)?;
    let keys = session.key_store(app);
    let new = keys.add(&keys.lock(&session.keys, &passphrase, Some(label))?, place)?;
    app.info(&format!("Borg key with label {} added.", shown(Some(label))));
    app.info(&format!("Key location: {}", new.place(&session.location)));
    Ok(())
}
