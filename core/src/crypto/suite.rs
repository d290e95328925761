//! Suites: which cipher and id hash protect a repository (repository layer, section 3.9).

use super::hash::IdHash;

/// A cipher that encrypts and authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// AES-256 in OCB mode (RFC 7253).
    Aes256Ocb,
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305,
}

/// What is done to everything that a repository stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Encrypted and authenticated.
    Encrypted(Cipher),
    /// Authenticated only: anyone who has the files can read them.
    Authenticated,
}

/// A repository's choice of cipher and id hash (repository layer, section 3.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite {
    /// Encrypted or authenticated.
    pub mode: Mode,
    /// How chunk ids, and in authenticated mode the tags, are made.
    pub id_hash: IdHash,
}

impl Suite {
    /// The suite that the config's `encryption` and `id_hash` name together; `None` if they don't.
    pub fn from_names(encryption: &str, id_hash: &str) -> Option<Self> {
        ALL.into_iter().find(|suite| suite.encryption_name() == encryption && suite.id_hash.name() == id_hash)
    }

    /// The config's `encryption`.
    pub fn encryption_name(self) -> &'static str {
        match (self.mode, self.id_hash) {
            (Mode::Encrypted(Cipher::Aes256Ocb), _) => "aes256-ocb",
            (Mode::Encrypted(Cipher::ChaCha20Poly1305), _) => "chacha20-poly1305",
            (Mode::Authenticated, IdHash::Sha256) => "authenticated-sha256",
            (Mode::Authenticated, IdHash::Blake3) => "authenticated-blake3",
        }
    }

    /// The first byte of every envelope.
    pub fn type_byte(self) -> u8 {
        match (self.mode, self.id_hash) {
            (Mode::Encrypted(Cipher::Aes256Ocb), IdHash::Sha256) => 0x10,
            (Mode::Encrypted(Cipher::ChaCha20Poly1305), IdHash::Sha256) => 0x20,
            (Mode::Encrypted(Cipher::Aes256Ocb), IdHash::Blake3) => 0x30,
            (Mode::Encrypted(Cipher::ChaCha20Poly1305), IdHash::Blake3) => 0x40,
            (Mode::Authenticated, IdHash::Sha256) => 0x50,
            (Mode::Authenticated, IdHash::Blake3) => 0x60,
        }
    }
}

const ALL: [Suite; 6] = {
    const fn suite(mode: Mode, id_hash: IdHash) -> Suite {
        Suite { mode, id_hash }
    }
    [
        suite(Mode::Encrypted(Cipher::Aes256Ocb), IdHash::Sha256),
        suite(Mode::Encrypted(Cipher::ChaCha20Poly1305), IdHash::Sha256),
        suite(Mode::Encrypted(Cipher::Aes256Ocb), IdHash::Blake3),
        suite(Mode::Encrypted(Cipher::ChaCha20Poly1305), IdHash::Blake3),
        suite(Mode::Authenticated, IdHash::Sha256),
        suite(Mode::Authenticated, IdHash::Blake3),
    ]
};
