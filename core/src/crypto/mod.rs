//! Hashes, ciphers and envelopes: what keeps a repository secret and unforged (repository layer, sections 3 and 4).
//!
//! Secrets live in [`Keys`], which prints nothing and is wiped when dropped.

mod envelope;
mod hash;
mod kdf;
mod keys;
mod ocb;
mod sealer;
mod session;
#[cfg(any(test, all(target_arch = "wasm32", target_feature = "simd128")))]
mod sliced;
mod suite;

pub use argon2::Algorithm as Argon2Algorithm;
pub use envelope::EnvelopeError;
pub(crate) use hash::sha256;
pub use hash::{IdHash, store_hash, store_hash_of, store_hash_on};
pub use kdf::{Argon2Params, Kdf, KdfError, NEW_KEYS, WEAKENED, unwrap_secret, wrap_secret};
pub use keys::{CRYPT_KEY_BYTES, ID_KEY_BYTES, Keys, SECRET_BYTES};
pub use sealer::{OCB_SESSION_BLOCKS, Sealer, Ticket};
pub use session::{SessionId, Sessions};
pub use suite::{Cipher, Mode, Suite};
