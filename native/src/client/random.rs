//! Randomness of the operating system.

use crate::failure::Failure;

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
