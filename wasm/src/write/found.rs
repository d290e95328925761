//! Making a repository (repository layer, section 2.4).

use super::client::{host, random, secret};
use super::failure::written;
use super::{Open, Target};
use crate::failure::{Failure, Fault};
use portaborg_core::chunk::ChunkerParams;
use portaborg_core::codec::Compression;
use portaborg_core::config::Config;
use portaborg_core::crypto::{Kdf, Keys, Suite, store_hash};
use portaborg_core::defaults::Defaults;
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{ADMIN_LABEL, LockedKey};
use portaborg_core::name::{Key, Namespace};
use portaborg_core::repo::{Repository, delete_fragments};
use portaborg_core::store::{Store, StoreMut};
use serde::Deserialize;
use std::cell::RefCell;
use std::fmt::Display;
use std::str::FromStr;

/// What is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    encryption: String,
    id_hash: Option<String>,
    compression: Option<String>,
    chunker_params: Option<String>,
}

/// Makes a repository with a key in it, wholly or not at all.
pub async fn run(target: Target, passphrase: &[u8], options: &str) -> Result<Open, Failure> {
    let options: Options = serde_json::from_str(options).map_err(|_| Failure::argument("options"))?;
    let suite = suite(&options)?;
    let defaults = Defaults {
        compression: canonical::<Compression>(options.compression.as_deref(), "compression")?,
        chunker_params: canonical::<ChunkerParams>(options.chunker_params.as_deref(), "chunkerParams")?,
    };
    assert_empty(&target).await?;
    let config = Config { id: RepositoryId(random()?), suite: Some(suite) };
    let keys = Keys::generate(suite, &*secret()?);
    let locked = LockedKey::lock(&keys, config.id, passphrase, Some(ADMIN_LABEL), random()?, Kdf::Stored);
    let text = locked.map_err(|problem| Failure::argument(&format!("passphrase ({problem})")))?.text(config.id);
    let repository = Repository::unborn(target, config);
    let open = Open { repository, keys, host: host()?, warnings: RefCell::default() };
    let key = Key::RepoKey(store_hash(text.as_bytes()));
    let made = initialise(&open, &key, &text, &defaults).await;
    let store = &open.repository.store;
    if made.is_err() && Store::read(store, &Key::Config, 0, 1).await.is_err_and(|error| error.is_not_found()) {
        // What fails to become a repository leaves nothing that would be in the next one's way.
        for key in [key, Key::Defaults] {
            let _ = store.delete(&key).await;
        }
        let _ = delete_fragments(store).await;
    }
    made.map(|()| open)
}

async fn initialise(open: &Open, key: &Key, text: &str, defaults: &Defaults) -> Result<(), Failure> {
    let store = &open.repository.store;
    store.write(key, text.as_bytes()).await.map_err(written)?;
    store.sync().await.map_err(written)?;
    let mut held = open.lock(true).await?;
    let mut sealer = open.sealer()?;
    let stored = open.repository.initialise(defaults, &mut sealer).await.map_err(written);
    held.release().await;
    stored
}

fn suite(Options { encryption, id_hash, .. }: &Options) -> Result<Suite, Failure> {
    let names = match id_hash {
        Some(id_hash) => vec![id_hash.as_str()],
        None => ID_HASHES.to_vec(),
    };
    names.into_iter().find_map(|id_hash| Suite::from_names(encryption, id_hash)).ok_or_else(|| {
        let id_hash = id_hash.as_deref().unwrap_or("any");
        let text = format!("There is no encryption {encryption:?} with {id_hash} id hash.");
        Failure::new(Fault::Misuse, "CommandError", encryption, text)
    })
}

/// A default as it is stored.
fn canonical<T: FromStr<Err: Display> + Display>(text: Option<&str>, what: &str) -> Result<Option<String>, Failure> {
    let Some(text) = text else { return Ok(None) };
    text.parse().map(|parsed: T| Some(parsed.to_string())).map_err(|error| {
        Failure::new(Fault::Misuse, "CommandError", what, format_args!("{text:?} can not be used: {error}."))
    })
}

async fn assert_empty(target: &Target) -> Result<(), Failure> {
    for namespace in Namespace::ALL {
        if !Store::list(target, namespace).await.map_err(written)?.is_empty() {
            let text = "There is a repository already, or what is left of one.";
            return Err(Failure::new(Fault::Misuse, "Repository.AlreadyExists", namespace.name(), text));
        }
    }
    Ok(())
}

/// Where nothing is asked for, the first one that the encryption goes with.
const ID_HASHES: [&str; 2] = ["sha256", "blake3"];
