//! Randomness of the operating system.

use crate::failure::Failure;
use portaborg_core::random::Random;
use zeroize::Zeroizing;

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
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Random bytes that become secrets.
pub fn secret<const N: usize>() -> Result<Zeroizing<[u8; N]>, Failure> {
    let mut bytes = Zeroizing::new([0; N]);
    fill(&mut *bytes)?;
    Ok(bytes)
}

/// A random UUID (version 4) as text.
pub fn uuid() -> Result<String, Failure> {
    Ok(uuid::Builder::from_random_bytes(bytes()?).into_uuid().to_string())
}

fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| Failure::error(format_args!("the system gives no random bytes: {error}")))
}
