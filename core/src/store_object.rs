//! Store objects: what lies in the store beside packs, each in an envelope that binds it to its place
//! (repository layer, section 4.6).

use crate::crypto::{EnvelopeError, Keys, Sealer, SessionId, Sessions, Ticket};
use crate::id::RepositoryId;
use crate::name::Namespace;
use alloc::vec::Vec;

const CONTEXT: &[u8] = b"borg-store-object\0";

/// The place that a store object is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// One full name, such as `config/defaults`.
    Name(&'a str),
    /// Any name in a namespace where objects are named by the hash of their bytes.
    Hashed(Namespace),
}

/// Opens a store object's bytes in place and gives its payload.
pub fn open_store_object<'o>(
    keys: &Keys,
    sessions: &mut Sessions,
    repository: RepositoryId,
    place: Place<'_>,
    stored: &'o mut [u8],
) -> Result<&'o mut [u8], EnvelopeError> {
    keys.open(sessions, stored, &context(repository, place), &[])
}

/// Seals `payload` as a store object.
pub fn seal_store_object(
    sealer: &mut Sealer<'_>,
    repository: RepositoryId,
    place: Place<'_>,
    payload: &[u8],
) -> Vec<u8> {
    sealer.seal(payload, &context(repository, place), &[])
}

/// Seals `payload` as the only message of a session of its own: fresh random bytes.
pub fn seal_one_shot(
    keys: &Keys,
    session: SessionId,
    repository: RepositoryId,
    place: Place<'_>,
    payload: &[u8],
) -> Vec<u8> {
    let mut stored = Vec::new();
    let ticket = Ticket::one_shot(session);
    keys.seal_into(&mut Sessions::new(), ticket, payload, &context(repository, place), &[], &mut stored);
    stored
}

fn context(repository: RepositoryId, place: Place<'_>) -> Vec<u8> {
    let (flag, name) = match place {
        Place::Name(name) => (b"n", name),
        Place::Hashed(namespace) => (b"h", namespace.name()),
    };
    [CONTEXT, &repository.0, flag, name.as_bytes()].concat()
}
