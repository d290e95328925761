//! Storing, replacing and removing keys: the new text is always there before the old one goes (repository layer, section 3.4).

use super::file;
use super::find::{FoundKey, key_files, mismatch};
use super::unlock::kdf;
use crate::app::App;
use crate::client::passphrase::Passphrase;
use crate::client::{dirs, random};
use crate::failure::Failure;
use crate::repository::folder::Folder;
use portaborg_core::crypto::{Keys, store_hash};
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{KeyLocation, LockedKey, repository_of};
use portaborg_core::name::Key;
use portaborg_core::store::{Ready, StoreMut, now};
use std::io;
use std::path::{Path, PathBuf};

/// Where the keys of one repository are kept: in it, and in files of this client. It need not be complete yet.
pub struct KeyStore<'r> {
    /// Messages go there.
    pub app: &'r App,
    /// The repository's objects.
    pub store: &'r Ready<Folder>,
    /// The repository's id.
    pub repository: RepositoryId,
    /// Where it lies, as shown to users.
    pub location: &'r str,
}

impl KeyStore<'_> {
    /// Wraps the secrets with a passphrase, as a text to be stored.
    pub fn lock(&self, keys: &Keys, passphrase: &Passphrase, label: Option<&str>) -> Result<String, Failure> {
        let locked = LockedKey::lock(keys, self.repository, passphrase, label, random::bytes()?, kdf());
        let locked = locked.map_err(|problem| Failure::error(format_args!("the key {problem}")))?;
        Ok(locked.text(self.repository))
    }

    /// Stores a further key. The file that `BORG_KEY_FILE` names must not be there yet.
    pub fn add(&self, text: &str, place: KeyLocation) -> Result<FoundKey, Failure> {
        match place {
            KeyLocation::Repokey => self.add_object(text),
            KeyLocation::Keyfile => {
                self.assert_addable(place)?;
                self.add_file(text)
            }
        }
    }

    /// Fails if [`Self::add`] would have to replace a file.
    pub fn assert_addable(&self, place: KeyLocation) -> Result<(), Failure> {
        match file::explicit_file().filter(|file| place == KeyLocation::Keyfile && file.exists()) {
            Some(file) => {
                Err(Failure::error(format_args!("Aborting because key in \"{}\" already exists.", file.display())))
            }
            None => Ok(()),
        }
    }

    /// Stores a key from a backup. The file that `BORG_KEY_FILE` names is replaced, unless it holds a key of another
    /// repository; no other key is.
    pub fn import(&self, text: &str, place: KeyLocation) -> Result<FoundKey, Failure> {
        if place == KeyLocation::Repokey {
            return self.add_object(text);
        }
        match file::explicit_file() {
            Some(file) => {
                let before = file::read(&file).ok().and_then(|text| repository_of(&text));
                if before.is_some_and(|before| before != self.repository) {
                    return Err(mismatch(self.repository, &file));
                }
            }
            None => {
                let name = store_hash(text.as_bytes());
                if let Some(same) =
                    key_files(self.app, self.repository)?.into_iter().find(|key| key.source.name == name)
                {
                    return Ok(same);
                }
            }
        }
        self.add_file(text)
    }

    /// Stores a key in the same place as another one, which goes.
    pub fn replace(&self, old: &FoundKey, text: &str) -> Result<FoundKey, Failure> {
        let Some(old_file) = &old.file else {
            let new = self.add_object(text)?;
            self.remove(old)?;
            return Ok(new);
        };
        if file::explicit_file().is_some() {
            file::replace(old_file, text).map_err(|error| not_written(old_file, &error))?;
            return Ok(FoundKey::in_file(old_file, text.into()));
        }
        let new = self.add_file(text)?;
        self.remove(old)?;
        Ok(new)
    }

    /// Removes a key. A file is overwritten first, unless it has other names.
    pub fn remove(&self, key: &FoundKey) -> Result<(), Failure> {
        let Some(file) = &key.file else {
            return match now(self.store.delete(&Key::RepoKey(key.source.name))) {
                Err(error) if !error.is_not_found() => Err(Failure::store(error, self.location)),
                _ => Ok(()),
            };
        };
        match file::remove(file) {
            Err(error) if file.exists() => {
                Err(Failure::error(format_args!("can not remove the key file {}: {error}", file.display())))
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.app.warning(&format!("Key file {} was removed, but not overwritten: {error}", file.display()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn add_object(&self, text: &str) -> Result<FoundKey, Failure> {
        let found = FoundKey::in_repository(text.into());
        let key = Key::RepoKey(found.source.name);
        let stored = now(self.store.write(&key, text.as_bytes())).and_then(|()| now(self.store.sync()));
        stored.map_err(|error| Failure::store(error, self.location))?;
        Ok(found)
    }

    fn add_file(&self, text: &str) -> Result<FoundKey, Failure> {
        let file = new_file(text)?;
        file::save(&file, text).map_err(|error| not_written(&file, &error))?;
        Ok(FoundKey::in_file(&file, text.into()))
    }
}

/// Where a new key file goes.
fn new_file(text: &str) -> Result<PathBuf, Failure> {
    if let Some(file) = file::explicit_file() {
        return Ok(file);
    }
    let folder = dirs::keys();
    dirs::create(&folder)?;
    Ok(folder.join(store_hash(text.as_bytes()).to_string()))
}

fn not_written(file: &Path, error: &io::Error) -> Failure {
    Failure::error(format_args!("can not write the key file {}: {error}", file.display()))
}
