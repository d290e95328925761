//! Randomness of the operating system.

use crate::failure::Failure;
use portaborg_core::random::Random;

/// The operating system's randomness, as core takes it.
pub struct SystemRandom(());

impl SystemRandom {
    /// Makes sure that there is any: a system that has given some goes on to.
    pub fn new() -> Result<Self, Failure> {
        bytes::<1>().map(|_| SystemRandom(()))
    }
}

impl Random for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("a system that has given random bytes goes on to");
    }
}

/// Random bytes.
pub fn bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Failure::error(format_args!("the system gives no random bytes: {error}"))),
    }
}

/// A random UUID (version 4) as text.
pub fn uuid() -> Result<String, Failure> {
    Ok(uuid::Builder::from_random_bytes(bytes()?).into_uuid().to_string())
}
