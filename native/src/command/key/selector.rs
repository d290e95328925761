//! Choosing a key by its label or its id (repository layer, section 3.5).

use crate::repository::keys::FoundKey;

/// The key with this label or, where none is given, with an id that begins so; without either, the only key.
///
/// # Errors
/// The number of such keys, if it is not 1.
pub fn select<'k>(keys: &'k [FoundKey], label: Option<&str>, id: Option<&str>) -> Result<&'k FoundKey, usize> {
    let is_meant = |key: &&FoundKey| match (label, id) {
        (Some(label), _) => key.label().as_deref() == Some(label),
        (None, Some(prefix)) => key.source.name.to_string().starts_with(prefix),
        (None, None) => true,
    };
    let matching: Vec<&FoundKey> = keys.iter().filter(is_meant).collect();
    match matching[..] {
        [key] => Ok(key),
        _ => Err(matching.len()),
    }
}

/// What to tell of as many keys.
pub fn not_one(count: usize) -> String {
    format!("The selector needs to match precisely 1 key, but it matched {count} keys.")
}
