//! Jobs that are done where no memory is shared with whoever has the window: by another module in a browser, say.
//!
//! Someone there has the same keys. A job goes as bytes, beside what was read for it, and plaintexts come back. Errors don't:
//! whatever is not right there is done once more here, so that what is wrong is told as if nobody had helped.
//!
//! ```text
//! purpose(1) asserts ids(1), then for each chunk: id(32) size(8) piece(4) offset in it(4) length(4), little end first
//! ```

use super::fetch::{Fetch, Job, Part, Stored, Unpacked};
use super::window::{Plain, Purpose, Want};
use crate::id::{ChunkId, PackId};
use crate::repo::ReadError;
use alloc::vec::Vec;

const HEAD_BYTES: usize = 2;
const PART_BYTES: usize = 32 + 8 + 4 + 4 + 4;
/// In place of the size of a chunk whose size nobody has said: no chunk has so many bytes.
const NO_SIZE: u64 = u64::MAX;
const PURPOSES: [Purpose; 3] = [Purpose::Content, Purpose::Items, Purpose::Verification];

impl Fetch {
    /// The job as bytes, of which [`Stored::of_errand`] makes it again where it is done.
    pub fn errand(&self) -> Vec<u8> {
        let Job { purpose, assert_ids } = self.job;
        let purpose = PURPOSES.iter().position(|one| *one == purpose).unwrap_or_default();
        let mut errand = Vec::with_capacity(HEAD_BYTES + self.parts.len() * PART_BYTES);
        errand.extend([purpose as u8, u8::from(assert_ids)]);
        for Part { want, piece, at, len, .. } in &self.parts {
            errand.extend_from_slice(&want.id.0);
            errand.extend_from_slice(&want.size.unwrap_or(NO_SIZE).to_le_bytes());
            // What a job reads is far shorter than 4 GiB.
            [piece, at, len].into_iter().for_each(|&number| errand.extend_from_slice(&(number as u32).to_le_bytes()));
        }
        errand
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Takes the plaintexts that came back.
    ///
    /// # Panics
    ///
    /// If it isn't one for each chunk, in order.
    pub fn unpacked<B>(self, plains: Vec<Plain<B>>) -> Unpacked<B> {
        assert_eq!(plains.len(), self.parts.len(), "every chunk of a job comes back");
        let with_want = |(part, plain): (Part, _)| (part.want, Ok(plain));
        Unpacked(self.parts.into_iter().zip(plains).map(with_want).collect())
    }
}

impl Stored {
    /// The job that [`Fetch::errand`] has told, with all its pieces; `None` if it is none.
    pub fn of_errand(errand: &[u8], pieces: Vec<Vec<u8>>) -> Option<Stored> {
        let (&[purpose, assert_ids], parts) = errand.split_first_chunk()?;
        let (parts, rest) = parts.as_chunks::<PART_BYTES>();
        let job = Job { purpose: *PURPOSES.get(usize::from(purpose))?, assert_ids: assert_ids != 0 };
        let parts = parts.iter().map(Part::of_errand).collect();
        rest.is_empty().then(|| Stored { pieces: pieces.into_iter().map(Ok).collect(), parts, job })
    }
}

impl Part {
    fn of_errand(bytes: &[u8; PART_BYTES]) -> Part {
        let (id, rest) = bytes.split_first_chunk().expect("the sum of the parts");
        let (size, rest) = rest.split_first_chunk().expect("the sum of the parts");
        let size = Some(u64::from_le_bytes(*size)).filter(|&size| size != NO_SIZE);
        let number = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]) as usize;
        let want = Want { id: ChunkId(*id), size };
        // Only errors name the pack, and they stay here.
        Part { want, pack: PackId([0; 32]), piece: number(0), at: number(4), len: number(8) }
    }
}

impl<B> Unpacked<B> {
    /// All plaintexts, in order; the first error if there is one.
    pub fn plains(self) -> Result<Vec<Plain<B>>, ReadError> {
        self.0.into_iter().map(|(_, result)| result).collect()
    }
}
