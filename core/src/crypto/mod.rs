//! Hashes, ciphers and envelopes.
