//! How much plaintext may come.

use super::DecodeError;
use crate::limits::MAX_DATA_SIZE;

/// The lengths that a plaintext may have, and from them the lengths of the buffers to decode into.
///
/// Buffers are up to one byte longer than the longest plaintext: a decoder that fills that byte has shown that the
/// plaintext is too long, without a special case for a buffer that is exactly full.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    size: Option<usize>,
}

impl Room {
    /// Room for exactly `size` bytes, or for up to [`MAX_DATA_SIZE`] where the size is not known.
    ///
    /// # Errors
    /// [`DecodeError::TooLarge`] for a size above [`MAX_DATA_SIZE`].
    pub fn new(size: Option<usize>) -> Result<Self, DecodeError> {
        match size {
            Some(size) if size > MAX_DATA_SIZE => Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE }),
            _ => Ok(Self { size }),
        }
    }

    /// The longest plaintext that is accepted, in bytes.
    pub fn limit(self) -> usize {
        self.size.unwrap_or(MAX_DATA_SIZE)
    }

    /// The first buffer's length in bytes, for a payload of `payload_bytes`.
    pub fn first_buffer(self, payload_bytes: usize) -> usize {
        let guess = payload_bytes.saturating_mul(3).max(SMALLEST_GUESS);
        self.size.unwrap_or(guess).min(self.limit()) + 1
    }

    /// The length in bytes of the buffer to try after one of `full` bytes was too short. Lengths double, so starting
    /// again from the front each time costs at most twice the work.
    ///
    /// # Errors
    /// [`DecodeError::TooLarge`] if no plaintext that is accepted could have filled the buffer.
    pub fn larger_buffer(self, full: usize) -> Result<usize, DecodeError> {
        let limit = self.limit();
        if full > limit {
            return Err(DecodeError::TooLarge { limit });
        }
        Ok(full.saturating_mul(2).max(SMALLEST_GUESS).min(limit) + 1)
    }

    /// Whether a plaintext may have this length.
    ///
    /// # Errors
    /// [`DecodeError::TooLarge`] above the limit, [`DecodeError::WrongSize`] below the known size.
    pub(super) fn check(self, found: usize) -> Result<(), DecodeError> {
        let limit = self.limit();
        match self.size {
            _ if found > limit => Err(DecodeError::TooLarge { limit }),
            Some(expected) if found != expected => Err(DecodeError::WrongSize { expected, found }),
            _ => Ok(()),
        }
    }
}

/// First buffer for a plaintext of unknown length, in bytes: small payloads of `auto` are mostly of small files.
const SMALLEST_GUESS: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_size_needs_one_buffer() {
        let room = Room::new(Some(1024)).unwrap();
        assert_eq!(room.first_buffer(1 << 20), 1025);
        assert_eq!(room.larger_buffer(1025), Err(DecodeError::TooLarge { limit: 1024 }));
        assert_eq!(Room::new(Some(0)).unwrap().first_buffer(9), 1);
    }

    #[test]
    fn buffers_double_up_to_the_limit() {
        let room = Room::new(None).unwrap();
        assert_eq!(room.first_buffer(0), SMALLEST_GUESS + 1);
        assert_eq!(room.first_buffer(100_000), 300_001);
        assert_eq!(room.larger_buffer(300_001), Ok(600_003));
        assert_eq!(room.larger_buffer(MAX_DATA_SIZE), Ok(MAX_DATA_SIZE + 1));
        assert_eq!(room.larger_buffer(MAX_DATA_SIZE + 1), Err(DecodeError::TooLarge { limit: MAX_DATA_SIZE }));
        assert_eq!(room.first_buffer(usize::MAX), MAX_DATA_SIZE + 1);
    }

    #[test]
    fn an_absurd_size_is_refused_before_anything_is_allocated() {
        assert!(Room::new(Some(MAX_DATA_SIZE)).is_ok());
        assert_eq!(Room::new(Some(usize::MAX)).unwrap_err(), DecodeError::TooLarge { limit: MAX_DATA_SIZE });
    }
}
