//! The deterministic byte stream that tables and secrets of chunkers are drawn from (data layer, section 2).

use aes::Aes256;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use alloc::boxed::Box;
use zeroize::{Zeroize, Zeroizing};

/// One secret word for each value of a byte.
pub(super) type Table<T> = Box<Zeroizing<[T; 256]>>;

const BLOCK_BYTES: usize = 16;
/// Blocks that are encrypted at once.
const BATCH_BLOCKS: usize = 8;
const BATCH_BYTES: usize = BATCH_BLOCKS * BLOCK_BYTES;

/// The keystream of AES-256 in counter mode, from counter zero on.
pub(super) struct Stream {
    cipher: Aes256,
    counter: u128,
    batch: Zeroizing<[u8; BATCH_BYTES]>,
    used: usize,
}

impl Stream {
    pub(super) fn new(key: &[u8; 32]) -> Stream {
        let batch = Zeroizing::new([0; BATCH_BYTES]);
        Stream { cipher: Aes256::new(key.into()), counter: 0, batch, used: BATCH_BYTES }
    }

    /// The next `N` bytes.
    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// The next word, little-endian.
    pub(super) fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    /// The next 256 words.
    pub(super) fn table(&mut self) -> Table<u64> {
        let mut table = Box::new(Zeroizing::new([0; 256]));
        table.iter_mut().for_each(|word| *word = self.word());
        table
    }

    /// Puts the elements into an order of the stream's choice.
    pub(super) fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            elements.swap(last, chosen);
        }
    }

    /// A number below `bound`, which is not zero; all are equally likely. It ends: at least every other sample is low
    /// enough.
    fn below(&mut self, bound: u64) -> u64 {
        let bits = u64::BITS - (bound - 1).leading_zeros();
        let mut sample = [0; 8];
        let skipped = sample.len() - bits.div_ceil(8) as usize;
        loop {
            self.fill(&mut sample[skipped..]);
            let number = u64::from_be_bytes(sample) & (u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0));
            if number < bound {
                return number;
            }
        }
    }

    fn fill(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == BATCH_BYTES {
                self.refill();
            }
            let ready = &self.batch[self.used..];
            let (now, later) = out.split_at_mut(ready.len().min(out.len()));
            now.copy_from_slice(&ready[..now.len()]);
            self.used += now.len();
            out = later;
        }
    }

    fn refill(&mut self) {
        let mut blocks = [Block::<Aes256>::default(); BATCH_BLOCKS];
        for block in &mut blocks {
            *block = self.counter.to_be_bytes().into();
            self.counter += 1;
        }
        self.cipher.encrypt_blocks(&mut blocks);
        for (bytes, block) in self.batch.chunks_exact_mut(BLOCK_BYTES).zip(&blocks) {
            bytes.copy_from_slice(block);
        }
        blocks.iter_mut().for_each(|block| block.as_mut_slice().zeroize());
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::buzhash64;
    use crate::crypto::sha256;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use serde_json::Value;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn key(vector: &Value) -> [u8; 32] {
        let digits = vector["key"].as_str().unwrap();
        core::array::from_fn(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
    }

    #[test]
    fn bytes_numbers_and_orders_are_those_of_the_vectors() {
        for vector in vectors()["csprng"].as_array().unwrap() {
            let mut stream = Stream::new(&key(vector));
            assert_eq!(hex(&stream.take::<64>()), vector["take64"]);
            for pair in vector["then_below"].as_array().unwrap() {
                assert_eq!(stream.below(pair[0].as_u64().unwrap()), pair[1].as_u64().unwrap(), "{pair}");
            }
            let mut elements: Vec<u64> = (0..32).collect();
            stream.shuffle(&mut elements);
            assert_eq!(Value::from(elements), vector["then_shuffle_0_31"]);
            let long: [u8; 10_000] = Stream::new(&key(vector)).take();
            assert_eq!(hex(&sha256(&[&long])), vector["sha256_of_first_10000_stream_bytes"]);
        }
    }

    #[test]
    fn tables_are_those_of_the_vectors() {
        let expect = |vector: &Value, table: Table<u64>| {
            for (word, expected) in table.iter().zip(vector["first4"].as_array().unwrap()) {
                assert_eq!(format!("{word:016x}"), *expected);
            }
            let bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(hex(&sha256(&[&bytes])), vector["sha256_of_LE_u64_table"]);
        };
        for vector in vectors()["gear_tables"].as_array().unwrap() {
            expect(vector, Stream::new(&key(vector)).table());
        }
        for vector in vectors()["buzhash64_tables"].as_array().unwrap() {
            expect(vector, buzhash64::table(&mut Stream::new(&key(vector))));
        }
    }
}
