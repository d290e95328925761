//! `key remove`: one key less (repository layer, section 3.5).

use super::selector::{not_one, select};
use super::{shown, unlocked};
use crate::app::App;
use crate::failure::Failure;
use crate::repository::session::{Lock, Session};
use clap::Args;
use portaborg_core::key::{ADMIN_LABEL, LockedKey};

/// This command removes a borg key, but neither the "admin" key nor the last one.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RemoveOptions {
    /// remove the borg key with this label
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,

    /// remove the borg key with this id (or unique id prefix)
    #[arg(long, value_name = "ID")]
    key: Option<String>,

    /// remove the borg key that was used to unlock the repository
    #[arg(long)]
    passphrase: bool,
}

/// Removes a key.
pub fn run(app: &App, options: &RemoveOptions) -> Result<(), Failure> {
    let session = Session::open(app)?;
    let unlocked = unlocked(&session)?;
    let _held = session.lock_to_write(app, Lock::Shared)?;
    session.assert_secure(app)?;
    let keys = &session.key_sources;
    let last = || Failure::error("Cannot remove the last remaining borg key of a repository.");
    if keys.len() <= 1 {
        return Err(last());
    }
    // The same text may be in two places; they are two keys.
    let (label, id) = (options.label.as_deref(), options.key.as_deref());
    let victim = if options.passphrase {
        unlocked
    } else {
        select(keys, label, id).map_err(|count| Failure::error(not_one(count)))?
    };
    let label = victim.label();
    if label.as_deref() == Some(ADMIN_LABEL) {
        return Err(Failure::error(format_args!("The \"{ADMIN_LABEL}\" borg key is protected and cannot be removed.")));
    }
    // What is damaged opens nothing, so it does not count.
    let mut others = keys.iter().filter(|key| !std::ptr::eq(*key, victim));
    if !others.any(|key| LockedKey::parse(&key.source.text).is_ok()) {
        return Err(last());
    }
    session.key_store(app).remove(victim)?;
    app.info(&format!("Borg key {} (label {}) removed.", victim.short_id(), shown(label.as_deref())));
    Ok(())
}
