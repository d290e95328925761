//! What may be done in a repository, by `BORG_REPO_PERMISSIONS` (repository layer, section 1.6).

use portaborg_core::name::Namespace;
use std::env;

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permissions {
    /// Everything.
    #[default]
    All,
    /// Nothing that removes or replaces data.
    NoDelete,
    /// As before, and data can't be read.
    WriteOnly,
    /// Nothing but reading.
    ReadOnly,
}

/// One thing to do with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Its content is read.
    Read,
    /// A namespace is listed.
    List,
    /// It is stored where there was none.
    Add,
    /// It is stored in place of another.
    Replace,
    /// It is removed, or loses its name.
    Delete,
}

impl Permissions {
    /// What the variable says; an error is a message for the user.
    pub fn from_environment() -> Result<Permissions, String> {
        match env::var("BORG_REPO_PERMISSIONS").as_deref() {
            Err(_) | Ok("" | "all") => Ok(Permissions::All),
            Ok("no-delete") => Ok(Permissions::NoDelete),
            Ok("write-only") => Ok(Permissions::WriteOnly),
            Ok("read-only") => Ok(Permissions::ReadOnly),
            Ok(other) => Err(format!(
                "Invalid BORG_REPO_PERMISSIONS value: {other}, should be one of: all, no-delete, write-only, read-only."
            )),
        }
    }

    /// Letters for what may be done in a namespace: l list, r read, w store new, W store in place of another, D delete.
    pub fn letters(self, namespace: Namespace) -> &'static str {
        use Namespace::{Archives, Cache, Config, Index, Keys, Locks, Packs};
        match (self, namespace) {
            (Permissions::All, _) => "lrwWD",
            (Permissions::ReadOnly, Locks) | (Permissions::NoDelete | Permissions::WriteOnly, Locks) => "lrwD",
            (Permissions::ReadOnly, _) | (_, Keys) => "lr",
            (_, Cache | Index) => "lrwWD",
            (_, Config) => "lrW",
            (Permissions::NoDelete, Archives | Packs) => "lrw",
            (Permissions::WriteOnly, Archives | Packs) => "lw",
        }
    }

    /// Whether something may be done in a namespace.
    pub fn allow(self, namespace: Namespace, right: Right) -> bool {
        let letters = self.letters(namespace);
        match right {
            Right::Read => letters.contains('r'),
            Right::List => letters.contains('l'),
            Right::Add => letters.contains(['w', 'W']),
            Right::Replace => letters.contains('W'),
            Right::Delete => letters.contains('D'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_allow_what_their_names_say() {
        let allowed = |permissions: Permissions, namespace| {
            let rights = [Right::List, Right::Read, Right::Add, Right::Replace, Right::Delete];
            rights.map(|right| permissions.allow(namespace, right))
        };
        assert_eq!(allowed(Permissions::All, Namespace::Keys), [true; 5]);
        assert_eq!(allowed(Permissions::NoDelete, Namespace::Packs), [true, true, true, false, false]);
        assert_eq!(allowed(Permissions::WriteOnly, Namespace::Packs), [true, false, true, false, false]);
        assert_eq!(allowed(Permissions::WriteOnly, Namespace::Index), [true; 5]);
        assert_eq!(allowed(Permissions::ReadOnly, Namespace::Packs), [true, true, false, false, false]);
        assert_eq!(allowed(Permissions::ReadOnly, Namespace::Locks), [true, true, true, false, true]);
        assert_eq!(allowed(Permissions::NoDelete, Namespace::Keys), [true, true, false, false, false]);
    }
}
