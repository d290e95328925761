//! `key change-location`: from a file into the repository, and back (repository layer, section 3.5).

use super::unlocked;
use crate::app::App;
use crate::failure::Failure;
use crate::options::key_location::key_location;
use crate::output::stdout::print;
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::key::KeyLocation;

/// This command moves the borg key that was unlocked into the repository (repokey) or into a file of this client (keyfile).
/// Its passphrase, its label and the secrets in it stay.
#[derive(Debug, Args)]
pub struct ChangeLocationOptions {
    /// select key location
    #[arg(value_name = "KEY_LOCATION", value_parser = key_location())]
    key_location: KeyLocation,

    /// keep the key also at the current location (default: remove it)
    #[arg(long)]
    keep: bool,
}

/// Wraps the secrets anew, in the other place.
pub fn run(app: &App, options: &ChangeLocationOptions) -> Result<(), Failure> {
    let place = options.key_location;
    let session = Session::open(app)?;
    let old = unlocked(&session)?;
    let _held = session.lock_to_write(app, Lock::Exclusive)?;
    session.assert_secure(app)?;
    if old.source.location == place {
        return print(&format!("The borg key is already stored as {}, nothing to do.\n", place.name()));
    }
    let passphrase = &session.key.as_ref().expect("it was just found to be unlocked").passphrase;
    let keys = session.key_store(app);
    let new = keys.add(&keys.lock(&session.keys, passphrase, old.label().as_deref())?, place)?;
    let new = new.place(&session.location);
    if options.keep {
        app.info(&format!("Key copied to {new}"));
    } else {
        keys.remove(old)?;
        app.info(&format!("Key moved to {new}"));
    }
    Ok(())
}
